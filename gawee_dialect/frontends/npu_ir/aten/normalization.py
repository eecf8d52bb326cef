"""Statistics of elements, and what is moved and scaled by them."""

from collections.abc import Callable, Sequence
from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arithmetic import FloorDivOp, FloorOp, MaximumOp, RsqrtOp
from gawee_dialect.dialect.graph.elementwise import DivOp, MulOp, SqrtOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, IsNanOp, WhereOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.reduction import (
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.open_size import OpenSize, least
from gawee_dialect.dialect.types import dtype_name, element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, div, mul, rsub, scaled, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.indexing import scattered
from gawee_dialect.frontends.npu_ir.aten.reduction import reduced, sort, sum_dims, vector_norm
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import flatten
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    axes_of,
    axis_of,
    widened,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Refusal

# Variance, standard deviation, median and histogram.


def moments(
    emit: Emitter, value: SSAValue, dims: Ints | None, correction: Number, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    """Return variance and mean, of f16 in f32; the variance is divided by the count less the
    correction."""
    values = widened(emit, value)
    mean = reduced(emit, ReduceMeanOp, values, dims, True)
    deviation = sub(emit, values, mean)
    total = reduced(emit, ReduceSumOp, emit(MulOp(deviation, deviation)), dims, keepdim)
    count = prod(tensor_shape(value)[axis] for axis in axes_of(value, dims))
    # 0 degrees of freedom make NaN, as in PyTorch; so 0 * inf, not a division here.
    if isinstance(count, OpenSize):
        variance = div(emit, total, _freedom(count, correction))
        return variance, emit.reshape(mean, tensor_shape(total))
    freedom = max(count - correction, 0)
    factor = emit.number(1 / freedom if freedom else float("inf"), element_type(values))
    return emit(MulOp(total, factor)), emit.reshape(mean, tensor_shape(total))


def _freedom(count: OpenSize, correction: Number) -> int:
    """Return an open count less a correction, which has to be whole, and never more."""
    if correction != int(correction) or least(count) < correction:
        raise Refusal(f"expected a whole correction of up to {least(count)}, got {correction}")
    return count - int(correction)


def _register_moments(name: str, of_variance: Callable[[Emitter, SSAValue], SSAValue]) -> None:
    """Register the mappings of the variance or of its root: alone, and with the mean."""

    def with_mean(
        emit: Emitter,
        self: SSAValue,
        dim: Ints | None = None,
        correction: Number | None = None,
        keepdim: bool = False,
    ) -> Sequence[SSAValue]:
        variance, mean = moments(emit, self, dim, 1 if correction is None else correction, keepdim)
        made = (of_variance(emit, variance), mean)
        return [emit.cast(each, element_type(self)) for each in made]

    def alone(
        emit: Emitter,
        self: SSAValue,
        dim: Ints | None = None,
        unbiased: bool = True,
        correction: Number | None = None,
        keepdim: bool = False,
    ) -> SSAValue:
        less = int(unbiased) if correction is None else correction
        return with_mean(emit, self, dim, less, keepdim)[0]

    register_op(*(f"aten.{name}.{each}" for each in ("correction", "dim", "default")))(alone)
    register_op(f"aten.{name}_mean.correction")(with_mean)


_register_moments("var", lambda emit, variance: variance)
_register_moments("std", lambda emit, variance: emit(SqrtOp(variance)))


def middle(
    emit: Emitter, value: SSAValue, dim: int, keepdim: bool, ignore_nan: bool
) -> Sequence[SSAValue]:
    """Return the lower of the middle elements along an axis, and where it is.

    NaN is in the middle wherever there is one, or is not counted.
    """
    if not tensor_shape(value):
        return value, emit.number(0, i64)
    axis = axis_of(value, dim)
    ordered, places = sort(emit, value, dim=dim)
    size = tensor_shape(value)[axis]
    shape = [1 if each == axis else size for each, size in enumerate(tensor_shape(value))]
    last = as_element(emit, size - 1, i64)
    rank = emit.broadcast(emit(FloorDivOp(last, emit.number(2, i64))), shape)
    if is_float(element_type(value)):
        nans = sum_dims(emit, emit(IsNanOp(value)), [axis], True)
        numbers = rsub(emit, nans, size)
        among = emit(FloorDivOp(sub(emit, numbers, 1), emit.number(2, i64)))
        # NaN comes last in order; where there is nothing else, the first one is taken.
        found = emit(MaximumOp(among, emit.number(0, i64))) if ignore_nan else numbers
        rank = found if ignore_nan else emit(WhereOp(compared(emit, nans, 0, "gt"), found, rank))
    taken = [emit(GatherElementsOp(each, rank, axis=axis)) for each in (ordered, places)]
    kept = shape if keepdim else [*shape[:axis], *shape[axis + 1 :]]
    return [emit.reshape(each, kept) for each in taken]


def _register_median(name: str, ignore_nan: bool) -> None:
    """Register the mappings of the lower of the middle elements: along an axis, and of all."""

    def along(emit: Emitter, self: SSAValue, dim: int, keepdim: bool = False) -> Sequence[SSAValue]:
        return middle(emit, self, dim, keepdim, ignore_nan)

    def of_all(emit: Emitter, self: SSAValue) -> SSAValue:
        return middle(emit, flatten(emit, self), 0, False, ignore_nan)[0]

    register_op(f"aten.{name}.dim")(along)
    register_op(f"aten.{name}.default")(of_all)


_register_median("median", False)
_register_median("nanmedian", True)


@register_op("aten.histc")
def histc(
    emit: Emitter, self: SSAValue, bins: int = 100, min: Number = 0, max: Number = 0
) -> SSAValue:
    """How many elements are in each of so many intervals of one width; all between the extremes
    where min and max are the same"""
    element = element_type(self)
    values = flatten(emit, self)
    low, high = emit.number(min, element), emit.number(max, element)
    if min == max:
        low, high = (reduced(emit, op, values, None) for op in (ReduceMinOp, ReduceMaxOp))
        same = compared(emit, low, high, "eq")
        low = emit(WhereOp(same, sub(emit, low, 1), low))
        high = emit(WhereOp(same, add(emit, high, 1), high))
    scaled = mul(emit, sub(emit, values, low), bins)
    place = emit(FloorOp(div(emit, scaled, sub(emit, high, low))))
    above, below = compared(emit, values, low, "ge"), compared(emit, values, high, "le")
    inside = emit(BitwiseAndOp(above, below))
    known = emit(WhereOp(inside, clamp(emit, place, 0, bins - 1), emit.number(0, element)))
    counted = emit.cast(inside, element)
    empty = emit.full((bins,), 0, element)
    return scattered(emit, empty, 0, emit.cast(known, i64), counted, "add")


def in_one_type(
    emit: Emitter,
    make: Callable[..., SSAValue],
    input: SSAValue,
    *others: SSAValue | None,
) -> SSAValue:
    """Normalize; where statistics are wider than the input, in float32, as PyTorch does."""
    element = element_type(input)
    if all(each is None or element_type(each) == element for each in others):
        return make(input, *others)
    wide = [None if each is None else emit.cast(each, f32) for each in others]
    return emit.cast(make(emit.cast(input, f32), *wide), element)


def reciprocal_deviation(emit: Emitter, variance: SSAValue, eps: float) -> SSAValue:
    """Return 1 / sqrt(variance + eps)."""
    return emit(RsqrtOp(add(emit, variance, eps)))


@register_op("aten.batch_norm")
def batch_norm(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> SSAValue:
    """Normalize with the statistics of training, or, where there are none, with the batch's own."""
    if training and running_mean is not None:
        raise Refusal(
            "unsupported training=True, which changes the running statistics",
            hint="model.eval() before the model is extracted",
        )
    if training:
        return batch_norm_of_batch(emit, input, weight, bias, eps)[0]
    if running_mean is None or running_var is None:
        raise Refusal(
            "expected running_mean and running_var, got none",
            hint="a graph without nulls for absent weights cannot say which ones are there; "
            "extract it again",
        )

    def make(value: SSAValue, *statistics: SSAValue) -> SSAValue:
        return emit(BatchNormOp(value, *statistics, eps=eps))

    return in_one_type(emit, make, input, running_mean, running_var, weight, bias)


@register_op("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    momentum: float,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize with the statistics of training; what only training needs is not made."""
    result = batch_norm(emit, input, weight, bias, running_mean, running_var, False, momentum, eps)
    return result, None, None


@register_op("aten._native_batch_norm_legit_functional")
def batch_norm_functional(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    training: bool,
    momentum: float,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize; in training with the statistics of the batch. The running ones are results too."""
    if not training:
        made = batch_norm_no_training(
            emit, input, weight, bias, running_mean, running_var, momentum, eps
        )
        return *made, running_mean, running_var
    statistics = None
    if any(map(emit.is_used, (1, 2, 3, 4))):
        statistics = batch_statistics(emit, input, element_type(running_mean))
    result, *saved = batch_norm_of_batch(emit, input, weight, bias, eps, statistics)
    if statistics is None:
        return result, *saved, None, None
    mean, variance = statistics
    count = prod(tensor_shape(input)) // tensor_shape(input)[1]
    # Of one element the variance is 0 / 0, as in PyTorch; so 0 * inf, not a division here.
    unbiased = scaled(emit, variance, count / (count - 1) if count > 1 else inf)
    new = (
        add(emit, scaled(emit, running, 1 - momentum), scaled(emit, of_batch, momentum))
        for running, of_batch in ((running_mean, mean), (running_var, unbiased))
    )
    return result, *saved, *new


@register_op("aten._batch_norm_with_update_functional")
def batch_norm_with_update(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    momentum: float,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize with the statistics of the batch; what another device reserves is not made."""
    running = running_mean, running_var
    made = batch_norm_functional(emit, input, weight, bias, *running, True, momentum, eps)
    return *made[:3], None, *made[3:]


@register_op("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize with the statistics of the batch."""
    return batch_norm_of_batch(emit, input, weight, bias, eps)


def batch_statistics(
    emit: Emitter, input: SSAValue, element: Attribute
) -> tuple[SSAValue, SSAValue]:
    """Return mean and variance of each channel, in an element type."""
    axes = [0, *range(2, len(tensor_shape(input)))]
    variance, mean = moments(emit, emit.cast(input, element), axes, 0, False)
    return emit.cast(mean, element), emit.cast(variance, element)


def batch_norm_of_batch(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    eps: float,
    statistics: tuple[SSAValue, SSAValue] | None = None,
) -> tuple[SSAValue, SSAValue | None, SSAValue | None]:
    """Normalize along all axes but the channels; return also mean and reciprocal deviation."""
    batch, channels, *spatial = tensor_shape(input)
    training_only = emit.is_used(1) or emit.is_used(2)

    def of_open_channels(value: SSAValue, *affine: SSAValue | None) -> SSAValue:
        made = emit(LayerNormOp(value, normalized_rank=len(spatial), eps=eps))
        weight, bias = (
            None if each is None else emit.reshape(each, (channels, *[1] * len(spatial)))
            for each in affine
        )
        made = made if weight is None else mul(emit, made, weight)
        return made if bias is None else add(emit, made, bias)

    def of_one_image(value: SSAValue, *affine: SSAValue | None) -> SSAValue:
        return emit(GroupNormOp(value, *affine, groups=channels, eps=eps))

    def of_batch(value: SSAValue, *statistics: SSAValue) -> SSAValue:
        return emit(BatchNormOp(value, *statistics, eps=eps))

    if batch == 1 and not training_only and spatial and statistics is None:
        one = of_open_channels if isinstance(channels, OpenSize) else of_one_image
        return in_one_type(emit, one, input, weight, bias), None, None
    wide = element_type(widened(emit, input))
    mean, variance = statistics or batch_statistics(emit, input, wide)
    result = in_one_type(emit, of_batch, input, mean, variance, weight, bias)
    if not training_only:
        return result, None, None
    deviation = reciprocal_deviation(emit, variance, eps)
    if statistics is not None:
        return result, mean, deviation
    element = element_type(input)
    return result, emit.cast(mean, element), emit.cast(deviation, element)


@register_op("aten.instance_norm")
def instance_norm(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> SSAValue:
    """Normalize each channel of each image on its own."""
    if not use_input_stats:
        return batch_norm(
            emit, input, weight, bias, running_mean, running_var, False, momentum, eps
        )
    channels = tensor_shape(input)[1]
    return emit(GroupNormOp(input, weight, bias, groups=channels, eps=eps))


@register_op("aten.layer_norm")
def layer_norm(
    emit: Emitter,
    input: SSAValue,
    normalized_shape: Ints,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    eps: float = 1e-5,
) -> SSAValue:
    """Normalize the last axes."""
    rank = len(normalized_shape)
    if tensor_shape(input)[len(tensor_shape(input)) - rank :] != tuple(normalized_shape):
        raise Refusal(
            f"expected the last sizes of the input to be {list(normalized_shape)}, "
            f"got {list(tensor_shape(input))}"
        )

    def make(value: SSAValue, scale: SSAValue | None, shift: SSAValue | None) -> SSAValue:
        return emit(LayerNormOp(value, scale, shift, normalized_rank=rank, eps=eps))

    return in_one_type(emit, make, input, weight, bias)


@register_op("aten.native_layer_norm")
def native_layer_norm(
    emit: Emitter,
    input: SSAValue,
    normalized_shape: Ints,
    weight: SSAValue | None,
    bias: SSAValue | None,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize the last axes; mean and reciprocal deviation where something reads them."""
    result = layer_norm(emit, input, normalized_shape, weight, bias, eps)
    if not (emit.is_used(1) or emit.is_used(2)):
        return result, None, None
    axes = [-1 - axis for axis in range(len(normalized_shape))]
    return result, *_mean_and_reciprocal(emit, input, axes, eps, keepdim=True)


def _mean_and_reciprocal(
    emit: Emitter, value: SSAValue, axes: Sequence[int], eps: float, *, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    variance, mean = moments(emit, value, axes, 0, keepdim)
    reciprocal = reciprocal_deviation(emit, variance, eps)
    element = element_type(value)
    return emit.cast(mean, element), emit.cast(reciprocal, element)


@register_op("aten.group_norm")
def group_norm(
    emit: Emitter,
    input: SSAValue,
    num_groups: int,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    eps: float = 1e-5,
) -> SSAValue:
    """Normalize groups of channels."""

    def make(value: SSAValue, scale: SSAValue | None, shift: SSAValue | None) -> SSAValue:
        return emit(GroupNormOp(value, scale, shift, groups=num_groups, eps=eps))

    return in_one_type(emit, make, input, weight, bias)


@register_op("aten.native_group_norm")
def native_group_norm(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Sequence[SSAValue | None]:
    """Normalize groups of channels; mean and reciprocal deviation where something reads them."""
    result = group_norm(emit, input, group, weight, bias, eps)
    if not (emit.is_used(1) or emit.is_used(2)):
        return result, None, None
    groups = emit.reshape(input, (N, group, prod(tensor_shape(input)) // (N * group)))
    return result, *_mean_and_reciprocal(emit, groups, [2], eps, keepdim=False)


@register_op("aten.rms_norm")
def rms_norm(
    emit: Emitter,
    input: SSAValue,
    normalized_shape: Ints,
    weight: SSAValue | None = None,
    eps: float | None = None,
) -> SSAValue:
    """Divide by the root of the mean square of the last axes."""
    if eps is None:
        eps = float(np.finfo(dtype_name(element_type(input))).eps)
    return emit(RmsNormOp(input, weight, normalized_rank=len(normalized_shape), eps=eps))


@register_op("aten._fused_rms_norm")
def fused_rms_norm(
    emit: Emitter,
    input: SSAValue,
    normalized_shape: Ints,
    weight: SSAValue | None,
    eps: float | None,
) -> Sequence[SSAValue | None]:
    """Divide by the root of the mean square; its reciprocal where something reads it."""
    result = rms_norm(emit, input, normalized_shape, weight, eps)
    if not emit.is_used(1):
        return result, None
    axes = [-1 - axis for axis in range(len(normalized_shape))]
    mean = reduced(emit, ReduceMeanOp, emit(MulOp(input, input)), axes, True)
    return result, reciprocal_deviation(emit, mean, eps or 0.0)


@register_op("aten._weight_norm")
def weight_norm(emit: Emitter, v: SSAValue, g: SSAValue, dim: int = 0) -> SSAValue:
    """v, of the length that g says, each position of an axis on its own"""
    axis = axis_of(v, dim) if dim != -1 else None
    axes = [each for each in range(len(tensor_shape(v))) if each != axis]
    length = vector_norm(emit, v, 2, axes, True)
    return emit(MulOp(v, emit(DivOp(g, length))))


@register_op("aten._weight_norm_interface")
def weight_norm_interface(
    emit: Emitter, v: SSAValue, g: SSAValue, dim: int = 0
) -> Sequence[SSAValue | None]:
    """v, of the length that g says; the length v had is not made"""
    return weight_norm(emit, v, g, dim), None
