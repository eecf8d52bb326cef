"""Rewrite a module of the llvm dialect to one that computes on exact numbers."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    f64,
    i8,
    i64,
)
from xdsl.dialects.llvm import LinkageAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.degrees import Counts
from gawee_dialect.instruments.prove.lowered import Piece
from gawee_dialect.instruments.prove.native import lanes as lane_functions
from gawee_dialect.instruments.prove.native.functions import (
    ON_LANES,
    ON_VECTORS,
    Library,
    Request,
)
from gawee_dialect.instruments.prove.native.writer import (
    DOUBLE,
    PARTS,
    Code,
    CountingWriter,
    Memory,
    Writer,
    function_type,
    in_registers,
    is_float,
    lane_of,
    lanes_of,
    spelled,
)
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import (
    NotProvable,
    Primes,
    Residues,
    current,
    primes,
)
from gawee_dialect.interpreter.arrays import Array, attribute_value
from gawee_dialect.locations import hand_on_location
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream import llvm_vector

FUNCTIONS: Mapping[type[Operation], str] = {
    llvm.FAddOp: "add",
    llvm.FSubOp: "subtract",
    llvm.FMulOp: "multiply",
    llvm.FDivOp: "divide",
    llvm.FRemOp: "fmod",
    llvm.FNegOp: "negative",
    llvm.FMAOp: "fma",
    llvm.FAbsOp: "absolute",
    llvm.FCopySignOp: "copysign",
    llvm.VectorFMaxOp: "fmax",
    llvm.VectorFMinOp: "fmin",
    ours.MaximumOp: "maximum",
    ours.MinimumOp: "minimum",
    llvm.FFloorOp: "floor",
    llvm.FCeilOp: "ceil",
    ours.FTruncOp: "trunc",
    ours.RoundOp: "round",
    ours.RoundEvenOp: "roundeven",
    llvm.FExpOp: "exp",
    llvm.FExp2Op: "exp2",
    llvm.FLogOp: "log",
    llvm.FLog2Op: "log2",
    ours.Log10Op: "log10",
    llvm.FSqrtOp: "sqrt",
    llvm.FPowOp: "power",
    llvm.FSinOp: "sin",
    llvm.FCosOp: "cos",
    ours.TanOp: "tan",
    ours.TanhOp: "tanh",
    ours.SinhOp: "sinh",
    ours.CoshOp: "cosh",
    ours.AsinOp: "arcsin",
    ours.AcosOp: "arccos",
    ours.AtanOp: "arctan",
    ours.Atan2Op: "arctan2",
}
"""Ops that are functions of numbers."""

OF_LIBM: Mapping[str, str] = {
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
    "cbrt": "cbrt",
    "erf": "erf",
    "expm1": "expm1",
    "log1p": "log1p",
}
"""Functions of C that are functions of numbers; with an f behind their names, of f32."""

REDUCTIONS: Mapping[type[Operation], str] = {
    llvm.VectorReduceFAddOp: "add",
    llvm.VectorReduceFMulOp: "multiply",
    llvm_vector.ReduceFMaxOp: "fmax",
    llvm_vector.ReduceFMinOp: "fmin",
    llvm_vector.ReduceFMaximumOp: "maximum",
    llvm_vector.ReduceFMinimumOp: "minimum",
}
"""Ops that combine the lanes of a vector."""

UNTOUCHED = (
    *(llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.SDivOp, llvm.UDivOp, llvm.SRemOp, llvm.URemOp),
    *(llvm.AndOp, llvm.OrOp, llvm.XOrOp, llvm.ShlOp, llvm.LShrOp, llvm.AShrOp),
    *(llvm.TruncOp, llvm.ZExtOp, llvm.SExtOp, llvm.ICmpOp, llvm.AddressOfOp, ours.PrefetchOp),
    *(ours.IntegerBinaryIntrinsic, llvm_vector.IntegerReduction),
    *(llvm.BrOp, llvm.CondBrOp, llvm.ReturnOp, llvm.UnreachableOp),
)
"""Ops that are the same on numbers: of integers, and those that only hand values on."""


KEPT_FUNCTIONS = 1024
"""How many rewritten functions are kept: a pass changes few."""


@lru_cache(maxsize=4)
def _library(memory: Memory, arithmetic: Residues) -> Library:
    writer = CountingWriter if isinstance(arithmetic, Counts) else Writer
    return Library(memory, ON_VECTORS, ON_LANES, writer)


class _Kept(NamedTuple):
    """What functions were rewritten to, which is the same where a run counts."""

    codes: dict[bytes, Code]
    requests: dict[str, Request]
    """How the functions of a library are written that they call."""


@lru_cache(maxsize=4)
def _kept(memory: Memory, primes: Primes) -> _Kept:
    return _Kept({}, {})


class ExactModule:
    """A module of the llvm dialect on exact numbers, and the functions that it calls."""

    def __init__(self, pieces: Sequence[Piece], memory: Memory):
        """Take the functions and globals of a module; those without a body are declared."""
        self.memory = memory
        self.library = _library(memory, current())
        self._kept = _kept(memory, primes())
        self._types: dict[Operation, Sequence[Attribute]] = {}
        """Of what each op takes, before it was numbers."""
        ops = [pair for each in pieces for pair in each.ops.items()]
        self._defined = [(key, op) for key, op in ops if not _is_declared(op)]
        self.declared = {
            op.sym_name.data: op
            for _, op in ops
            if _is_declared(op) and _of_libm(op.sym_name.data) is None
        }
        """Functions without a body, by name."""

    def codes(self, attributes: Mapping[str, str]) -> Sequence[Code]:
        """Return LLVM IR of each function and global, and let the library have what these call.

        Raises NotProvable for an op that has no exact meaning.
        """
        codes, requests = self._kept
        if len(codes) > KEPT_FUNCTIONS:
            codes.clear()
        for key, op in self._defined:
            if key not in codes:
                codes[key] = Code.of(self._text(op.clone(), attributes))
        found = [codes[key] for key, _ in self._defined]
        for name in {name for each in found for name in each.needs} & requests.keys():
            write, key = requests[name]
            self.library.symbol(write, *key)
        return found

    def _text(self, op: Operation, attributes: Mapping[str, str]) -> str:
        match op:
            case llvm.FuncOp():
                self._rewrite_function(op)
            case llvm.GlobalOp():
                self._rewrite_global(op)
            case _:
                raise _no_meaning(op)
        # LLVM is loaded for loops alone.
        from gawee_dialect.backend.llvm_text import llvm_text

        return llvm_text(ModuleOp([op]), attributes)

    def _type(self, op: Operation, index: int = 0) -> Attribute:
        """Return the type that an operand had; a number that is used as f32 and f64 has two."""
        return self._types[op][index]

    def _rewrite_function(self, function: llvm.FuncOp) -> None:
        for op in function.walk():
            self._types[op] = [operand.type for operand in op.operands]
        function.properties["linkage"] = LinkageAttr("external")
        function.properties["function_type"] = function_type(function.function_type)
        for block in function.body.blocks:
            for argument in block.args:
                self._retype(argument)
        for block in function.body.blocks:
            for op in list(block.ops):
                self._rewrite(op)

    def _retype(self, value: SSAValue) -> None:
        if is_float(value.type):
            Rewriter.replace_value_with_new_type(value, in_registers(value.type))

    def _rewrite_global(self, op: llvm.GlobalOp) -> None:
        type, value = op.global_type, op.value
        if not isinstance(type, llvm.LLVMArrayType) or not isa(value, DenseIntOrFPElementsAttr):
            raise _no_meaning(op)
        array = attribute_value(value, TensorType(type.type, [len(value)])).reshape(-1)
        data = stretched(np.broadcast_to(array, (type.size.data,)), self.memory).tobytes()
        bytes_type = TensorType(i8, [len(data)])
        op.properties["linkage"] = LinkageAttr("external")
        op.properties["global_type"] = llvm.LLVMArrayType(len(data), i8)
        op.properties["value"] = DenseIntOrFPElementsAttr(bytes_type, BytesAttr(data))

    def _rewrite(self, op: Operation) -> None:
        kind = type(op)
        op.attributes.pop("loop_annotation", None)  # unrolled, it takes long to compile
        if kind in FUNCTIONS:
            self._call_function(op, FUNCTIONS[kind], op.operands)
        elif kind in REDUCTIONS:
            self._reduce(op, REDUCTIONS[kind])
        elif kind in RULES:
            RULES[kind](self, op)
        elif not isinstance(op, UNTOUCHED):
            raise _no_meaning(op)

    def _replace(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        write: Callable[..., str],
        *key: Hashable,
    ) -> None:
        """Put a call of a function of the library in the place of an op."""
        symbol = self.library.symbol(write, *key)
        self._kept.requests[symbol] = write, key
        result = in_registers(op.results[0].type) if op.results else None
        call = llvm.CallOp(symbol, *operands, return_type=result)
        self._put(op, call)

    def _put(self, op: Operation, new: Operation) -> None:
        """Put an op in the place of another."""
        assert op.parent is not None
        hand_on_location(op, new)
        op.parent.insert_op_before(new, op)
        for old, made in zip(op.results, new.results, strict=True):
            made.name_hint = old.name_hint
            old.replace_all_uses_with(made)
        op.detach()
        op.erase()

    def _call_function(self, op: Operation, name: str, operands: Sequence[SSAValue]) -> None:
        lanes = lanes_of(op.results[0].type)
        self._replace(op, operands, Library.of_numbers, name, lanes, len(operands))

    def _reduce(self, op: Operation, name: str) -> None:
        lanes = lanes_of(self._type(op, -1))
        assert lanes is not None
        with_start = len(op.operands) == 2
        self._replace(op, op.operands, lane_functions.reduce_symbol, lanes, name, with_start)

    def constant(self, op: llvm.ConstantOp) -> None:
        """Make the numbers that float constants stand for."""
        type = op.result.type
        if not is_float(type):
            return
        numbers = numbers_of_constant(op.value, type)
        if lanes_of(type) is not None:
            self._replace(op, (), lane_functions.constant_symbol, numbers.data.tobytes())
            return
        parts = DenseIntOrFPElementsAttr.from_list(
            TensorType(f64, [PARTS]), [float(each) for each in numbers.data.reshape(-1)]
        )
        self._put(op, llvm.ConstantOp(parts, in_registers(type)))

    def retyped(self, op: Operation) -> None:
        """Keep an op, whose results are numbers now."""
        for result in op.results:
            self._retype(result)

    def handed_on(self, op: Operation) -> None:
        """Conversions between floats change no number."""
        (operand,) = op.operands
        op.results[0].replace_all_uses_with(operand)
        op.detach()
        op.erase()

    def compare(self, op: llvm.FCmpOp | llvm_vector.FCmpOp) -> None:
        """Compare values."""
        flag = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data).value.removeprefix("_")
        lanes = lanes_of(self._type(op))
        self._replace(op, op.operands, lane_functions.compare_symbol, lanes, flag)

    def select(self, op: Operation) -> None:
        """Choose numbers: by one bit as LLVM does, by several in each lane."""
        condition, lanes = op.operands[0], lanes_of(op.results[0].type)
        if not is_float(op.results[0].type):
            return
        if lanes_of(condition.type) is None:
            self.retyped(op)
            return
        self._replace(op, op.operands, lane_functions.select_symbol, lanes)

    def of_integers(self, op: Operation) -> None:
        """Make numbers of integers."""
        cast, source = op.name.removeprefix("llvm."), op.operands[0].type
        self._replace(op, op.operands, lane_functions.of_integers_symbol, cast, source)

    def to_integers(self, op: Operation) -> None:
        """Make integers of numbers."""
        cast, type = op.name.removeprefix("llvm."), op.results[0].type
        self._replace(op, op.operands, lane_functions.to_integers_symbol, cast, type)

    def bits(self, op: llvm.BitcastOp) -> None:
        """Take the bits of the floats that are nearest, or make numbers of such bits."""
        source, type = self._type(op), op.result.type
        if is_float(source) and not is_float(type):
            self._replace(op, op.operands, lane_functions.to_bits_symbol, source, type)
        elif is_float(type) and not is_float(source):
            self._replace(op, op.operands, lane_functions.of_bits_symbol, source, type)
        elif is_float(type):
            raise _no_meaning(op)

    def extract(self, op: Operation) -> None:
        """Take a lane."""
        _, index = op.operands
        lanes = lanes_of(self._type(op))
        if is_float(op.results[0].type) and lanes is not None:
            self._replace(
                op, op.operands, lane_functions.extract_symbol, lanes, spelled(index.type)
            )

    def insert(self, op: Operation) -> None:
        """Put a number in a lane."""
        lanes = lanes_of(op.results[0].type)
        if is_float(op.results[0].type) and lanes is not None:
            index = spelled(op.operands[2].type)
            self._replace(op, op.operands, lane_functions.insert_symbol, lanes, index)

    def shuffle(self, op: llvm.ShuffleVectorOp) -> None:
        """Take lanes of two vectors."""
        lanes = lanes_of(self._type(op))
        if is_float(op.res.type) and lanes is not None:
            assert isa(op.mask, DenseArrayBase[IntegerType])
            mask = tuple(op.mask.get_values())
            self._replace(op, (op.v1, op.v2), lane_functions.shuffle_symbol, lanes, mask)

    def load(self, op: llvm.LoadOp) -> None:
        """Load the parts of numbers, and bytes of integers that lie apart."""
        type = op.dereferenced_value.type
        if _lies_apart(type):
            self._replace(op, (op.ptr,), lane_functions.load_symbol, type)

    def store(self, op: llvm.StoreOp) -> None:
        """Store the parts of numbers, and bytes of integers apart."""
        type = self._type(op)
        if _lies_apart(type):
            self._replace(op, (op.value, op.ptr), lane_functions.store_symbol, type)

    def address(self, op: llvm.GEPOp) -> None:
        """Stretch the distance between elements."""
        op.properties["elem_type"] = self.memory.in_memory(op.elem_type)

    def alloca(self, op: llvm.AllocaOp) -> None:
        """Stretch an array on the stack."""
        op.properties["elem_type"] = self.memory.in_memory(op.elem_type)

    def copy(self, op: ours.MemcpyOp) -> None:
        """Copy as many more bytes as memory is stretched."""
        assert op.parent is not None
        factor = llvm.ConstantOp(IntegerAttr(self.memory.factor, i64), i64)
        size = llvm.MulOp(op.len, factor.result)
        op.parent.insert_ops_before((factor, size), op)
        op.operands[2] = size.res

    def call(self, op: llvm.CallOp) -> None:
        """Call functions of C as functions of numbers, others with numbers."""
        name = "" if op.callee is None else op.callee.root_reference.data
        known = _of_libm(name)
        if known is not None:
            self._call_function(op, known, op.args)
        else:
            self.retyped(op)

    def intrinsic(self, op: llvm.CallIntrinsicOp) -> None:
        """Load and store lanes of a mask, look lanes up; what adds up integers stays as it is."""
        name = op.intrin.data
        if name.startswith("llvm.x86.avx512.vpdpbusd."):
            return
        if name == "llvm.x86.avx512.permvar.sf.512":
            self._replace(op, op.args, lane_functions.lookup_symbol, 16)
        elif name.startswith("llvm.masked.load."):
            pointer, mask, others = op.args
            type = op.results[0].type
            self._replace(op, (pointer, mask, others), lane_functions.load_symbol, type, True)
        elif name.startswith("llvm.masked.store."):
            value, pointer, mask = op.args
            type = self._type(op)
            self._replace(op, (value, pointer, mask), lane_functions.store_symbol, type, True)
        else:
            raise _no_meaning(op)


RULES: Mapping[type[Operation], Callable[..., None]] = {
    llvm.ConstantOp: ExactModule.constant,
    llvm.UndefOp: ExactModule.retyped,
    llvm.ZeroOp: ExactModule.retyped,
    llvm.FPExtOp: ExactModule.handed_on,
    llvm.FPTruncOp: ExactModule.handed_on,
    llvm.FCmpOp: ExactModule.compare,
    llvm_vector.FCmpOp: ExactModule.compare,
    llvm.SelectOp: ExactModule.select,
    llvm_vector.SelectOp: ExactModule.select,
    llvm.SIToFPOp: ExactModule.of_integers,
    ours.UIToFPOp: ExactModule.of_integers,
    ours.FPToSIOp: ExactModule.to_integers,
    ours.FPToUIOp: ExactModule.to_integers,
    llvm.BitcastOp: ExactModule.bits,
    llvm_vector.ExtractElementOp: ExactModule.extract,
    llvm.InsertElementOp: ExactModule.insert,
    llvm.ShuffleVectorOp: ExactModule.shuffle,
    llvm.LoadOp: ExactModule.load,
    llvm.StoreOp: ExactModule.store,
    llvm.GEPOp: ExactModule.address,
    llvm.AllocaOp: ExactModule.alloca,
    ours.MemcpyOp: ExactModule.copy,
    llvm.CallOp: ExactModule.call,
    llvm.CallIntrinsicOp: ExactModule.intrinsic,
}
"""What becomes of ops that are no functions of numbers alone."""


def _is_declared(op: Operation) -> TypeGuard[llvm.FuncOp]:
    return isinstance(op, llvm.FuncOp) and not op.body.blocks


def _lies_apart(type: Attribute) -> bool:
    """Whether stretched memory has a value in several places: other than one byte, or a pointer."""
    if is_float(type) or lanes_of(type) is not None:
        return True
    return isa(type, IntegerType) and element_bytes(type) > 1


def _no_meaning(op: Operation) -> NotProvable:
    return NotProvable(Diagnostic.at(op, f"no exact meaning of '{op.name}' in machine code"))


def _of_libm(symbol: str) -> str | None:
    return OF_LIBM.get(symbol) or OF_LIBM.get(symbol.removesuffix("f"))


def numbers_of_constant(value: Attribute, type: Attribute) -> Numbers:
    """Return the numbers of a scalar or of a vector; of a scalar, an array of one."""
    array = np.asarray(attribute_value(value, lane_of(type))).reshape(-1)
    return Numbers.constants(np.broadcast_to(array, (lanes_of(type) or 1,)))


def stretched(array: Array, memory: Memory) -> NDArray[np.uint8]:
    """Return the bytes of plain elements: constants as numbers, anything else apart."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "f":
        return stretched_numbers(Numbers.constants(flat), flat.dtype.itemsize, memory)
    bytes = np.full((flat.nbytes, memory.factor), 0xFF, np.uint8)
    bytes[:, 0] = flat.view(np.uint8)
    return bytes.reshape(-1)


def stretched_numbers(numbers: Numbers, size: int, memory: Memory) -> NDArray[np.uint8]:
    """Return the bytes of numbers, in the place of floats of so many bytes."""
    doubles = np.full((numbers.size, memory.factor * size // DOUBLE), np.nan)
    doubles[:, :PARTS] = numbers.data.reshape(PARTS, -1).T
    return doubles.reshape(-1).view(np.uint8)
