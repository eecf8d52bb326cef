"""Scalar arithmetic inside the body of a structured op."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import AnyFloat, IndexType, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import element_type
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import RemFOp, arithmetic

FloatFunction = math.FloatingPointLikeUnaryMathOperation
"""What an op of the math dialect on one float derives from."""


@dataclass(frozen=True)
class Scalars:
    """Writes scalar ops; every method inserts one and returns its value.

    Arithmetic is on floats, signless integers or indices, as the first operand's type says.
    """

    builder: Builder

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op with one result."""
        return self.builder.insert(op).results[0]

    def constant(self, value: float, type: Attribute) -> SSAValue:
        """Make a constant of a float, integer or index type."""
        return constant(self.builder, value, type)

    def index(self, value: int) -> SSAValue:
        """Make a constant index."""
        return self.constant(value, IndexType())

    def quotient(self, size: int, divisor: int, type: AnyFloat) -> SSAValue:
        """Divide two sizes in f64 and round to a type: a constant unless one of them is open."""
        if not isinstance(size, OpenSize) and not isinstance(divisor, OpenSize):
            return self.constant(size / divisor, type)
        exact = self.divide(self.constant(size, f64), self.constant(divisor, f64))
        return self.narrow(exact, type)

    def position(self, loop: int) -> SSAValue:
        """Read the current position of one of the surrounding op's loops."""
        return self.emit(linalg.IndexOp(loop))

    def element(self, source: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """Read the element of a whole tensor at computed indices."""
        return self.emit(tensor.ExtractOp(source, indices, element_type(source)))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Add; integers wrap around."""
        return arithmetic(self.builder, arith.AddfOp if _is_float(lhs) else arith.AddiOp, lhs, rhs)

    def subtract(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Subtract; integers wrap around."""
        return arithmetic(self.builder, arith.SubfOp if _is_float(lhs) else arith.SubiOp, lhs, rhs)

    def multiply(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Multiply; integers wrap around."""
        return arithmetic(self.builder, arith.MulfOp if _is_float(lhs) else arith.MuliOp, lhs, rhs)

    def maximum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the greater value, integers as signed; NaN wins."""
        return arithmetic(
            self.builder, arith.MaximumfOp if _is_float(lhs) else arith.MaxSIOp, lhs, rhs
        )

    def minimum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the lesser value, integers as signed; NaN wins."""
        return arithmetic(
            self.builder, arith.MinimumfOp if _is_float(lhs) else arith.MinSIOp, lhs, rhs
        )

    def maximum_number(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the greater float; the other one where one is NaN."""
        return self.emit(arith.MaxnumfOp(lhs, rhs))

    def minimum_number(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the lesser float; the other one where one is NaN."""
        return self.emit(arith.MinnumfOp(lhs, rhs))

    def divide(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Divide floats."""
        return arithmetic(self.builder, arith.DivfOp, lhs, rhs)

    def floor_divide(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Divide indices that are not negative, rounding down."""
        return self.emit(arith.DivUIOp(lhs, rhs))

    def exponential(self, value: SSAValue) -> SSAValue:
        """Raise e to a float."""
        return self.emit(math.ExpOp(value))

    def round_down(self, value: SSAValue) -> SSAValue:
        """Round a float down to a whole one."""
        return self.emit(math.FloorOp(value))

    def round_to_even(self, value: SSAValue) -> SSAValue:
        """Round a float to the nearest whole one, halves to even."""
        return self.emit(math.RoundEvenOp(value))

    def absolute(self, value: SSAValue) -> SSAValue:
        """Take a float without its sign."""
        return self.emit(math.AbsFOp(value))

    def equal(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compare floats; false where one is NaN."""
        return self.emit(arith.CmpfOp(lhs, rhs, "oeq"))

    def same_index(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compare integers or indices for equality."""
        return self.emit(arith.CmpiOp(lhs, rhs, "eq"))

    def less(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compare integers or indices, as signed."""
        return self.emit(arith.CmpiOp(lhs, rhs, "slt"))

    def apply(self, function: type[FloatFunction], value: SSAValue) -> SSAValue:
        """Apply a function of the math dialect to a float."""
        return self.emit(function(value))

    def negate(self, value: SSAValue) -> SSAValue:
        """Change the sign; integers wrap around."""
        if _is_float(value):
            return self.emit(arith.NegfOp(value))
        return self.subtract(self.constant(0, value.type), value)

    def remainder(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Divide rounding towards zero; return what is left, which has the sign of lhs."""
        return self.emit((RemFOp if _is_float(lhs) else arith.RemSIOp)(lhs, rhs))

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the bits that both integers have."""
        return self.emit(arith.AndIOp(lhs, rhs))

    def either(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the bits that either integer has."""
        return self.emit(arith.OrIOp(lhs, rhs))

    def different(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Take the bits in which two integers differ."""
        return self.emit(arith.XOrIOp(lhs, rhs))

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compare by `eq`, `ne`, `lt`, `le`, `gt` or `ge`, integers as signed.

        NaN is not ordered: of a comparison with it, only `ne` holds.
        """
        if _is_float(lhs):
            prefix = "u" if predicate == "ne" else "o"
            return self.emit(arith.CmpfOp(lhs, rhs, f"{prefix}{predicate}"))
        prefix = "" if predicate in ("eq", "ne") else "s"
        return self.emit(arith.CmpiOp(lhs, rhs, f"{prefix}{predicate}"))

    def is_nan(self, value: SSAValue) -> SSAValue:
        """Compare a float with itself: NaN alone is not ordered."""
        return self.emit(arith.CmpfOp(value, value, "uno"))

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """Choose between two values of one type."""
        return self.emit(arith.SelectOp(condition, yes, no))

    def index_to_float(self, value: SSAValue, type: AnyFloat) -> SSAValue:
        """Convert an index to a float; exact as far as the float type is."""
        integer = self.emit(arith.IndexCastOp(value, i64))
        return self.emit(arith.SIToFPOp(integer, type))

    def float_to_index(self, value: SSAValue) -> SSAValue:
        """Convert a float to an index, rounding to zero."""
        integer = self.emit(arith.FPToSIOp(value, i64))
        return self.emit(arith.IndexCastOp(integer, IndexType()))

    def widen(self, value: SSAValue, type: AnyFloat) -> SSAValue:
        """Convert a float to a wider type, or leave it where it is of that type."""
        return value if value.type == type else self.emit(arith.ExtFOp(value, type))

    def narrow(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Round a float to a narrower type, or leave it where it is of that type."""
        return value if value.type == type else self.emit(arith.TruncFOp(value, type))


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, AnyFloat)
