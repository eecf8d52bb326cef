"""The instructions that loops are full of, made without looking up how each op is put together.

A constructor of xDSL sorts its arguments by the op's definition and makes each attribute anew.
These hand over what the op holds in the end, attributes that are made once.
"""

from collections.abc import Sequence
from functools import cache, lru_cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.hints import isa

NSW = IntegerAttr(1, 32)
"""No signed wrap, as the overflow flags of an op are held."""

POINTER = LLVMPointerType()
_NO_ORDER = IntegerAttr(0, i64)
_NO_FLAGS = IntegerAttr(0, 32)
_UNIT = UnitAttr()
_ONE_CONDITION = DenseArrayBase.from_list(i32, [1, 0, 0])
_ONE_VALUE = DenseArrayBase.from_list(i32, [GEP_USE_SSA_VAL])


@lru_cache(maxsize=4096)
def number(value: int) -> IntegerAttr[IntegerType]:
    """Return an attribute of 64 bits."""
    return IntegerAttr(value, i64)


def multiply(lhs: SSAValue, rhs: SSAValue) -> Operation:
    """Make a product of integers that does not wrap."""
    return llvm.MulOp.create(
        operands=(lhs, rhs), result_types=(lhs.type,), properties={"overflowFlags": NSW}
    )


def add(lhs: SSAValue, rhs: SSAValue) -> Operation:
    """Make a sum of integers that does not wrap."""
    return llvm.AddOp.create(
        operands=(lhs, rhs), result_types=(lhs.type,), properties={"overflowFlags": NSW}
    )


def float_op(kind: type[Operation], operands: Sequence[SSAValue], flags: FastMathAttr) -> Operation:
    """Make an op on floats whose result is of its first operand's type."""
    return kind.create(
        operands=operands,
        result_types=(operands[0].type,),
        properties={"fastmathFlags": flags},
    )


def element_address(
    pointer: SSAValue, index: SSAValue, element: Attribute, *, inbounds: bool = True
) -> Operation:
    """Make the pointer to an element of an array that another pointer is the start of."""
    properties: dict[str, Attribute] = {
        "rawConstantIndices": _ONE_VALUE,
        "elem_type": element,
        "noWrapFlags": _NO_FLAGS,
    }
    if inbounds:
        properties["inbounds"] = _UNIT
    return llvm.GEPOp.create(
        operands=(pointer, index), result_types=(POINTER,), properties=properties
    )


@cache
def _constant_indices(*values: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, list(values))


def address_at(
    pointer: SSAValue, indices: Sequence[int], element: Attribute, *, inbounds: bool = True
) -> Operation:
    """Make the pointer to what is at a known place behind another."""
    properties: dict[str, Attribute] = {
        "rawConstantIndices": _constant_indices(*indices),
        "elem_type": element,
        "noWrapFlags": _NO_FLAGS,
    }
    if inbounds:
        properties["inbounds"] = _UNIT
    return llvm.GEPOp.create(operands=(pointer,), result_types=(POINTER,), properties=properties)


def load(pointer: SSAValue, type: Attribute, alignment: int | None) -> Operation:
    """Make a load."""
    properties: dict[str, Attribute] = {"ordering": _NO_ORDER}
    if alignment is not None:
        properties["alignment"] = number(alignment)
    return llvm.LoadOp.create(operands=(pointer,), result_types=(type,), properties=properties)


def store(value: SSAValue, pointer: SSAValue, alignment: int | None) -> Operation:
    """Make a store."""
    properties: dict[str, Attribute] = {"ordering": _NO_ORDER}
    if alignment is not None:
        properties["alignment"] = number(alignment)
    return llvm.StoreOp.create(operands=(value, pointer), properties=properties)


def masked_load(pointer: SSAValue, mask: SSAValue, others: SSAValue, alignment: int) -> Operation:
    """Make a load of the lanes that a mask has set; the others are those of a vector."""
    return _masked("load", others.type, (pointer, mask, others), 0, alignment)


def masked_store(value: SSAValue, pointer: SSAValue, mask: SSAValue, alignment: int) -> Operation:
    """Make a store of the lanes that a mask has set."""
    return _masked("store", value.type, (value, pointer, mask), 1, alignment)


def _masked(
    kind: str, type: Attribute, operands: Sequence[SSAValue], pointer: int, alignment: int
) -> Operation:
    # Not `llvm.intr.masked.load`: LLVM 22 takes its alignment as i32, versions after it as i64.
    assert isa(type, VectorType[Attribute])
    suffix = f"v{type.get_shape()[0]}{type.element_type}"
    notes = [DictionaryAttr({}) for _ in operands]
    notes[pointer] = DictionaryAttr({"llvm.align": number(alignment)})
    made = llvm.CallIntrinsicOp(
        StringAttr(f"llvm.masked.{kind}.{suffix}.p0"), operands, [type] if kind == "load" else []
    )
    made.attributes["arg_attrs"] = ArrayAttr(notes)
    return made


def in_all_lanes(scalar: SSAValue, zero: SSAValue, type: VectorType[Attribute]) -> list[Operation]:
    """Make a vector all of whose lanes are one scalar, from an index that is zero."""
    undefined = llvm.UndefOp.create(result_types=(type,))
    first = llvm.InsertElementOp.create(
        operands=(undefined.results[0], scalar, zero), result_types=(type,)
    )
    mask = first_lanes(type.get_shape()[0])
    vectors = first.results[0], undefined.results[0]
    shuffled = llvm.ShuffleVectorOp.create(
        operands=vectors, result_types=(type,), properties={"mask": mask}
    )
    return [undefined, first, shuffled]


@cache
def first_lanes(count: int) -> DenseArrayBase[IntegerType]:
    """Return what chooses lane 0 for every lane of a vector."""
    return DenseArrayBase.from_list(i32, [0] * count)


def less_than(lhs: SSAValue, rhs: SSAValue) -> Operation:
    """Make a comparison of scalar integers with a sign."""
    return llvm.ICmpOp.create(
        operands=(lhs, rhs), result_types=(i1,), properties={"predicate": number(2)}
    )


def branch(condition: SSAValue, then: Block, otherwise: Block) -> Operation:
    """Make a branch to one of two blocks without arguments."""
    return llvm.CondBrOp.create(
        operands=(condition,),
        successors=(then, otherwise),
        properties={"operandSegmentSizes": _ONE_CONDITION},
    )


def jump(target: Block, values: Sequence[SSAValue] = ()) -> Operation:
    """Make a branch that is always taken."""
    return llvm.BrOp.create(operands=values, successors=(target,))
