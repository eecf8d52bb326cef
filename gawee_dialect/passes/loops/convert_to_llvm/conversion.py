"""One function on its way to the llvm dialect: a map from old values to new ones.

xDSL has no dialect conversion, and staged patterns would need casts between the stages. So a
function is converted whole, in one walk over its structure: each op is visited once, its rule
appends llvm ops to the current block, and the old function is dropped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    UnrealizedConversionCastOp,
    VectorType,
    i16,
    i64,
)
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gawee_dialect.analysis.index_bounds import index_bounds
from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.linear_form import LinearForm
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.loops.convert_to_llvm.instructions import POINTER, number
from gawee_dialect.passes.loops.convert_to_llvm.scopes import Scopes
from gawee_dialect.passes.next_pass import hint_for
from gawee_dialect.target.description import Processor
from gawee_dialect.upstream.amx import TileType
from gawee_dialect.upstream.llvm import X86AMXType

OpT = TypeVar("OpT", bound=Operation)


class Declined(Exception):
    """Raised by a rule that cannot convert an op; the text says why, as in `missed`."""


FloatType: TypeAlias = Float16Type | Float32Type | Float64Type
ScalarType: TypeAlias = IntegerType | FloatType
ValueType: TypeAlias = ScalarType | VectorType[Attribute]
"""What a value of the llvm level is, apart from pointers: a scalar, or a vector of rank 1."""


def lane_type(type: Attribute) -> Attribute:
    """Return the element type of a vector, any other type as it is."""
    return type.element_type if isa(type, VectorType[Attribute]) else type


def in_lanes(scalar: ScalarType, type: Attribute) -> ValueType:
    """Return a scalar type, as a vector of as many lanes where `type` is a vector."""
    return VectorType(scalar, type.shape) if isa(type, VectorType[Attribute]) else scalar


def converted_type(type: Attribute) -> ValueType | LLVMPointerType | X86AMXType:
    """Return the llvm type of a value's type: memrefs are pointers, indices are 64 bits wide.

    Raises Declined for a type that the llvm dialect has nothing for.
    """
    # What is most frequent comes first: `isinstance` is slow where it is false.
    if isinstance(type, IndexType):
        return i64
    if isa(type, VectorType[Attribute]):
        return converted_vector(type)
    if isinstance(type, Float32Type | Float64Type | Float16Type):
        return type
    if isa(type, IntegerType):
        signless = type.signedness.data is Signedness.SIGNLESS
        return type if signless else IntegerType(type.width.data)
    if isinstance(type, MemRefType):
        return POINTER
    if isinstance(type, BFloat16Type):
        return i16  # its bits
    if isinstance(type, TileType):
        return X86AMXType()
    raise Declined(
        f"unsupported type '{type}'; supported: memref, vector, index, iN, f16, bf16, f32, f64"
    )


@cache
def converted_vector(type: VectorType[Attribute]) -> VectorType[Attribute]:
    """Return the llvm type of a vector; raises Declined unless its rank is 1 and its size fixed."""
    if type.get_num_dims() != 1 or type.get_num_scalable_dims():
        raise Declined(f"expected a vector of rank 1 and fixed size, got '{type}'")
    lane = converted_type(type.element_type)
    if isinstance(lane, LLVMPointerType | X86AMXType):
        raise Declined(f"unsupported lanes of type '{type.element_type}'")
    return VectorType(lane, type.shape)


Combine: TypeAlias = Callable[..., Operation]
"""Makes an op with one result of its operands."""


@dataclass(frozen=True)
class LateIndex:
    """An index of the source that is computed where it is used, if it is."""

    form: LinearForm[SSAValue]
    """What it is a sum of."""

    depth: int
    """The depth of what it is computed of."""

    make: Combine | None
    """Makes it of its operands; None where it is a constant."""


@dataclass(frozen=True)
class Team:
    """Which thread runs a function, and of how many, both i64."""

    thread: SSAValue
    threads: SSAValue


class FunctionConversion:
    """What rules see: the values converted so far, and the block that new ops go to."""

    def __init__(
        self,
        rules: "Mapping[type[Operation], Rule]",
        region: Region,
        fast_math: FastMathAttr,
        name: str = "",
        processor: Processor | None = None,
    ):
        self.rules = rules
        self.region = region
        self.fast_math = fast_math
        self.name = name
        self.processor = processor
        """Whose instructions may be named."""
        self.team: Team | None = None
        self.outlined: list[Operation] = []
        self.runtime: dict[str, llvm.LLVMFunctionType] = {}
        self._outlined_count = 0
        self.diagnostics: list[Diagnostic] = []
        self.libm: dict[str, llvm.LLVMFunctionType] = {}
        self.blocks: dict[Block, Block] = {}
        self.block = Block()
        self._values: dict[SSAValue, SSAValue] = {}
        self._constants: dict[tuple[Attribute, Attribute], SSAValue] = {}
        self._integers: dict[int, SSAValue] = {}
        self._late: dict[SSAValue, LateIndex] = {}
        self._scopes = Scopes()
        self._not_negative: dict[SSAValue, bool] = {}
        self._prologue: list[Operation] = []
        self._roots: dict[SSAValue, SSAValue] = {}
        self._written: set[SSAValue] = set()
        self._source: Operation | None = None

    def value(self, old: SSAValue) -> SSAValue:
        """Return what a value of the source function has become."""
        found = self._values.get(old)
        return self._computed_late(old) if found is None else found

    def all_values(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        """Return what several values have become, marking memrefs that rules lose track of."""
        for value in old:
            if isinstance(value.type, MemRefType):
                self.mark_written(value)
        return [self.value(value) for value in old]

    def define(self, old: SSAValue, new: SSAValue) -> None:
        """Say what a value of the source function has become; its name is kept."""
        self._values[old] = new
        if new.name_hint is None:
            new.name_hint = old.name_hint

    def define_late(
        self, old: SSAValue, make: Combine | None, index: LinearForm[SSAValue] | None = None
    ) -> None:
        """Define an index that is computed where it is used: an address is of what it is a sum of.

        `make` makes it of what the operands of its op have become. It may be computed in vain, so
        it must not trap. A constant is made by nothing.
        """
        assert isinstance(old.owner, Operation)
        depth = max(map(self.depth, old.owner.operands), default=0)
        form = LinearForm(0, {old: 1}) if index is None else index
        self._late[old] = LateIndex(form, depth, make)

    def _computed_late(self, old: SSAValue) -> SSAValue:
        late, op = self._late[old], old.owner
        assert isinstance(op, Operation)
        around, self._source = self._source, op
        if late.make is None:
            value = self.integer(late.form.constant)
        else:
            operands = [self.value(operand) for operand in op.operands]
            value = self.once(late.make, *operands, depth=late.depth)
        self._source = around
        if value.name_hint is None:
            value.name_hint = old.name_hint
        return value

    def index(self, old: SSAValue) -> LinearForm[SSAValue]:
        """Return the sum that an index of the source is."""
        late = self._late.get(old)
        return LinearForm(0, {old: 1}) if late is None else late.form

    def depth(self, old: SSAValue) -> int:
        """Return in how many bodies of structured ops a value of the source is known at least."""
        late = self._late.get(old)
        return self._scopes.depth_of(old) if late is None else late.depth

    def is_not_negative(self, old: SSAValue) -> bool:
        """Whether an index is known to be no negative number."""
        known = self._not_negative.get(old)
        if known is None:
            low, _ = index_bounds(old)
            known = self._not_negative[old] = low is not None and low >= 0
        return known

    def mark_not_negative(self, old: SSAValue) -> None:
        """Say that an index is no negative number."""
        self._not_negative[old] = True

    def define_view(self, old: SSAValue, source: SSAValue, new: SSAValue) -> None:
        """Define a memref that shows memory of another."""
        self._roots[old] = self.root(source)
        self._values[old] = new
        if new.name_hint is None:
            new.name_hint = old.name_hint

    def root(self, memref: SSAValue) -> SSAValue:
        """Return the memref whose memory another one shows."""
        return self._roots.get(memref, memref)

    def mark_written(self, memref: SSAValue) -> None:
        """Say that the function may write the memory of a memref."""
        self._written.add(self.root(memref))

    def is_read_only(self, argument: SSAValue) -> bool:
        """Whether nothing converted so far writes the memory of a memref argument."""
        return argument not in self._written

    def outlined_name(self) -> str:
        """Return a name for the next function that is made of a part of this one."""
        self._outlined_count += 1
        return f"{self.name}_parallel_{self._outlined_count - 1}"

    def adopt(self, inner: "FunctionConversion", captured: Sequence[SSAValue]) -> None:
        """Take over what the conversion of an outlined part found, and what it writes to."""
        self.diagnostics += inner.diagnostics
        self.outlined += inner.outlined
        self.libm |= inner.libm
        self.runtime |= inner.runtime
        for value in captured:
            if not inner.is_read_only(value):
                self.mark_written(value)

    def append(self, op: Operation) -> None:
        """Append an op to the current block; it gets the location of the op being converted."""
        if self._source is not None:
            hand_on_location(self._source, op)
        self.block.add_op(op)

    def compute(self, op: Operation) -> SSAValue:
        """Append an op with one result, and return that."""
        self.append(op)
        return op.results[0]

    def once(self, make: Combine, *operands: SSAValue, depth: int | None = None) -> SSAValue:
        """Return what `make` makes of values; what was made here or around here is shared.

        With the `depth` of the operands, it goes in front of the loops that it does not depend on.
        """
        key = (make, *operands)
        at, front = self._scopes.place(self._scopes.depth if depth is None else depth)
        found = self._scopes.find(key, at)
        if found is None:
            found = self._placed(make(*operands), front)
            self._scopes.keep(key, at, found)
        return found

    def _placed(self, op: Operation, front: Block | None) -> SSAValue:
        """Append an op with one result, or put it at the end of a block that is complete."""
        if front is None or front.last_op is None:
            return self.compute(op)
        if self._source is not None:
            hand_on_location(self._source, op)
        front.insert_op_before(op, front.last_op)
        return op.results[0]

    def forget(self) -> None:
        """Say that what `once` made before does not dominate what comes next."""
        self._scopes.forget()

    def in_prologue(self, op: Operation) -> SSAValue:
        """Put an op with one result at the top of the entry block."""
        if self._source is not None:
            hand_on_location(self._source, op)
        self._prologue.append(op)
        return op.results[0]

    def constant(self, value: Attribute, type: Attribute) -> SSAValue:
        """Return a constant; each is made once a function."""
        key = (value, type)
        if key not in self._constants:
            made = llvm.ConstantOp.create(result_types=(type,), properties={"value": value})
            self._constants[key] = self.in_prologue(made)
        return self._constants[key]

    def integer(self, value: int, type: Attribute = i64) -> SSAValue:
        """Return an integer constant; every lane of it where the type is a vector."""
        if type is i64:
            if value not in self._integers:
                self._integers[value] = self.constant(number(value), i64)
            return self._integers[value]
        lane = lane_type(type)
        assert isa(lane, IntegerType)
        return self.splat(IntegerAttr(value, lane), type)

    def number(self, value: float, type: Attribute) -> SSAValue:
        """Return a float constant; every lane of it where the type is a vector."""
        lane = lane_type(type)
        assert isinstance(lane, FloatType)
        return self.splat(FloatAttr(value, lane), type)

    def splat(self, value: Attribute, type: Attribute) -> SSAValue:
        """Return a constant of a type; all lanes are `value` where the type is a vector."""
        if isa(type, VectorType[IntegerType]) and isa(value, IntegerAttr):
            value = DenseIntOrFPElementsAttr.from_list(type, [value.value.data])
        elif isa(type, VectorType[FloatType]) and isa(value, FloatAttr):
            value = DenseIntOrFPElementsAttr.from_list(type, [value.value.data])
        return self.constant(value, type)

    def start(self, block: Block) -> None:
        """Append a block to the function; new ops go there from now on."""
        self.region.add_block(block)
        self.block = block

    def block_like(self, arguments: Sequence[SSAValue]) -> Block:
        """Make a block whose arguments stand for those of the source; it is not yet placed."""
        block = Block(arg_types=[converted_type(argument.type) for argument in arguments])
        for old, new in zip(arguments, block.args, strict=True):
            self.define(old, new)
        return block

    def convert_ops(self, ops: Sequence[Operation]) -> None:
        """Convert ops in order; one that no rule can convert leaves a diagnostic."""
        for op in ops:
            outer, self._source = self._source, op
            try:
                self._convert(op)
            except Declined as reason:
                self._reject(op, str(reason), None if type(op) in self.rules else hint_for(op))
            self._source = outer

    def convert_body(self, block: Block, front: Block | None = None) -> list[SSAValue]:
        """Convert a block of a structured op in place; return what its terminator yields.

        Of a loop's body `front` is the block that ends with the jump into the loop.
        """
        terminator = block.last_op
        assert terminator is not None
        self._scopes.enter(block, front)
        self.convert_ops([op for op in block.ops if op is not terminator])
        values = self.all_values(terminator.operands)
        self._scopes.leave()
        return values

    def finish(self) -> None:
        """Put constants and stack buffers at the top of the entry block."""
        entry = self.region.blocks[0]
        if self._prologue and entry.first_op is not None:
            entry.insert_ops_before(self._prologue, entry.first_op)

    def _convert(self, op: Operation) -> None:
        found = self.rules.get(type(op))
        if found is None:
            raise Declined("no rule is for it")
        found.convert(op, self)

    def _reject(self, op: Operation, reason: str, hint: str | None) -> None:
        message = f"cannot be removed by convert-to-llvm: {reason}"
        self.diagnostics.append(Diagnostic.at(op, message, hint))
        for result in op.results:  # so that the ops that use it are looked at too
            if result not in self._values:
                placeholder = UnrealizedConversionCastOp.get([], [_placeholder(result.type)])
                self.define(result, self.compute(placeholder))


def _placeholder(type: Attribute) -> Attribute:
    try:
        return converted_type(type)
    except Declined:
        return i64


@dataclass(frozen=True)
class Rule:
    """How one kind of op becomes llvm ops."""

    source: type[Operation]
    convert: Callable[[Operation, FunctionConversion], None]


def rule(source: type[OpT], convert: Callable[[OpT, FunctionConversion], None]) -> Rule:
    """Make the rule of an op class from a function on that class."""

    def checked(op: Operation, to: FunctionConversion) -> None:
        assert isinstance(op, source)
        convert(op, to)

    return Rule(source, checked)
