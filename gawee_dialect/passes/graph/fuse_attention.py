"""Fuse the parts of scaled dot-product attention into one op."""

from dataclasses import dataclass
from math import inf, prod
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.evaluated import constant_of, is_filled_with
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp
from gawee_dialect.dialect.graph.logic import CompareOp, IsNanOp, LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.reduction import ReduceAnyOp, SoftmaxOp
from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.passes.numerics import FOLDS_CONSTANTS, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

# The weights of attention: a softmax of scores, and what scores are of.


# What a product of matrices is of, without what was done to it on the way.


@dataclass(frozen=True)
class Factor:
    """`scale` times the matrices of a value, which are transposed where `swapped`."""

    value: SSAValue
    swapped: bool
    scale: float

    @property
    def count(self) -> int:
        """The number of matrices."""
        return prod(tensor_shape(self.value)[:-2])


def factor_of(value: SSAValue, *, swapped: bool, scaled: bool = True) -> Factor:
    """Look through scales, transposed matrices and other leading axes."""
    scale = 1.0
    while True:
        owner = value.owner
        step = scaling_of(value) if scaled else None
        if step is not None:
            value, number = step
            scale *= number
        elif isinstance(owner, ReshapeOp) and keeps_matrices(owner):
            value = owner.input
        elif isinstance(owner, TransposeOp) and swaps_matrices(owner):
            value, swapped = owner.input, not swapped
        else:
            return Factor(value, swapped, scale)


def scaling_of(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Return what a value is a multiple of by one constant, and that."""
    op = value.owner
    if not isinstance(op, MulOp | DivOp):
        return None
    pairs = [(op.lhs, op.rhs)] + ([(op.rhs, op.lhs)] if isinstance(op, MulOp) else [])
    for factor, by in pairs:
        constant = constant_of(by)
        if constant is None or len(constant) != 1 or factor.type != value.type:
            continue
        number = float(array_of(constant).item())
        if isinstance(op, MulOp):
            return factor, number
        return (factor, 1 / number) if number else None
    return None


def keeps_matrices(op: ReshapeOp) -> bool:
    """Whether a reshape changes the axes before the last two alone."""
    before, after = tensor_shape(op.input), tensor_shape(op.result)
    return min(len(before), len(after)) >= 2 and before[-2:] == after[-2:]


def swaps_matrices(op: TransposeOp) -> bool:
    """Whether a transpose exchanges the last two axes alone."""
    axes = list(op.permutation.get_values())
    axes[-2:] = reversed(axes[-2:])
    return len(axes) >= 2 and axes == sorted(axes)


MOST_STEPS = 8
"""How many ops there may be between the product and the softmax."""


@dataclass(frozen=True)
class Weights:
    """A softmax; `hides_empty` where a query that sees no key gets zeros."""

    softmax: SoftmaxOp
    parts: tuple[Operation, ...]
    hides_empty: bool = False


def weights_of(value: SSAValue) -> Weights | None:
    """Return the softmax along the last axis that a value is of."""
    value, views = _without_views(value)
    guard = value.owner
    if not isinstance(guard, WhereOp):
        softmax = _softmax(value)
        return softmax and Weights(softmax, (*views, softmax))
    weights, inner_views = _without_views(guard.rhs)
    softmax = _softmax(weights)
    if softmax is None or not is_zero(guard.lhs) or guard.result.type != guard.rhs.type:
        return None
    test = _test_for_nan(guard.condition, guard.rhs) or _test_for_hidden(guard.condition, softmax)
    if test is None:
        return None
    return Weights(softmax, (*views, guard, *test, *inner_views, softmax), hides_empty=True)


def is_zero(value: SSAValue) -> bool:
    """Whether all elements are zero: a constant, or one that is repeated."""
    while isinstance(op := value.owner, BroadcastToOp):
        value = op.input
    return is_filled_with(value, 0)


def _without_views(value: SSAValue) -> tuple[SSAValue, tuple[Operation, ...]]:
    views: list[Operation] = []
    while isinstance(op := value.owner, ReshapeOp) and keeps_matrices(op):
        views.append(op)
        value = op.input
    return value, tuple(views)


def _softmax(value: SSAValue) -> SoftmaxOp | None:
    op, rank = value.owner, len(tensor_shape(value))
    return op if isinstance(op, SoftmaxOp) and rank >= 2 and op.resolved_axis == rank - 1 else None


def _test_for_nan(condition: SSAValue, weights: SSAValue) -> tuple[Operation, ...] | None:
    op = condition.owner
    return (op,) if isinstance(op, IsNanOp) and op.input is weights else None


def _test_for_hidden(condition: SSAValue, softmax: SoftmaxOp) -> tuple[Operation, ...] | None:
    """not any(not (scores == -inf))"""
    none = condition.owner
    some = none.input.owner if isinstance(none, LogicalNotOp) else None
    seen = some.input.owner if isinstance(some, ReduceAnyOp) else None
    hidden = seen.input.owner if isinstance(seen, LogicalNotOp) else None
    if not isinstance(some, ReduceAnyOp) or not isinstance(hidden, CompareOp):
        return None
    rank = len(tensor_shape(softmax.result))
    along_keys = [axis % rank for axis in some.axes.get_values()] == [rank - 1]
    is_test = hidden.predicate.data == "eq" and is_filled_with(hidden.rhs, -inf)
    if not along_keys or not is_test or hidden.lhs is not softmax.input:
        return None
    assert isinstance(none, Operation)
    assert isinstance(seen, Operation)
    return none, some, seen, hidden


@dataclass(frozen=True)
class Scores:
    """`scale` times a product, plus what is added to it, each aligned at the last axes.

    `spaces` has the leading axes of the scores where each of `addends` is added.
    """

    product: BatchMatMulOp
    scale: float
    addends: tuple[SSAValue, ...] = ()
    spaces: tuple[tuple[int, ...], ...] = ()
    parts: tuple[Operation, ...] = ()

    def is_finite(self, analysis: ParameterAnalysis) -> bool:
        """Whether no score becomes -inf by what is added to it."""
        return all(is_finite(each, analysis) for each in self.addends)

    def leading_of(self, outer: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return leading axes to which all addends broadcast, aligned at the last."""
        chosen = max((outer, *self.spaces), key=len)
        for addend, space in zip(self.addends, self.spaces, strict=True):
            shape = tensor_shape(addend)
            if space != chosen and _own_axes(shape) > _common_suffix(space, chosen) + 2:
                return None
        return chosen


def _own_axes(shape: tuple[int, ...]) -> int:
    """Return how many axes are left without the ones that lead."""
    return next((len(shape) - at for at, size in enumerate(shape) if size != 1), 0)


def _common_suffix(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    pairs = zip(reversed(a), reversed(b), strict=False)
    return next((at for at, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def scores_of(value: SSAValue, steps: int = MOST_STEPS) -> Scores | None:
    """Return the product that scores are of, and what happens to it on the way."""
    op = value.owner
    if isinstance(op, BatchMatMulOp):
        return Scores(op, 1.0, parts=(op,))
    if steps == 0 or not isinstance(op, Operation):
        return None
    scaling = scaling_of(value)
    if scaling is not None:
        found = scores_of(scaling[0], steps - 1)
        if found is None or found.addends:
            return None
        return Scores(found.product, found.scale * scaling[1], parts=(op, *found.parts))
    if isinstance(op, ReshapeOp) and keeps_matrices(op):
        found = scores_of(op.input, steps - 1)
        return found and _with(found, op)
    if isinstance(op, AddOp):
        return _sum(op, steps)
    return None


def _sum(op: AddOp, steps: int) -> Scores | None:
    for products, addend in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        found = scores_of(products, steps - 1) if products.type == op.result.type else None
        if found is not None:
            return _with(found, op, addend)
    return None


def _with(found: Scores, op: ReshapeOp | AddOp, addend: SSAValue | None = None) -> Scores:
    addends = () if addend is None else (addend,)
    spaces = () if addend is None else (tensor_shape(op.result)[:-2],)
    return Scores(
        found.product,
        found.scale,
        (*found.addends, *addends),
        (*found.spaces, *spaces),
        (op, *found.parts),
    )


def is_finite(value: SSAValue, analysis: ParameterAnalysis) -> bool:
    """Whether a value holds no -inf; parameters are taken to be finite."""
    constant = constant_of(value)
    if constant is not None:
        import numpy as np

        return bool(np.isfinite(array_of(constant)).all())
    op = value.owner
    if isinstance(op, WhereOp):
        return is_finite(op.lhs, analysis) and is_finite(op.rhs, analysis)
    if isinstance(op, ReshapeOp | BroadcastToOp):
        return is_finite(op.input, analysis)
    return analysis.is_known_early(value)


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
    takes_open_sizes: ClassVar[bool] = True

    patterns = (FuseAttentionParts,)
