"""Vectors of rank 1: what they are in memory, and how their lanes are made, moved and combined."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, llvm, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i32,
    i64,
)
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.arith import SLT, fast_math, narrowed, widened
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FloatType,
    FunctionConversion,
    converted_type,
    lane_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import (
    element_address,
    float_op,
    in_all_lanes,
    load,
    masked_load,
    masked_store,
    store,
)
from gawee_dialect.passes.loops.convert_to_llvm.memref import (
    any_buffer_type,
    as_read,
    as_stored,
    element_pointer,
    stored_bytes,
    stored_type,
    strides_of_buffer,
)
from gawee_dialect.upstream import llvm_vector as ours
from gawee_dialect.upstream.llvm import MaximumOp, MinimumOp, SMaxOp, SMinOp, UMaxOp, UMinOp

Kind: TypeAlias = vector.CombiningKindFlag


def lanes_of(value: SSAValue) -> int:
    """Return the number of lanes of a converted vector."""
    assert isa(value.type, VectorType[Attribute])
    return value.type.get_shape()[0]


def _place(
    to: FunctionConversion, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, int]:
    """Return the pointer of a vector access, and the alignment: that of one element.

    Raises Declined where the elements of a row do not lie side by side.
    """
    type = any_buffer_type(buffer)
    strides = strides_of_buffer(to, buffer)
    if strides and strides[-1] != 1 and type.get_shape()[-1] != 1:
        raise Declined(f"expected rows of adjacent elements, got '{type}'")
    return element_pointer(to, buffer, indices), stored_bytes(lane_type(type.element_type))


def convert_load(op: vector.LoadOp, to: FunctionConversion) -> None:
    """vector.load %m[%i, %j]  ->  llvm.load of a vector, aligned as an element"""
    pointer, alignment = _place(to, op.base, op.indices)
    loaded = to.compute(load(pointer, stored_type(op.result.type), alignment))
    to.define(op.result, as_read(to, loaded, op.result.type))


def convert_store(op: vector.StoreOp, to: FunctionConversion) -> None:
    """vector.store %v, %m[%i, %j]  ->  llvm.store of a vector, aligned as an element"""
    pointer, alignment = _place(to, op.base, op.indices)
    to.append(store(as_stored(to, to.value(op.vector)), pointer, alignment))
    to.mark_written(op.base)


def convert_masked_load(op: vector.MaskedLoadOp, to: FunctionConversion) -> None:
    """vector.maskedload  ->  llvm.call_intrinsic "llvm.masked.load" """
    pointer, alignment = _place(to, op.base, op.indices)
    others = as_stored(to, to.value(op.pass_thru))
    made = masked_load(pointer, to.value(op.mask), others, alignment)
    to.define(op.result, as_read(to, to.compute(made), op.result.type))


def convert_masked_store(op: vector.MaskedStoreOp, to: FunctionConversion) -> None:
    """vector.maskedstore  ->  llvm.call_intrinsic "llvm.masked.store"; of one lane, its store"""
    pointer, alignment = _place(to, op.base, op.indices)
    value = as_stored(to, to.value(op.value_to_store))
    lane = _only_lane(op.mask)
    if lane is None:
        to.append(masked_store(value, pointer, to.value(op.mask), alignment))
    else:
        # LLVM 22 stores a single lane that was truncated as wide as it was before.
        element = to.compute(ours.ExtractElementOp(value, to.integer(lane)))
        address = element_address(pointer, to.integer(lane), element.type)
        to.append(store(element, to.compute(address), alignment))
    to.mark_written(op.base)


def _only_lane(mask: SSAValue) -> int | None:
    """Return the lane that a constant mask has set alone; None for any other mask."""
    if not isinstance(mask.owner, arith.ConstantOp):
        return None
    dense = mask.owner.value
    lanes = dense.get_values() if isinstance(dense, DenseIntOrFPElementsAttr) else ()
    chosen = [index for index, lane in enumerate(lanes) if lane]
    return chosen[0] if len(chosen) == 1 else None


def broadcast(to: FunctionConversion, source: SSAValue, type: Attribute) -> SSAValue:
    """Return a vector all of whose lanes are one scalar; a constant one if the scalar is."""
    if isinstance(source.owner, llvm.ConstantOp) and isa(
        source.owner.value, IntegerAttr | FloatAttr
    ):
        return to.splat(source.owner.value, type)
    assert isa(type, VectorType[Attribute])
    made = in_all_lanes(source, to.integer(0), type)
    for op in made:
        to.append(op)
    return made[-1].results[0]


def convert_broadcast(op: vector.BroadcastOp, to: FunctionConversion) -> None:
    """vector.broadcast %x  ->  llvm.insertelement at 0, llvm.shufflevector of lane 0"""
    type = converted_type(op.vector.type)
    source = to.value(op.source)
    if isinstance(source.type, LLVMPointerType):
        raise Declined(f"expected a scalar or a vector, got '{op.source.type}'")
    if source.type == type:
        to.define(op.vector, source)
    elif isa(source.type, VectorType[Attribute]):
        raise Declined(f"expected a scalar, got '{op.source.type}'")
    else:
        to.define(op.vector, broadcast(to, source, type))


def convert_fma(op: vector.FMAOp, to: FunctionConversion) -> None:
    """vector.fma  ->  llvm.intr.fma"""
    converted_type(op.res.type)
    lhs, rhs, addend = (widened(operand, to) for operand in op.operands)
    made = to.compute(float_op(llvm.FMAOp, (lhs, rhs, addend), to.fast_math))
    to.define(op.res, narrowed(made, op.res.type, to))


def convert_create_mask(op: vector.CreateMaskOp, to: FunctionConversion) -> None:
    """vector.create_mask %n  ->  a comparison of the numbers of the lanes with %n"""
    type = converted_type(op.mask_vector.type)
    assert isa(type, VectorType[IntegerType])
    lanes = type.get_shape()[0]
    # Between 0 and the number of lanes, so that 32 bits are enough: twice as many fit a register.
    count = to.compute(SMinOp(to.value(op.mask_dim_sizes[0]), to.integer(lanes)))
    count = to.compute(SMaxOp(count, to.integer(0)))
    numbers = VectorType(i32, [lanes])
    numbered = to.constant(DenseIntOrFPElementsAttr.from_list(numbers, range(lanes)), numbers)
    limit = broadcast(to, to.compute(llvm.TruncOp(count, i32)), numbers)
    made = llvm.ICmpOp(numbered, limit, IntegerAttr(SLT, i64))
    to.define(op.mask_vector, to.compute(made))


def _position(op: vector.ExtractOp | vector.InsertOp, to: FunctionConversion) -> SSAValue:
    static = op.static_position.get_values()
    if len(static) != 1:
        raise Declined(f"expected the position of one lane, got {len(static)} positions")
    if static[0] == DYNAMIC_INDEX:
        return to.value(op.dynamic_position[0])
    return to.integer(static[0])


def convert_extract(op: vector.ExtractOp, to: FunctionConversion) -> None:
    """vector.extract  ->  llvm.extractelement"""
    made = ours.ExtractElementOp(to.value(op.vector), _position(op, to))
    to.define(op.result, to.compute(made))


def convert_insert(op: vector.InsertOp, to: FunctionConversion) -> None:
    """vector.insert  ->  llvm.insertelement"""
    made = llvm.InsertElementOp(to.value(op.dest), to.value(op.source), _position(op, to))
    to.define(op.result, to.compute(made))


def convert_shuffle(op: vector.ShuffleOp, to: FunctionConversion) -> None:
    """vector.shuffle  ->  llvm.shufflevector; the shorter vector is first filled up"""
    type = converted_type(op.result.type)
    lhs, rhs = to.value(op.v1), to.value(op.v2)
    left, right = lanes_of(lhs), lanes_of(rhs)
    longest = max(left, right)
    # llvm.shufflevector takes two vectors of one type, and numbers the second's lanes from there.
    picks = [pick + longest - left if pick >= left else pick for pick in op.mask.get_values()]
    lhs, rhs = _filled_up(to, lhs, longest), _filled_up(to, rhs, longest)
    mask = DenseArrayBase.from_list(i32, picks)
    to.define(op.result, to.compute(llvm.ShuffleVectorOp(lhs, rhs, mask, type)))


def _filled_up(to: FunctionConversion, value: SSAValue, lanes: int) -> SSAValue:
    own = lanes_of(value)
    if own == lanes:
        return value
    type = VectorType(lane_type(value.type), [lanes])
    mask = DenseArrayBase.from_list(i32, [lane if lane < own else -1 for lane in range(lanes)])
    return to.compute(llvm.ShuffleVectorOp(value, value, mask, type))


def convert_bitcast(op: vector.BitcastOp, to: FunctionConversion) -> None:
    """vector.bitcast  ->  llvm.bitcast"""
    made = llvm.BitcastOp(to.value(op.source), converted_type(op.result.type))
    to.define(op.result, to.compute(made))


FLOAT_KINDS: Mapping[Kind, tuple[type[ours.FloatReduction], Callable[..., Operation]]] = {
    Kind.MAXIMUMF: (ours.ReduceFMaximumOp, MaximumOp),
    Kind.MINIMUMF: (ours.ReduceFMinimumOp, MinimumOp),
    Kind.MAXNUMF: (ours.ReduceFMaxOp, llvm.VectorFMaxOp),
    Kind.MINNUMF: (ours.ReduceFMinOp, llvm.VectorFMinOp),
}
"""What reduces floats in any order, and what combines the result with an accumulator."""

INTEGER_KINDS: Mapping[Kind, tuple[type[ours.IntegerReduction], Callable[..., Operation]]] = {
    Kind.ADD: (ours.ReduceAddOp, llvm.AddOp),
    Kind.MUL: (ours.ReduceMulOp, llvm.MulOp),
    Kind.AND: (ours.ReduceAndOp, llvm.AndOp),
    Kind.OR: (ours.ReduceOrOp, llvm.OrOp),
    Kind.XOR: (ours.ReduceXOrOp, llvm.XOrOp),
    Kind.MAXSI: (ours.ReduceSMaxOp, SMaxOp),
    Kind.MINSI: (ours.ReduceSMinOp, SMinOp),
    Kind.MAXUI: (ours.ReduceUMaxOp, UMaxOp),
    Kind.MINUI: (ours.ReduceUMinOp, UMinOp),
}
"""What reduces integers, and what combines the result with an accumulator."""


def convert_reduction(op: vector.ReductionOp, to: FunctionConversion) -> None:
    """vector.reduction  ->  llvm.intr.vector.reduce; sums of floats in order unless reassoc"""
    kind = op.kind.data
    if isa(op.vector.type, VectorType[Attribute]) and op.vector.type.get_num_dims() > 1:
        raise Declined(f"unsupported reduction <{kind}> of '{op.vector.type}'")
    source = widened(op.vector, to)
    start = None if op.acc is None else widened(op.acc, to)
    flags = fast_math(op.fastmath, to)
    lane = lane_type(source.type)
    if isinstance(lane, FloatType) and kind in (Kind.ADD, Kind.MUL):
        reduced = _ordered_reduction(to, kind, source, start, flags)
        to.define(op.dest, narrowed(reduced, op.dest.type, to))
    elif isinstance(lane, FloatType) and kind in FLOAT_KINDS:
        reduce, combine = FLOAT_KINDS[kind]
        reduced = to.compute(reduce(source, flags))
        reduced = reduced if start is None else to.compute(combine(reduced, start, flags))
        to.define(op.dest, narrowed(reduced, op.dest.type, to))
    elif isa(lane, IntegerType) and kind in INTEGER_KINDS:
        reduce_integers, combine = INTEGER_KINDS[kind]
        reduced = to.compute(reduce_integers(source))
        to.define(op.dest, reduced if start is None else to.compute(combine(reduced, start)))
    else:
        raise Declined(f"unsupported reduction <{kind}> of '{op.vector.type}'")


def _ordered_reduction(
    to: FunctionConversion,
    kind: Kind,
    source: SSAValue,
    start: SSAValue | None,
    flags: FastMathAttr,
) -> SSAValue:
    # -0.0 is what every sum begins with: it changes no sum, not even that of -0.0 alone.
    neutral = -0.0 if kind is Kind.ADD else 1.0
    make = llvm.VectorReduceFAddOp if kind is Kind.ADD else llvm.VectorReduceFMulOp
    begin = to.number(neutral, lane_type(source.type)) if start is None else start
    return to.compute(make(begin, source, flags))


RULES = (
    rule(vector.LoadOp, convert_load),
    rule(vector.StoreOp, convert_store),
    rule(vector.MaskedLoadOp, convert_masked_load),
    rule(vector.MaskedStoreOp, convert_masked_store),
    rule(vector.BroadcastOp, convert_broadcast),
    rule(vector.FMAOp, convert_fma),
    rule(vector.CreateMaskOp, convert_create_mask),
    rule(vector.ExtractOp, convert_extract),
    rule(vector.InsertOp, convert_insert),
    rule(vector.ShuffleOp, convert_shuffle),
    rule(vector.BitcastOp, convert_bitcast),
    rule(vector.ReductionOp, convert_reduction),
)
