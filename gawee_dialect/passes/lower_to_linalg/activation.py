"""Scalar bodies of activation functions and of clamping."""

from collections.abc import Mapping, Sequence
from math import pi

from xdsl.dialects import math
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.activation import (
    ClipOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
)
from gawee_dialect.dialect.elementwise import ElementwiseOp, ReluOp
from gawee_dialect.dialect.types import element_type, integer_range
from gawee_dialect.hints import isa
from gawee_dialect.passes.lower_to_linalg.bodies import ScalarBody, body_of, unary
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars


def _relu(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.maximum(value, scalars.constant(0, value.type))


def _sigmoid_divisor(scalars: Scalars, value: SSAValue) -> SSAValue:
    """1 + exp(-x)"""
    raised = scalars.apply(math.ExpOp, scalars.negate(value))
    return scalars.add(scalars.constant(1, value.type), raised)


def _sigmoid(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.divide(scalars.constant(1, value.type), _sigmoid_divisor(scalars, value))


def _silu(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.divide(value, _sigmoid_divisor(scalars, value))


def _hard_sigmoid(scalars: Scalars, value: SSAValue) -> SSAValue:
    zero, three, six = (scalars.constant(number, value.type) for number in (0, 3, 6))
    raised = scalars.maximum(scalars.add(value, three), zero)
    return scalars.divide(scalars.minimum(raised, six), six)


def _hard_swish(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.multiply(value, _hard_sigmoid(scalars, value))


def _softplus(scalars: Scalars, value: SSAValue) -> SSAValue:
    """max(x, 0) + log1p(exp(-|x|))"""
    falling = scalars.negate(scalars.apply(math.AbsFOp, value))
    rest = scalars.apply(math.Log1pOp, scalars.apply(math.ExpOp, falling))
    return scalars.add(_relu(scalars, value), rest)


def _leaky_relu(scalars: Scalars, args: Sequence[SSAValue], op: LeakyReluOp) -> SSAValue:
    (value,) = args
    positive = scalars.compare("gt", value, scalars.constant(0, value.type))
    alpha = scalars.constant(op.alpha.value.data, value.type)
    return scalars.select(positive, value, scalars.multiply(value, alpha))


def _elu(scalars: Scalars, args: Sequence[SSAValue], op: EluOp) -> SSAValue:
    (value,) = args
    zero = scalars.constant(0, value.type)
    alpha = scalars.constant(op.alpha.value.data, value.type)
    below = scalars.apply(math.ExpM1Op, scalars.minimum(value, zero))
    positive = scalars.compare("gt", value, zero)
    return scalars.select(positive, value, scalars.multiply(alpha, below))


def _gelu(scalars: Scalars, args: Sequence[SSAValue], op: GeluOp) -> SSAValue:
    (value,) = args

    def number(number: float) -> SSAValue:
        return scalars.constant(number, value.type)

    if op.approximate.data == "tanh":
        cube = scalars.multiply(scalars.multiply(value, value), value)
        inner = scalars.add(value, scalars.multiply(cube, number(0.044715)))
        curve = scalars.apply(math.TanhOp, scalars.multiply(inner, number((2 / pi) ** 0.5)))
    else:
        curve = scalars.apply(math.ErfOp, scalars.multiply(value, number(0.5**0.5)))
    return scalars.multiply(scalars.multiply(value, number(0.5)), scalars.add(number(1), curve))


def _clip(scalars: Scalars, args: Sequence[SSAValue], op: ClipOp) -> SSAValue:
    (value,) = args
    element = element_type(op.input)
    low, high = op.bounds
    if low is not None:
        value = scalars.maximum(value, scalars.constant(_within(low, element), value.type))
    if high is not None:
        value = scalars.minimum(value, scalars.constant(_within(high, element), value.type))
    return value


def _within(bound: float, element: Attribute) -> float:
    """Return the nearest bound that an element type has."""
    if not isa(element, IntegerType):
        return bound
    lowest, highest = integer_range(element)
    return min(max(int(bound), lowest), highest)


ACTIVATIONS: Mapping[type[ElementwiseOp], ScalarBody] = {
    ReluOp: unary(_relu),
    SigmoidOp: unary(_sigmoid),
    SiluOp: unary(_silu),
    HardSigmoidOp: unary(_hard_sigmoid),
    HardSwishOp: unary(_hard_swish),
    SoftplusOp: unary(_softplus),
    LeakyReluOp: body_of(LeakyReluOp, _leaky_relu),
    EluOp: body_of(EluOp, _elu),
    GeluOp: body_of(GeluOp, _gelu),
    ClipOp: body_of(ClipOp, _clip),
}
"""What activation functions do to an element."""
