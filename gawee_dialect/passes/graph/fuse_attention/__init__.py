"""Fuse the parts of scaled dot-product attention into one op."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.arrangement import TransposeOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.shape import ReshapeOp
from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.passes.graph.fuse_attention.scores import (
    Factor,
    Scores,
    factor_of,
    scores_of,
    weights_of,
)
from gawee_dialect.passes.numerics import FOLDS_CONSTANTS, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis


class FuseAttentionParts(Pattern):
    """softmax(scale * q k' + mask) v -> attention(q, k, v, mask)"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchMatMulOp, rewriter: PatternRewriter) -> None:
        found = matched(op, self._analysis)
        if isinstance(found, str):
            self.missed(op, found)
            return
        for part in found.parts:
            self.fused(part, op)
        rewriter.name_hint = op.result.name_hint
        result = found.insert(rewriter)
        rewriter.replace(op, (), [result])


@dataclass(frozen=True)
class Match:
    """The parts of attention: `leading` are the axes before the last two, of all of them."""

    op: BatchMatMulOp
    q: Factor
    k: Factor
    v: Factor
    scores: Scores
    leading: tuple[int, ...]
    parts: tuple[Operation, ...]

    def insert(self, rewriter: PatternRewriter) -> SSAValue:
        """Insert one op for all, and what gives its operands and its result their shapes."""
        q, k, v = (
            inserted(rewriter, each, self.leading, swapped=swapped)
            for each, swapped in ((self.q, False), (self.k, True), (self.v, False))
        )
        scale = self.scores.scale * self.q.scale * self.k.scale
        whole = rewriter.insert(AttentionOp(q, k, v, self.mask(rewriter), scale=scale)).result
        return reshaped(rewriter, whole, tensor_shape(self.op.result))

    def mask(self, rewriter: PatternRewriter) -> SSAValue | None:
        """Insert the sum of what is added to the scores."""
        total = None
        for each in self.scores.addends:
            total = each if total is None else rewriter.insert(AddOp(total, each)).result
        return total


def matched(op: BatchMatMulOp, analysis: ParameterAnalysis) -> Match | str:
    """Return the parts of attention that a product ends, or why it is none."""
    if op.transpose_a is not None:
        return "expected weights as they are stored, got them transposed"
    weights = weights_of(op.a)
    if weights is None:
        return "expected weights from a softmax along the last axis"
    scores = scores_of(weights.softmax.input)
    if scores is None:
        return "expected a softmax of scaled products of queries and keys"
    if not weights.hides_empty and not scores.is_finite(analysis):
        return "expected a mask that hides no query from all keys, or zeros where one does"
    parts = (*weights.parts, *scores.parts)
    if (reason := _read_elsewhere(op, parts)) is not None:
        return reason
    leading = scores.leading_of(tensor_shape(weights.softmax.result)[:-2])
    product = scores.product
    q = factor_of(product.a, swapped=product.transpose_a is not None)
    k = factor_of(product.b, swapped=product.transpose_b is not None)
    v = factor_of(op.b, swapped=op.transpose_b is not None, scaled=False)
    if leading is None or any(each.count != prod(leading) for each in (q, k, v)):
        shapes = ", ".join(shape_text(tensor_shape(each.value)) for each in (q, k, v))
        return f"expected queries, keys and values with the same leading axes, got {shapes}"
    return Match(op, q, k, v, scores, leading, parts)


def _read_elsewhere(op: BatchMatMulOp, parts: tuple[Operation, ...]) -> str | None:
    inside = {op, *parts}
    for part in parts:
        if any(use.operation not in inside for result in part.results for use in result.uses):
            return f"expected the result of '{part.name}' to be read by attention alone"
    return None


def inserted(
    rewriter: PatternRewriter, factor: Factor, leading: tuple[int, ...], *, swapped: bool
) -> SSAValue:
    """Insert a factor with given leading axes, its matrices as attention has them."""
    value = factor.value
    if factor.swapped != swapped:
        value = transposed(rewriter, value)
    return reshaped(rewriter, value, (*leading, *tensor_shape(value)[-2:]))


def transposed(rewriter: PatternRewriter, value: SSAValue) -> SSAValue:
    """Insert a value with its last two axes exchanged; a transpose before it takes that in."""
    before = value.owner
    axes = list(range(len(tensor_shape(value))))
    if isinstance(before, TransposeOp):
        value, axes = before.input, list(before.permutation.get_values())
    axes[-2:] = reversed(axes[-2:])
    if axes == sorted(axes):
        return value
    return rewriter.insert(TransposeOp(value, permutation=axes)).result


def reshaped(rewriter: PatternRewriter, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    """Insert a value of another shape, by way of none that was only on the way."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    if tensor_shape(value) == shape:
        return value
    return rewriter.insert(ReshapeOp(value, shape=shape)).result


@dataclass(frozen=True)
class FuseAttention(RewritePass):
    """Fuse the parts of scaled dot-product attention into one op.

    A graph whose format has no attention, or whose exporter took it apart, says it by products, a
    softmax along the keys, scales by constants, a mask that is added, and zeros where a query sees
    no key: `where(isnan(w), 0, w)` (torch.onnx.export), or a test for scores that are all -inf
    (PyTorch's core ATen ops). Heads may have been joined with the batch on the way.

    Requires: nothing else reads the parts; the axes before the last two are those of queries, keys
    and values alike. Without zeros for a query that sees no key, the mask is one that leaves every
    query a key: of parameters, which are taken to be finite, or of finite constants.

    Of queries, keys and values that hold NaN, the attention is NaN. Several scales become one,
    which is rounded.

    rewrite:
        %s = gawee.batch_matmul %q, %k transpose_b; %t = gawee.mul %s, 0.5; %u = gawee.add %t, %m
        %w = gawee.softmax %u axis -1; %y = gawee.batch_matmul %w, %v
        ->  %y = gawee.attention %q, %k, %v mask %m scale 0.5
    """

    name = "fuse-attention"
    numerics: ClassVar[Numerics] = FOLDS_CONSTANTS

    patterns = (FuseAttentionParts,)
