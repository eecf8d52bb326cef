"""Wrong changes of a module: each is one function, for `Wrong` of `wrong_pass.py`."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from xdsl.dialects import arith, linalg, llvm, memref, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    VectorType,
    f32,
    f64,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.graph.activation import GeluOp
from gawee_dialect.dialect.graph.arithmetic import ExpOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, SubOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp, LayerNormOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import attribute_value
from gawee_dialect.upstream.linalg import MatmulOp

Op = TypeVar("Op", bound=Operation)


def first(module: ModuleOp, kind: type[Op]) -> Op:
    return next(op for op in module.walk() if isinstance(op, kind))


def next_float(value: float) -> float:
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))


# At the gawee level.


def nudge_constant(module: ModuleOp) -> None:
    """A coefficient that is off by one unit in the last place, 7e-9 of 0.1."""
    op = first(module, ConstantOp)
    (value,) = attribute_value(op.value, op.result.type).reshape(-1)
    type = TensorType(f32, [])
    op.properties["value"] = DenseIntOrFPElementsAttr.from_list(type, [next_float(float(value))])


def nudge_epsilon(module: ModuleOp) -> None:
    """1e-5 and a billionth."""
    first(module, BatchNormOp).properties["eps"] = FloatAttr(1.0001e-05, f64)


def nudge_layer_norm(module: ModuleOp) -> None:
    first(module, LayerNormOp).properties["eps"] = FloatAttr(1.001e-05, f64)


def swap_padding(module: ModuleOp) -> None:
    """One row more above and one less below."""
    first(module, ConvOp).properties["padding"] = DenseArrayBase.from_list(i64, [2, 1, 0, 1])


def gelu_by_tanh(module: ModuleOp) -> None:
    op = first(module, GeluOp)
    op.result.replace_all_uses_with(_inserted(op, GeluOp(op.input, approximate="tanh")).results[0])
    op.detach()
    op.erase()


def nudge_scale(module: ModuleOp) -> None:
    op = first(module, AttentionOp)
    op.properties["scale"] = FloatAttr(next_float(op.scale.value.data), f64)


def drop_skip(module: ModuleOp) -> None:
    """x + y -> x + x"""
    op = first(module, AddOp)
    op.operands[1] = op.operands[0]


def _inserted(before: Operation, op: Operation) -> Operation:
    assert before.parent is not None
    before.parent.insert_op_before(op, before)
    op.location = before.location
    return op


# At the linalg level, and in the bodies of kernels.


def nudge_float(which: int) -> Callable[[ModuleOp], None]:
    """Make another float of a scalar constant, the next one above it."""

    def change(module: ModuleOp) -> None:
        constants = [
            op
            for op in module.walk()
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr)
        ]
        op = constants[which]
        assert isinstance(op.value, FloatAttr)
        op.properties["value"] = FloatAttr(next_float(op.value.value.data), f32)

    return change


def replace_first(old: type[Operation], new: type[Operation]) -> Callable[[ModuleOp], None]:
    """Put another op of two operands in the place of the first of a kind."""

    def change(module: ModuleOp) -> None:
        op = first(module, old)
        made = _inserted(op, new(*op.operands))
        op.results[0].replace_all_uses_with(made.results[0])
        op.detach()
        op.erase()

    return change


def same_operands(kind: type[Operation]) -> Callable[[ModuleOp], None]:
    """Let the first op of a kind read its first operand twice."""

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        op.operands[1] = op.operands[0]

    return change


def shift_pad(module: ModuleOp) -> None:
    """One element more before, and one less after."""
    op = next(op for op in module.walk() if isinstance(op, tensor.PadOp))
    low, high = list(op.static_low.get_values()), list(op.static_high.get_values())
    low[-1], high[-1] = low[-1] + 1, high[-1] - 1
    op.properties["static_low"] = DenseArrayBase.from_list(i64, low)
    op.properties["static_high"] = DenseArrayBase.from_list(i64, high)


def broadcast_other_axis(module: ModuleOp) -> None:
    """Let every row of a batch be the first one."""
    for op in module.walk():
        if isinstance(op, linalg.ops.GenericOp):
            maps = [each.data for each in op.indexing_maps]
            if maps[0].num_dims > 1 and maps[0].results == maps[-1].results:
                maps[0] = _with_zero_first(maps[0])
                op.properties["indexing_maps"] = ArrayAttr(map(AffineMapAttr, maps))
                return


def _with_zero_first(old: AffineMap) -> AffineMap:
    return AffineMap(old.num_dims, 0, (AffineExpr.constant(0), *old.results[1:]))


# At the kernels level.


def first_row_of_input(module: ModuleOp) -> None:
    """Let a kernel read the first image of the batch for all of them."""
    for op in module.walk():
        if isinstance(op, KernelOp) and op.sizes[0] > 1:
            maps = list(op.maps)
            maps[0] = _with_zero_first(maps[0])
            op.properties["indexing_maps"] = ArrayAttr(map(AffineMapAttr, maps))
            return


def start_above_zero(module: ModuleOp) -> None:
    """Let a sum begin at a billionth."""
    for op in module.walk():
        if isinstance(op, KernelOp) and isinstance(op.initial, FloatAttr):
            if op.initial.value.data == 0:
                op.properties["initial"] = FloatAttr(1e-9, f32)
                return


# Of loops.


def nudge_index(which: int, by: int = -1) -> Callable[[ModuleOp], None]:
    """Make a constant index another, one less."""

    def change(module: ModuleOp) -> None:
        constants = [
            op
            for op in module.walk()
            if isinstance(op, arith.ConstantOp) and isinstance(op.result.type, IndexType)
        ]
        value = constants[which].value
        assert isinstance(value, IntegerAttr)
        constants[which].properties["value"] = IntegerAttr(value.value.data + by, IndexType())

    return change


def swap_last_operands(kind: type[Operation]) -> Callable[[ModuleOp], None]:
    """a * b + c -> a * c + b"""

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        op.operands[1], op.operands[2] = op.operands[2], op.operands[1]

    return change


def set_mask(kind: type[Operation]) -> Callable[[ModuleOp], None]:
    """Leave out the first lane of what is stored under a constant mask."""

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        mask = op.operands[-2].owner
        assert isinstance(mask, arith.ConstantOp)
        assert isinstance(mask.value, DenseIntOrFPElementsAttr)
        type = mask.value.type
        assert isa(type, VectorType[IntegerType])
        lanes = [0, *(1 if lane else 0 for lane in mask.value.get_values()[1:])]
        mask.properties["value"] = DenseIntOrFPElementsAttr.from_list(type, lanes)

    return change


def misplace_view(module: ModuleOp) -> None:
    """Let the first buffer of the workspace begin a byte later."""
    op = next(op for op in module.walk() if isinstance(op, memref.ViewOp))
    assert op.parent is not None
    one = arith.ConstantOp(IntegerAttr(1, IndexType()))
    op.parent.insert_op_before(one, op)
    op.operands[1] = one.result


# Further ones of graphs.


def set_property(kind: type[Operation], name: str, value: Attribute) -> Callable[[ModuleOp], None]:
    """Give a property of the first op of a kind another value."""

    def change(module: ModuleOp) -> None:
        first(module, kind).properties[name] = value

    return change


def exchange_operands(
    kind: type[Operation], left: int = 0, right: int = 1
) -> Callable[[ModuleOp], None]:
    """Exchange two operands of the first op of a kind."""

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        operands = list(op.operands)
        operands[left], operands[right] = operands[right], operands[left]
        op.operands = operands

    return change


def rewritten(
    kind: type[Operation], make: Callable[[Operation], Sequence[Operation]], *, lost: bool = False
) -> Callable[[ModuleOp], None]:
    """Put ops in the place of the first op of a kind; what the last one makes is the result.

    They have its location, or where it is `lost` none.
    """

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        assert op.parent is not None
        made = make(op)
        for each in made:
            op.parent.insert_op_before(each, op)
            if not lost:
                each.location = op.location
        op.results[0].replace_all_uses_with(made[-1].results[0])
        op.detach()
        op.erase()

    return change


def relu_by_comparison(op: Operation) -> Sequence[Operation]:
    """x > 0 ? x : 0, which makes zeros of NaN"""
    (x,) = op.operands
    zero = ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(f32, []), [0.0]))
    greater = CompareOp(x, zero.result, predicate="gt")
    return [zero, greater, WhereOp(greater.result, x, zero.result)]


def plain_softmax(op: Operation) -> Sequence[Operation]:
    """exp(x) / sum(exp(x)), of which large ones overflow"""
    exp = ExpOp(op.operands[0])
    total = ReduceSumOp(exp.result, axes=[-1], keep_dims=True)
    return [exp, total, DivOp(exp.result, total.result)]


def sum_for_mean(op: Operation) -> Sequence[Operation]:
    """mean(x) -> sum(x), over the last two axes"""
    return [ReduceSumOp(op.operands[0], axes=[-2, -1], keep_dims=True)]


def reversed_difference(op: Operation) -> Sequence[Operation]:
    """x - y -> y - x"""
    return [SubOp(op.operands[1], op.operands[0])]


def hidden(op: Operation) -> Sequence[Operation]:
    """An op that nothing runs"""
    return [TestOp(op.operands, result_types=[each.type for each in op.results])]


def share_place(module: ModuleOp) -> None:
    """Write y - x for x - y, and give it the place of what it reads."""
    op = first(module, SubOp)
    maker = op.operands[0].owner
    assert isinstance(maker, Operation)
    rewritten(SubOp, reversed_difference, lost=True)(module)
    first(module, SubOp).location = maker.location


# Further ones of linalg.


def forget_fill(module: ModuleOp) -> None:
    """Let a sum begin as what lies in memory."""
    op = first(module, linalg.ops.FillOp)
    op.results[0].replace_all_uses_with(op.operands[1])
    op.detach()
    op.erase()


def maxima_from_zero(module: ModuleOp) -> None:
    """Let maxima begin at 0 in the place of minus infinity."""
    for op in module.walk():
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
            if op.value.value.data == -np.inf:
                op.properties["value"] = FloatAttr(0.0, f32)
                return
    raise AssertionError("no maximum")


def transpose_weight(module: ModuleOp) -> None:
    """Read a square weight (k, n) where it is stored as (n, k)."""
    for op in module.walk():
        if isinstance(op, MatmulOp):
            maps = [each.data for each in op.get_indexing_maps()]
            maps[1] = AffineMap.from_callable(lambda m, n, k: (k, n))
            op.properties["indexing_maps"] = ArrayAttr(map(AffineMapAttr, maps))
            return
    raise AssertionError("no product")


def transpose_last(which: type[Operation]) -> Callable[[ModuleOp], None]:
    """Exchange two results of the first square map of inputs of an op of a kind."""

    def change(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, which) and _exchange_results(op):
                return
        raise AssertionError("no square operand")

    return change


def _exchange_results(op: Operation) -> bool:
    maps = op.properties["indexing_maps"]
    assert isa(maps, ArrayAttr[AffineMapAttr])
    for index, value in enumerate(op.operands):
        shape = value.type.get_shape() if isa(value.type, TensorType[Attribute]) else ()
        if len(shape) > 1 and shape[-1] == shape[-2] and index < len(maps.data) - 1:
            old = maps.data[index].data
            results = (*old.results[:-2], old.results[-1], old.results[-2])
            changed = AffineMap(old.num_dims, old.num_symbols, results)
            new = [*maps.data]
            new[index] = AffineMapAttr(changed)
            op.properties["indexing_maps"] = ArrayAttr(new)
            return True
    return False


# Of buffers.


def all_at_the_start(module: ModuleOp) -> None:
    """Put all buffers at the start of the workspace."""
    for view in list(module.walk()):
        if isinstance(view, memref.ViewOp):
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            assert view.parent is not None
            view.parent.insert_op_before(zero, view)
            view.operands[1] = zero.result


def forget_first(kind: type[Operation]) -> Callable[[ModuleOp], None]:
    """Leave out the first op of a kind that has no results."""

    def change(module: ModuleOp) -> None:
        op = first(module, kind)
        op.detach()
        op.erase()

    return change


def lose_stride(module: ModuleOp) -> None:
    """Let a convolution step by one."""
    ones = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [2]), [1])
    first(module, linalg.ops.Conv2DNchwFchwOp).strides = ones


def pooled_from_zero(module: ModuleOp) -> None:
    """Let the maxima of a kernel begin at 0 in the place of minus infinity."""
    for op in module.walk():
        if isinstance(op, KernelOp) and isinstance(op.initial, FloatAttr):
            if op.initial.value.data == -np.inf:
                op.properties["initial"] = FloatAttr(0.0, f32)
                return
    raise AssertionError("no maximum")


# Of the llvm dialect.


def align_load(module: ModuleOp) -> None:
    """Claim that the first float which is loaded is at a multiple of 64."""
    for op in module.walk():
        if isinstance(op, llvm.LoadOp) and op.results[0].type == f32:
            op.alignment = IntegerAttr(64, i64)
            return
    raise AssertionError("no load")
