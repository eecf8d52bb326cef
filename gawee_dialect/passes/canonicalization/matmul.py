"""Canonicalization of products of matrices."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.matmul import BatchMatMulOp
from gawee_dialect.dialect.shape import ReshapeOp
from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.passes.rewrite_pass import Pattern


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
