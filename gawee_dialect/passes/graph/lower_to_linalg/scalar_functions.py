"""The functions of equations as scalar ops in the body of a structured op.

Integer division traps in machine code by 0, and of the lowest integer by -1: bodies divide by 1
there and choose the result.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i32
from xdsl.ir import SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted
from gawee_dialect.passes.graph.lower_to_linalg.scalars import FloatFunction, Scalars


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, AnyFloat)


def _absolute(scalars: Scalars, value: SSAValue) -> SSAValue:
    """Take a number without its sign."""
    return scalars.emit((math.AbsFOp if _is_float(value) else math.AbsIOp)(value))


def _sign(scalars: Scalars, value: SSAValue) -> SSAValue:
    """Compute -1, 0 or 1; NaN gives 0."""
    zero, one, minus = (scalars.constant(number, value.type) for number in (0, 1, -1))
    negative = scalars.select(scalars.compare("lt", value, zero), minus, zero)
    return scalars.select(scalars.compare("gt", value, zero), one, negative)


def _raised(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Raise to a power; integers wrap around."""
    if _is_float(lhs):
        return scalars.emit(math.PowFOp(lhs, rhs))
    zero, one, minus = (scalars.constant(number, lhs.type) for number in (0, 1, -1))
    odd = scalars.compare("ne", scalars.both(rhs, one), zero)
    inverse = scalars.select(scalars.compare("eq", lhs, one), one, zero)
    of_minus = scalars.select(odd, minus, one)
    inverse = scalars.select(scalars.compare("eq", lhs, minus), of_minus, inverse)
    result = _natural_power(scalars, lhs, rhs)
    return scalars.select(scalars.compare("lt", rhs, zero), inverse, result)


def _natural_power(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Multiply lhs to the powers of two that the bits of rhs say, the sign left out."""
    assert isa(lhs.type, IntegerType)
    zero, result = scalars.constant(0, lhs.type), scalars.constant(1, lhs.type)
    for bit in range(lhs.type.width.data - 1):
        is_set = scalars.compare(
            "ne", scalars.both(rhs, scalars.constant(1 << bit, lhs.type)), zero
        )
        result = scalars.select(is_set, scalars.multiply(result, lhs), result)
        lhs = scalars.multiply(lhs, lhs)
    return result


def _safe_divisor(scalars: Scalars, divisor: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return a divisor that never traps, whether the given one is 0, and whether it is -1."""
    one = scalars.constant(1, divisor.type)
    is_zero = scalars.compare("eq", divisor, scalars.constant(0, divisor.type))
    is_minus = scalars.compare("eq", divisor, scalars.constant(-1, divisor.type))
    return scalars.select(scalars.either(is_zero, is_minus), one, divisor), is_zero, is_minus


def _truncated_remainder(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    divisor = rhs if _is_float(rhs) else _safe_divisor(scalars, rhs)[0]
    return scalars.remainder(lhs, divisor)


def _is_past(scalars: Scalars, rest: SSAValue, divisor: SSAValue) -> SSAValue:
    """Whether a quotient rounded towards zero is above the exact one, by its remainder."""
    zero = scalars.constant(0, rest.type)
    signs = [scalars.compare("lt", value, zero) for value in (rest, divisor)]
    return scalars.both(scalars.compare("ne", rest, zero), scalars.different(*signs))


def _floored_remainder(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Divide rounding down; return what is left, which has the sign of rhs."""
    rest = _truncated_remainder(scalars, lhs, rhs)
    return scalars.select(_is_past(scalars, rest, rhs), scalars.add(rest, rhs), rest)


def _floor_divide(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Divide rounding down; integers and indices by zero give zero."""
    if _is_float(lhs):
        return _floor_divide_floats(scalars, lhs, rhs)
    divisor, is_zero, is_minus = _safe_divisor(scalars, rhs)
    quotient = scalars.emit(arith.DivSIOp(lhs, divisor))
    past = _is_past(scalars, scalars.remainder(lhs, divisor), divisor)
    one, zero = scalars.constant(1, lhs.type), scalars.constant(0, lhs.type)
    quotient = scalars.select(past, scalars.subtract(quotient, one), quotient)
    quotient = scalars.select(is_minus, scalars.negate(lhs), quotient)
    return scalars.select(is_zero, zero, quotient)


def _floor_divide_floats(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Divide what the remainder leaves, which is exact, and round what the division did not."""
    zero, half, one = (scalars.constant(number, lhs.type) for number in (0, 0.5, 1))
    rest = scalars.remainder(lhs, rhs)
    quotient = scalars.divide(scalars.subtract(lhs, rest), rhs)
    past = _is_past(scalars, rest, rhs)
    quotient = scalars.select(past, scalars.subtract(quotient, one), quotient)
    whole = scalars.apply(math.FloorOp, quotient)
    nearer = scalars.compare("gt", scalars.subtract(quotient, whole), half)
    whole = scalars.select(nearer, scalars.add(whole, one), whole)
    # A zero has the sign of what was rounded down, whatever the remainder's was.
    exact = scalars.divide(lhs, rhs)
    signed = scalars.emit(math.CopySignOp(zero, exact))
    whole = scalars.select(scalars.compare("eq", whole, zero), signed, whole)
    return scalars.select(scalars.compare("eq", rhs, zero), exact, whole)


def _atan2(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return scalars.emit(math.Atan2Op(lhs, rhs))


def _not(scalars: Scalars, value: SSAValue) -> SSAValue:
    assert isa(value.type, IntegerType)
    every_bit = 1 if value.type == i1 else -1
    return scalars.different(value, scalars.constant(every_bit, value.type))


def _sigmoid(scalars: Scalars, value: SSAValue) -> SSAValue:
    one = scalars.constant(1, value.type)
    power = scalars.exponential(scalars.negate(value))
    return scalars.divide(one, scalars.add(one, power))


def _relu(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.maximum(value, scalars.constant(0, value.type))


def _compare(predicate: str) -> Callable[[Scalars, SSAValue, SSAValue], SSAValue]:
    def compare(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if lhs.type == i1:  # true is 1, and would be -1 as a signed number of one bit
            lhs, rhs = (converted(scalars, each, i32) for each in (lhs, rhs))
        return scalars.compare(predicate, lhs, rhs)

    return compare


def _math(apply: type[FloatFunction]) -> Callable[[Scalars, SSAValue], SSAValue]:
    return lambda scalars, value: scalars.apply(apply, value)


UNARY: Mapping[str, Callable[[Scalars, SSAValue], SSAValue]] = {
    "-": Scalars.negate,
    "!": _not,
    "exp": _math(math.ExpOp),
    "expm1": _math(math.ExpM1Op),
    "log": _math(math.LogOp),
    "log1p": _math(math.Log1pOp),
    "sqrt": _math(math.SqrtOp),
    "rsqrt": _math(math.RsqrtOp),
    "tanh": _math(math.TanhOp),
    "erf": _math(math.ErfOp),
    "sin": _math(math.SinOp),
    "cos": _math(math.CosOp),
    "sigmoid": _sigmoid,
    "relu": _relu,
    "abs": _absolute,
    "sign": _sign,
    "floor": _math(math.FloorOp),
    "ceil": _math(math.CeilOp),
    "round": _math(math.RoundEvenOp),
    "isnan": Scalars.is_nan,
    "bit_not": _not,
}
"""Functions of one element, by their names in equations."""

BINARY: Mapping[str, Callable[[Scalars, SSAValue, SSAValue], SSAValue]] = {
    "+": Scalars.add,
    "-": Scalars.subtract,
    "*": Scalars.multiply,
    "/": Scalars.divide,
    "//": _floor_divide,
    "%": _floored_remainder,
    "**": _raised,
    "==": _compare("eq"),
    "!=": _compare("ne"),
    "<": _compare("lt"),
    "<=": _compare("le"),
    ">": _compare("gt"),
    ">=": _compare("ge"),
    "&&": Scalars.both,
    "||": Scalars.either,
    "max": Scalars.maximum,
    "min": Scalars.minimum,
    "atan2": _atan2,
    "fmod": _truncated_remainder,
    "bit_and": Scalars.both,
    "bit_or": Scalars.either,
    "bit_xor": Scalars.different,
}
"""Functions of two elements."""
