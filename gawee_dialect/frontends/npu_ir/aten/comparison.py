"""Comparisons, logic and selection."""

from collections.abc import Callable
from math import inf, isfinite
from typing import TypeGuard

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp
from gawee_dialect.dialect.graph.logic import (
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    IsNanOp,
    WhereOp,
)
from gawee_dialect.dialect.types import element_type, is_float
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping import emitter as op_mapping
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    common_element,
    compared,
    promoted,
    to_bool,
)
from gawee_dialect.frontends.op_mapping.registry import Number, Operand, Result

Binary = Callable[[SSAValue, SSAValue], Operation]


def comparison(predicate: str) -> Callable[[Emitter, SSAValue, Operand], Result]:
    """Return the mapping of a comparison."""

    def mapping(emit: Emitter, self: SSAValue, other: Operand) -> Result:
        return compared(emit, self, other, predicate)

    return mapping


for _predicate, _long_name in {
    "eq": "eq",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}.items():
    _overloads = ("Tensor", "Scalar")
    register_op(
        *(f"aten.{_predicate}.{overload}" for overload in _overloads),
        *(f"aten.{_long_name}.{overload}" for overload in _overloads),
    )(comparison(_predicate))


def bitwise(op: Binary) -> Callable[[Emitter, Operand, Operand], Result]:
    """Return the mapping of a bitwise op."""

    def mapping(emit: Emitter, self: Operand, other: Operand) -> Result:
        return emit(op(*promoted(emit, self, other)))

    return mapping


def logical(op: Binary) -> Callable[[Emitter, SSAValue, SSAValue], Result]:
    """Return the mapping of a logical op, which first compares with zero."""

    def mapping(emit: Emitter, self: SSAValue, other: SSAValue) -> Result:
        return emit(op(to_bool(emit, self), to_bool(emit, other)))

    return mapping


for _name, _op in {"and": BitwiseAndOp, "or": BitwiseOrOp, "xor": BitwiseXorOp}.items():
    register_op(f"aten.bitwise_{_name}", f"aten.__{_name}__")(bitwise(_op))
    register_op(f"aten.logical_{_name}")(logical(_op))


@register_op("aten.maximum", "aten.max.other")
def maximum(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The larger of two elements; NaN wins. Of truth values, whether either is true."""
    lhs, rhs = promoted(emit, self, other)
    return emit((BitwiseOrOp if element_type(lhs) == i1 else MaximumOp)(lhs, rhs))


@register_op("aten.minimum", "aten.min.other")
def minimum(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The smaller of two elements; NaN wins. Of truth values, whether both are true."""
    lhs, rhs = promoted(emit, self, other)
    return emit((BitwiseAndOp if element_type(lhs) == i1 else MinimumOp)(lhs, rhs))


def without_nan(choose: Binary) -> Callable[[Emitter, SSAValue, SSAValue], Result]:
    """Return the mapping of a choice between two elements that NaN loses."""

    def mapping(emit: Emitter, self: SSAValue, other: SSAValue) -> Result:
        lhs, rhs = promoted(emit, self, other)
        if element_type(lhs) == i1:
            return (maximum if choose is MaximumOp else minimum)(emit, lhs, rhs)
        chosen = emit(choose(lhs, rhs))
        if not is_float(element_type(lhs)):
            return chosen
        number = emit(WhereOp(emit(IsNanOp(rhs)), lhs, chosen))
        return emit(WhereOp(emit(IsNanOp(lhs)), rhs, number))

    return mapping


register_op("aten.fmax")(without_nan(MaximumOp))
register_op("aten.fmin")(without_nan(MinimumOp))


@register_op("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf")
@register_op("aten.where.Scalar")
def where(emit: Emitter, condition: SSAValue, self: Operand, other: Operand) -> SSAValue:
    """Choose by a condition."""
    return op_mapping.where(emit, condition, self, other)


@register_op("aten.masked_fill")
def masked_fill(emit: Emitter, self: SSAValue, mask: SSAValue, value: Operand) -> SSAValue:
    """Put a value where a mask says so; the element type stays."""
    fill = as_element(emit, value, element_type(self))
    return emit(WhereOp(to_bool(emit, mask), fill, self))


@register_op("aten.clamp", "aten.clip")
def clamp(
    emit: Emitter, self: SSAValue, min: Operand | None = None, max: Operand | None = None
) -> SSAValue:
    """Limit from below and above, each where it is given."""
    bounds = [bound for bound in (min, max) if bound is not None]
    element = common_element(self, *bounds)
    value = emit.cast(self, element)
    # What every float meets is no bound; a tensor is never equal to one.
    min, max = None if min == -inf else min, None if max == inf else max
    if min is None and max is None:
        return value
    if is_float(element) and _is_finite(min) and _is_finite(max):
        return emit(ClipOp(value, min=min, max=max))
    if min is not None:
        value = emit(MaximumOp(value, as_element(emit, min, element)))
    if max is not None:
        value = emit(MinimumOp(value, as_element(emit, max, element)))
    return value


def _is_finite(bound: Operand | None) -> TypeGuard[Number | None]:
    return not isinstance(bound, SSAValue) and (bound is None or isfinite(bound))


@register_op("aten.clamp_min")
def clamp_min(emit: Emitter, self: SSAValue, min: Operand) -> SSAValue:
    """Limit from below."""
    return clamp(emit, self, min)


@register_op("aten.clamp_max")
def clamp_max(emit: Emitter, self: SSAValue, max: Operand) -> SSAValue:
    """Limit from above."""
    return clamp(emit, self, None, max)


@register_op("aten.isin.Tensor_Scalar")
def isin(
    emit: Emitter,
    elements: SSAValue,
    test_element: Number,
    assume_unique: bool = False,
    invert: bool = False,
) -> SSAValue:
    """Whether an element is the selected one."""
    return compared(emit, elements, test_element, "ne" if invert else "eq")
