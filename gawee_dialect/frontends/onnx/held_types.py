"""Element types of ONNX that tensors of the dialect do not have, and what holds their numbers.

A float of 8 bits is held as the float32 that it is, an integer of 4 bits as one of 8, uint32 as
int64. The bits of uint64 are held in int64. `Emitter.held` says which tensors stand for what; what
an op computes of them is brought back to the numbers that the type has (`rounded`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np
from xdsl.dialects.builtin import bf16, f32, f64, i8, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import AbsOp, CeilOp, FloorOp, MaximumOp, RoundOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, BitwiseXorOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import IdentityOp
from gawee_dialect.dialect.types import DTYPE_NAMES, element_type, is_float, ui8
from gawee_dialect.frontends.onnx.model import DTYPES, Array, OnnxFunction, OnnxNode
from gawee_dialect.frontends.onnx.model_proto import read_function
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element
from gawee_dialect.frontends.op_mapping.registry import Input, Known

ROUNDING: Mapping[str, Callable[[SSAValue], Operation]] = {
    "nearest": RoundOp,
    "up": CeilOp,
    "down": FloorOp,
}
"""How a scale of powers of two is rounded, by Cast's `round_mode`; other floats to nearest."""


@dataclass(frozen=True)
class HeldInteger:
    """An integer type: how many bits it has, and the element type that holds it."""

    bits: int
    signed: bool
    holder: Attribute

    @property
    def range(self) -> tuple[int, int]:
        """The least and the largest number."""
        top = 1 << self.bits - self.signed
        return (-top if self.signed else 0), top - 1


@dataclass(frozen=True)
class HeldFloat:
    """A float type by its significant bits, its least normal exponent and its largest number.

    `beyond` is what a larger number becomes without saturation.
    """

    significant_bits: int
    least_exponent: int
    largest: float
    beyond: float = np.nan
    has_nan: bool = True
    holder: Attribute = f32


HELD: Mapping[str, HeldInteger | HeldFloat] = {
    "uint64": HeldInteger(64, False, i64),
    "uint32": HeldInteger(32, False, i64),
    "int4": HeldInteger(4, True, i8),
    "uint4": HeldInteger(4, False, ui8),
    "int2": HeldInteger(2, True, i8),
    "uint2": HeldInteger(2, False, ui8),
    "bfloat16": HeldFloat(8, -126, 255 * 2.0**120, np.inf),
    "float8_e4m3fn": HeldFloat(4, -6, 448),
    "float8_e4m3fnuz": HeldFloat(4, -7, 240),
    "float8_e5m2": HeldFloat(3, -14, 57344, np.inf),
    "float8_e5m2fnuz": HeldFloat(3, -15, 57344),
    "float4_e2m1fn": HeldFloat(2, 0, 6, has_nan=False),
    "float8_e8m0fnu": HeldFloat(1, -127, 2.0**127),
}
"""By the names that NumPy and `ml_dtypes` have for them."""

CODES: Mapping[int, str] = {
    **DTYPES,
    **{12: "uint32", 13: "uint64", 16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz"},
    **{19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn"},
    **{24: "float8_e8m0fnu", 25: "uint2", 26: "int2"},
}
"""NumPy's names of the numbers that TensorProto.DataType has, of types that are held too."""


def element_of(dtype: str) -> Attribute:
    """Return the element type of a dtype, or of what holds it; raises Refusal."""
    held = HELD.get(dtype)
    return dtype_element(dtype) if held is None else held.holder


def dtype_of_code(code: int) -> str:
    """Return the dtype that an attribute names; what `element_of` refuses where there is none."""
    return CODES.get(code, f"ONNX type {code}")


def dtype_of(emit: Emitter, value: SSAValue) -> str:
    """Return the dtype that a tensor has or stands for."""
    return emit.held.get(value) or DTYPE_NAMES[element_type(value)]


def held_array(array: Array) -> Array:
    """Return an array as what holds it; itself where the dialect has its type."""
    held = HELD.get(array.dtype.name)
    return array if held is None else array.astype(DTYPE_NAMES[held.holder])


def array_of_held(array: Array, dtype: str) -> Array:
    """Return what holds a dtype as an array of it."""
    native = dtype in ("uint32", "uint64")
    type: np.dtype[np.generic] = np.dtype(dtype if native else getattr(_ml_dtypes(), dtype))
    return array.astype(type)


def _ml_dtypes() -> object:
    return import_module("ml_dtypes")  # which the package `onnx` brings


def marked(emit: Emitter, value: SSAValue, dtype: str) -> SSAValue:
    """Return a tensor that stands for a dtype; a new one where it stands for another already."""
    if dtype_of(emit, value) == dtype:
        return value
    if not isinstance(value.owner, Operation) or value in emit.held or value.uses:
        value = emit(IdentityOp(value))
    if dtype in HELD:
        emit.held[value] = dtype
    return value


def converted(
    emit: Emitter, value: SSAValue, dtype: str, saturate: bool = True, round_mode: str = "up"
) -> SSAValue:
    """Return numbers in another dtype, which may be a held one, as ONNX's Cast has it."""
    source, held = dtype_of(emit, value), HELD.get(dtype)
    if source == dtype:
        return value
    if source == "uint64" and dtype not in HELD:
        value = _unsigned_number(emit, value, dtype_element(dtype))
    if held is None:
        return marked(emit, emit.cast(value, dtype_element(dtype)), dtype)
    if isinstance(held, HeldFloat):
        value = emit.cast(value, f32)
    elif is_float(element_type(value)):
        value = emit.cast(value, i64 if held.bits >= 32 else i32)
    return marked(emit, rounded(emit, value, dtype, saturate, round_mode), dtype)


def _unsigned_number(emit: Emitter, value: SSAValue, element: Attribute) -> SSAValue:
    """Return what 64 bits are as an unsigned number; integers keep their low bits."""
    if not is_float(element):
        return value
    negative = emit(CompareOp(value, emit.number(0, i64), predicate="lt"))
    number = emit.cast(value, f64)
    return emit(WhereOp(negative, emit(AddOp(number, emit.number(2.0**64, f64))), number))


def rounded(
    emit: Emitter, value: SSAValue, dtype: str, saturate: bool = False, round_mode: str = "up"
) -> SSAValue:
    """Return numbers as a held type has them: the low bits of integers, the nearest floats."""
    held = HELD[dtype]
    if isinstance(held, HeldInteger):
        return emit.cast(_low_bits(emit, value, held), held.holder)
    value = emit.cast(value, f32)
    if dtype == "bfloat16":
        return emit.cast(emit.cast(value, bf16), f32)
    op = ROUNDING[round_mode] if held.significant_bits == 1 else RoundOp
    return _in_grid(emit, value, held, op, saturate)


def _low_bits(emit: Emitter, value: SSAValue, held: HeldInteger) -> SSAValue:
    if held.bits == 64:
        return emit.cast(value, i64)
    wide = emit.cast(value, i64 if held.bits == 32 else i32)
    mask = emit.number((1 << held.bits) - 1, element_type(wide))
    if not held.signed:
        return emit(BitwiseAndOp(wide, mask))
    half = emit.number(1 << held.bits - 1, element_type(wide))
    return emit(SubOp(emit(BitwiseAndOp(emit(AddOp(wide, half)), mask)), half))


def _in_grid(
    emit: Emitter,
    value: SSAValue,
    held: HeldFloat,
    op: Callable[[SSAValue], Operation],
    saturate: bool,
) -> SSAValue:
    """Return multiples of the distance that numbers of a size have, which is exact in float32."""
    near = emit(ClipOp(value, min=-2 * held.largest, max=2 * held.largest))
    exponent_bits = emit.number(0x7F800000, i32)
    power = emit(BitcastOp(emit(BitwiseAndOp(emit(BitcastOp(near, i32)), exponent_bits)), f32))
    least = emit(MaximumOp(power, emit.number(2.0**held.least_exponent, f32)))
    step = emit(MulOp(least, emit.number(2.0 ** (1 - held.significant_bits), f32)))
    steps = emit(op(emit(DivOp(near, step))))
    if held.significant_bits == 1:  # scales have no zero
        steps = emit(MaximumOp(steps, emit.number(1, f32)))
    found = emit(MulOp(steps, step))
    if saturate or not held.has_nan:
        found = emit(ClipOp(found, min=-held.largest, max=held.largest))
    else:
        beyond = emit(CompareOp(emit(AbsOp(found)), emit.number(held.largest, f32), predicate="gt"))
        most = emit(MulOp(found, emit.number(held.beyond, f32)))
        found = emit(WhereOp(beyond, most, found))
    if held.has_nan:
        return found
    is_nan = emit(CompareOp(value, value, predicate="ne"))
    return emit(WhereOp(is_nan, emit.number(0, f32), found))


def constant(emit: Emitter, array: Array, dtype: str | None = None) -> SSAValue:
    """Return a constant with the elements of an array, in its dtype or another."""
    dtype = dtype or array.dtype.name
    return marked(emit, emit.array(held_array(array), element_of(dtype)), dtype)


def flipped(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return 64 bits so that the order of signed numbers is that of unsigned ones, and back."""
    return emit(BitwiseXorOp(value, emit.number(-(1 << 63), i64)))


KEEP_NUMBERS = frozenset(
    "Identity Reshape Flatten Squeeze Unsqueeze Transpose Expand Tile Slice Gather GatherElements "
    "GatherND Concat Split Where Pad DepthToSpace SpaceToDepth Compress ReverseSequence Max Min "
    "Clip Relu Dropout ScatterND ScatterElements TopK Trilu ReduceMax ReduceMin MaxPool".split()
)
"""Ops whose results are numbers of their inputs: they need not be rounded."""

ORDERED = frozenset(
    "Less LessOrEqual Greater GreaterOrEqual Max Min Clip TopK ReduceMax ReduceMin ArgMax "
    "ArgMin MaxPool".split()
)
"""Ops that compare numbers."""

BY_THEMSELVES = frozenset(("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Range"))
"""Ops whose mappings handle held types."""


def prepared_inputs(
    emit: Emitter, op_type: str, inputs: Sequence[Input], dtypes: Sequence[str | None]
) -> list[Input]:
    """Return a node's inputs, of which some are held, as its mapping expects them."""
    if op_type not in ORDERED or "uint64" not in dtypes:
        return list(inputs)
    return [
        _flipped_input(emit, given) if dtype == "uint64" else given
        for given, dtype in zip(inputs, dtypes, strict=False)
    ]


def _flipped_input(emit: Emitter, given: Input) -> Input:
    if isinstance(given, Known):
        return Known(given.elements, lambda: flipped(emit, given.tensor()))
    return None if given is None else flipped(emit, given)


def held_results(
    emit: Emitter,
    op_type: str,
    results: Sequence[SSAValue | None],
    sources: Iterable[int | None],
    dtypes: Sequence[str | None],
) -> list[SSAValue | None]:
    """Return a node's results, those of the type of an input that is held as what this type has.

    sources: for each result the input that has its type.
    """
    if op_type in BY_THEMSELVES:
        return list(results)
    found: list[SSAValue | None] = []
    for value, source in zip(results, sources, strict=False):
        dtype = None if source is None or source >= len(dtypes) else dtypes[source]
        if value is None or dtype is None or element_type(value) != HELD[dtype].holder:
            found.append(value)
            continue
        if op_type in ORDERED and dtype == "uint64":
            value = flipped(emit, value)
        if op_type not in KEEP_NUMBERS:
            value = rounded(emit, value, dtype)
        found.append(marked(emit, value, dtype))
    return found


# What the package `onnx` says of ops: the types of their results, and functions that define some.
#
# https://onnx.ai/onnx/api/defs.html


class _Serialized(Protocol):
    def SerializeToString(self) -> bytes: ...


class _FormalParameter(Protocol):
    type_str: str


class _OpSchema(Protocol):
    inputs: Sequence[_FormalParameter]
    outputs: Sequence[_FormalParameter]
    has_function: bool
    has_context_dependent_function: bool
    context_dependent_function_opset_versions: Sequence[int]
    function_body: _Serialized

    def get_context_dependent_function_with_opset_version(
        self, opset: int, node: bytes, types: Sequence[bytes]
    ) -> bytes: ...


def _schema_of(node: OnnxNode, opsets: Mapping[str, int]) -> _OpSchema | None:
    defs = import_module("onnx.defs")
    domain = "" if node.domain == "ai.onnx" else node.domain
    find: Callable[[str, int, str], _OpSchema] = getattr(defs, "get_schema")
    unknown: type[Exception] = getattr(defs, "SchemaError")
    try:
        return find(node.op_type, opsets.get(domain, 1), domain)
    except unknown:
        return None


def type_sources(node: OnnxNode, opsets: Mapping[str, int]) -> Iterator[int | None]:
    """Yield for each output the first input that has its type; None where none has."""
    schema = _schema_of(node, opsets)
    inputs = [] if schema is None else [each.type_str for each in schema.inputs]
    for index in range(len(node.outputs)):
        type = (
            "" if schema is None else schema.outputs[min(index, len(schema.outputs) - 1)].type_str
        )
        yield inputs.index(type) if type in inputs else None


def standard_function(
    node: OnnxNode, opsets: Mapping[str, int], types: Sequence[tuple[str, Sequence[int]] | None]
) -> OnnxFunction | None:
    """Return the function that ONNX defines an op by; None where it does not, or has no such op.

    types: the dtype and the shape of each input, None for one that the node leaves out.
    """
    schema = None if node.serialized is None else _schema_of(node, opsets)
    if schema is None or node.serialized is None:
        return None
    if schema.has_context_dependent_function:
        opset = max(schema.context_dependent_function_opset_versions)
        make = schema.get_context_dependent_function_with_opset_version
        try:
            return read_function(
                make(opset, node.serialized, [_type_proto(each) for each in types])
            )
        except (ValueError, RuntimeError):  # inputs of types that the op does not take
            return None
    return read_function(schema.function_body.SerializeToString()) if schema.has_function else None


def _type_proto(type: tuple[str, Sequence[int]] | None) -> bytes:
    if type is None:
        return b""
    codes = {name: code for code, name in CODES.items()}
    make: Callable[[int, Sequence[int]], _Serialized] = getattr(
        import_module("onnx.helper"), "make_tensor_type_proto"
    )
    return make(codes[type[0]], type[1]).SerializeToString()
