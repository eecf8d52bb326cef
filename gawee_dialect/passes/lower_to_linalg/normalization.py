"""Normalization to `linalg.generic`."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerBatchNorm(Pattern):
    """gawee.batch_norm -> one linalg.generic that reads the statistics of the element's channel"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        rank = type.get_num_dims()
        per_channel = [op.mean, op.variance]
        per_channel += [value for value in (op.scale, op.bias) if value is not None]
        inputs = [(op.input, reads(rank, *range(rank)))]
        inputs += [(value, reads(rank, 1)) for value in per_channel]

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            value, mean, variance, *affine, _ = args
            eps = scalars.constant(op.eps.value.data, value.type)
            deviation = scalars.square_root(scalars.add(variance, eps))
            value = scalars.divide(scalars.subtract(value, mean), deviation)
            if op.scale is not None:
                value = scalars.multiply(value, affine.pop(0))
            if op.bias is not None:
                value = scalars.add(value, affine.pop(0))
            return value

        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])
