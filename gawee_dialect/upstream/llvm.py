"""xDSL's llvm dialect and the ops of MLIR's that it lacks.

`LLVM` takes the place of xDSL's dialect object in our tools, so that everything our pipelines emit
prints and parses as stock `mlir-opt` writes it.
"""

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    StringAttr,
    VectorType,
    i1,
    i32,
)
from xdsl.dialects.llvm import FastMathAttr, GenericCastOp, LLVMPointerType
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa
from gawee_dialect.upstream.llvm_vector import REPLACED_OPS, VECTOR_OPS

# The annotation of a loop's back edge for LLVM's loop passes: unrolling and vectorisation.
#
#     llvm.br ^header(%next : i64) {loop_annotation = #llvm.loop_annotation<
#         unroll = <full = true>, vectorize = <width = 8 : i32>>}
#
# An entry that is absent leaves the choice to LLVM.

SETTINGS: dict[str, dict[str, str]] = {
    # group: its settings, each with the metadata that LLVM IR writes for it
    "vectorize": {
        "disable": "llvm.loop.vectorize.enable",
        "width": "llvm.loop.vectorize.width",
    },
    "interleave": {"count": "llvm.loop.interleave.count"},
    "unroll": {
        "disable": "llvm.loop.unroll.disable",
        "count": "llvm.loop.unroll.count",
        "full": "llvm.loop.unroll.full",
    },
}
"""The settings of MLIR's loop annotation that we write, by group."""


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """A subset of MLIR's `#llvm.loop_annotation`: vectorize, interleave and unroll."""

    name = "llvm.loop_annotation"

    groups: DictionaryAttr

    @staticmethod
    def of(**groups: dict[str, bool | int]) -> "LoopAnnotationAttr":
        """Make an annotation: `LoopAnnotationAttr.of(unroll={"full": True})`."""

        def attribute(value: bool | int) -> Attribute:
            return BoolAttr.from_bool(value) if isinstance(value, bool) else IntegerAttr(value, i32)

        return LoopAnnotationAttr(
            DictionaryAttr(
                {
                    group: DictionaryAttr({key: attribute(value) for key, value in entries.items()})
                    for group, entries in groups.items()
                }
            )
        )

    def verify(self) -> None:
        for group, entries in self.groups.data.items():
            assert isinstance(entries, DictionaryAttr)
            for key, value in entries.data.items():
                if key not in SETTINGS.get(group, {}):
                    known = ", ".join(f"{g}.{k}" for g, keys in SETTINGS.items() for k in keys)
                    message = f"unsupported setting '{group}.{key}'; supported: {known}"
                    raise VerifyException(message)
                counts = key in ("count", "width")
                if not isa(value, IntegerAttr[IntegerType]) or value.type != (
                    i32 if counts else i1
                ):
                    wanted = "a number of i32" if counts else "true or false"
                    message = f"expected '{group}.{key}' to be {wanted}, got '{value}'"
                    raise VerifyException(message)

    def settings(self) -> Iterator[tuple[str, str, int]]:
        """Yield every setting: its group, its name and its value (a bool as 0 or 1)."""
        for group, entries in self.groups.data.items():
            assert isinstance(entries, DictionaryAttr)
            for key, value in entries.data.items():
                assert isinstance(value, IntegerAttr)
                yield group, key, abs(value.value.data)

    def print_parameters(self, printer: Printer) -> None:
        def entry(item: tuple[str, Attribute]) -> None:
            printer.print_string(f"{item[0]} = ")
            printer.print_attribute(item[1])

        def group(item: tuple[str, Attribute]) -> None:
            assert isinstance(item[1], DictionaryAttr)
            printer.print_string(f"{item[0]} = ")
            with printer.in_angle_brackets():
                printer.print_list(item[1].data.items(), entry)

        with printer.in_angle_brackets():
            printer.print_list(self.groups.data.items(), group)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        def entry() -> tuple[str, Attribute]:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            return key, parser.parse_attribute()

        def group() -> tuple[str, Attribute]:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            entries = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
            return key, DictionaryAttr(dict(entries))

        groups = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, group)
        return [DictionaryAttr(dict(groups))]


@irdl_attr_definition
class X86AMXType(ParametrizedAttribute, TypeAttribute):
    """A tile register of AMX, whose shape the instructions say. xDSL has no such type."""

    name = "llvm.x86_amx"


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
    [*llvm.LLVM.attributes, LoopAnnotationAttr, X86AMXType],
)
