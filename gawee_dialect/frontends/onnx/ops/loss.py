"""Losses."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.along_axis import LogSoftmaxOp
from gawee_dialect.dialect.arithmetic import NegOp
from gawee_dialect.dialect.elementwise import DivOp, MulOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherOp
from gawee_dialect.dialect.reduction import ReduceMeanOp, ReduceSumOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.comparison import compared, where
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal


@register_op("NegativeLogLikelihoodLoss")
def negative_log_likelihood(
    emit: Emitter,
    input: SSAValue,
    target: SSAValue,
    weight: SSAValue | None = None,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> SSAValue:
    """Minus the element of the target's class, weighted; some classes may be ignored"""
    if reduction not in ("none", "sum", "mean"):
        raise Refusal(f"unsupported reduction '{reduction}'; supported: none, sum, mean")
    element = element_type(input)
    labels = target
    kept: SSAValue | None = None
    if ignore_index is not None:
        kept = compared(emit, target, ignore_index, "ne")
        labels = where(emit, kept, target, 0)
    shape = tensor_shape(target)
    chosen = emit(GatherElementsOp(input, emit.reshape(labels, (shape[0], 1, *shape[1:])), axis=1))
    loss = emit(NegOp(emit.reshape(chosen, shape)))
    weights = None if weight is None else emit(GatherOp(weight, labels, axis=0))
    if kept is not None:
        ones = emit.cast(kept, element)
        weights = ones if weights is None else emit(MulOp(weights, ones))
    if weights is not None:
        loss = emit(MulOp(loss, weights))
    axes = list(range(len(shape)))
    if reduction == "none":
        return loss
    if reduction == "mean" and weights is None:
        return emit(ReduceMeanOp(loss, axes=axes))
    total = emit(ReduceSumOp(loss, axes=axes))
    if reduction == "sum" or weights is None:
        return total
    return emit(DivOp(total, emit(ReduceSumOp(weights, axes=axes))))


@register_op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    emit: Emitter,
    scores: SSAValue,
    labels: SSAValue,
    weights: SSAValue | None = None,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Sequence[SSAValue]:
    """The negative log-likelihood of a softmax, and the softmax's logarithm"""
    logarithm = emit(LogSoftmaxOp(scores, axis=1))
    loss = negative_log_likelihood(emit, logarithm, labels, weights, ignore_index, reduction)
    return loss, logarithm
