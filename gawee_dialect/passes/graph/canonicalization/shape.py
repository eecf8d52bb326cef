"""Canonicalization of the ops that give their input another shape."""

from collections.abc import Sequence

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.parameter_analysis import describe


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


# Canonicalization of products of matrices.


class DropBatchOfOne(Pattern):
    """batch_matmul(%a: 2x3x4, %b: 1x4x5) -> batch_matmul(%a, reshape(%b): 4x5)

    Weights that an exporter repeated for a batch of one are one matrix then.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchMatMulOp, rewriter: PatternRewriter) -> None:
        a, b = tensor_shape(op.a), tensor_shape(op.b)
        kept = next((axis for axis, size in enumerate(b[:-2]) if size != 1), len(b) - 2)
        if kept == 0 or len(a) < len(b):
            self.missed(op, f"expected b with batches of one that a has too, got {shape_text(b)}")
            return
        matrices = rewriter.insert(ReshapeOp(op.b, shape=b[kept:])).result
        transposes = op.transpose_a is not None, op.transpose_b is not None
        rewriter.replace(
            op,
            BatchMatMulOp(op.a, matrices, transpose_a=transposes[0], transpose_b=transposes[1]),
        )


# Canonicalization of the ops that move elements.


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
