"""Run a function of a module on exact numbers.

What is made of integers is the same as machine code has of them (`native/functions.py`): a whole
number is what it is, without what a narrow float would round it to; a float whose bits were put
together is a number of its own. Buffers hold exact numbers, or bytes in which buffers of many types
lie, one after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    MemRefType,
    ModuleOp,
    TensorType,
    VectorType,
    i8,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.vector import BitcastOp as VectorBitcastOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.open_sizes import has_forms, open_names, sizes_of_shapes, specialized
from gawee_dialect.analysis.signature import Entry, Signature
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.special_functions import converted as converted_floats
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove import arithmetic, functions
from gawee_dialect.instruments.prove.arithmetic import exactly, made
from gawee_dialect.instruments.prove.inputs import worst_names
from gawee_dialect.instruments.prove.known import KnownOps
from gawee_dialect.instruments.prove.numbers import (
    Numbers,
    as_array,
    filled,
    is_float,
    unwritten,
)
from gawee_dialect.instruments.prove.residues import (
    NotProvable,
    current,
    of_fraction,
)
from gawee_dialect.interpreter.arith import signed, unsigned
from gawee_dialect.interpreter.arrays import Array, array_shape, dtype_of, view_of_bytes
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.machine import Machine, check_implemented, implementations
from gawee_dialect.interpreter.run import numbers_of_arguments
from gawee_dialect.interpreter.scalars import Evaluate, OtherFloats, scalar_functions
from gawee_dialect.interpreter.structured import SCALARS
from gawee_dialect.upstream.arith import ON_VECTORS


def of_integers(integers: Array, dtype: np.dtype[np.generic]) -> Array:
    """Return the whole numbers that integers are, as numbers of a float type."""
    return as_array(exactly(np.asarray(integers).astype(np.float64), dtype))


def of_bits(floats: Array) -> Array:
    """Return the numbers of floats whose bits came from integers: a fraction is drawn by them."""
    value = np.asarray(floats).astype(np.float64)
    return as_array(made(value, current().variables(value, crc32(b"bits")), floats.dtype))


def converted(input: Array, dtype: str) -> Array:
    """Convert as `special_functions.converted` does; integers to floats are what they are."""
    wanted: np.dtype[np.generic] = np.dtype(dtype)
    of_whole = is_float(wanted) and not isinstance(input, Numbers) and not is_float(input.dtype)
    return of_integers(input, wanted) if of_whole else converted_floats(input, dtype)


def _by_value(read: Callable[[Array], Array]) -> Evaluate:
    return lambda op, operands: of_integers(read(operands[0]), dtype_of(op.results[0].type))


def _by_bits(evaluate: Evaluate) -> Evaluate:
    def evaluated(op: Operation, operands: Sequence[Array]) -> Array:
        result = evaluate(op, operands)
        return of_bits(result) if is_float(result.dtype) else result

    return evaluated


def _bitcast(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, BitcastOp)
    return op.evaluate(*operands)


_ON_SCALARS: Mapping[type[Operation], Evaluate] = {
    arith.SIToFPOp: _by_value(signed),
    arith.UIToFPOp: _by_value(unsigned),
    arith.BitcastOp: _by_bits(SCALARS[arith.BitcastOp]),
}

FROM_INTEGERS: Mapping[type[Operation], Evaluate] = {
    **_ON_SCALARS,
    **{ON_VECTORS[op]: each for op, each in _ON_SCALARS.items() if op in ON_VECTORS},
    VectorBitcastOp: _by_bits(SCALARS[arith.BitcastOp]),
}
"""What makes floats of integers."""

ExactFromIntegers: type[OpFunctions] = scalar_functions(
    "ExactFromIntegers", {**FROM_INTEGERS, BitcastOp: _by_bits(_bitcast)}
)


DOUBLES_PER_BYTE = 2
"""The smallest float has two bytes, and a number four doubles."""


class Bytes:
    """Memory that is viewed under many types: bytes for integers, and doubles for numbers."""

    def __init__(self, bytes: Array, doubles: NDArray[np.float64]):
        self.bytes = bytes
        self._doubles = doubles

    @staticmethod
    def of(size: int) -> "Bytes":
        """Return new memory."""
        doubles = np.full(size * DOUBLES_PER_BYTE, np.nan)
        return Bytes(np.full(size, 0xFF, np.uint8), doubles)

    def part(self, shift: int, size: int) -> "Bytes":
        """Return some of the bytes, from `shift` on; raises InterpretationError."""
        if shift < 0 or shift + size > self.bytes.size:
            message = f"{size} bytes from byte {shift} are out of bounds for {self.bytes.size}"
            raise InterpretationError(message)
        first, last = shift * DOUBLES_PER_BYTE, (shift + size) * DOUBLES_PER_BYTE
        return Bytes(self.bytes[shift : shift + size], self._doubles[first:last])

    def view(self, shift: int, result: SSAValue, sizes: Sequence[Array] = ()) -> Array:
        """View the bytes from `shift` on as a buffer; raises InterpretationError."""
        plain = view_of_bytes(self.bytes, shift, result, sizes)
        dtype = dtype_of(result.type)
        if shift % dtype.itemsize:
            raise InterpretationError(
                f"byte {shift} is no place for elements of {dtype.itemsize} bytes"
            )
        if not is_float(dtype):
            return plain
        first, width = shift * DOUBLES_PER_BYTE, dtype.itemsize * DOUBLES_PER_BYTE
        doubles = self._doubles[first : first + plain.size * width]
        parts = doubles.reshape(*plain.shape, width)[..., :4]
        return as_array(Numbers(np.moveaxis(parts, -1, 0), dtype))


def viewed_bytes(type: Attribute, sizes: Sequence[Array] = ()) -> Bytes | None:
    """Return memory for a buffer of bytes, of a given size where it is open; None for any other."""
    size = _byte_count(type, sizes)
    return None if size is None else Bytes.of(size)


def _byte_count(type: Attribute, sizes: Sequence[Array] = ()) -> int | None:
    """Return the size of a buffer of bytes, None of any other; raises NotProvable."""
    if isa(type, MemRefType[Attribute]) and type.element_type == i8 and type.get_num_dims() == 1:
        (size,) = array_shape(type)
        if size != DYNAMIC_INDEX:
            return size
        if not sizes:
            raise NotProvable(Diagnostic("a buffer of bytes has an unknown size"))
        return int(sizes[0])
    return None


def _is_viewed(buffer: SSAValue) -> bool:
    return any(isinstance(use.operation, memref.ViewOp) for use in buffer.uses)


def allocated(buffer: SSAValue) -> object:
    """Return new memory for a buffer, by how it is used."""
    bytes = viewed_bytes(buffer.type) if _is_viewed(buffer) else None
    return unwritten(buffer.type) if bytes is None else bytes


def viewed(
    source: Array | Bytes, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
) -> object:
    """View bytes as a buffer, or as fewer bytes; raises TypeError for plain bytes as floats."""
    if not isinstance(source, Bytes):
        if is_float(dtype_of(result.type)):
            raise TypeError("no exact meaning of bytes as floats")
        return view_of_bytes(source, shift, result, sizes)
    size = _byte_count(result.type, sizes)
    if size is not None and _is_viewed(result):
        return source.part(shift, size)
    return source.view(shift, result, sizes)


NUMPY = (arithmetic, functions)
"""Where NumPy's functions on `Numbers` are registered."""

# The numbers that a function is run on: values from data, residues drawn at random.


def drawn(array: Array, seed: int) -> Array:
    """Return exact numbers for floats, and anything else as it is.

    A float that is no whole number stands for a variable: its residues are drawn by the seed and by
    its bits, so that equal floats stay equal. Whole numbers, masks of 0 and 1 among them, and what
    is not finite are themselves. Of numbers that were drawn it is a copy, which a run may write.
    """
    if isinstance(array, Numbers):
        return as_array(array.copy())
    if not is_float(array.dtype):
        return array
    value = np.asarray(array).astype(np.float64)
    return as_array(made(value, current().variables(value, seed), array.dtype))


def plain(array: Array) -> Array:
    """Return the floats that numbers were drawn of."""
    return array.value.astype(array.dtype) if isinstance(array, Numbers) else array


FLOATS = AnyFloat | TensorType | VectorType
"""Types of values that may be floats; of buffers, the op that makes one takes care."""


MOST_STEPS = 100_000
"""So many ops are run one by one, in some seconds; loops over large tensors have more."""


COPIED_IN_A_STEP = 1024
"""So many numbers are copied in the time of an op."""


def _erf(input: Array) -> Array:
    return as_array(functions.erf(input))


OF_EQUATIONS: Mapping[str, Callable[..., Array]] = {"erf": _erf, "converted": converted}


class ExactMachine(Machine, OtherFloats):
    """An interpreter on exact numbers; an op that cannot take them raises NotProvable."""

    functions = OF_EQUATIONS
    scalars = FROM_INTEGERS
    known: KnownOps | None = None
    """What need not be computed again; nothing where a listener sees every op."""
    _steps = 0

    def taken_up(self, array: Array) -> Array:
        return exact(array)

    def fresh(self, type: Attribute, sizes: Sequence[Array] = ()) -> Array:
        return unwritten(type, sizes)

    def buffer(self, buffer: SSAValue, sizes: Sequence[Array] = ()) -> object:
        return unwritten(buffer.type, sizes) if sizes else allocated(buffer)

    def viewed(
        self, source: Array, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
    ) -> object:
        return viewed(source, shift, result, sizes)

    def is_dense(self, buffer: Array) -> bool:
        return buffer.is_dense if isinstance(buffer, Numbers) else super().is_dense(buffer)

    def filled(
        self, shape: Sequence[int], fill: Array | float, dtype: np.dtype[np.generic]
    ) -> Array:
        return filled(shape, fill, dtype)

    def fractions(self, rows: Sequence[Sequence[Fraction]], dtype: np.dtype[np.generic]) -> Array:
        parts = [[(float(each), *of_fraction(each)) for each in row] for row in rows]
        return as_array(Numbers(np.moveaxis(np.array(parts, np.float64), -1, 0), dtype))

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        self._steps += _steps_of(op)
        if self._steps > MOST_STEPS:
            message = f"loops over exact numbers of more than {MOST_STEPS} steps"
            raise NotProvable(Diagnostic.at(op, message))
        try:
            return self._known_or_run(op, self._taken_up(op, inputs))
        except (TypeError, AttributeError) as error:
            # How NumPy's protocols, and functions beside them, refuse what is no plain array.
            raise NotProvable(Diagnostic.at(op, str(error))) from error

    def _known_or_run(self, op: Operation, operands: PythonValues) -> OpImplResult:
        run = super()._run_op
        if self.known is None:
            return run(op, operands)
        return self.known.run(op, operands, lambda: run(op, operands))

    def _taken_up(self, op: Operation, inputs: PythonValues) -> PythonValues:
        """Return operands; buffers are what they are, as others view them."""
        return tuple(
            self.taken_up(value) if _may_be_floats(type(operand.type)) else value
            for operand, value in zip(op.operands, inputs, strict=False)
        )


@cache
def _may_be_floats(kind: type[Attribute]) -> bool:
    """Whether values of a kind of type may be floats; asked of each operand of each op."""
    return issubclass(kind, FLOATS)


def _steps_of(op: Operation) -> int:
    """Return how long an op takes that is run for each element: an insertion copies its tensor."""
    if not isinstance(op, tensor.InsertOp):
        return 1
    return 1 + abs(prod(tensor_shape(op.dest))) // COPIED_IN_A_STEP


def make_machine(
    module: ModuleOp,
    listeners: Sequence[Interpreter.Listener],
    more: Sequence[InterpreterFunctions] = (),
) -> ExactMachine:
    """Make an interpreter of a module on exact numbers; `more` implementations come first."""
    machine = ExactMachine(module, listeners=tuple(listeners))
    machine.take_over((*implementations(module), ExactFromIntegers))
    for each in more:
        machine.register_implementations(each, override=True)
    return machine


def run_exactly(
    module: ModuleOp,
    arguments: Mapping[str, Array],
    function: str,
    seed: int,
    listeners: Sequence[Interpreter.Listener] = (),
    more: Sequence[InterpreterFunctions] = (),
    known: KnownOps | None = None,
) -> dict[str, Array]:
    """Run a function; returns its outputs by name: exact numbers of floats, else plain arrays.

    Its index checks are among them (`worst_names`).

    Floats among the arguments become numbers that the seed draws (`inputs.py`). Raises NotProvable
    for an op that has no meaning on exact numbers, GaweeError where the program goes wrong.
    """
    called = Entry.of(module, function).called
    called_ops = [each.function for each in called if isinstance(each.function, FuncOp)]
    if len(called_ops) < len(called):
        raise NotProvable(Diagnostic("the llvm dialect runs as native code alone"))
    sizes: Mapping[str, int] = {}
    if open_names(module):
        shapes = {name: np.shape(each) for name, each in arguments.items()}
        sizes = sizes_of_shapes(called_ops[-1], shapes)
    if sizes and has_forms(called_ops[-1]):
        static = specialized(module, sizes)
        return run_exactly(static, arguments, function, seed, listeners, more, known)
    _check_implemented(module, called_ops)
    machine = make_machine(module, listeners, more)
    machine.known = known
    given = {name: drawn(array, seed) for name, array in arguments.items()}
    for signature, op in zip(called, called_ops, strict=True):
        for each in signature.inputs:
            if each.name not in given:
                raise GaweeError(Diagnostic.at(op, f"expected input '{each.name}', got none"))
    outputs: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for signature, op in zip(called, called_ops, strict=True):
            prepared = list(outputs.values())
            numbers = numbers_of_arguments(machine, signature, sizes)
            operands = [
                np.asarray(sizes[each.name])
                if each.kind is ArgumentKind.SIZE
                else _operand(each, given, prepared, numbers.get(each.index, ()))
                for each in signature.arguments
            ]
            results = machine.call_op(op, tuple(operands))
            outputs = _outputs(signature, operands, results)
    return outputs


def _check_implemented(module: ModuleOp, called: Sequence[FuncOp]) -> None:
    try:
        check_implemented(module, called)
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error


def _operand(
    argument: EntryArgument,
    given: Mapping[str, Array],
    prepared: Sequence[Array],
    sizes: Sequence[Array],
) -> Array | Bytes:
    """Return what a function is called with; `sizes` are the numbers of those that are open."""
    match argument.kind:
        case ArgumentKind.WORKSPACE:
            bytes = viewed_bytes(argument.type, sizes)
            return _memory(argument, sizes) if bytes is None else bytes
        case ArgumentKind.OUTPUT | ArgumentKind.INDICES:
            return _memory(argument, sizes)
        case ArgumentKind.PREPARED:
            return prepared[int(argument.name)]
        case ArgumentKind.UPDATED:
            return given[argument.name].copy()
        case _:
            return given[argument.name]


def _memory(argument: EntryArgument, sizes: Sequence[Array]) -> Array:
    try:
        return unwritten(argument.type, sizes)
    except InterpretationError as error:
        raise NotProvable(Diagnostic(f"argument #{argument.index}: {error}")) from error


def _outputs(
    signature: Signature, operands: Sequence[Array | Bytes], results: Sequence[Array]
) -> dict[str, Array]:
    outputs: dict[str, Array] = {}
    for each in signature.of_kind(ArgumentKind.OUTPUT, ArgumentKind.UPDATED):
        operand = operands[each.index]
        assert not isinstance(operand, Bytes)
        outputs[each.name] = operand
    for index, (name, result) in enumerate(zip(signature.returned, results, strict=True)):
        if index not in signature.checks:
            outputs[name] = result
    told = [operands[each.index] for each in signature.of_kind(ArgumentKind.INDICES)]
    told += [results[index] for index in signature.checks]
    for name, each in zip(worst_names(len(told)), told, strict=True):
        assert not isinstance(each, Bytes)
        outputs[name] = each
    return {name: exact(each) for name, each in outputs.items()}


def exact(array: Array) -> Array:
    """Return the numbers that floats are which no exact number has met."""
    if isinstance(array, Numbers) or not is_float(np.asarray(array).dtype):
        return array
    return as_array(Numbers.constants(array, array.dtype))
