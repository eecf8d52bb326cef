"""Functions of f32 that are logarithms, roots or powers, on f64; a power's sign on f32."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

from xdsl.ir import SSAValue

from gawee_dialect.passes.loops.expand_math.exponential import (
    inverse_of_power,
    lost_of_one_more,
    normal_parts,
    scaled,
    with_limits,
)
from gawee_dialect.passes.loops.expand_math.numbers import Numbers, from_hex

# exp and log on f64: what the functions of f32 that need its digits are made of, and f64's own.
#
# The coefficients interpolate at Chebyshev's points and are rounded to f64.

LOG2_E = float.fromhex("0x1.71547652b82fep+0")
LN2_HIGH = float.fromhex("0x1.62e42fefa39efp-1")
LN2_LOW = float.fromhex("0x1.abc9e3b39803fp-56")
"""What is missing of ln 2."""


@dataclass(frozen=True)
class Digits:
    """Polynomials that give the digits of f32, or of f64."""

    exp: Sequence[float]
    """(e^r - 1 - r) / r^2 for r up to ln(2) / 2."""
    log: Sequence[float]
    """(log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, for the quotient from sqrt(1/2) to sqrt(2)."""
    full: bool
    """Whether the result stays an f64: what rounding loses on the way is added again."""


SINGLE_DIGITS = Digits(
    exp=from_hex(
        *("0x1.0000000000000p-1", "0x1.55555567532adp-3", "0x1.5555555c87148p-5"),
        *("0x1.1110c632a3088p-7", "0x1.6c16858b7acb9p-10", "0x1.a15179d80ae96p-13"),
        "0x1.a1132015ba37ep-16",
    ),
    log=from_hex(
        *("0x1.5555555564eb7p-1", "0x1.999998cae671fp-2", "0x1.249323f5fe0a4p-2"),
        *("0x1.c67ad18010d25p-3", "0x1.8c8cb725e2db5p-3"),
    ),
    full=False,
)
"""Relative errors of 2^-36 and 2^-43."""

DOUBLE_DIGITS = Digits(
    exp=from_hex(
        *("0x1.0000000000000p-1", "0x1.5555555555557p-3", "0x1.5555555555556p-5"),
        *("0x1.11111111100dcp-7", "0x1.6c16c16c162d4p-10", "0x1.a01a01abe7fe1p-13"),
        *("0x1.a01a01a6d889cp-16", "0x1.71de0231960ebp-19", "0x1.27e4db646b17ep-22"),
        *("0x1.af4de97ca4194p-26", "0x1.1f730349868cep-29"),
    ),
    log=from_hex(
        *("0x1.5555555555555p-1", "0x1.9999999999a38p-2", "0x1.2492492476c87p-2"),
        *("0x1.c71c720160b47p-3", "0x1.745cf901605f7p-3", "0x1.3b1c360763b8ap-3"),
        *("0x1.0fbe83c2cbcf3p-3", "0x1.0c04595972ab8p-3"),
    ),
    full=True,
)
"""Relative errors of 2^-60 both."""


@dataclass(frozen=True)
class Doubles:
    """Functions of f64 with the digits that their result needs."""

    digits: Digits

    def _reduced(self, to: Numbers, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        """n and e^r - 1 with e^x = 2^n * e^r"""
        n = to.nearest_whole(to.multiply(x, to.real(LOG2_E)))
        r = to.fma(n, to.real(-LN2_HIGH), x)
        if not self.digits.full:
            return n, to.fma(to.polynomial(r, self.digits.exp), to.multiply(r, r), r)
        exact, low = r, to.real(-LN2_LOW)
        r = to.fma(n, low, exact)
        lost = to.fma(n, low, to.subtract(exact, r))
        above = to.fma(to.polynomial(r, self.digits.exp), to.multiply(r, r), lost)
        return n, to.add(above, r)

    def exp_near_zero(self, to: Numbers, r: SSAValue) -> SSAValue:
        """e^r for r up to ln(2) / 2"""
        above = to.fma(to.polynomial(r, self.digits.exp), to.multiply(r, r), r)
        return to.add(above, to.real(1.0))

    def exp(self, to: Numbers, x: SSAValue) -> SSAValue:
        """e^x = 2^n * e^r"""
        n, above = self._reduced(to, to.clamp(x, -746.0, 710.0))
        return scaled(to, to.add(above, to.real(1.0)), n)

    def expm1(self, to: Numbers, x: SSAValue) -> SSAValue:
        """e^x - 1 = 2^n * (e^r - 1) + (2^n - 1), twice the half of it: 2^1024 is infinite."""
        n, above = self._reduced(to, to.clamp(x, -60.0, 710.0))
        half = to.power_of_two(to.to_whole(to.subtract(n, to.real(1.0)), -100))
        result = to.fma(half, above, to.subtract(half, to.real(0.5)))
        return to.with_sign(to.add(result, result), x)  # that of a zero too

    def tanh(self, to: Numbers, x: SSAValue) -> SSAValue:
        """(e^2x - 1) / (e^2x + 1), of the magnitude: nothing cancels."""
        size = to.clamp(to.magnitude(x), 0.0, 25.0)
        e = self.expm1(to, to.add(size, size))
        return to.with_sign(to.divide(e, to.add(e, to.real(2.0))), x)

    def sinh(self, to: Numbers, x: SSAValue) -> SSAValue:
        """(e + e / (e + 1)) / 2 with e = e^|x| - 1; beyond f32 from 90 on"""
        e = self.expm1(to, to.clamp(to.magnitude(x), 0.0, 100.0))
        both = to.add(e, to.divide(e, to.add(e, to.real(1.0))))
        return to.with_sign(to.multiply(both, to.real(0.5)), x)

    def cosh(self, to: Numbers, x: SSAValue) -> SSAValue:
        """(e^|x| + e^-|x|) / 2; beyond f32 from 90 on"""
        e = self.exp(to, to.clamp(to.magnitude(x), 0.0, 100.0))
        half = to.multiply(e, to.real(0.5))
        return to.add(half, to.divide(to.real(0.5), e))

    def log_near_one(self, to: Numbers, e: SSAValue, f: SSAValue) -> SSAValue:
        """log(2^e * (1 + f)), by s = f / (2 + f)"""
        s = to.divide(f, to.add(f, to.real(2.0)))
        z = to.multiply(s, s)
        rest = to.multiply(z, to.polynomial(z, self.digits.log))
        if not self.digits.full:
            return to.fma(e, to.real(LN2_HIGH), to.multiply(s, to.add(rest, to.real(2.0))))
        # 2 s = f - f^2 / 2 + s f^2 / 2, of which f is exact and all else is small.
        half_square = to.multiply(to.multiply(f, f), to.real(0.5))
        small = to.fma(s, to.add(half_square, rest), to.multiply(e, to.real(LN2_LOW)))
        return to.fma(e, to.real(LN2_HIGH), to.subtract(f, to.subtract(half_square, small)))

    def log(self, to: Numbers, x: SSAValue) -> SSAValue:
        """log(2^e * (1 + f)); what comes from an f32 is no denormal."""
        if self.digits.full:
            exponent, mantissa, shift = normal_parts(to, x)
            exponent = to.add(exponent, shift)
        else:
            exponent, mantissa = to.split(x)
        finite = self.log_near_one(to, exponent, to.add(mantissa, to.real(-1.0)))
        return with_limits(to, x, finite)

    def log1p(self, to: Numbers, x: SSAValue) -> SSAValue:
        """log(2^e * (1 + f)) with f the argument itself where e is 0: its digits are all there."""
        one = to.real(1.0)
        total = to.add(x, one)
        e, mantissa = to.split(total)
        f = to.subtract(mantissa, one)
        if self.digits.full:
            f = to.fma(lost_of_one_more(to, x, total), inverse_of_power(to, e), f)
        f = to.select(to.compare(e, to.real(0.0), "oeq"), x, f)
        return to.with_sign(with_limits(to, total, self.log_near_one(to, e, f)), x)


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
