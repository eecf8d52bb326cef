"""Compute convolutions and products of dequantized tensors on the integers that they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, f32, i8, i32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp, RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import ReshapeOp, TransposeOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.graph.sink_dequantize.clip_first import ClipFirst
from gawee_dialect.passes.graph.sink_dequantize.dequantized import (
    Dequantized,
    along,
    positive_number,
)
from gawee_dialect.passes.graph.sink_dequantize.drop_signs import DropSigns
from gawee_dialect.passes.graph.sink_dequantize.move_scales import (
    AverageIntegers,
    JoinBytes,
    MoveIntegers,
    PoolIntegers,
)
from gawee_dialect.passes.graph.sink_dequantize.requantize import KeepBytes, QuantizeParts
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver, Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import (
    ParameterAnalysis,
    describe,
    reader_count,
)

Product: TypeAlias = ConvOp | MatMulOp | BatchMatMulOp


@dataclass(frozen=True)
class Sum:
    """What an op adds up for each element of its result, and the axes that are not summed over.

    `axes` are those of the two factors, `result_axes` where the result has them.
    """

    length: int
    axes: tuple[int, int]
    result_axes: tuple[int, int]

    @staticmethod
    def of(op: Product) -> "Sum":
        """Return the sum of a convolution or a product of matrices."""
        if isinstance(op, ConvOp):
            return Sum(prod(tensor_shape(op.weight)[1:]), (0, 0), (0, 1))
        if isinstance(op, MatMulOp):
            return Sum(tensor_shape(op.weight)[1], (-2, -2), (-2, -1))
        rows = -2 if op.transpose_a is None else -1
        columns = -1 if op.transpose_b is None else -2
        return Sum(tensor_shape(op.a)[-3 - rows], (rows, columns), (-2, -1))


class MultiplyIntegers(Pattern):
    """conv(x * s, w * t, b) -> conv(x, w) * (s * t) + b, and likewise products of matrices"""

    def __init__(self, *, depthwise: bool) -> None:
        self._depthwise = depthwise
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ConvOp | MatMulOp | BatchMatMulOp, rewriter: PatternRewriter
    ) -> None:
        if element_type(op.result) != f32:
            self.missed(op, f"expected f32, got {element_type(op.result)}")
            return
        left, right = (Dequantized.of(each) for each in op.operands[:2])
        if isinstance(left, str) or isinstance(right, str):
            self.missed(op, left if isinstance(left, str) else str(right))
            return
        sum = Sum.of(op)
        reason = self._reason_against(op, sum, left, right)
        if reason is not None:
            self.missed(op, reason)
            return
        integers = [rewriter.insert(CastOp(each.integers, i32)).result for each in (left, right)]
        product = rewriter.insert(_product_of(op, *integers))
        rows, columns = sum.result_axes
        scales = along(op, left.scale, rows, rewriter), along(op, right.scale, columns, rewriter)
        scale = rewriter.insert(MulOp(scales[0], scales[1])).result
        result: MulOp | AddOp = MulOp(rewriter.insert(CastOp(product.result, f32)).result, scale)
        if not isinstance(op, BatchMatMulOp) and op.bias is not None:
            bias = along(op, op.bias, columns, rewriter)
            result = AddOp(rewriter.insert(result).result, bias)
        hand_on_identity(op, result)
        rewriter.replace(op, result)

    def _reason_against(
        self, op: Product, sum: Sum, left: Dequantized, right: Dequantized
    ) -> str | None:
        if self._analysis.is_known_early(op.result):
            return "expected a factor that depends on an input"
        if len(tensor_shape(op.operands[0])) < 2:
            return "expected matrices, got a vector"
        if isinstance(op, ConvOp) and tensor_shape(op.weight)[1] == 1:
            if not (self._depthwise and _has_rows(op) and _is_signed_byte(right.integers)):
                return "expected a sum over several channels, got one for each"
        if is_open([sum.length]) or left.largest * right.largest * sum.length >= 1 << 31:
            return f"expected a sum that i32 holds, got one of {sum.length} products"
        factors = zip((left, right), sum.axes, strict=True)
        if not all(each.varies_only_along(axis) for each, axis in factors):
            return "expected scales that are the same for all that is summed"
        return None


def _has_rows(op: ConvOp) -> bool:
    """Whether windows have neighbours along the last axis."""
    return tensor_shape(op.weight)[-1] > 1 and op.dilations.get_values()[-1] == 1


def _is_signed_byte(value: SSAValue) -> bool:
    while isinstance(value.owner, CastOp | ReshapeOp | TransposeOp):
        value = value.owner.input
    return element_type(value) == i8


def _product_of(op: Product, left: SSAValue, right: SSAValue) -> ConvOp | BatchMatMulOp:
    """Make an op of other factors, without a bias."""
    if isinstance(op, ConvOp):
        moves = op.strides.get_values(), op.padding.get_values(), op.dilations.get_values()
        strides, padding, dilations = moves
        return ConvOp(
            left,
            right,
            strides=strides,
            padding=padding,
            dilations=dilations,
            groups=op.groups.value.data,
        )
    if isinstance(op, MatMulOp):
        return BatchMatMulOp(left, right, transpose_b=True)
    transposed = op.transpose_a is not None, op.transpose_b is not None
    return BatchMatMulOp(left, right, transpose_a=transposed[0], transpose_b=transposed[1])


class FoldScales(Pattern):
    """round((x * s + b) / t) -> round(x * (s / t) + b / t), also in clips, and in sums of such"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: RoundOp, rewriter: PatternRewriter) -> None:
        scaling = op.input.owner
        if not isinstance(scaling, DivOp | MulOp) or element_type(op.input) != f32:
            self.missed(op, f"expected a quotient of f32, got {describe(op.input)}")
            return
        reason = self._reason_against(scaling.lhs, scaling)
        if self._analysis.is_known_early(scaling.lhs):
            reason = "expected what depends on an input"
        if reason is not None:
            self.missed(op, reason)
            return
        rewriter.replace(op, RoundOp(self._scaled(scaling.lhs, scaling, rewriter)))

    def _reason_against(self, value: SSAValue, by: DivOp | MulOp) -> str | None:
        """Return why a value cannot be computed in another scale; None where it can."""
        if self._analysis.is_known_early(value):
            return None
        op = value.owner
        if reader_count(value) != 1 and isinstance(Dequantized.of(value), str):
            return "expected one reader of what is quantized"
        match op:
            case MulOp() if any(map(self._analysis.is_known_early, op.operands)):
                return None
            case AddOp() | ReluOp() | ClipOp() | MaximumOp() | MinimumOp():
                if not isinstance(op, AddOp) and positive_number(by.rhs) is None:
                    return "expected a scale that is a positive constant behind a clip"
                found = (self._reason_against(each, by) for each in op.operands)
                return next((reason for reason in found if reason is not None), None)
            case _:
                return f"expected a product with a scale, got {describe(value)}"

    def _scaled(self, value: SSAValue, by: DivOp | MulOp, rewriter: PatternRewriter) -> SSAValue:
        def scaled(value: SSAValue) -> SSAValue:
            if self._analysis.is_known_early(value):
                return rewriter.insert(type(by)(value, by.rhs)).result
            op, number = value.owner, positive_number(by.rhs)
            match op:
                case MulOp():
                    early = self._analysis.is_known_early(op.rhs)
                    whole, scale = (op.lhs, op.rhs) if early else (op.rhs, op.lhs)
                    new = MulOp(whole, scaled(scale))
                case AddOp() | MaximumOp() | MinimumOp():
                    new = type(op)(scaled(op.lhs), scaled(op.rhs))
                case ReluOp():
                    new = ReluOp(scaled(op.input))
                case _:
                    assert isinstance(op, ClipOp)
                    assert number is not None
                    factor = 1 / number if isinstance(by, DivOp) else number
                    low, high = (
                        None if bound is None else bound.value.data * factor
                        for bound in (op.min, op.max)
                    )
                    new = ClipOp(scaled(op.input), min=low, max=high)
            return rewriter.insert(new).result

        return scaled(value)


def _is_of_quantized(op: Operation) -> bool:
    if isinstance(op, CastOp):
        return element_type(op.result) == f32 and isa(element_type(op.input), IntegerType)
    return isinstance(op, RoundOp)


@dataclass(frozen=True)
class SinkDequantize(RewritePass):
    """Compute convolutions and products of dequantized tensors on the integers that they hold.

    Integers of 8 bits, less a zero point, times a scale: what is quantized is computed in i32 then,
    and the scales of both factors are behind the sum. Where a quantization follows, all of that is
    what a kernel does to its sum at the end.

    Requires: i32 holds the sum, whatever the integers are; scales are one number, or one for each
    filter, row or column: the same for all that is summed. The integers' sum is exact, so the
    result is nearer to that of real numbers than a sum of floats is.

    A scale that is one number goes behind reshapes, transpositions, maxima and means too, whose
    sums are of integers then, and behind a concatenation of what has one scale. What is
    concatenated and then quantized is quantized first. Bytes that are dequantized and quantized by
    one scale stay what they are. Bytes with a sign become those without where all that reads them
    widens them: they are 128 more, and so are zero points. What is quantized is clipped before it
    is rounded.

    rewrite:
        %x = gawee.mul (gawee.cast %p), %s; %w = gawee.mul (gawee.cast %q), %t
        %y = gawee.conv %x, %w bias %b ...
        ->
        %y = (gawee.cast (gawee.conv (gawee.cast %p), (gawee.cast %q) ...)) * (%s * %t) + %b
        gawee.round ((%x * %s + %b) / %t)   ->   gawee.round (%x * (%s / %t) + %b / %t)
        gawee.avg_pool (%x * %s)   ->   (gawee.avg_pool %x) * %s
    """

    name = "sink-dequantize"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True

    depthwise: bool = False
    """Whether convolutions of one channel each are computed on integers: it pays where a processor
    multiplies four bytes at once."""

    def make_patterns(self) -> Sequence[RewritePattern]:
        multiply = MultiplyIntegers(depthwise=self.depthwise)
        moves = MoveIntegers(), PoolIntegers(), AverageIntegers(), JoinBytes()
        return [DropSigns(), *moves, multiply, FoldScales(), QuantizeParts()]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(map(_is_of_quantized, op.walk())):  # else it is a network of floats
            super().apply(ctx, op)
            # Behind those that look for a scale behind a rounding.
            PatternWalk(Driver([KeepBytes(), ClipFirst()], ctx)).rewrite_module(op)
