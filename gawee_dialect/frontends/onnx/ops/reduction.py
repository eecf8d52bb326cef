"""Reductions, and normalisations by them."""

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.evaluated import is_filled_with
from gawee_dialect.dialect.graph.arithmetic import AbsOp, ExpOp, LogOp, NegOp, RsqrtOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp, GatherOp
from gawee_dialect.dialect.graph.movement import ReshapeOp, ReverseOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    LogSoftmaxOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, isinf, mul, pow_tensors
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    axis_of,
    compared,
    part,
    where,
    widened,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, KnownIntsOrNone, Refusal

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
    length = emit(SqrtOp(square_sum(emit, widened(emit, data), axes, keep)))
    return emit.cast(length, element_type(data))


def log_sum(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The logarithm of the sum."""
    return emit(LogOp(emit(ReduceSumOp(data, axes=axes, keep_dims=keep))))


def log_sum_exp(emit: Emitter, data: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    """The logarithm of the sum of exponentials, without overflow."""
    if 0 in tensor_shape(data):
        return log_sum(emit, emit(ExpOp(data)), axes, keep)
    largest = emit(ReduceMaxOp(data, axes=axes, keep_dims=True))
    most = where(emit, isinf(emit, largest), 0, largest)
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


@register_op("BatchNormalization")
def batch_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    b: SSAValue,
    input_mean: SSAValue,
    input_var: SSAValue,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
) -> Sequence[SSAValue | None]:
    """Channels moved to mean 0 and variance 1 by given figures; in training by their own"""
    if not training_mode:
        result = emit(BatchNormOp(x, input_mean, input_var, scale, b, eps=epsilon))
        return (result,)
    axes = [axis for axis in range(len(tensor_shape(x))) if axis != 1]
    mean = emit(ReduceMeanOp(x, axes=axes))
    centred = emit(SubOp(x, emit.reshape(mean, _as_channels(x))))
    variance = emit(ReduceMeanOp(emit(MulOp(centred, centred)), axes=axes))
    result = emit(BatchNormOp(x, mean, variance, scale, b, eps=epsilon))
    figures = [
        add(emit, mul(emit, old, momentum), mul(emit, new, 1 - momentum))
        for old, new in ((input_mean, mean), (input_var, variance))
    ]
    return result, *figures


def _as_channels(x: SSAValue) -> list[int]:
    shape = tensor_shape(x)
    return [1, shape[1], *[1] * (len(shape) - 2)]


@register_op("InstanceNormalization")
def instance_normalization(
    emit: Emitter, input: SSAValue, scale: SSAValue, b: SSAValue, epsilon: float = 1e-5
) -> SSAValue:
    """Each channel of each image moved to mean 0 and variance 1"""
    channels = tensor_shape(input)[1]
    return emit(GroupNormOp(input, scale, b, groups=channels, eps=epsilon))


def of_groups(emit: Emitter, norm: GroupNormOp, shape: Sequence[int]) -> SSAValue | None:
    """Return what a reshaped instance norm is of groups of channels; None where it is none.

    torch.onnx.export writes a group norm as the instance norm of (batch, groups, elements of one).
    """
    view, groups = norm.input.owner, norm.groups.value.data
    if not isinstance(view, ReshapeOp) or tensor_shape(view.input) != tuple(shape):
        return None
    batch, instances, *_ = tensor_shape(norm.input)
    if len(shape) < 2 or shape[0] != batch or instances != groups or shape[1] % groups:
        return None
    scale, bias = (
        None
        if each is None or is_filled_with(each, neutral)
        else emit.reshape(_repeated(emit, each, shape[1] // groups), (shape[1],))
        for each, neutral in ((norm.scale, 1), (norm.bias, 0))
    )
    return emit(GroupNormOp(view.input, scale, bias, groups=groups, eps=norm.eps.value.data))


def _repeated(emit: Emitter, value: SSAValue, times: int) -> SSAValue:
    """Return a matrix that has each element of a vector in a row."""
    size = tensor_shape(value)[0]
    return emit.broadcast(emit.reshape(value, (size, 1)), (size, times))


@register_op("GroupNormalization", since=21)
def group_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    bias: SSAValue,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> SSAValue:
    """Groups of channels moved to mean 0 and variance 1"""
    return emit(GroupNormOp(x, scale, bias, groups=num_groups, eps=epsilon))


def normalized(
    emit: Emitter, x: SSAValue, axes: Sequence[int], epsilon: float, *, centre: bool
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return a tensor over its deviation, its mean and one over the deviation; axes are kept."""
    mean = emit(ReduceMeanOp(x, axes=axes, keep_dims=True))
    value = emit(SubOp(x, mean)) if centre else x
    variance = emit(ReduceMeanOp(emit(MulOp(value, value)), axes=axes, keep_dims=True))
    inverse = emit(RsqrtOp(add(emit, variance, epsilon)))
    return emit(MulOp(value, inverse)), mean, inverse


def _scales_rows(x: SSAValue, rank: int, *affine: SSAValue | None) -> bool:
    """Whether scale and bias have just the last axes, and the type, of what they are for."""
    sizes = tensor_shape(x)[len(tensor_shape(x)) - rank :]
    return all(
        each is None or (tensor_shape(each) == sizes and element_type(each) == element_type(x))
        for each in affine
    )


@register_op("LayerNormalization")
def layer_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    b: SSAValue | None = None,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Sequence[SSAValue | None]:
    """The last axes moved to mean 0 and variance 1"""
    axes = list(range(axis_of(x, axis), len(tensor_shape(x))))
    read = emit.is_used(1) or emit.is_used(2)
    if not read and _scales_rows(x, len(axes), scale, b):
        return (emit(LayerNormOp(x, scale, b, normalized_rank=len(axes), eps=epsilon)),)
    value, mean, inverse = normalized(emit, widened(emit, x), axes, epsilon, centre=True)
    result = emit(MulOp(emit.cast(value, element_type(x)), scale))
    return (result if b is None else emit(AddOp(result, b))), mean, inverse


@register_op("RMSNormalization")
def rms_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> SSAValue:
    """The last axes moved to a mean square of 1"""
    axes = list(range(axis_of(x, axis), len(tensor_shape(x))))
    if _scales_rows(x, len(axes), scale):
        return emit(RmsNormOp(x, scale, normalized_rank=len(axes), eps=epsilon))
    value, _, _ = normalized(emit, widened(emit, x), axes, epsilon, centre=False)
    return emit(MulOp(emit.cast(value, element_type(x)), scale))


@register_op("MeanVarianceNormalization")
def mean_variance_normalization(emit: Emitter, x: SSAValue, axes: Ints = (0, 2, 3)) -> SSAValue:
    """Chosen axes moved to mean 0 and variance 1"""
    values = widened(emit, x)
    moved = emit(SubOp(values, emit(ReduceMeanOp(values, axes=axes, keep_dims=True))))
    variance = emit(ReduceMeanOp(emit(MulOp(moved, moved)), axes=axes, keep_dims=True))
    result = emit(DivOp(moved, add(emit, emit(SqrtOp(variance)), 1e-9)))
    return emit.cast(result, element_type(x))


@register_op("LpNormalization")
def lp_normalization(emit: Emitter, input: SSAValue, axis: int = -1, p: int = 2) -> SSAValue:
    """Rows moved to a norm of 1; rows of zeros stay zeros"""
    values, axes = widened(emit, input), [axis_of(input, axis)]
    length = (absolute_sum if p == 1 else norm)(emit, values, axes, True)
    safe = where(emit, compared(emit, length, 0, "eq"), 1, length)
    return emit.cast(emit(DivOp(values, safe)), element_type(input))


@register_op("LRN")
def local_response_normalization(
    emit: Emitter,
    x: SSAValue,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> SSAValue:
    """Each channel over the squares of its neighbours"""
    shape = tensor_shape(x)
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    around = [0] * len(shape)
    square = emit(
        PadOp(
            emit(MulOp(x, x)),
            low=[*around[:1], low, *around[2:]],
            high=[*around[:1], high, *around[2:]],
        )
    )
    total = part(emit, square, 1, 0, shape[1])
    for offset in range(1, size):
        total = emit(AddOp(total, part(emit, square, 1, offset, shape[1])))
    scale = add(emit, mul(emit, total, alpha / size), bias)
    return emit(DivOp(x, pow_tensors(emit, scale, beta)))
