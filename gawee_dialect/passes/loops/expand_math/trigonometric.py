"""Trigonometric functions of f32 and their inverses, on f64.

The coefficients interpolate at Chebyshev's points and are rounded to f64.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gawee_dialect.passes.loops.expand_math.numbers import Numbers, from_hex

HALF_PI = float.fromhex("0x1.921fb54442d18p+0")
HALF_PI_LOW = float.fromhex("0x1.1a62633145c07p-54")
"""What is missing of pi / 2."""
TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
PI = 2 * HALF_PI

LARGEST = 2.0**30
"""Up to here the number of quarter turns is an i32, and what it loses of pi / 2 is 2^-78."""


SIN = from_hex(
    *("-0x1.555555545df18p-3", "0x1.11110deef0ae3p-7"),
    *("-0x1.a013a740c35cep-13", "0x1.6dbded5452c9bp-19"),
)
"""(sin(r) / r - 1) / r^2 in r^2, for r up to pi / 4; a relative error of 2^-35."""

COS = from_hex(
    *("0x1.5555555502c6dp-5", "-0x1.6c16bf54be1f5p-10"),
    *("0x1.a015c4462d9e1p-16", "-0x1.25243c2f39502p-22"),
)
"""(cos(r) - 1 + r^2 / 2) / r^4 in r^2, for r up to pi / 4; a relative error of 2^-39."""

ATAN = from_hex(
    *("-0x1.555555543c557p-2", "0x1.9999971f594e7p-3", "-0x1.2491d128f2977p-3"),
    *("0x1.c70a6be6d4163p-4", "-0x1.73a719b0b93d9p-4", "0x1.36bfd2210f14ap-4"),
    *("-0x1.ffb2b9595f5b2p-5", "0x1.837061ab40426p-5", "-0x1.ea18af61c3e87p-6"),
    *("0x1.cd243cc325c05p-7", "-0x1.14abab0185470p-8", "0x1.36ecfc48d188bp-11"),
)
"""(atan(t) / t - 1) / t^2 in t^2, for t up to 1; a relative error of 2^-34."""


def _quarter_turns(to: Numbers, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """n, the sine and the cosine of r, with x = n * pi / 2 + r"""
    n = to.nearest_whole(to.multiply(x, to.real(TWO_OVER_PI)))
    r = to.fma(n, to.real(-HALF_PI), x)
    r = to.fma(n, to.real(-HALF_PI_LOW), r)
    square = to.multiply(r, r)
    sine = to.fma(to.multiply(to.polynomial(square, SIN), square), r, r)
    fourth = to.fma(to.polynomial(square, COS), square, to.real(-0.5))
    return to.to_whole(n, -int(LARGEST)), sine, to.fma(fourth, square, to.real(1.0))


def _has_bit(to: Numbers, number: SSAValue, bit: int) -> SSAValue:
    """Whether an i32 has a bit"""
    zero = to.whole(0, i32)
    return to.compare_whole(to.both(number, to.whole(bit, i32)), zero, "ne")


def _negated(to: Numbers, condition: SSAValue, x: SSAValue) -> SSAValue:
    return to.select(condition, to.subtract(to.real(-0.0), x), x)


def sin(to: Numbers, x: SSAValue) -> SSAValue:
    """sin(r), cos(r), -sin(r) or -cos(r); -0.0 stays itself"""
    n, sine, cosine = _quarter_turns(to, x)
    found = _negated(to, _has_bit(to, n, 2), to.select(_has_bit(to, n, 1), cosine, sine))
    return to.select(to.compare(x, to.real(0.0), "oeq"), x, found)


def cos(to: Numbers, x: SSAValue) -> SSAValue:
    """cos(r), -sin(r), -cos(r) or sin(r)"""
    n, sine, cosine = _quarter_turns(to, x)
    next = to.emit(arith.AddiOp(n, to.whole(1, i32)))
    found = to.select(_has_bit(to, n, 1), sine, cosine)
    return _negated(to, _has_bit(to, next, 2), found)


def tan(to: Numbers, x: SSAValue) -> SSAValue:
    """sin(r) / cos(r), or -cos(r) / sin(r)"""
    n, sine, cosine = _quarter_turns(to, x)
    odd = _has_bit(to, n, 1)
    above = to.select(odd, cosine, sine)
    found = to.divide(above, _negated(to, odd, to.select(odd, sine, cosine)))
    return to.select(to.compare(x, to.real(0.0), "oeq"), x, found)


def is_large(to: Numbers, x: SSAValue) -> SSAValue:
    """Whether the reduction of an angle needs hundreds of digits of pi: that is rare."""
    return to.compare(to.magnitude(x), to.real(LARGEST), "ogt")


def _arc(to: Numbers, t: SSAValue) -> SSAValue:
    """atan(t) for t from 0 to 1"""
    square = to.multiply(t, t)
    return to.fma(to.multiply(to.polynomial(square, ATAN), square), t, t)


def atan(to: Numbers, x: SSAValue) -> SSAValue:
    """atan(t), or pi / 2 - atan(1 / t) for t beyond 1"""
    size, one = to.magnitude(x), to.real(1.0)
    beyond = to.compare(size, one, "ogt")
    arc = _arc(to, to.select(beyond, to.divide(one, size), size))
    return to.with_sign(to.select(beyond, to.subtract(to.real(HALF_PI), arc), arc), x)


def atan2(to: Numbers, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle of (x, y): atan of the smaller by the larger magnitude, in its octant"""
    width, height, zero = to.magnitude(x), to.magnitude(y), to.real(0.0)
    steep = to.compare(height, width, "ogt")
    smaller, larger = to.select(steep, width, height), to.select(steep, height, width)
    quotient = to.divide(smaller, larger)
    # Of two infinities too the quotient is 1; that of two zeros is 0.
    quotient = to.select(to.compare(smaller, larger, "oeq"), to.real(1.0), quotient)
    at_zero = to.compare(to.add(width, height), zero, "oeq")
    arc = _arc(to, to.select(at_zero, zero, quotient))
    arc = to.select(steep, to.subtract(to.real(HALF_PI), arc), arc)
    left = to.compare_whole(to.bits(x), to.whole(0), "slt")
    arc = to.select(left, to.subtract(to.real(PI), arc), arc)
    return to.with_sign(arc, y)


def _other_side(to: Numbers, x: SSAValue) -> SSAValue:
    """sqrt(1 - x^2), which is not a number beyond 1"""
    one = to.real(1.0)
    return to.root(to.multiply(to.subtract(one, x), to.add(one, x)))


def asin(to: Numbers, x: SSAValue) -> SSAValue:
    """The angle of (sqrt(1 - x^2), x)"""
    return atan2(to, x, _other_side(to, x))


def acos(to: Numbers, x: SSAValue) -> SSAValue:
    """The angle of (x, sqrt(1 - x^2))"""
    return atan2(to, _other_side(to, x), x)
