"""Reductions."""

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.along_axis import LogSoftmaxOp
from gawee_dialect.dialect.graph.arithmetic import AbsOp, NegOp
from gawee_dialect.dialect.graph.arrangement import ReverseOp
from gawee_dialect.dialect.graph.elementary import ExpOp, LogOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, compared, where
from gawee_dialect.frontends.op_mapping.registry import KnownIntsOrNone, Refusal

Reduce = Callable[[Emitter, SSAValue, Sequence[int], bool], SSAValue]


def plain(op: Callable[..., Operation]) -> Reduce:
    """Return a reduction that is one op."""

    def function(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
        return emit(op(data, axes=axes, keep_dims=keep))

    return function


def absolute_sum(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The sum of absolute values."""
    return emit(ReduceSumOp(emit(AbsOp(data)), axes=axes, keep_dims=keep))


def square_sum(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The sum of squares."""
    return emit(ReduceSumOp(emit(MulOp(data, data)), axes=axes, keep_dims=keep))


def norm(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The root of the sum of squares."""
    return emit(SqrtOp(square_sum(emit, data, axes, keep)))


def log_sum(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The logarithm of the sum."""
    return emit(LogOp(emit(ReduceSumOp(data, axes=axes, keep_dims=keep))))


def log_sum_exp(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The logarithm of the sum of exponentials, without overflow."""
    if 0 in tensor_shape(data):
        return log_sum(emit, emit(ExpOp(data)), axes, keep)
    most = emit(ReduceMaxOp(data, axes=axes, keep_dims=True))
    total = log_sum(emit, emit(ExpOp(emit(SubOp(data, most)))), axes, True)
    result = emit(AddOp(total, most))
    if keep:
        return result
    kept = [size for i, size in enumerate(tensor_shape(data)) if i not in axes]
    return emit.reshape(result, kept)


def extreme(
    op: Callable[..., Operation], of_bits: Callable[..., Operation], empty: float
) -> Reduce:
    """Return a reduction to an extreme: of booleans, and of nothing, too."""

    def function(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
        if element_type(data) == i1:
            return emit(of_bits(data, axes=axes, keep_dims=keep))
        shape = tensor_shape(data)
        if any(shape[axis] == 0 for axis in axes):
            kept = [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]
            return emit.full(kept, empty, element_type(data))
        return emit(op(data, axes=axes, keep_dims=keep))

    return function


FUNCTIONS: dict[str, Reduce] = {
    "ReduceSum": plain(ReduceSumOp),
    "ReduceMean": plain(ReduceMeanOp),
    "ReduceMax": extreme(ReduceMaxOp, ReduceAnyOp, -inf),
    "ReduceMin": extreme(ReduceMinOp, ReduceAllOp, inf),
    "ReduceProd": plain(ReduceProdOp),
    "ReduceL1": absolute_sum,
    "ReduceL2": norm,
    "ReduceSumSquare": square_sum,
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": log_sum_exp,
}


def reduction(function: Reduce) -> Callable[..., SSAValue]:
    """Return the mapping of a reduction; axes are an attribute, or an input of later opsets."""

    def mapping(
        emit: Emitter,
        data: SSAValue,
        axes: KnownIntsOrNone = None,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> SSAValue:
        rank = len(tensor_shape(data))
        if not axes and noop_with_empty_axes:
            return data
        chosen = {axis_of(data, axis) for axis in axes} if axes and rank else range(rank)
        over = sorted(chosen)
        return function(emit, data, over, bool(keepdims))

    return mapping


for _name, _function in FUNCTIONS.items():
    register_op(_name)(reduction(_function))


def position(op: Callable[..., Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of the position of an extreme, the first or the last one."""

    def mapping(
        emit: Emitter,
        data: SSAValue,
        axis: int = 0,
        keepdims: int = 1,
        select_last_index: int = 0,
    ) -> SSAValue:
        at = axis_of(data, axis)
        if not select_last_index:
            return emit(op(data, axis=at, keep_dims=bool(keepdims)))
        backwards = emit(op(emit(ReverseOp(data, axes=[at])), axis=at, keep_dims=bool(keepdims)))
        last = emit.number(tensor_shape(data)[at] - 1, i64)
        return emit(SubOp(last, backwards))

    return mapping


register_op("ArgMax")(position(ArgMaxOp))
register_op("ArgMin")(position(ArgMinOp))


# Losses.


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
