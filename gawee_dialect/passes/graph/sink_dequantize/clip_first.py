"""What is quantized is clipped before it is rounded, and its zero point is added to integers."""

from math import inf

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp
from gawee_dialect.dialect.types import element_type, is_byte
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.graph.sink_dequantize.drop_signs import rounded_sum
from gawee_dialect.passes.rewrite_pass import Pattern


class ClipFirst(Pattern):
    """cast(clip(round(x) + z)) -> cast(cast(round(clip(x))) + z), bounds less z

    Bounds are whole numbers, which rounding leaves where they are. One clip is left of several,
    and one instruction rounds to integers.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        clip = op.input.owner
        if not is_byte(element_type(op.result)) or not isinstance(clip, ClipOp):
            self.missed(op, "expected numbers that are clipped to what bytes hold")
            return
        found, (low, high) = rounded_sum(clip.input), bounds_of(clip)
        if found is None or element_type(op.input) != f32:
            self.missed(op, "expected a rounded number and a whole constant")
            return
        if not -inf < low <= high < inf or not (low.is_integer() and high.is_integer()):
            self.missed(op, f"expected bounds that are whole numbers, got {low} and {high}")
            return
        rounded, zero = found
        assert isinstance(rounded.owner, RoundOp)
        value, (low, high) = _unclipped(rounded.owner.input, low - zero, high - zero)
        value = rewriter.insert(ClipOp(value, min=low, max=high)).result
        whole = rewriter.insert(CastOp(rewriter.insert(RoundOp(value)).result, i32)).result
        if zero:
            number = dense_of(np.asarray(zero, np.int32), TensorType(i32, []))
            more = rewriter.insert(ConstantOp(number)).result
            whole = rewriter.insert(AddOp(whole, more)).result
        result = CastOp(whole, element_type(op.result))
        hand_on_identity(op, result)
        rewriter.replace(op, result)


def bounds_of(op: ClipOp) -> tuple[float, float]:
    """Return between which numbers a clip leaves what it is given."""
    low = -inf if op.min is None else op.min.value.data
    high = inf if op.max is None else op.max.value.data
    return low, high


def _unclipped(value: SSAValue, low: float, high: float) -> tuple[SSAValue, tuple[float, float]]:
    """Return what is clipped at first, and the bounds that do for all clips."""
    while isinstance(value.owner, ClipOp | ReluOp):
        own = value.owner
        least, most = bounds_of(own) if isinstance(own, ClipOp) else (0.0, inf)
        if least > most:
            break
        low, high = min(max(least, low), high), max(min(most, high), low)
        value = own.input
    return value, (low, high)
