"""Quantizing what is concatenated, and again what was dequantized."""

from typing import TypeAlias

from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.types import element_type, integer_range, is_byte, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.graph.sink_dequantize.clip_first import bounds_of
from gawee_dialect.passes.graph.sink_dequantize.dequantized import (
    Bytes,
    Dequantized,
    positive_number,
)
from gawee_dialect.passes.graph.sink_dequantize.drop_signs import rounded_sum
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.parameter_analysis import describe, reader_count

Step: TypeAlias = CastOp | ClipOp | ReluOp | RoundOp | AddOp | MulOp | DivOp
"""An op of a quantization, or of a clip in front of it; what it reads first goes through it."""


class QuantizeParts(Pattern):
    """quantize(cat(x, y)) -> cat(quantize(x), quantize(y)), where quantize has one scale

    Bytes are put together, not floats; each part is quantized where it is computed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if not is_byte(element_type(op.result)) or element_type(op.input) != f32:
            self.missed(op, "expected floats that become bytes")
            return
        steps, value = _steps_to(op)
        is_quantization = any(isinstance(step, RoundOp) for step in steps)
        if not isinstance(value.owner, CatOp) or not is_quantization:
            self.missed(op, f"expected to quantize what is concatenated, got {describe(value)}")
            return
        parts: list[SSAValue] = []
        for part in value.owner.inputs:
            for step in reversed(steps):
                part = rewriter.insert(_again(step, part)).result
            parts.append(part)
        joined = CatOp(parts, dim=value.owner.dim.value.data)
        hand_on_identity(op, joined)
        rewriter.replace(op, joined)


def _steps_to(op: CastOp) -> tuple[list[Step], SSAValue]:
    """Return the ops from the last one of a quantization to its first, and what that reads."""
    steps: list[Step] = [op]
    while True:
        value = steps[-1].operands[0]
        before = value.owner
        if reader_count(value) != 1 or not isinstance(before, Step):
            return steps, value
        if any(tensor_shape(each) for each in before.operands[1:]):
            return steps, value
        steps.append(before)


def _again(step: Step, value: SSAValue) -> Step:
    """Make an op of another tensor."""
    match step:
        case CastOp():
            return CastOp(value, element_type(step.result))
        case ClipOp():
            low, high = step.bounds
            return ClipOp(value, min=low, max=high)
        case ReluOp() | RoundOp():
            return type(step)(value)
        case _:
            return type(step)(value, step.rhs)


class KeepBytes(Pattern):
    """quantize((x - z) * s) -> x, where the scale and the zero point are what they were

    Where the scales differ by so little that no byte becomes another, that is what is computed too.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        clip, element = op.input.owner, element_type(op.result)
        if not is_byte(element) or not isinstance(clip, ClipOp):
            self.missed(op, "expected numbers that are clipped to what bytes hold")
            return
        assert isa(element, IntegerType)
        found = rounded_sum(clip.input)
        if found is None or bounds_of(clip) != integer_range(element):
            self.missed(op, "expected a rounded number and a whole constant, clipped to all bytes")
            return
        rounded, zero_point = found
        assert isinstance(rounded.owner, RoundOp)
        bytes = _same_bytes(rounded.owner.input)
        if bytes is None or (bytes.zero_point, element_type(bytes.value)) != (zero_point, element):
            self.missed(op, "expected bytes of the same type, scale and zero point")
            return
        rewriter.replace(op, (), [bytes.value])


def _same_bytes(value: SSAValue) -> Bytes | None:
    """Return the bytes whose numbers a value is but for roundings, less their zero point."""
    factor = 1.0
    if isinstance(value.owner, DivOp):
        step = positive_number(value.owner.rhs)
        if step is None:
            return None
        value, factor = value.owner.lhs, 1 / step
    found = Dequantized.of(value)
    if isinstance(found, str):
        return None
    scale = _positive_factor(found.scale)
    bytes = Bytes.of(found.integers)
    if scale is None or bytes is None or abs(scale * factor - 1) * found.largest >= 0.25:
        return None
    return bytes


def _positive_factor(value: SSAValue) -> float | None:
    """Return the positive number that a constant is, or a product or quotient of two."""
    op = value.owner
    if not isinstance(op, DivOp | MulOp):
        return positive_number(value)
    left, right = positive_number(op.lhs), positive_number(op.rhs)
    if left is None or right is None:
        return None
    return left / right if isinstance(op, DivOp) else left * right
