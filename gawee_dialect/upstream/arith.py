"""xDSL's arith dialect, with the op of MLIR's that it lacks, and its scalar ops on vectors too.

`ARITH` takes the place of xDSL's dialect object in our tools. The classes of this file are for
vectors: text that has none is read as xDSL's class of the same name, whose patterns then apply.
A pass that makes an op of vectors uses the class from here; `ON_VECTORS` says which stands for
which.

    %mask = arith.cmpf olt, %x, %y : vector<8xf32>
    %low = arith.select %mask, %x, %y : vector<8xi1>, vector<8xf32>
    %n = arith.fptosi %low : vector<8xf32> to vector<8xi32>
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import ClassVar, Self, TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import (
    I1,
    AnyFloatConstr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SameOperandsAndResultType
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa


@lru_cache(maxsize=4096)
def name_of_number(number: FloatAttr | IntegerAttr) -> str:
    """Return the name of a constant, as MLIR has it for integers: `c0`, `c1e-05`, `true`."""
    value = number.value.data
    if number.type == i1:
        return "true" if value else "false"
    if isinstance(number, IntegerAttr):
        return f"c{value}"
    text = f"{value:g}".replace("+", "")
    return f"c{text}.0" if text.lstrip("-").isdecimal() else f"c{text}"


def number_constant(number: FloatAttr | IntegerAttr) -> arith.ConstantOp:
    """Make the constant of a number, named by its value: `%c0`, `%c1e-05`, `%c-inf`, `%true`."""
    constant = arith.ConstantOp.create(result_types=(number.type,), properties={"value": number})
    constant.results[0].name_hint = name_of_number(number)
    return constant


def index_constant(value: int) -> arith.ConstantOp:
    """Make a constant of type index, named by its value."""
    return number_constant(_index_number(value))


@lru_cache(maxsize=4096)
def _index_number(value: int) -> IntegerAttr[IndexType]:
    return IntegerAttr(value, IndexType())


@cache
def _default_properties(kind: type[IRDLOperation]) -> Mapping[str, Attribute]:
    properties = kind.get_irdl_definition().properties.items()
    return {name: each.default_value for name, each in properties if each.default_value is not None}


def arithmetic(builder: Builder, kind: type[IRDLOperation], *operands: SSAValue) -> SSAValue:
    """Insert an op on values of one type, which is the type of its result.

    xDSL's constructors, which sort what they are given, take thrice as long.
    """
    made = kind.create(
        operands=operands,
        result_types=(operands[0].type,),
        properties=dict(_default_properties(kind)),
    )
    return builder.insert(made).results[0]


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """Remainder of a float division rounded towards zero: it has the sign of lhs."""

    name = "arith.remf"

    traits = traits_def(Pure(), SameOperandsAndResultType())


AnyVector: TypeAlias = VectorType[Attribute]

INTEGERS = VectorType.constr(SignlessIntegerConstraint)
FLOATS = VectorType.constr(AnyFloatConstr)
INDICES = INTEGERS | VectorType.constr(base(IndexType))
BITS = VectorType.constr(eq(i1))


def shape_of(type: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector, () for a scalar."""
    return type.get_shape() if isa(type, AnyVector) else ()


def bits_like(type: Attribute) -> VectorType[I1]:
    """Return the type of the bits that a comparison of vectors of a type gives."""
    return VectorType(i1, shape_of(type))


class VectorOp(IRDLOperation, ABC):
    """An op on vectors that has the name of one of xDSL's on scalars."""

    traits = traits_def(Pure())

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = {},
        attributes: Mapping[str, Attribute] = {},
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
    ) -> Self:
        """Make an op of this class if a vector takes part, else of xDSL's class of the name.

        Parsers create ops by name, and the types of the operands are known only here.
        """
        # xDSL clones the ops of a region before it gives them operands: results show it as well.
        types = (*(operand.type for operand in operands), *result_types)
        on_vectors = any(isa(type, AnyVector) for type in types)
        made = super() if on_vectors else SCALAR_OPS[cls.name]
        op = made.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            location=location,
            successors=successors,
            regions=regions,
        )
        return cast(Self, op)  # the caller expects an op of this name, which xDSL's class has too


@irdl_op_definition
class SelectOp(VectorOp):
    """Lanes of one of two vectors, by a vector of bits, or all of one, by one bit."""

    name = "arith.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(eq(i1) | BITS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        wanted, got = shape_of(self.cond.type), shape_of(self.lhs.type)
        if wanted and wanted != got:
            raise VerifyException(
                f"expected values of as many lanes as the condition '{self.cond.type}', "
                f"got '{self.lhs.type}'"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        condition: Attribute = i1
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        types = [condition, type, type]
        values = parser.resolve_operands(operands, types, parser.pos)
        return cls.create(operands=values, result_types=[type], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)


class CompareOp(VectorOp, ABC):
    """A comparison lane by lane; the predicates have the numbers of xDSL's."""

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: str):
        number = self.predicates().index(predicate)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[bits_like(lhs.type)],
            properties={"predicate": IntegerAttr(number, 64)},
        )

    @staticmethod
    @abstractmethod
    def predicates() -> Sequence[str]:
        """Return the names of the predicates, in the order of their numbers."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = parser.parse_identifier()
        if predicate not in cls.predicates():
            parser.raise_error(
                f"expected a predicate of '{cls.name}': {', '.join(cls.predicates())}"
            )
        properties: dict[str, Attribute] = {
            "predicate": IntegerAttr(cls.predicates().index(predicate), 64)
        }
        parser.parse_punctuation(",")
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        if parser.parse_optional_keyword("fastmath") is not None:
            flags = arith.FastMathFlagsAttr.parse_parameter(parser)
            properties["fastmath"] = arith.FastMathFlagsAttr(flags)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        values = parser.resolve_operands(operands, [type, type], parser.pos)
        result = bits_like(type) if isa(type, AnyVector) else i1
        return cls.create(
            operands=values, result_types=[result], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        predicate = self.properties["predicate"]
        assert isa(predicate, IntegerAttr)
        printer.print_string(f" {self.predicates()[predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        flags = self.properties.get("fastmath", NO_FLAGS)
        if isinstance(flags, arith.FastMathFlagsAttr) and flags != NO_FLAGS:
            printer.print_string(" fastmath")
            flags.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)


NO_FLAGS = arith.FastMathFlagsAttr("none")


@irdl_op_definition
class CmpiOp(CompareOp):
    """A comparison of integers."""

    name = "arith.cmpi"

    T: ClassVar = VarConstraint("T", INDICES)

    predicate = prop_def(IntegerAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(BITS)

    @staticmethod
    def predicates() -> Sequence[str]:
        return CMPI_COMPARISON_OPERATIONS


@irdl_op_definition
class CmpfOp(CompareOp):
    """A comparison of floats."""

    name = "arith.cmpf"

    T: ClassVar = VarConstraint("T", FLOATS)

    predicate = prop_def(IntegerAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=NO_FLAGS)
    result = result_def(BITS)

    @staticmethod
    def predicates() -> Sequence[str]:
        return CMPF_COMPARISON_OPERATIONS


class CastOp(VectorOp, ABC):
    """Every lane as a number of another type."""

    def __init__(self, input: SSAValue, type: Attribute):
        super().__init__(operands=[input], result_types=[type])

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if shape_of(source) != shape_of(target):
            raise VerifyException(
                f"expected a cast that keeps the number of lanes, got '{source}' to '{target}'"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        target = parser.parse_type()
        value = parser.resolve_operand(operand, source)
        return cls.create(operands=[value], result_types=[target], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)


class WidthCastOp(CastOp, ABC):
    """Every lane in more or fewer bits."""

    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)

    WIDENS: ClassVar[bool] = True

    def verify_(self) -> None:
        source, target = self.input.type, self.result.type
        assert isa(source, VectorType[IntegerType])
        assert isa(target, VectorType[IntegerType])
        widths = source.element_type.width.data, target.element_type.width.data
        less, more = widths if self.WIDENS else reversed(widths)
        if less >= more:
            raise VerifyException(
                "expected a wider result of ext, a narrower one of trunc, "
                f"got '{source}' to '{target}'"
            )
        super().verify_()


@irdl_op_definition
class ExtSIOp(WidthCastOp):
    """A signed integer in more bits."""

    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(WidthCastOp):
    """An unsigned integer in more bits."""

    name = "arith.extui"


@irdl_op_definition
class TruncIOp(WidthCastOp):
    """The low bits of an integer."""

    name = "arith.trunci"

    WIDENS: ClassVar = False


@irdl_op_definition
class SIToFPOp(CastOp):
    """A signed integer as a float."""

    name = "arith.sitofp"

    input = operand_def(INTEGERS)
    result = result_def(FLOATS)


@irdl_op_definition
class UIToFPOp(CastOp):
    """An unsigned integer as a float."""

    name = "arith.uitofp"

    input = operand_def(INTEGERS)
    result = result_def(FLOATS)


@irdl_op_definition
class FPToSIOp(CastOp):
    """A float as a signed integer, rounded towards zero."""

    name = "arith.fptosi"

    input = operand_def(FLOATS)
    result = result_def(INTEGERS)


@irdl_op_definition
class FPToUIOp(CastOp):
    """A float as an unsigned integer, rounded towards zero."""

    name = "arith.fptoui"

    input = operand_def(FLOATS)
    result = result_def(INTEGERS)


@irdl_op_definition
class IndexCastOp(CastOp):
    """An index as an integer, or an integer as an index."""

    name = "arith.index_cast"

    input = operand_def(INDICES)
    result = result_def(INDICES)


ON_VECTORS: dict[type[Operation], type[Operation]] = {
    arith.SelectOp: SelectOp,
    arith.CmpiOp: CmpiOp,
    arith.CmpfOp: CmpfOp,
    arith.ExtSIOp: ExtSIOp,
    arith.ExtUIOp: ExtUIOp,
    arith.TruncIOp: TruncIOp,
    arith.SIToFPOp: SIToFPOp,
    arith.UIToFPOp: UIToFPOp,
    arith.FPToSIOp: FPToSIOp,
    arith.FPToUIOp: FPToUIOp,
    arith.IndexCastOp: IndexCastOp,
}
"""xDSL's ops on scalars, and ours of the same name on vectors."""

SCALAR_OPS: dict[str, type[Operation]] = {scalar.name: scalar for scalar in ON_VECTORS}
"""xDSL's ops on scalars by their name."""

ARITH = Dialect(
    "arith",
    [*(ON_VECTORS.get(op, op) for op in arith.Arith.operations), RemFOp],
    [*arith.Arith.attributes],
    [arith.ArithConstantMaterializationInterface()],
)
"""xDSL's arith dialect with our op, and ours in the place of those without vectors."""
