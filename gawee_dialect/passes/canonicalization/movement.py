"""Canonicalization of the ops that move elements."""

from collections.abc import Sequence

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.folding import constant_of
from gawee_dialect.dialect.gather import GatherOp
from gawee_dialect.dialect.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.parameter_analysis import describe
from gawee_dialect.passes.rewrite_pass import Pattern


class TransposeOfTranspose(Pattern):
    """transpose(transpose(%x)) -> transpose(%x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        first = op.input.owner
        if not isinstance(first, TransposeOp):
            self.missed(op, f"expected input from a transpose, got {describe(op.input)}")
            return
        inner = first.permutation.get_values()
        permutation = [inner[axis] for axis in op.permutation.get_values()]
        rewriter.replace(op, TransposeOp(first.input, permutation=permutation))


class GatherOfRows(Pattern):
    """gather(%x, [1, 2, 3, 0]) -> cat(slice(%x, 1 to 3), slice(%x, 0)); of one row a slice alone"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherOp, rewriter: PatternRewriter) -> None:
        rows = known_rows(op)
        if isinstance(rows, str):
            self.missed(op, rows)
            return
        (axis,) = op.named_axes
        parts = [rewriter.insert(row_of(op, axis, row)).result for row in rows]
        whole = parts[0] if len(parts) == 1 else rewriter.insert(CatOp(parts, dim=axis)).result
        if whole.type != op.result.type:
            whole = rewriter.insert(ReshapeOp(whole, shape=tensor_shape(op.result))).result
        rewriter.replace(op, (), [whole])


def known_rows(op: GatherOp) -> Sequence[range] | str:
    """Return the one or two rows of positions that constant indices are, or why they are none."""
    constant = constant_of(op.indices)
    if constant is None or 0 in tensor_shape(op.result):
        return f"expected some constant indices, got {describe(op.indices)}"
    places = array_of(constant).reshape(-1).astype(np.int64) % op.named_sizes[0]
    rows = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
    if len(rows) > 2:
        return f"expected indices in one row or two, got {len(rows)}"
    return [range(int(row[0]), int(row[-1]) + 1) for row in rows]


def row_of(op: GatherOp, axis: int, row: range) -> SliceOp:
    """Make the slice of a gather's input that a row of positions names."""
    sizes = list(tensor_shape(op.input))
    offsets = [0] * len(sizes)
    offsets[axis], sizes[axis] = row.start, len(row)
    return SliceOp(op.input, offsets=offsets, sizes=sizes)
