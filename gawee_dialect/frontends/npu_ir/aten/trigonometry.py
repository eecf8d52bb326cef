"""Inverse trigonometric and hyperbolic functions; integers become float32 first."""

from collections.abc import Callable
from math import log

from xdsl.dialects.builtin import f16
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp, Atan2Op, NegOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.elementary import ExpOp, Log1pOp, LogOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.types import element_type
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, div, mul, rsub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.pointwise import expm1
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.promotion import to_float


@register_op("aten.atan", "aten.arctan")
def atan(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point (1, x)"""
    value = to_float(emit, self)
    return emit(Atan2Op(value, emit.number(1, element_type(value))))


@register_op("aten.asin", "aten.arcsin")
def asin(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point of the unit circle at height x"""
    value = to_float(emit, self)
    return emit(Atan2Op(value, _other_leg(emit, value)))


@register_op("aten.acos", "aten.arccos")
def acos(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point of the upper unit circle above x"""
    value = to_float(emit, self)
    return emit(Atan2Op(_other_leg(emit, value), value))


def _other_leg(emit: Emitter, value: SSAValue) -> SSAValue:
    # sqrt(1 - x * x) loses digits near 1; its factors do not.
    factors = rsub(emit, value, 1), add(emit, value, 1)
    return emit(SqrtOp(emit(MulOp(*factors))))


def _half_exponentials(emit: Emitter, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return exp(x) / 2 and exp(-x) / 2, which overflow no earlier than sinh and cosh."""
    root = emit(ExpOp(mul(emit, value, 0.5)))
    half = mul(emit, root, 0.5)
    below = emit(DivOp(emit.number(0.5, element_type(value)), root))
    return emit(MulOp(half, root)), emit(DivOp(below, root))


@register_op("aten.sinh")
def sinh(emit: Emitter, self: SSAValue) -> SSAValue:
    """(exp(x) - exp(-x)) / 2"""
    value = to_float(emit, self)
    large = emit(SubOp(*_half_exponentials(emit, value)))
    less_one = expm1(emit, value)
    small = add(emit, less_one, div(emit, less_one, add(emit, less_one, 1)))
    is_large = compared(emit, emit(AbsOp(value)), 1.0, "gt")
    return emit(WhereOp(is_large, large, mul(emit, small, 0.5)))


@register_op("aten.cosh")
def cosh(emit: Emitter, self: SSAValue) -> SSAValue:
    """(exp(x) + exp(-x)) / 2"""
    return emit(AddOp(*_half_exponentials(emit, to_float(emit, self))))


def _of_size(emit: Emitter, value: SSAValue, function: Callable[[SSAValue], SSAValue]) -> SSAValue:
    """Return an odd function from what it is of |x|."""
    size = function(emit(AbsOp(value)))
    return emit(WhereOp(compared(emit, value, 0.0, "lt"), emit(NegOp(size)), size))


def _doubled_beyond(emit: Emitter, value: SSAValue, otherwise: SSAValue) -> SSAValue:
    """Return log(2 * x) where x is so large that its square may overflow."""
    doubled = add(emit, emit(LogOp(value)), log(2))
    far = 100.0 if element_type(value) == f16 else 1e9
    return emit(WhereOp(compared(emit, value, far, "gt"), doubled, otherwise))


@register_op("aten.asinh", "aten.arcsinh")
def asinh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log(x + sqrt(x * x + 1)), of |x| and with the sign of x"""

    def positive(value: SSAValue) -> SSAValue:
        square = emit(MulOp(value, value))
        root = add(emit, emit(SqrtOp(add(emit, square, 1))), 1)
        small = emit(Log1pOp(add(emit, value, emit(DivOp(square, root)))))
        return _doubled_beyond(emit, value, small)

    return _of_size(emit, to_float(emit, self), positive)


@register_op("aten.acosh", "aten.arccosh")
def acosh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log(x + sqrt(x * x - 1)); NaN below 1"""
    value = to_float(emit, self)
    above = add(emit, value, -1)
    roots = emit(SqrtOp(above)), emit(SqrtOp(add(emit, above, 2)))
    small = emit(Log1pOp(add(emit, above, emit(MulOp(*roots)))))
    return _doubled_beyond(emit, value, small)


@register_op("aten.atanh", "aten.arctanh")
def atanh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log((1 + x) / (1 - x)) / 2, of |x| and with the sign of x; NaN beyond 1"""

    def positive(value: SSAValue) -> SSAValue:
        ratio = div(emit, mul(emit, value, 2), rsub(emit, value, 1))
        return mul(emit, emit(Log1pOp(ratio)), 0.5)

    return _of_size(emit, to_float(emit, self), positive)
