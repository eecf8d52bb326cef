"""Positions in sorted values."""

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.bitwise import LogicalNotOp
from gawee_dialect.dialect.reduction import ReduceSumOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.indexing import gather
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Operand


def place_among(
    emit: Emitter, bounds: SSAValue, value: Operand, out_int32: bool, right: bool
) -> SSAValue:
    """Count the bounds, along their last axis, that come before a value; NaN comes last."""
    predicate = "gt" if right else "ge"
    before = emit(LogicalNotOp(compared(emit, bounds, value, predicate)))
    counted = emit.cast(before, i32 if out_int32 else i64)
    return emit(ReduceSumOp(counted, axes=[-1], keep_dims=False))


@register_op("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    emit: Emitter,
    self: Operand,
    boundaries: SSAValue,
    out_int32: bool = False,
    right: bool = False,
) -> SSAValue:
    """Which of the intervals between boundaries each element is in"""
    value = unsqueeze(emit, self, -1) if isinstance(self, SSAValue) else self
    return place_among(emit, boundaries, value, out_int32, right)


@register_op("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    emit: Emitter,
    sorted_sequence: SSAValue,
    self: Operand,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: SSAValue | None = None,
) -> SSAValue:
    """Where each element would be put in to keep the last axis sorted"""
    if side not in (None, "left", "right"):
        raise Refusal(f"unsupported side '{side}'; supported: left, right")
    bounds = sorted_sequence if sorter is None else gather(emit, sorted_sequence, -1, sorter)
    after = side == "right" or (side is None and right)
    if not isinstance(self, SSAValue):
        return place_among(emit, bounds, self, out_int32, after)
    if len(tensor_shape(bounds)) > 1:
        bounds = unsqueeze(emit, bounds, -2)
    return place_among(emit, bounds, unsqueeze(emit, self, -1), out_int32, after)
