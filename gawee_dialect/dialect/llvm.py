"""xDSL's llvm dialect and the ops of MLIR's that it lacks.

`LLVM` takes the place of xDSL's dialect object in our tools, so that everything our pipelines emit
prints and parses as stock `mlir-opt` writes it.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    ArrayAttr,
    BoolAttr,
    IntegerAttr,
    SignlessIntegerConstraint,
    StringAttr,
    VectorType,
    i32,
)
from xdsl.dialects.llvm import FastMathAttr, GenericCastOp, LLVMPointerType
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.llvm_loop import LoopAnnotationAttr
from gawee_dialect.dialect.llvm_vector import REPLACED_OPS, VECTOR_OPS

NOT_INLINED = ArrayAttr([StringAttr("noinline")])
"""What passes a kernel's function on to LLVM. Its call costs nothing beside its loops; all of them
in one function take LLVM longer, and by itself a function can be compiled once for several."""


class FloatUnaryIntrinsic(IRDLOperation, ABC):
    """An intrinsic from one float, or vector of floats, to one of the same type."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    arg = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, arg: SSAValue, fast_math: FastMathAttr | None = None):
        super().__init__(
            operands=[arg],
            result_types=[arg.type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


class FloatBinaryIntrinsic(IRDLOperation, ABC):
    """An intrinsic from two floats, or vectors of floats, to one of the same type."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, fast_math: FastMathAttr | None = None):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[lhs.type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


class IntegerBinaryIntrinsic(IRDLOperation, ABC):
    """An intrinsic from two integers, or vectors of integers, to one of the same type."""

    T: ClassVar = VarConstraint(
        "T", SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
    )

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


@irdl_op_definition
class MaximumOp(FloatBinaryIntrinsic):
    """The larger of two floats; NaN where either is, and +0 is larger than -0."""

    name = "llvm.intr.maximum"


@irdl_op_definition
class MinimumOp(FloatBinaryIntrinsic):
    """The smaller of two floats; NaN where either is, and -0 is smaller than +0."""

    name = "llvm.intr.minimum"


@irdl_op_definition
class Atan2Op(FloatBinaryIntrinsic):
    """The angle of the point (rhs, lhs)."""

    name = "llvm.intr.atan2"


@irdl_op_definition
class TanhOp(FloatUnaryIntrinsic):
    """The hyperbolic tangent."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class TanOp(FloatUnaryIntrinsic):
    """The tangent."""

    name = "llvm.intr.tan"


@irdl_op_definition
class SinhOp(FloatUnaryIntrinsic):
    """The hyperbolic sine."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class CoshOp(FloatUnaryIntrinsic):
    """The hyperbolic cosine."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class AsinOp(FloatUnaryIntrinsic):
    """The arc sine."""

    name = "llvm.intr.asin"


@irdl_op_definition
class AcosOp(FloatUnaryIntrinsic):
    """The arc cosine."""

    name = "llvm.intr.acos"


@irdl_op_definition
class AtanOp(FloatUnaryIntrinsic):
    """The arc tangent."""

    name = "llvm.intr.atan"


@irdl_op_definition
class Log10Op(FloatUnaryIntrinsic):
    """The logarithm to base 10."""

    name = "llvm.intr.log10"


@irdl_op_definition
class RoundOp(FloatUnaryIntrinsic):
    """The nearest integral value, halves away from zero."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(FloatUnaryIntrinsic):
    """The nearest integral value, halves to even."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class FTruncOp(FloatUnaryIntrinsic):
    """The integral part of a float."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class SMaxOp(IntegerBinaryIntrinsic):
    """The larger of two signed integers."""

    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(IntegerBinaryIntrinsic):
    """The smaller of two signed integers."""

    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(IntegerBinaryIntrinsic):
    """The larger of two unsigned integers."""

    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(IntegerBinaryIntrinsic):
    """The smaller of two unsigned integers."""

    name = "llvm.intr.umin"


@irdl_op_definition
class UIToFPOp(GenericCastOp):
    """An unsigned integer as a float."""

    name = "llvm.uitofp"


@irdl_op_definition
class FPToSIOp(GenericCastOp):
    """A float as a signed integer, rounded towards zero."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(GenericCastOp):
    """A float as an unsigned integer, rounded towards zero."""

    name = "llvm.fptoui"


@irdl_op_definition
class MemcpyOp(IRDLOperation):
    """Copy bytes between two places that are the same or do not overlap."""

    name = "llvm.intr.memcpy"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(BoolAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, dst: SSAValue, src: SSAValue, len: SSAValue):
        super().__init__(
            operands=[dst, src, len], properties={"isVolatile": BoolAttr.from_bool(False)}
        )


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Begin to fetch the cache line of a place; `rw` 1 to write it, `cache` 1 for data.

    `hint` is from 0, used once, to 3, kept in the first cache.
    """

    name = "llvm.intr.prefetch"

    addr = operand_def(LLVMPointerType)
    rw = prop_def(IntegerAttr)
    hint = prop_def(IntegerAttr)
    cache = prop_def(IntegerAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, addr: SSAValue, *, rw: int, hint: int, cache: int):
        numbers = {"rw": rw, "hint": hint, "cache": cache}
        super().__init__(
            operands=[addr],
            properties={name: IntegerAttr(number, i32) for name, number in numbers.items()},
        )


class ICmpOp(llvm.ICmpOp):
    """A comparison of integers; xDSL's takes any predicate, and cannot print those it has not."""

    @classmethod
    def parse(cls, parser: Parser) -> llvm.ICmpOp:
        start = parser.pos
        try:
            return super().parse(parser)
        except ValueError:
            parser.raise_error(f"expected a predicate of '{cls.name}': {_PREDICATES}", start)

    def verify_(self, verify_nested_ops: bool = True) -> None:
        super().verify_()
        if not 0 <= self.predicate.value.data < len(llvm.ALL_ICMP_FLAGS):
            got = self.predicate.value.data
            raise VerifyException(f"expected predicate from 0 to 9, got {got}")


_PREDICATES = ", ".join(llvm.ALL_ICMP_FLAGS)

ADDED_OPS = (
    ICmpOp,
    MaximumOp,
    MinimumOp,
    Atan2Op,
    TanhOp,
    TanOp,
    SinhOp,
    CoshOp,
    AsinOp,
    AcosOp,
    AtanOp,
    Log10Op,
    RoundOp,
    RoundEvenOp,
    FTruncOp,
    SMaxOp,
    SMinOp,
    UMaxOp,
    UMinOp,
    UIToFPOp,
    FPToSIOp,
    FPToUIOp,
    MemcpyOp,
    PrefetchOp,
    *VECTOR_OPS,
)
"""The ops of MLIR's llvm dialect that xDSL's lacks or has otherwise."""

LLVM = Dialect(
    "llvm",
    [*(op for op in llvm.LLVM.operations if op not in (*REPLACED_OPS, llvm.ICmpOp)), *ADDED_OPS],
    [*llvm.LLVM.attributes, LoopAnnotationAttr],
)
