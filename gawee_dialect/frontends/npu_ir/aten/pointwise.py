"""Functions of one tensor, element by element."""

from collections.abc import Callable
from math import log

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    CeilOp,
    FloorOp,
    NegOp,
    RoundOp,
    SignOp,
)
from gawee_dialect.dialect.graph.bitwise import BitwiseNotOp, LogicalNotOp
from gawee_dialect.dialect.graph.comparison import IsNanOp, WhereOp
from gawee_dialect.dialect.graph.elementary import (
    CosOp,
    ExpOp,
    LogOp,
    SinOp,
    TanhOp,
)
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.types import FLOATS, element_type, is_float, is_unsigned
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.promotion import to_bool, to_float
from gawee_dialect.frontends.op_mapping.registry import Result

Function = Callable[[Emitter, SSAValue], Result]


def float_function(op: Callable[..., Operation]) -> Function:
    """Return the mapping of a function of floats; integers become float32 first."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(to_float(emit, self)))

    return mapping


def same(op: Callable[..., Operation]) -> Function:
    """Return the mapping of a function of numbers that keeps their type."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(self))

    return mapping


def rounding_function(op: Callable[[SSAValue], Operation]) -> Function:
    """Return the mapping of a function that leaves integers as they are."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(self)) if is_float(element_type(self)) else self

    return mapping


def logarithm(base: float) -> Function:
    """Return the mapping of a logarithm."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        value = emit(LogOp(to_float(emit, self)))
        return emit(MulOp(value, emit.number(1 / log(base), element_type(value))))

    return mapping


for _kind in ELEMENTWISE:
    if _kind.ATEN:
        register_op(_kind.ATEN)((float_function if _kind.ELEMENTS is FLOATS else same)(_kind))

for _name, _op in {"floor": FloorOp, "ceil": CeilOp, "round.default": RoundOp}.items():
    register_op(f"aten.{_name}")(rounding_function(_op))

register_op("aten.log2")(logarithm(2))
register_op("aten.log10")(logarithm(10))


def in_signed(emit: Emitter, op: Callable[..., Operation], *values: SSAValue) -> SSAValue:
    """Apply an op on unsigned integers in int32, of which they are the low bits; else as it is."""
    element = element_type(values[0])
    if not is_unsigned(element):
        return emit(op(*values))
    return emit.cast(emit(op(*(emit.cast(value, i32) for value in values))), element)


@register_op("aten.neg", "aten.negative")
def neg(emit: Emitter, self: SSAValue) -> SSAValue:
    """-x"""
    return in_signed(emit, NegOp, self)


@register_op("aten.abs", "aten.absolute")
def absolute(emit: Emitter, self: SSAValue) -> SSAValue:
    """|x|"""
    element = element_type(self)
    return self if is_unsigned(element) or element == i1 else emit(AbsOp(self))


@register_op("aten.sign", "aten.sgn")
def sign(emit: Emitter, self: SSAValue) -> SSAValue:
    """-1, 0 or 1"""
    return self if element_type(self) == i1 else in_signed(emit, SignOp, self)


@register_op("aten.trunc", "aten.fix")
def trunc(emit: Emitter, self: SSAValue) -> SSAValue:
    """Round towards zero."""
    if not is_float(element_type(self)):
        return self
    negative = compared(emit, self, 0.0, "lt")
    return emit(WhereOp(negative, emit(CeilOp(self)), emit(FloorOp(self))))


@register_op("aten.square")
def square(emit: Emitter, self: SSAValue) -> SSAValue:
    """x * x"""
    return in_signed(emit, MulOp, self, self)


@register_op("aten.expm1")
def expm1(emit: Emitter, self: SSAValue) -> SSAValue:
    """exp(x) - 1, as tanh(x / 2) * (exp(x) + 1): exact near zero as well."""
    value = to_float(emit, self)
    half, one = (emit.number(number, element_type(value)) for number in (0.5, 1))
    exp, tanh = emit(ExpOp(value)), emit(TanhOp(emit(MulOp(value, half))))
    near_zero = emit(MulOp(tanh, emit(AddOp(exp, one))))
    large = compared(emit, emit(AbsOp(value)), 1.0, "gt")
    return emit(WhereOp(large, emit(SubOp(exp, one)), near_zero))


@register_op("aten.exp2")
def exp2(emit: Emitter, self: SSAValue) -> SSAValue:
    """2 to the power of x"""
    value = to_float(emit, self)
    return emit(ExpOp(emit(MulOp(value, emit.number(log(2), element_type(value))))))


@register_op("aten.tan")
def tan(emit: Emitter, self: SSAValue) -> SSAValue:
    """sin(x) / cos(x)"""
    value = to_float(emit, self)
    return emit(DivOp(emit(SinOp(value)), emit(CosOp(value))))


@register_op("aten.frac")
def frac(emit: Emitter, self: SSAValue) -> SSAValue:
    """x without its integer part"""
    return emit(SubOp(self, trunc(emit, self)))


@register_op("aten.logical_not")
def logical_not(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is zero."""
    return emit(LogicalNotOp(to_bool(emit, self)))


@register_op("aten.bitwise_not")
def bitwise_not(emit: Emitter, self: SSAValue) -> SSAValue:
    """~x; of booleans their negation."""
    return emit(LogicalNotOp(self) if element_type(self) == i1 else BitwiseNotOp(self))


@register_op("aten.isnan")
def isnan(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is NaN; integers never are."""
    if is_float(element_type(self)):
        return emit(IsNanOp(self))
    return compared(emit, self, self, "ne")


@register_op("aten.isinf")
def isinf(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is infinite."""
    return compared(emit, absolute(emit, to_float(emit, self)), float("inf"), "eq")


@register_op("aten.isfinite")
def isfinite(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is neither infinite nor NaN."""
    return compared(emit, absolute(emit, to_float(emit, self)), float("inf"), "lt")
