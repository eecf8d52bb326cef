"""xDSL's arith dialect with a select that also chooses lane by lane.

`ARITH` takes the place of xDSL's dialect object in our tools.
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import I1, IntegerAttr, IntegerType, VectorType, i1
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


@irdl_op_definition
class SelectOp(IRDLOperation, HasFolderInterface):
    """One of two values, by one i1; or of two vectors, lane by lane, by a vector of i1.

    xDSL's own class of this name takes one i1 only. Text is read as this class, whichever the
    condition; `SELECTS` are both.

        %r = arith.select %mask, %a, %b : vector<8xi1>, vector<8xf32>
    """

    name = "arith.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(eq(i1) | VectorType.constr(eq(i1)))
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if not isa(self.cond.type, VectorType[I1]):
            return
        shape = self.cond.type.get_shape()
        if not isa(self.lhs.type, VectorType[Attribute]) or self.lhs.type.get_shape() != shape:
            raise VerifyException(
                f"expected values of as many lanes as the condition '{self.cond.type}', "
                f"got '{self.lhs.type}'"
            )

    @classmethod
    def parse(cls, parser: Parser) -> "SelectOp":
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        condition: Attribute = i1
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        types = [condition, type, type]
        select = cls(*parser.resolve_operands(operands, types, parser.pos))
        select.attributes |= attributes
        return select

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if not isa(self.cond.type, IntegerType):
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        condition = self.cond.owner
        if self.lhs is self.rhs:
            return (self.lhs,)
        if isinstance(condition, arith.ConstantOp) and isa(condition.value, IntegerAttr):
            return (self.lhs if condition.value.value.data else self.rhs,)
        return None


SELECTS: tuple[type[Operation], ...] = (arith.SelectOp, SelectOp)
"""The classes that `arith.select` may have: xDSL's where a pass made it, ours from text."""

ARITH = Dialect(
    "arith",
    [
        *(op for op in arith.Arith.operations if op.name != SelectOp.name),
        SelectOp,
    ],
    [*arith.Arith.attributes],
    [arith.ArithConstantMaterializationInterface()],
)
"""xDSL's arith dialect with our `SelectOp` in the place of its own."""
