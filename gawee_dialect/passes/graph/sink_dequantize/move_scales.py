"""Scales go behind what moves elements, takes the greatest of them, or their mean."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerType, f32, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SubOp
from gawee_dialect.dialect.graph.movement import CatOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp, longest_bin
from gawee_dialect.dialect.graph.reduction import ReduceMeanOp
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.graph.window import padding_pairs
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.graph.sink_dequantize.dequantized import (
    Bytes,
    Dequantized,
    along,
    positive_number,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.parameter_analysis import describe

EXACT_IN_F32 = 1 << 24
"""Up to here f32 holds all whole numbers, so that sums of them are the same in any order."""


class MoveIntegers(Pattern):
    """reshape(x * s) -> reshape(x) * s, where s is one number; transpose likewise"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp | TransposeOp, rewriter: PatternRewriter) -> None:
        if element_type(op.result) != f32:
            self.missed(op, f"expected f32, got {element_type(op.result)}")
            return
        found = Dequantized.of(op.input)
        if isinstance(found, str) or prod(tensor_shape(found.scale)) != 1:
            reason = found if isinstance(found, str) else "expected a scale that is one number"
            self.missed(op, reason)
            return
        if isinstance(op, ReshapeOp):
            moved = ReshapeOp(found.integers, shape=tensor_shape(op.result))
        else:
            moved = TransposeOp(found.integers, permutation=op.permutation.get_values())
        integers = rewriter.insert(moved).result
        scale = along(op, found.scale, -1, rewriter)
        result = MulOp(rewriter.insert(CastOp(integers, f32)).result, scale)
        hand_on_identity(op, result)
        rewriter.replace(op, result)


class PoolIntegers(Pattern):
    """max_pool((x - z) * s) -> (max_pool(pad(x)) - z) * s, where x are bytes and s is a number > 0

    Bytes are padded with the least there is: each window has an element that is none of these.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPoolOp, rewriter: PatternRewriter) -> None:
        found = Dequantized.of(op.input)
        if element_type(op.result) != f32 or isinstance(found, str):
            self.missed(op, f"expected integers of 8 bits times a scale, got {describe(op.input)}")
            return
        bytes = Bytes.of(found.integers)
        if bytes is None or positive_number(found.scale) is None or tensor_shape(found.scale):
            self.missed(op, "expected bytes less a number, times a constant greater than zero")
            return
        if op.ceil_mode.value.data or any(each != 1 for each in op.dilations.get_values()):
            self.missed(op, "expected whole windows without gaps")
            return
        value, element = bytes.value, element_type(bytes.value)
        assert isa(element, IntegerType)
        low, high = zip((0, 0), (0, 0), *padding_pairs(op.padding.get_values()), strict=True)
        least, _ = integer_range(element)
        if any((*low, *high)):
            value = rewriter.insert(PadOp(value, low=low, high=high, value=least)).result
        wide = rewriter.insert(CastOp(value, i32)).result
        kernel, strides = op.kernel.get_values(), op.strides.get_values()
        pooled = rewriter.insert(MaxPoolOp(wide, kernel=kernel, strides=strides)).result
        if bytes.zero is not None:
            pooled = rewriter.insert(SubOp(pooled, bytes.zero)).result
        result = MulOp(rewriter.insert(CastOp(pooled, f32)).result, found.scale)
        hand_on_identity(op, result)
        rewriter.replace(op, result)


class AverageIntegers(Pattern):
    """avg_pool(x * s) -> avg_pool(x) * s, where s is one number; means along axes likewise

    f32 holds the sums of integers, which are exact.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: AvgPoolOp | AdAvgPoolOp | ReduceMeanOp, rewriter: PatternRewriter
    ) -> None:
        found = Dequantized.of(op.input)
        if isinstance(found, str) or prod(tensor_shape(found.scale)) != 1:
            reason = found if isinstance(found, str) else "expected a scale that is one number"
            self.missed(op, reason)
            return
        length = _most_summed(op)
        if is_open([length]) or length * found.largest > EXACT_IN_F32:
            self.missed(op, f"expected a sum that f32 holds, got one of {length} integers")
            return
        whole = rewriter.insert(CastOp(found.integers, f32)).result
        mean = rewriter.insert(_mean_of(op, whole)).result
        result = MulOp(mean, along(op, found.scale, -1, rewriter))
        hand_on_identity(op, result)
        rewriter.replace(op, result)


def _most_summed(op: AvgPoolOp | AdAvgPoolOp | ReduceMeanOp) -> int:
    """Return of how many elements a mean is at most."""
    shape = tensor_shape(op.input)
    if isinstance(op, AvgPoolOp):
        return prod(op.kernel.get_values())
    if isinstance(op, ReduceMeanOp):
        return prod(shape[axis] for axis in op.reduced_axes)
    return prod(map(longest_bin, shape[2:], op.output_size.get_values()))


def _mean_of(
    op: AvgPoolOp | AdAvgPoolOp | ReduceMeanOp, value: SSAValue
) -> AvgPoolOp | AdAvgPoolOp | ReduceMeanOp:
    """Make the op of another tensor."""
    new = op.clone()
    new.operands[0] = value
    return new


class JoinBytes(Pattern):
    """cat((x - z) * s, (y - z) * s) -> (cat(x, y) - z) * s, where x and y are bytes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CatOp, rewriter: PatternRewriter) -> None:
        if element_type(op.result) != f32:
            self.missed(op, f"expected f32, got {element_type(op.result)}")
            return
        parts: list[Bytes] = []
        scales: list[SSAValue] = []
        for value in op.inputs:
            found = Dequantized.of(value)
            bytes = None if isinstance(found, str) else Bytes.of(found.integers)
            if isinstance(found, str) or bytes is None or tensor_shape(found.scale):
                what = describe(value)
                self.missed(op, f"expected bytes less a number, times a number, got {what}")
                return
            parts.append(bytes)
            scales.append(found.scale)
        kinds = {(element_type(each.value), each.zero_point) for each in parts}
        if len(kinds) != 1 or not _are_same(scales):
            self.missed(op, "expected one type, zero point and scale of all that is concatenated")
            return
        joined = CatOp([each.value for each in parts], dim=op.dim.value.data)
        result = parts[0].dequantized(rewriter.insert(joined).result, scales[0], rewriter)
        hand_on_identity(op, result)
        rewriter.replace(op, result)


def _are_same(scales: Sequence[SSAValue]) -> bool:
    """Whether scales are one value, or constants of one number."""
    numbers = {positive_number(each) for each in scales}
    return len(set(scales)) == 1 or (len(numbers) == 1 and None not in numbers)
