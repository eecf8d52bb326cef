"""Arithmetic on f32, scalars or vectors alike, as the expansions write it."""

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from gawee_dialect.dialect import arith as on_vectors
from gawee_dialect.hints import isa


class Numbers:
    """Writes ops before the one that is expanded; all values have its lanes."""

    def __init__(self, rewriter: PatternRewriter, type: Attribute):
        self.rewriter = rewriter
        self.shape = type.get_shape() if isa(type, VectorType[Attribute]) else None

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op; returns its result."""
        self.rewriter.insert(op)
        return op.results[0]

    def of(self, element: Attribute) -> Attribute:
        """Return an element type, as a vector where vectors are expanded."""
        return element if self.shape is None else VectorType(element, self.shape)

    def real(self, value: float) -> SSAValue:
        """Return a constant f32."""
        attribute: Attribute = FloatAttr(value, f32)
        if self.shape is not None:
            attribute = DenseIntOrFPElementsAttr.from_list(VectorType(f32, self.shape), [value])
        return self.emit(arith.ConstantOp(attribute))

    def whole(self, value: int) -> SSAValue:
        """Return a constant i32."""
        attribute: Attribute = IntegerAttr(value, i32)
        if self.shape is not None:
            attribute = DenseIntOrFPElementsAttr.from_list(VectorType(i32, self.shape), [value])
        return self.emit(arith.ConstantOp(attribute))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs + rhs"""
        return self.emit(arith.AddfOp(lhs, rhs))

    def multiply(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs * rhs"""
        return self.emit(arith.MulfOp(lhs, rhs))

    def divide(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs / rhs"""
        return self.emit(arith.DivfOp(lhs, rhs))

    def fma(self, lhs: SSAValue, rhs: SSAValue, addend: SSAValue) -> SSAValue:
        """lhs * rhs + addend, rounded once: so that every level computes the same bits."""
        return self.emit(math.FmaOp(lhs, rhs, addend))

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

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """x, or the nearer of two bounds where it lies beyond; NaN stays NaN.

        In this form LLVM makes one instruction of each bound.
        """
        for bound, beyond in ((self.real(low), "ogt"), (self.real(high), "olt")):
            x = self.select(self.compare(bound, x, beyond), bound, x)
        return x

    def bits(self, x: SSAValue) -> SSAValue:
        """The bits of an f32 as an i32"""
        return self.emit(arith.BitcastOp(x, self.of(i32)))

    def from_bits(self, x: SSAValue) -> SSAValue:
        """The f32 that has the bits of an i32"""
        return self.emit(arith.BitcastOp(x, self.of(f32)))

    def to_whole(self, x: SSAValue) -> SSAValue:
        """A whole f32 as an i32"""
        if self.shape is None:
            return self.emit(arith.FPToSIOp(x, i32))
        return self.emit(on_vectors.FPToSIOp(x, self.of(i32)))

    def to_real(self, x: SSAValue) -> SSAValue:
        """An i32 as an f32"""
        if self.shape is None:
            return self.emit(arith.SIToFPOp(x, f32))
        return self.emit(on_vectors.SIToFPOp(x, self.of(f32)))

    def power_of_two(self, exponent: SSAValue) -> SSAValue:
        """2 to the power of an i32 from -126 to 127"""
        biased = self.emit(arith.AddiOp(exponent, self.whole(127)))
        return self.from_bits(self.emit(arith.ShLIOp(biased, self.whole(23))))
