"""Variance, standard deviation, median and histogram."""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import FloorDivOp, FloorOp, MaximumOp
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.comparison import IsNanOp, WhereOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SqrtOp
from gawee_dialect.dialect.graph.gather import GatherElementsOp
from gawee_dialect.dialect.graph.order import SortOp
from gawee_dialect.dialect.graph.reduction import (
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, div, mul, rsub, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.reduction import reduced, sum_dims
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.scattering import scattered
from gawee_dialect.frontends.npu_ir.aten.shape import flatten
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axes_of, axis_of
from gawee_dialect.frontends.op_mapping.schema import Ints, Number


def moments(
    emit: Emitter, value: SSAValue, dims: Ints | None, correction: Number, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    """Return variance and mean; the variance is divided by the count less the correction."""
    mean = reduced(emit, ReduceMeanOp, value, dims, True)
    deviation = sub(emit, value, mean)
    total = reduced(emit, ReduceSumOp, emit(MulOp(deviation, deviation)), dims, keepdim)
    count = prod(tensor_shape(value)[axis] for axis in axes_of(value, dims))
    # 0 degrees of freedom make NaN, as in PyTorch; so 0 * inf, not a division here.
    freedom = max(count - correction, 0)
    factor = emit.number(1 / freedom if freedom else float("inf"), element_type(value))
    return emit(MulOp(total, factor)), emit.reshape(mean, tensor_shape(total))


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
        return of_variance(emit, variance), mean

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
    ordered, places = emit.all(SortOp(value, axis=axis, descending=False))
    size = tensor_shape(value)[axis]
    shape = [1 if each == axis else size for each, size in enumerate(tensor_shape(value))]
    rank = emit.full(shape, (size - 1) // 2, i64)
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
