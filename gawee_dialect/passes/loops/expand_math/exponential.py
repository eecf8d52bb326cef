"""exp, exp2, log and log1p on f32: powers of two are split off, a polynomial does the rest.

The coefficients are minimax fits, each rounded to f32 before the next was fitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gawee_dialect.passes.loops.expand_math.numbers import Numbers, from_hex

LOG2_E = float.fromhex("0x1.715476p+0")
LN2_HIGH = float.fromhex("0x1.63p-1")
"""ln 2 to 9 bits, so that a small whole number times it is exact."""
LN2_LOW = float.fromhex("-0x1.bd0106p-13")
"""What is missing of ln 2."""

EXP = from_hex("0x1.fffffcp-2", "0x1.55549p-3", "0x1.5558acp-5", "0x1.123b1p-7", "0x1.6a545p-10")
"""(e^r - 1 - r) / r^2 for r up to ln(2) / 2; adds 0.05 ulp to e^r."""

EXP2 = from_hex(
    *("0x1.62e43p-1", "0x1.ebfbdcp-3", "0x1.c6af78p-5"),
    *("0x1.3b2ddp-7", "0x1.5f0abcp-10", "0x1.417e34p-13"),
)
"""(2^r - 1) / r for r up to 1/2; adds 0.05 ulp to 2^r."""

LOG = from_hex(
    *("0x1.555554p-2", "-0x1.00022ap-2", "0x1.99a028p-3", "-0x1.547164p-3"),
    *("0x1.22d71p-3", "-0x1.0d8bfap-3", "0x1.0573b2p-3", "-0x1.38c9fap-4"),
)
"""(log(1 + f) - f + f^2 / 2) / f^3 for 1 + f between sqrt(1/2) and sqrt(2); adds 0.1 ulp."""


def scaled(to: Numbers, value: SSAValue, exponent: SSAValue) -> SSAValue:
    """value * 2^exponent, in two steps: neither factor is a denormal, nor infinite."""
    known = to.to_whole(exponent, 1 - to.layout.bias - to.layout.fraction_bits - 2)
    half = to.emit(arith.ShRSIOp(known, to.whole(1, i32)))
    rest = to.emit(arith.SubiOp(known, half))
    return to.multiply(to.multiply(value, to.power_of_two(half)), to.power_of_two(rest))


def exp(to: Numbers, x: SSAValue) -> SSAValue:
    """e^x = 2^n * e^r with n the whole number next to x / ln 2"""
    x = to.clamp(x, -104.0, 89.0)
    n = to.nearest_whole(to.multiply(x, to.real(LOG2_E)))
    r = to.fma(n, to.real(-LN2_HIGH), x)
    r = to.fma(n, to.real(-LN2_LOW), r)
    above = to.fma(to.polynomial(r, EXP), to.multiply(r, r), r)
    return scaled(to, to.add(above, to.real(1.0)), n)


def exp2(to: Numbers, x: SSAValue) -> SSAValue:
    """2^x = 2^n * 2^r with n the whole number next to x"""
    x = to.clamp(x, -151.0, 129.0)
    n = to.nearest_whole(x)
    r = to.subtract(x, n)
    return scaled(to, to.fma(to.polynomial(r, EXP2), r, to.real(1.0)), n)


def log(to: Numbers, x: SSAValue) -> SSAValue:
    """log(x) = e * ln 2 + log(1 + f) with x = 2^e * (1 + f)"""
    exponent, mantissa, shift = normal_parts(to, x)
    e = to.add(exponent, shift)
    f = to.add(mantissa, to.real(-1.0))
    small = to.fma(e, to.real(LN2_LOW), _beyond_first(to, f))
    finite = to.fma(e, to.real(LN2_HIGH), to.add(small, f))
    return with_limits(to, x, finite)


def _beyond_first(to: Numbers, f: SSAValue) -> SSAValue:
    """log(1 + f) - f"""
    beyond = to.fma(to.polynomial(f, LOG), f, to.real(-0.5))
    return to.multiply(to.multiply(f, f), beyond)


def log1p(to: Numbers, x: SSAValue) -> SSAValue:
    """log(2^e * (1 + f)) with f the argument itself where e is 0: its digits are all there.

    Elsewhere, what rounding took from 1 + x is added to the logarithm, divided by 1 + x.
    """
    one = to.real(1.0)
    total = to.add(x, one)
    e, mantissa = to.split(total)
    is_near = to.compare(e, to.real(0.0), "oeq")
    f = to.select(is_near, x, to.subtract(mantissa, one))
    inverse = to.fma(to.add(f, to.real(-1.0)), f, one)  # 1 / (1 + f) to four bits
    lost = to.multiply(lost_of_one_more(to, x, total), inverse_of_power(to, e))
    lost = to.select(is_near, to.real(0.0), to.multiply(lost, inverse))
    small = to.add(to.fma(e, to.real(LN2_LOW), _beyond_first(to, f)), lost)
    # e ln 2 is the greater one, so that all that rounding takes from the sum is known.
    rounded = to.fma(e, to.real(LN2_HIGH), f)
    rest = to.subtract(f, to.fma(e, to.real(-LN2_HIGH), rounded))
    finite = to.add(rounded, to.add(rest, small))
    return to.with_sign(with_limits(to, total, finite), x)


def lost_of_one_more(to: Numbers, x: SSAValue, total: SSAValue) -> SSAValue:
    """What rounding took from 1 + x (Knuth's TwoSum)"""
    share = to.subtract(total, to.real(1.0))
    of_one = to.subtract(to.real(1.0), to.subtract(total, share))
    return to.add(of_one, to.subtract(x, share))


def inverse_of_power(to: Numbers, e: SSAValue) -> SSAValue:
    """2^-e, where that is no denormal: beyond, nothing was lost that counts."""
    return to.power_of_two(to.to_whole(to.subtract(to.real(0.0), e), 1 - to.layout.bias))


def normal_parts(to: Numbers, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """e, m and s with x = 2^(e + s) * m, for denormals too"""
    digits = to.layout.fraction_bits
    denormal = to.compare(x, to.real(to.layout.smallest_normal), "olt")
    normal = to.select(denormal, to.multiply(x, to.real(2.0**digits)), x)
    exponent, mantissa = to.split(normal)
    return exponent, mantissa, to.select(denormal, to.real(-digits), to.real(0.0))


def with_limits(to: Numbers, x: SSAValue, finite: SSAValue) -> SSAValue:
    """log at infinity, at zero, and where it is not defined"""
    result = to.select(to.compare(x, to.real(inf), "oeq"), x, finite)
    result = to.select(to.compare(x, to.real(0.0), "oeq"), to.real(-inf), result)
    return to.select(to.compare(x, to.real(0.0), "ult"), to.real(nan), result)


# tanh and erf on f32: odd functions that end at 1, as x * P(x^2) / Q(x^2).
#
# The coefficients are minimax fits of the relative error, each rounded to f32 before the next was
# fitted. All are positive, so that nothing cancels.


@dataclass(frozen=True)
class OddRational:
    """x * P(x^2) / Q(x^2) up to `end`, where the quotient rounds to 1 or more."""

    numerator: Sequence[str]
    denominator: Sequence[str]
    end: float

    def __call__(self, to: Numbers, x: SSAValue) -> SSAValue:
        """x, clamped, times one polynomial and divided by the other"""
        x = to.clamp(x, -self.end, self.end)
        square = to.multiply(x, x)
        above = to.polynomial(square, from_hex(*self.numerator))
        below = to.polynomial(square, from_hex(*self.denominator))
        # Rounding may lead beyond 1, which the function never is.
        return to.clamp(to.divide(to.multiply(x, above), below), -1.0, 1.0)


TANH = OddRational(
    ("0x1p+0", "0x1.1213d4p-3", "0x1.ca6a2p-9", "0x1.5a2e0cp-16", "0x1.cbb334p-27"),
    ("0x1p+0", "0x1.de5f38p-2", "0x1.a816bap-6", "0x1.58d07cp-12", "0x1.a2267cp-21"),
    9.3,
)
"""The fit adds 0.4 ulp up to 9.02, from where on tanh rounds to 1."""

ERF = OddRational(
    (
        *("0x1.20dd76p+0", "0x1.654d1p-3", "0x1.9f701ep-5"),
        *("0x1.978c7cp-9", "0x1.204026p-12", "0x1.2b514p-19"),
    ),
    (
        *("0x1p+0", "0x1.f3a8dap-2", "0x1.b8ad46p-4"),
        *("0x1.befedep-7", "0x1.0987c8p-10", "0x1.4ae5dap-15"),
    ),
    4.0,
)
"""The fit adds 0.9 ulp up to 3.925, from where on erf rounds to 1."""
