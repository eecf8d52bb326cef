"""Functions of f32 that are logarithms, roots or powers, on f64; a power's sign on f32."""

from math import inf, nan

from xdsl.ir import SSAValue

from gawee_dialect.passes.expand_math.doubles import LN2_HIGH, LOG2_E, SINGLE_DIGITS, Doubles
from gawee_dialect.passes.expand_math.exponential import with_limits
from gawee_dialect.passes.expand_math.numbers import Numbers

LOG10_2 = float.fromhex("0x1.34413509f79ffp-2")
LARGEST = float.fromhex("0x1.fffffep+127")
"""Of f32."""

LOG10_E = float.fromhex("0x1.bcb7b1526e50ep-2")

DOUBLES = Doubles(SINGLE_DIGITS)


def _logarithm(to: Numbers, x: SSAValue, of_two: float, of_e: float) -> SSAValue:
    """The logarithm to the base whose logarithms of 2 and e these are; whole for powers of 2"""
    e, mantissa = to.split(x)
    natural = DOUBLES.log_near_one(to, to.real(0.0), to.add(mantissa, to.real(-1.0)))
    rest = to.multiply(natural, to.real(of_e))
    return with_limits(to, x, to.fma(e, to.real(of_two), rest))


def log2(to: Numbers, x: SSAValue) -> SSAValue:
    """e + log(1 + f) / ln 2"""
    return _logarithm(to, x, 1.0, LOG2_E)


def log10(to: Numbers, x: SSAValue) -> SSAValue:
    """e * log10(2) + log(1 + f) / ln 10"""
    return _logarithm(to, x, LOG10_2, LOG10_E)


def asinh(to: Numbers, x: SSAValue) -> SSAValue:
    """log1p(a + a^2 / (1 + sqrt(a^2 + 1))) of the magnitude a"""
    size = to.magnitude(x)
    square = to.multiply(size, size)
    root = to.root(to.add(square, to.real(1.0)))
    above = to.add(size, to.divide(square, to.add(root, to.real(1.0))))
    result = DOUBLES.log1p(to, above)
    infinite = to.compare(size, to.real(inf), "oeq")
    return to.with_sign(to.select(infinite, size, result), x)


def acosh(to: Numbers, x: SSAValue) -> SSAValue:
    """log1p(t + sqrt(t * (t + 2))) with t = x - 1, not below 0"""
    below = to.compare(x, to.real(1.0), "olt")
    t = to.select(below, to.real(nan), to.add(x, to.real(-1.0)))
    return DOUBLES.log1p(to, to.add(t, to.root(to.multiply(t, to.add(t, to.real(2.0))))))


def atanh(to: Numbers, x: SSAValue) -> SSAValue:
    """log1p(2 x / (1 - x)) / 2"""
    inside = to.divide(to.add(x, x), to.subtract(to.real(1.0), x))
    return to.multiply(DOUBLES.log1p(to, inside), to.real(0.5))


def exp2(to: Numbers, x: SSAValue) -> SSAValue:
    """2^x, in f32's range: 2^n * e^(r ln 2)"""
    x = to.clamp(x, -160.0, 160.0)
    n = to.nearest_whole(x)
    power = DOUBLES.exp_near_zero(to, to.multiply(to.subtract(x, n), to.real(LN2_HIGH)))
    return to.multiply(power, to.power_of_two(to.to_whole(n, -160)))


def cbrt(to: Numbers, x: SSAValue) -> SSAValue:
    """2^(log2(|x|) / 3) with the sign of x"""
    size = to.magnitude(x)
    root = exp2(to, to.divide(log2(to, size), to.real(3.0)))
    finite = to.compare(to.subtract(size, size), to.real(0.0), "oeq")
    not_zero = to.compare(size, to.real(0.0), "one")
    return to.with_sign(to.select(to.both(finite, not_zero), root, size), x)


def pow(to: Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
    """2^(y log2(|x|)), negative where x is and y is odd, as C's annex F has it"""
    one, zero = to.real(1.0), to.real(0.0)
    power = to.on_doubles(_magnitude_of_power, x, y)
    below = to.compare_whole(to.bits(x), to.whole(0), "slt")
    y = to.clamp(y, -LARGEST, LARGEST)  # what is infinite is even
    whole = _is_whole(to, y)
    odd = to.both(whole, _is_half(to, y))
    signed = to.select(to.both(below, odd), to.with_sign(power, to.real(-1.0)), power)
    finite_below = to.both(to.compare(x, zero, "olt"), to.compare(x, to.real(-inf), "ogt"))
    defined = to.select(whole, signed, to.real(nan))
    signed = to.select(finite_below, defined, signed)
    signed = to.select(to.compare(y, zero, "oeq"), one, signed)
    return to.select(to.compare(x, one, "oeq"), one, signed)


def _magnitude_of_power(to: Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
    """2^(y log2(|x|)); an infinite y times log2(1) is 0"""
    return exp2(to, to.multiply(to.clamp(y, -1e40, 1e40), log2(to, to.magnitude(x))))


def _is_whole(to: Numbers, y: SSAValue) -> SSAValue:
    return to.compare(to.nearest_whole(y), y, "oeq")


def _is_half(to: Numbers, y: SSAValue) -> SSAValue:
    """Whether half of y is not whole"""
    half = to.multiply(y, to.real(0.5))
    return to.compare(to.nearest_whole(half), half, "one")
