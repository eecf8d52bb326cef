"""Ops of MLIR's llvm dialect on vectors that xDSL's lacks, or has for scalars or floats only."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    I1,
    AnyFloatConstr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i32,
)
from xdsl.dialects.llvm import FastMathAttr, FCmpPredicateFlag, LLVMPointerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from gawee_dialect.hints import isa

BITS = eq(i1) | VectorType.constr(eq(i1))
"""One bit, or a vector of them."""


@irdl_op_definition
class SelectOp(IRDLOperation):
    """One of two values, by one bit; or of two vectors, lane by lane."""

    name = "llvm.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(BITS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($res)"

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """A comparison of two floats, or of two vectors lane by lane."""

    name = "llvm.fcmp"

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(BITS)
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: IntegerAttr[IntegerType]):
        type = lhs.type
        result = VectorType(i1, type.shape) if isa(type, VectorType[Attribute]) else i1
        super().__init__(
            operands=[lhs, rhs], result_types=[result], properties={"predicate": predicate}
        )

    @classmethod
    def parse(cls, parser: Parser) -> "FCmpOp":
        predicate = FCmpPredicateFlag(parser.parse_str_literal()).to_int()
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        left, right = parser.resolve_operands([lhs, rhs], [type, type], parser.pos)
        compare = cls(left, right, IntegerAttr(predicate, 64))
        flags = attributes.pop("fastmathFlags", None)
        if isinstance(flags, FastMathAttr):
            compare.fastmathFlags = flags
        compare.attributes |= attributes
        return compare

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        attributes = dict(self.attributes)
        if self.fastmathFlags.data:
            attributes["fastmathFlags"] = self.fastmathFlags
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """One lane of a vector."""

    name = "llvm.extractelement"

    T: ClassVar = VarConstraint("T", AnyAttr())

    vector = operand_def(VectorType.constr(T))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"

    def __init__(self, vector: SSAValue, position: SSAValue):
        assert isa(vector.type, VectorType[Attribute])
        super().__init__(operands=[vector, position], result_types=[vector.type.element_type])


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """The lanes of a vector that a mask has set, from memory; the others from a vector.

    As LLVM 22 prints it. Ours is `llvm.call_intrinsic`, which later versions read too.
    """

    name = "llvm.intr.masked.load"

    T: ClassVar = VarConstraint("T", VectorType.constr())

    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(T)
    res = result_def(T)
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[pass_thru.type],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """Store the lanes of a vector that a mask has set, as LLVM 22 prints it."""

    name = "llvm.intr.masked.store"

    value = operand_def(VectorType)
    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"
    )

    def __init__(self, value: SSAValue, data: SSAValue, mask: SSAValue, alignment: int):
        super().__init__(
            operands=[value, data, mask],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


class FloatReduction(IRDLOperation, ABC):
    """An intrinsic from a vector of floats to one float, in any order."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    vector = operand_def(VectorType.constr(T))
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, vector: SSAValue, fast_math: FastMathAttr | None = None):
        assert isa(vector.type, VectorType[Attribute])
        super().__init__(
            operands=[vector],
            result_types=[vector.type.element_type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


class IntegerReduction(IRDLOperation, ABC):
    """An intrinsic from a vector of integers to one integer."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    vector = operand_def(VectorType.constr(T))
    res = result_def(T)

    traits = traits_def(Pure())

    def __init__(self, vector: SSAValue):
        assert isa(vector.type, VectorType[Attribute])
        super().__init__(operands=[vector], result_types=[vector.type.element_type])


@irdl_op_definition
class ReduceFMaxOp(FloatReduction):
    """The largest lane; NaN only where all lanes are."""

    name = "llvm.intr.vector.reduce.fmax"


@irdl_op_definition
class ReduceFMinOp(FloatReduction):
    """The smallest lane; NaN only where all lanes are."""

    name = "llvm.intr.vector.reduce.fmin"


@irdl_op_definition
class ReduceFMaximumOp(FloatReduction):
    """The largest lane; NaN where one is."""

    name = "llvm.intr.vector.reduce.fmaximum"


@irdl_op_definition
class ReduceFMinimumOp(FloatReduction):
    """The smallest lane; NaN where one is."""

    name = "llvm.intr.vector.reduce.fminimum"


@irdl_op_definition
class ReduceAddOp(IntegerReduction):
    """The sum of all lanes."""

    name = "llvm.intr.vector.reduce.add"


@irdl_op_definition
class ReduceMulOp(IntegerReduction):
    """The product of all lanes."""

    name = "llvm.intr.vector.reduce.mul"


@irdl_op_definition
class ReduceAndOp(IntegerReduction):
    """The bits that all lanes have."""

    name = "llvm.intr.vector.reduce.and"


@irdl_op_definition
class ReduceOrOp(IntegerReduction):
    """The bits that one lane or more has."""

    name = "llvm.intr.vector.reduce.or"


@irdl_op_definition
class ReduceXOrOp(IntegerReduction):
    """The bits that an odd number of lanes has."""

    name = "llvm.intr.vector.reduce.xor"


@irdl_op_definition
class ReduceSMaxOp(IntegerReduction):
    """The largest lane, signed."""

    name = "llvm.intr.vector.reduce.smax"


@irdl_op_definition
class ReduceSMinOp(IntegerReduction):
    """The smallest lane, signed."""

    name = "llvm.intr.vector.reduce.smin"


@irdl_op_definition
class ReduceUMaxOp(IntegerReduction):
    """The largest lane, unsigned."""

    name = "llvm.intr.vector.reduce.umax"


@irdl_op_definition
class ReduceUMinOp(IntegerReduction):
    """The smallest lane, unsigned."""

    name = "llvm.intr.vector.reduce.umin"


REPLACED_OPS = (llvm.SelectOp, llvm.FCmpOp, llvm.MaskedStoreOp)
"""The ops of xDSL's llvm dialect that ours stand in the place of."""

VECTOR_OPS = (
    SelectOp,
    FCmpOp,
    ExtractElementOp,
    MaskedLoadOp,
    MaskedStoreOp,
    ReduceFMaxOp,
    ReduceFMinOp,
    ReduceFMaximumOp,
    ReduceFMinimumOp,
    ReduceAddOp,
    ReduceMulOp,
    ReduceAndOp,
    ReduceOrOp,
    ReduceXOrOp,
    ReduceSMaxOp,
    ReduceSMinOp,
    ReduceUMaxOp,
    ReduceUMinOp,
)
"""The ops of this file."""
