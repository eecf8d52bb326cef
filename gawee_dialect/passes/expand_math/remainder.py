"""The remainder of a division of f32, on f64: exact."""

from xdsl.ir import SSAValue

from gawee_dialect.passes.expand_math.numbers import Numbers

MOST = 2.0**52
"""Quotients below are whole numbers of f64, one away from the exact one at most."""


def has_large_quotient(to: Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
    """Whether the quotient of two f32 has no place in an f64"""
    return to.compare(to.magnitude(x), to.multiply(to.magnitude(y), to.real(MOST)), "ogt")


def remainder(to: Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
    """x - n * y for the quotient n, rounded towards zero; it has the sign of x.

    The product is not rounded, and the difference, of f32, needs no more digits than y has and one.
    Where the division rounded up to n, it is below zero, by less than y.
    """
    zero, size, divisor = to.real(0.0), to.magnitude(x), to.magnitude(y)
    whole = to.toward_zero(to.divide(size, divisor))
    rest = to.fma(to.subtract(to.real(-0.0), whole), divisor, size)
    below = to.compare(rest, zero, "olt")
    rest = to.select(below, to.add(rest, divisor), rest)
    # An infinite divisor leaves x, and no product with it.
    rest = to.select(to.compare(whole, zero, "oeq"), size, rest)
    return to.with_sign(rest, x)
