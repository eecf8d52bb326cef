"""Quantizing and dequantizing as arithmetic, which `sink-dequantize` moves and folds."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import f32, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import ReciprocalOp, RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.quantization import (
    DequantizeOp,
    QuantizationOp,
    QuantizeOp,
    spread,
)
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class LowerQuantize(Pattern):
    """gawee.quantize %x -> cast(clip(round(x / scale) + zero point))"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: QuantizeOp, rewriter: PatternRewriter) -> None:
        insert = rewriter.insert
        scale = _spread(op, op.scale, rewriter)
        if op.reciprocal is None:
            real = insert(DivOp(op.input, _cast(scale, f32, rewriter))).result
        else:
            inverse = insert(ReciprocalOp(_cast(scale, f64, rewriter))).result
            real = insert(MulOp(op.input, _cast(inverse, f32, rewriter))).result
        whole = insert(RoundOp(real)).result
        if op.zero_point is not None:
            zero = _cast(_spread(op, op.zero_point, rewriter), f32, rewriter)
            whole = insert(AddOp(whole, zero)).result
        low, high = op.bounds
        made = CastOp(insert(ClipOp(whole, min=low, max=high)).result, element_type(op.result))
        hand_on_identity(op, made)
        rewriter.replace(op, made)


class LowerDequantize(Pattern):
    """gawee.dequantize %q -> cast(cast(q) - cast(zero point)) * scale"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DequantizeOp, rewriter: PatternRewriter) -> None:
        scale = _spread(op, op.scale, rewriter)
        whole = _cast(op.input, i32, rewriter)
        if op.zero_point is not None:
            zero = _cast(_spread(op, op.zero_point, rewriter), i32, rewriter)
            whole = rewriter.insert(SubOp(whole, zero)).result
        made = MulOp(_cast(whole, f32, rewriter), _cast(scale, f32, rewriter))
        hand_on_identity(op, made)
        rewriter.replace(op, made)


def _cast(value: SSAValue, element: Attribute, rewriter: PatternRewriter) -> SSAValue:
    if element_type(value) == element:
        return value
    return rewriter.insert(CastOp(value, element)).result


def _spread(op: QuantizationOp, value: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    """Return scales or zero points so that they broadcast with what they are of."""

    def add(made: Operation) -> SSAValue:
        return rewriter.insert(made).results[0]

    return spread(add, value, op.map.data, tensor_shape(op.input))


@dataclass(frozen=True)
class LowerQuantOps(RewritePass):
    """Lower quantizing and dequantizing to arithmetic.

    What is computed is the same to the bit. `sink-dequantize` finds in it the integers that
    convolutions and products are computed on.

    rewrite:
        %q = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> ()>
        ->
        %q = gawee.cast (gawee.clip ((gawee.round (%x / %s)) + gawee.cast %z))
        %y = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> ()>
        ->
        %y = (gawee.cast ((gawee.cast %q) - gawee.cast %z)) * %s
    """

    name = "lower-quant-ops"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True
    patterns = (LowerQuantize, LowerDequantize)
    removes = (QuantizeOp, DequantizeOp)
    revisits: ClassVar[bool] = False
