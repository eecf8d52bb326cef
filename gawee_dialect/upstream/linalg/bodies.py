"""What linalg ops compute of one element of each operand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import auto

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from gawee_dialect.hints import isa
from gawee_dialect.upstream.arith import number_constant

Unary = Callable[[SSAValue], Operation]
Binary = Callable[[SSAValue, SSAValue], Operation]


@dataclass(frozen=True)
class Scalars:
    """Writes scalar arithmetic, choosing ops by the types of their operands."""

    builder: Builder
    unsigned: bool = False
    """Whether casts take integers for unsigned."""

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op; return its result."""
        return self.builder.insert(op).results[0]

    def one(self, type: AnyFloat) -> SSAValue:
        """Return 1.0."""
        return self.emit(number_constant(FloatAttr(1.0, type)))

    def cast(self, value: SSAValue, target: Attribute) -> SSAValue:
        """Return a value as another type; raises VerifyException unless both are numbers."""
        return value if value.type == target else self.emit(self._cast(value, target))

    def _cast(self, value: SSAValue, target: Attribute) -> Operation:
        source = value.type
        if isa(source, IntegerType) and isa(target, IntegerType):
            if target.bitwidth < source.bitwidth:
                return arith.TruncIOp(value, target)
            return (arith.ExtUIOp if self.unsigned else arith.ExtSIOp)(value, target)
        if isa(source, IntegerType) and isinstance(target, AnyFloat):
            return (arith.UIToFPOp if self.unsigned else arith.SIToFPOp)(value, target)
        if isinstance(source, AnyFloat) and isa(target, IntegerType):
            return (arith.FPToUIOp if self.unsigned else arith.FPToSIOp)(value, target)
        if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
            wider = target.bitwidth > source.bitwidth
            return (arith.ExtFOp if wider else arith.TruncFOp)(value, target)
        raise VerifyException(f"expected numbers to cast, got '{source}' to '{target}'")

    def unary(self, op: Unary, value: SSAValue) -> SSAValue:
        """Return what a float op of one operand gives."""
        require_float(value)
        return self.emit(op(value))

    def binary(self, ops: "OpsByType", lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Return what the op for the operands' type gives."""
        return self.emit(ops.for_type(lhs.type)(lhs, rhs))

    def multiply_add(self, total: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Return `total + lhs * rhs`, the factors cast to the type of the sum."""
        product = self.binary(MUL, self.cast(lhs, total.type), self.cast(rhs, total.type))
        return self.binary(ADD, total, product)


def require_float(value: SSAValue) -> None:
    """Raise VerifyException unless a value is a float."""
    if not isinstance(value.type, AnyFloat):
        raise VerifyException(f"expected a float element type, got '{value.type}'")


@dataclass(frozen=True)
class OpsByType:
    """An operation on numbers: its op on floats, on integers, and on single bits."""

    name: str
    floats: Binary
    integers: Binary | None = None
    bits: Binary | None = None

    def for_type(self, type: Attribute) -> Binary:
        """Return the op for a type; raises VerifyException where it has none."""
        if isinstance(type, AnyFloat):
            return self.floats
        if not isa(type, IntegerType) or self.integers is None:
            raise VerifyException(f"unsupported element type '{type}' of '{self.name}'")
        return self.bits or self.integers if type.bitwidth == 1 else self.integers


ADD = OpsByType("add", arith.AddfOp, arith.AddiOp, arith.OrIOp)
MUL = OpsByType("mul", arith.MulfOp, arith.MuliOp, arith.AndIOp)
SUB = OpsByType("sub", arith.SubfOp, arith.SubiOp)
DIV = OpsByType("div", arith.DivfOp, arith.DivSIOp)
DIV_UNSIGNED = OpsByType("div_unsigned", arith.DivfOp, arith.DivUIOp)
MAX = OpsByType("max", arith.MaximumfOp, arith.MaxSIOp)
MIN = OpsByType("min", arith.MinimumfOp, arith.MinSIOp)
MAX_UNSIGNED = OpsByType("max_unsigned", arith.MaximumfOp, arith.MaxUIOp)
MIN_UNSIGNED = OpsByType("min_unsigned", arith.MinimumfOp, arith.MinUIOp)
POWF = OpsByType("powf", math.PowFOp)

Body = Callable[[Scalars, Sequence[SSAValue]], SSAValue]
"""Writes the scalar code of one output; given an element of each input, and of the output."""


def binary(ops: OpsByType) -> Body:
    """Return the body `op(lhs, rhs)`."""
    return lambda scalars, args: scalars.binary(ops, args[0], args[1])


def unary(op: Unary) -> Body:
    """Return the body `op(x)`, for floats."""
    return lambda scalars, args: scalars.unary(op, args[0])


def _reciprocal(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    type = args[0].type
    if not isinstance(type, AnyFloat):
        raise VerifyException(f"expected a float element type, got '{type}'")
    return scalars.binary(DIV, scalars.one(type), args[0])


def _square(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    require_float(args[0])
    return scalars.binary(MUL, args[0], args[0])


def _select(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    return scalars.emit(arith.SelectOp(args[0], args[1], args[2]))


def copied(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """Write the input, cast to the output's type."""
    return scalars.cast(args[0], args[-1].type)


def multiply_add(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """Write `out + lhs * rhs`."""
    return scalars.multiply_add(args[2], args[0], args[1])


def multiply_add_with_zero_points(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """Write `out + (lhs - lhs_zero) * (rhs - rhs_zero)`."""
    lhs, rhs, lhs_zero, rhs_zero, total = args
    factors = [
        scalars.binary(SUB, scalars.cast(value, total.type), scalars.cast(zero, total.type))
        for value, zero in ((lhs, lhs_zero), (rhs, rhs_zero))
    ]
    return scalars.multiply_add(total, *factors)


def pooled(ops: OpsByType, *, unsigned: bool = False) -> Body:
    """Return the body `op(out, input)`; the window operand has a shape only."""

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        casts = Scalars(scalars.builder, unsigned)
        return scalars.binary(ops, args[-1], casts.cast(args[0], args[-1].type))

    return body


ELEMENTWISE: Mapping[str, tuple[int, Body]] = {
    "exp": (1, unary(math.ExpOp)),
    "log": (1, unary(math.LogOp)),
    "abs": (1, unary(math.AbsFOp)),
    "ceil": (1, unary(math.CeilOp)),
    "floor": (1, unary(math.FloorOp)),
    "negf": (1, unary(arith.NegfOp)),
    "reciprocal": (1, _reciprocal),
    "round": (1, unary(math.RoundOp)),
    "sqrt": (1, unary(math.SqrtOp)),
    "rsqrt": (1, unary(math.RsqrtOp)),
    "square": (1, _square),
    "tanh": (1, unary(math.TanhOp)),
    "erf": (1, unary(math.ErfOp)),
    "add": (2, binary(ADD)),
    "sub": (2, binary(SUB)),
    "mul": (2, binary(MUL)),
    "div": (2, binary(DIV)),
    "div_unsigned": (2, binary(DIV_UNSIGNED)),
    "max_signed": (2, binary(MAX)),
    "min_signed": (2, binary(MIN)),
    "max_unsigned": (2, binary(MAX_UNSIGNED)),
    "min_unsigned": (2, binary(MIN_UNSIGNED)),
    "powf": (2, binary(POWF)),
    "select": (3, _select),
}
"""The functions of one element of each input: how many inputs, and the body."""


def body_region(types: Sequence[Attribute], body: Body, *, unsigned: bool = False) -> Region:
    """Return the region of a structured op with operands of these element types."""
    block = Block(arg_types=types)
    builder = Builder(InsertPoint.at_end(block))
    builder.insert(YieldOp(body(Scalars(builder, unsigned), block.args)))
    return Region(block)


# Attributes of linalg ops that xDSL lacks: how operands are cast, what an elementwise op does.


class TypeFunction(StrEnum):
    """How an integer operand becomes one of another width, or a float."""

    CAST_SIGNED = auto()
    CAST_UNSIGNED = auto()


class ElementwiseKind(StrEnum):
    """The function that `linalg.elementwise` applies."""

    EXP = auto()
    LOG = auto()
    ABS = auto()
    CEIL = auto()
    FLOOR = auto()
    NEGF = auto()
    RECIPROCAL = auto()
    ROUND = auto()
    SQRT = auto()
    RSQRT = auto()
    SQUARE = auto()
    TANH = auto()
    ERF = auto()
    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()
    DIV_UNSIGNED = auto()
    MAX_SIGNED = auto()
    MIN_SIGNED = auto()
    MAX_UNSIGNED = auto()
    MIN_UNSIGNED = auto()
    POWF = auto()
    SELECT = auto()


@irdl_attr_definition
class TypeFunctionAttr(EnumAttribute[TypeFunction]):
    """`#linalg.type_fn<cast_unsigned>`."""

    name = "linalg.type_fn"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TypeFunction:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


@irdl_attr_definition
class ElementwiseKindAttr(EnumAttribute[ElementwiseKind]):
    """`#linalg.elementwise_kind<add>`."""

    name = "linalg.elementwise_kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ElementwiseKind:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)
