"""The weights of attention: a softmax of scores, and what scores are of."""

from dataclasses import dataclass
from math import inf, prod

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.folding import constant_of, is_filled_with
from gawee_dialect.dialect.graph.along_axis import SoftmaxOp
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp, TransposeOp
from gawee_dialect.dialect.graph.bitwise import LogicalNotOp
from gawee_dialect.dialect.graph.comparison import CompareOp, IsNanOp, WhereOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceAnyOp
from gawee_dialect.dialect.graph.shape import ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

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
