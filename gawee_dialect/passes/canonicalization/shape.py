"""Canonicalization of the ops that give their input another shape."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.shape import FlattenOp, ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.parameter_analysis import describe
from gawee_dialect.passes.rewrite_pass import Pattern


class ReshapeOfView(Pattern):
    """reshape(reshape(%x)) and reshape(flatten(%x)) -> reshape(%x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        view = op.input.owner
        if not isinstance(view, ReshapeOp | FlattenOp):
            self.missed(op, f"expected input from a reshape or flatten, got {describe(op.input)}")
            return
        rewriter.replace(op, ReshapeOp(view.input, shape=op.shape.get_values()))


class FlattenOfReshape(Pattern):
    """flatten(reshape(%x)) -> reshape(%x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FlattenOp, rewriter: PatternRewriter) -> None:
        view = op.input.owner
        if not isinstance(view, ReshapeOp):
            self.missed(op, f"expected input from a reshape, got {describe(op.input)}")
            return
        rewriter.replace(op, ReshapeOp(view.input, shape=tensor_shape(op.result)))


class FlattenOfFlatten(Pattern):
    """flatten(flatten(%x)) -> flatten(%x), where the second joins more axes to the joined one"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FlattenOp, rewriter: PatternRewriter) -> None:
        first = op.input.owner
        if not isinstance(first, FlattenOp):
            self.missed(op, f"expected input from a flatten, got {describe(op.input)}")
            return
        joined, last = joined_axes(first)
        start, end = joined_axes(op)
        if not start <= joined <= end:
            self.missed(op, f"expected axes {start} to {end} to include the joined axis {joined}")
            return
        rewriter.replace(op, FlattenOp(first.input, start_dim=start, end_dim=end + last - joined))


def joined_axes(op: FlattenOp) -> tuple[int, int]:
    """Return the first and last axis that a flatten joins, both counted from the start."""
    rank = max(1, len(tensor_shape(op.input)))
    return op.start_dim.value.data % rank, op.end_dim.value.data % rank
