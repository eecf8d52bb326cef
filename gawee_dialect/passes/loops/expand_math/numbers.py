"""Arithmetic on f32 or f64, scalars or vectors alike, as the expansions write it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.upstream import arith as on_vectors


@dataclass(frozen=True)
class FloatFormat:
    """How IEEE 754 lays out a binary float."""

    bits: IntegerType
    fraction_bits: int
    bias: int
    root_half: int
    """The bits of sqrt(1/2)."""
    smallest_normal: float


def from_hex(*texts: str) -> Sequence[float]:
    """Read floats as C writes them in hexadecimal, which is exact: `0x1.8p-1`."""
    return [float.fromhex(text) for text in texts]


SINGLE = FloatFormat(i32, 23, 127, 0x3F3504F3, float.fromhex("0x1p-126"))
DOUBLE = FloatFormat(i64, 52, 1023, 0x3FE6A09E667F3BCD, float.fromhex("0x1p-1022"))


class Numbers:
    """Writes ops before the one that is expanded; all values have its lanes.

    `element` is what arithmetic is done on, f32 or f64; whole numbers are as wide.
    """

    def __init__(self, builder: Builder, type: Attribute, element: AnyFloat = f32):
        self.builder = builder
        self.shape = type.get_shape() if isa(type, VectorType[Attribute]) else None
        self.element = element
        self.layout = DOUBLE if element == f64 else SINGLE

    def within(self, builder: Builder) -> "Numbers":
        """Return what writes the same arithmetic somewhere else, as in the body of an op."""
        return Numbers(builder, self.of(self.element), self.element)

    def on_doubles(self, expand: Callable[..., SSAValue], *operands: SSAValue) -> SSAValue:
        """Compute a function of f32 on f64, rounded once."""
        doubles = Numbers(self.builder, self.of(f64), f64)
        wide = [self.emit(arith.ExtFOp(operand, self.of(f64))) for operand in operands]
        return self.emit(arith.TruncFOp(expand(doubles, *wide), self.of(f32)))

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op; returns its result."""
        self.builder.insert(op)
        return op.results[0]

    def of(self, element: Attribute) -> Attribute:
        """Return an element type, as a vector where vectors are expanded."""
        return element if self.shape is None else VectorType(element, self.shape)

    def real(self, value: float) -> SSAValue:
        """Return a constant float."""
        attribute: Attribute = FloatAttr(value, self.element)
        if self.shape is not None:
            type = VectorType(self.element, self.shape)
            attribute = DenseIntOrFPElementsAttr.from_list(type, [value])
        return self.emit(arith.ConstantOp(attribute))

    def whole(self, value: int, type: IntegerType | None = None) -> SSAValue:
        """Return a constant integer, as wide as the floats unless said otherwise."""
        type = type or self.layout.bits
        attribute: Attribute = IntegerAttr(value, type)
        if self.shape is not None:
            attribute = DenseIntOrFPElementsAttr.from_list(VectorType(type, self.shape), [value])
        return self.emit(arith.ConstantOp(attribute))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs + rhs"""
        return self.emit(arith.AddfOp(lhs, rhs))

    def subtract(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs - rhs"""
        return self.emit(arith.SubfOp(lhs, rhs))

    def multiply(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs * rhs"""
        return self.emit(arith.MulfOp(lhs, rhs))

    def divide(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs / rhs"""
        return self.emit(arith.DivfOp(lhs, rhs))

    def fma(self, lhs: SSAValue, rhs: SSAValue, addend: SSAValue) -> SSAValue:
        """lhs * rhs + addend, rounded once: so that every level computes the same bits."""
        return self.emit(math.FmaOp(lhs, rhs, addend))

    def root(self, x: SSAValue) -> SSAValue:
        """The square root"""
        return self.emit(math.SqrtOp(x))

    def magnitude(self, x: SSAValue) -> SSAValue:
        """x without its sign"""
        return self.emit(math.AbsFOp(x))

    def with_sign(self, x: SSAValue, sign: SSAValue) -> SSAValue:
        """The magnitude of x with the sign of another float"""
        return self.emit(math.CopySignOp(x, sign))

    def nearest_whole(self, x: SSAValue) -> SSAValue:
        """x rounded to a whole number, still a float"""
        return self.emit(math.RoundEvenOp(x))

    def toward_zero(self, x: SSAValue) -> SSAValue:
        """x without its fraction, still a float"""
        return self.emit(math.TruncOp(x))

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """The sum of coefficient times x to the power of its place, by Horner's rule."""
        value = self.real(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.fma(value, x, self.real(coefficient))
        return value

    def select(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs where the condition holds, else rhs"""
        if self.shape is None:
            return self.emit(arith.SelectOp(condition, lhs, rhs))
        return self.emit(on_vectors.SelectOp(condition, lhs, rhs))

    def compare(self, lhs: SSAValue, rhs: SSAValue, predicate: str) -> SSAValue:
        """Whether lhs and rhs are as a predicate of arith.cmpf says"""
        if self.shape is None:
            return self.emit(arith.CmpfOp(lhs, rhs, predicate))
        return self.emit(on_vectors.CmpfOp(lhs, rhs, predicate))

    def compare_whole(self, lhs: SSAValue, rhs: SSAValue, predicate: str) -> SSAValue:
        """Whether integers are as a predicate of arith.cmpi says"""
        if self.shape is None:
            return self.emit(arith.CmpiOp(lhs, rhs, predicate))
        return self.emit(on_vectors.CmpiOp(lhs, rhs, predicate))

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Whether two conditions hold, or the bits that two integers share"""
        return self.emit(arith.AndIOp(lhs, rhs))

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """x, or the nearer of two bounds where it lies beyond; NaN stays NaN.

        In this form LLVM makes one instruction of each bound.
        """
        for bound, beyond in ((self.real(low), "ogt"), (self.real(high), "olt")):
            x = self.select(self.compare(bound, x, beyond), bound, x)
        return x

    def bits(self, x: SSAValue) -> SSAValue:
        """The bits of a float as an integer"""
        return self.emit(arith.BitcastOp(x, self.of(self.layout.bits)))

    def from_bits(self, x: SSAValue) -> SSAValue:
        """The float that has the bits of an integer"""
        return self.emit(arith.BitcastOp(x, self.of(self.element)))

    def to_whole(self, x: SSAValue, least: int) -> SSAValue:
        """A whole float as an i32, `least` where it is smaller, or NaN, which has no integer.

        An i32 for f64 too: processors convert to it that cannot to i64.
        """
        x = self.emit(arith.MaxnumfOp(x, self.real(least)))
        if self.shape is None:
            return self.emit(arith.FPToSIOp(x, i32))
        return self.emit(on_vectors.FPToSIOp(x, self.of(i32)))

    def to_real(self, x: SSAValue) -> SSAValue:
        """An i32 as a float"""
        if self.shape is None:
            return self.emit(arith.SIToFPOp(x, self.element))
        return self.emit(on_vectors.SIToFPOp(x, self.of(self.element)))

    def power_of_two(self, exponent: SSAValue) -> SSAValue:
        """2 to the power of an i32, where neither a denormal nor infinite"""
        if self.element == f64:
            exponent = self._resized(exponent, arith.ExtSIOp, on_vectors.ExtSIOp, i64)
        biased = self.emit(arith.AddiOp(exponent, self.whole(self.layout.bias)))
        return self.from_bits(
            self.emit(arith.ShLIOp(biased, self.whole(self.layout.fraction_bits)))
        )

    def split(self, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        """e and m with x = 2^e * m, m from the root of 1/2 to the root of 2; x positive, normal."""
        layout = self.layout
        shifted = self.emit(arith.SubiOp(self.bits(x), self.whole(layout.root_half)))
        exponent = self.emit(arith.ShRSIOp(shifted, self.whole(layout.fraction_bits)))
        if self.element == f64:
            exponent = self._resized(exponent, arith.TruncIOp, on_vectors.TruncIOp, i32)
        fraction = self.both(shifted, self.whole((1 << layout.fraction_bits) - 1))
        mantissa = self.emit(arith.AddiOp(fraction, self.whole(layout.root_half)))
        return self.to_real(exponent), self.from_bits(mantissa)

    def _resized(
        self,
        number: SSAValue,
        scalar: Callable[[SSAValue, IntegerType], Operation],
        vector: Callable[[SSAValue, Attribute], Operation],
        type: IntegerType,
    ) -> SSAValue:
        if self.shape is None:
            return self.emit(scalar(number, type))
        return self.emit(vector(number, self.of(type)))


# The remainder of a division of f32, on f64: exact.

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
