"""Reductions along axes."""

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    ExpOp,
    Log1pOp,
    LogOp,
    MaximumOp,
    NegOp,
)
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SqrtOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp
from gawee_dialect.dialect.graph.logic import BitwiseOrOp, IsNanOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    CumSumOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.open_size import greatest, least
from gawee_dialect.dialect.types import element_type, is_float, is_unsigned, tensor_shape, ui8
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, isinf, pow_number, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    axes_of,
    axis_of,
    dtype_element,
    part,
    summed,
    to_bool,
    to_float,
    widened,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, Number

Reducer = Callable[..., Operation]
Values: TypeAlias = Sequence[SSAValue]


def reduced(
    emit: Emitter, op: Reducer, value: SSAValue, dims: Ints | None, keepdim: bool = False
) -> SSAValue:
    """Reduce along some axes: all for None and for none at all; a scalar is its own reduction."""
    axes = axes_of(value, dims)
    return emit(op(value, axes=axes, keep_dims=keepdim)) if axes else value


def accumulated(op: Reducer) -> Callable[..., SSAValue]:
    """Return the mapping of a sum or a product; of integers and booleans in int64."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        dim: Ints | None = None,
        keepdim: bool = False,
        dtype: str | None = None,
    ) -> SSAValue:
        value = summed(emit, self) if dtype is None else emit.cast(self, dtype_element(dtype))
        return reduced(emit, op, value, dim, keepdim)

    return mapping


sum_dims = register_op("aten.sum.dim_IntList", "aten.sum.default")(accumulated(ReduceSumOp))
register_op("aten.prod.dim_int", "aten.prod.default")(accumulated(ReduceProdOp))


@register_op("aten.mean.dim", "aten.mean.default")
def mean(
    emit: Emitter,
    self: SSAValue,
    dim: Ints | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> SSAValue:
    """The mean"""
    value = self if dtype is None else emit.cast(self, dtype_element(dtype))
    return reduced(emit, ReduceMeanOp, value, dim, keepdim)


def position(
    emit: Emitter, op: Reducer, value: SSAValue, dim: int | None, keepdim: bool
) -> SSAValue:
    """Return the position of an extreme along an axis, or in the flat tensor for None."""
    shape = tensor_shape(value)
    if dim is None or not shape:
        flat = emit.reshape(value, (prod(shape),))
        result = emit(op(flat, axis=0, keep_dims=False))
        return emit.reshape(result, [1] * len(shape)) if keepdim else result
    return emit(op(value, axis=axis_of(value, dim), keep_dims=keepdim))


def _register_extreme(name: str, extreme: Reducer, of_bools: Reducer, place: Reducer) -> None:
    """Register the mappings of the largest or the smallest element, and of where it is."""

    def element(emit: Emitter, self: SSAValue, dim: Ints = (), keepdim: bool = False) -> SSAValue:
        op = of_bools if element_type(self) == i1 else extreme
        return reduced(emit, op, self, dim, keepdim)

    def where(
        emit: Emitter, self: SSAValue, dim: int | None = None, keepdim: bool = False
    ) -> SSAValue:
        return position(emit, place, self, dim, keepdim)

    def both(emit: Emitter, self: SSAValue, dim: int, keepdim: bool = False) -> Sequence[SSAValue]:
        value = emit.cast(self, i32) if element_type(self) == i1 else self
        return element(emit, self, [dim], keepdim), where(emit, value, dim, keepdim)

    register_op(f"aten.a{name}", f"aten.{name}.default")(element)
    register_op(f"aten.arg{name}")(where)
    register_op(f"aten.{name}.dim")(both)


_register_extreme("max", ReduceMaxOp, ReduceAnyOp, ArgMaxOp)
_register_extreme("min", ReduceMinOp, ReduceAllOp, ArgMinOp)


def of_truth(op: Reducer) -> Callable[..., SSAValue]:
    """Return the mapping of whether any element, or every one, is not zero; of bytes as bytes."""

    def mapping(
        emit: Emitter, self: SSAValue, dim: Ints | None = None, keepdim: bool = False
    ) -> SSAValue:
        result = reduced(emit, op, to_bool(emit, self), dim, keepdim)
        return emit.cast(result, ui8) if element_type(self) == ui8 else result

    return mapping


for _name, _op in {"any": ReduceAnyOp, "all": ReduceAllOp}.items():
    register_op(*(f"aten.{_name}.{each}" for each in ("dim", "dims", "default")))(of_truth(_op))


@register_op("aten.cumsum")
def cumsum(emit: Emitter, self: SSAValue, dim: int, dtype: str | None = None) -> SSAValue:
    """Sums of the elements up to each, along an axis; of integers and booleans in int64"""
    value = summed(emit, self) if dtype is None else emit.cast(self, dtype_element(dtype))
    return emit(CumSumOp(value, axis=axis_of(value, dim))) if tensor_shape(self) else value


@register_op("aten.logsumexp")
def logsumexp(emit: Emitter, self: SSAValue, dim: Ints, keepdim: bool = False) -> SSAValue:
    """log(sum(exp(x))), of x minus its largest, so that nothing overflows"""
    value = to_float(emit, self)
    largest = reduced(emit, ReduceMaxOp, value, dim, True)
    zero = emit.number(0, element_type(value))
    finite = emit(WhereOp(isinf(emit, largest), zero, largest))
    total = reduced(emit, ReduceSumOp, emit(ExpOp(sub(emit, value, finite))), dim, keepdim)
    return add(emit, emit(LogOp(total)), emit.reshape(finite, tensor_shape(total)))


@register_op("aten.linalg_vector_norm")
def vector_norm(
    emit: Emitter,
    self: SSAValue,
    ord: Number = 2,
    dim: Ints | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> SSAValue:
    """A vector norm: the sum of |x|^ord, to the power of 1 / ord"""
    given = self if dtype is None else emit.cast(self, dtype_element(dtype))
    value = widened(emit, given)
    if ord == 2:
        square = reduced(emit, ReduceSumOp, emit(MulOp(value, value)), dim, keepdim)
        return emit.cast(emit(SqrtOp(square)), element_type(given))
    return emit.cast(_other_norm(emit, value, ord, dim, keepdim), element_type(given))


def _other_norm(
    emit: Emitter, value: SSAValue, ord: Number, dim: Ints | None, keepdim: bool
) -> SSAValue:
    size = emit(AbsOp(value))
    if ord in (inf, -inf):
        return reduced(emit, ReduceMaxOp if ord > 0 else ReduceMinOp, size, dim, keepdim)
    if ord == 0:
        counted = emit.cast(compared(emit, value, 0, "ne"), element_type(value))
        return reduced(emit, ReduceSumOp, counted, dim, keepdim)
    total = reduced(emit, ReduceSumOp, pow_number(emit, size, ord), dim, keepdim)
    return pow_number(emit, total, 1 / ord)


@register_op("aten.norm.ScalarOpt_dim", "aten.norm.Scalar")
def norm(
    emit: Emitter,
    self: SSAValue,
    p: Number | None = 2,
    dim: Ints | None = None,
    keepdim: bool = False,
) -> SSAValue:
    """A vector norm"""
    return vector_norm(emit, self, 2 if p is None else p, dim, keepdim)


def in_order(emit: Emitter, op: Callable[[SSAValue], Operation], value: SSAValue) -> Values:
    """Return elements in order and where they were; bytes and truth values go through i32."""
    element = element_type(value)
    if element != i1 and not is_unsigned(element):
        return emit.all(op(value))
    found, places = emit.all(op(emit.cast(value, i32)))
    return emit.cast(found, element), places


@register_op("aten.topk")
def topk(
    emit: Emitter,
    self: SSAValue,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> Sequence[SSAValue]:
    """The k largest or smallest elements along an axis, in order, and where they are"""
    if not tensor_shape(self) and k == 1:
        return self, emit.number(0, i64)
    axis = axis_of(self, dim)
    return in_order(emit, lambda value: TopKOp(value, k=k, axis=axis, largest=largest), self)


@register_op("aten.sort.default", "aten.sort.stable")
def sort(
    emit: Emitter,
    self: SSAValue,
    *,
    stable: object = True,
    dim: int = -1,
    descending: bool = False,
) -> Sequence[SSAValue]:
    """The elements along an axis in order, and where they were"""
    if not tensor_shape(self):
        return self, emit.number(0, i64)
    axis = axis_of(self, dim)
    return in_order(emit, lambda value: SortOp(value, axis=axis, descending=descending), self)


@register_op("aten.kthvalue")
def kthvalue(
    emit: Emitter, self: SSAValue, k: int, dim: int = -1, keepdim: bool = False
) -> Sequence[SSAValue]:
    """The k-th smallest element along an axis, and where it is"""
    if not tensor_shape(self):
        return self, emit.number(0, i64)
    axis = axis_of(self, dim)
    found = [part(emit, each, axis, k - 1, 1) for each in sort(emit, self, dim=dim)]
    return found if keepdim else [_without_axis(emit, each, axis) for each in found]


def _without_axis(emit: Emitter, value: SSAValue, axis: int) -> SSAValue:
    shape = tensor_shape(value)
    return emit.reshape(value, (*shape[:axis], *shape[axis + 1 :]))


@register_op("aten.mode")
def mode(emit: Emitter, self: SSAValue, dim: int = -1, keepdim: bool = False) -> Sequence[SSAValue]:
    """The most frequent element along an axis, the least of several, and where it is last"""
    if not tensor_shape(self):
        return self, emit.number(0, i64)
    axis = axis_of(self, dim)
    values, places = sort(emit, self, dim=dim)
    shape = tensor_shape(values)
    ones, others = (emit.reshape(values, (*shape[:at], 1, *shape[at:])) for at in (axis, axis + 1))
    same = emit.cast(compared(emit, ones, others, "eq"), i64)
    counts = emit(ReduceSumOp(same, axes=[axis + 1], keep_dims=False))
    first = emit(ArgMaxOp(counts, axis=axis, keep_dims=True))
    # NaN is equal to none: of nothing else the first is taken.
    most = emit(
        MaximumOp(emit(ReduceMaxOp(counts, axes=[axis], keep_dims=True)), emit.number(1, i64))
    )
    last = sub(emit, add(emit, first, most), 1)
    found = [
        emit(GatherElementsOp(each, place, axis=axis))
        for each, place in ((values, first), (places, last))
    ]
    return found if keepdim else [_without_axis(emit, each, axis) for each in found]


@register_op("aten.argsort.default")
def argsort(emit: Emitter, self: SSAValue, dim: int = -1, descending: bool = False) -> SSAValue:
    """Where the elements along an axis were before they were sorted"""
    return sort(emit, self, dim=dim, descending=descending)[1]


# Running products and extremes along an axis.
#
# In log2(n) steps: after each one, an element holds what twice as many elements before it make.

Combine: TypeAlias = Callable[[Values, Values], Values]
"""What two neighbouring runs of elements make, the earlier run first."""


def scanned(emit: Emitter, values: Values, axis: int, combine: Combine) -> Values:
    """Combine each element along an axis with all before it; steps are for the greatest size."""
    size = tensor_shape(values[0])[axis]
    step = 1
    while step < greatest(size):
        if step < least(size):
            heads = [part(emit, each, axis, 0, step) for each in values]
            earlier = [part(emit, each, axis, 0, size - step) for each in values]
            later = [part(emit, each, axis, step, size - step) for each in values]
            joined = zip(heads, combine(earlier, later), strict=True)
            values = [emit(CatOp(pair, dim=axis)) for pair in joined]
        else:
            values = _combined_where_there_are(emit, values, axis, step, combine)
        step *= 2
    return values


def _combined_where_there_are(
    emit: Emitter, values: Values, axis: int, step: int, combine: Combine
) -> Values:
    """Combine elements with those a step before them, in an axis that may be no longer than it."""
    shape = tensor_shape(values[0])
    low = [step if each == axis else 0 for each in range(len(shape))]
    moved = [emit(PadOp(each, low=low, high=[0] * len(shape))) for each in values]
    earlier = [part(emit, each, axis, 0, shape[axis]) for each in moved]
    place = emit(IotaOp(TensorType(i64, shape), axis=axis))
    has_earlier = compared(emit, place, step, "ge")
    pairs = zip(combine(earlier, values), values, strict=True)
    return [emit(WhereOp(has_earlier, *pair)) for pair in pairs]


@register_op("aten.cumprod")
def cumprod(emit: Emitter, self: SSAValue, dim: int, dtype: str | None = None) -> SSAValue:
    """Products of the elements up to each, along an axis; of integers and booleans in int64"""
    value = summed(emit, self) if dtype is None else emit.cast(self, dtype_element(dtype))
    if not tensor_shape(self):
        return value

    def combine(earlier: Values, later: Values) -> Values:
        return (emit(MulOp(earlier[0], later[0])),)

    return scanned(emit, [value], axis_of(value, dim), combine)[0]


@register_op("aten.logcumsumexp")
def logcumsumexp(emit: Emitter, self: SSAValue, dim: int) -> SSAValue:
    """Logarithms of the sums of the exponentials up to each, along an axis"""
    if not tensor_shape(self):
        return self

    def combine(earlier: Values, later: Values) -> Values:
        largest = emit(MaximumOp(earlier[0], later[0]))
        rest = emit(NegOp(emit(AbsOp(sub(emit, earlier[0], later[0])))))
        total = add(emit, largest, emit(Log1pOp(emit(ExpOp(rest)))))
        return (emit(WhereOp(isinf(emit, largest), largest, total)),)  # -inf - -inf is none

    return scanned(emit, [self], axis_of(self, dim), combine)[0]


def running_extreme(predicate: str) -> Callable[[Emitter, SSAValue, int], Values]:
    """Return the mapping of an extreme of the elements up to each: the last of equal ones."""

    def mapping(emit: Emitter, self: SSAValue, dim: int) -> Values:
        shape = tensor_shape(self)
        if not shape:
            return self, emit.number(0, i64)

        def combine(earlier: Values, later: Values) -> Values:
            newer = compared(emit, later[0], earlier[0], predicate)
            if is_float(element_type(self)):
                newer = emit(BitwiseOrOp(newer, emit(IsNanOp(later[0]))))
            pairs = zip(later, earlier, strict=True)
            return [emit(WhereOp(newer, *pair)) for pair in pairs]

        axis = axis_of(self, dim)
        positions = emit(IotaOp(TensorType(i64, shape), axis=axis))
        return scanned(emit, (self, positions), axis, combine)

    return mapping


register_op("aten.cummax")(running_extreme("ge"))
register_op("aten.cummin")(running_extreme("le"))
