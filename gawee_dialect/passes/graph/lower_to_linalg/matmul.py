"""Matrix products: to the named one where it fits, else to a contraction over leading axes."""

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    broadcast,
    expanded,
    filled,
    named_part,
    zero,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream.linalg import MATMUL_MAPS, TRANSPOSED_B_MAPS, MatmulOp

# Sums of products as `linalg.generic`: what matrix products and convolutions share.

Read = tuple[SSAValue, AffineMap]
"""A tensor and which of its elements each point of the loops reads."""


def multiply_add(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """Compute total + lhs * rhs of (lhs, rhs, total), factors widened to the total's type."""
    lhs, rhs, total = args
    if isinstance(total.type, AnyFloat):
        lhs, rhs = scalars.widen(lhs, total.type), scalars.widen(rhs, total.type)
    return scalars.add(total, scalars.multiply(lhs, rhs))


def contracted(
    builder: Builder, init: SSAValue, lhs: Read, rhs: Read, *, num_reduced: int
) -> SSAValue:
    """Add to every element of `init` the products along the last `num_reduced` loops."""
    return reduction(builder, init, [lhs, rhs], multiply_add, num_reduced=num_reduced)


def zeros(builder: Builder, type: AnyTensor) -> SSAValue:
    """Make a tensor of zeros."""
    return filled(builder, zero(builder, type.element_type), type)


def biased(
    builder: Builder, bias: SSAValue | None, type: AnyTensor, axes: Sequence[int]
) -> SSAValue:
    """Make what products are added to: zeros, or a bias that lies along some axes of `type`."""
    if bias is None:
        return zeros(builder, type)
    if len(axes) > 1:
        sizes = [type.get_shape()[axis] for axis in axes]
        bias = expanded(builder, bias, (range(len(axes)),), sizes)
    others = [axis for axis in range(type.get_num_dims()) if axis not in axes]
    return named_part(builder, broadcast(builder, bias, type, others), "init")


class LowerMatMul(Pattern):
    """gawee.matmul -> linalg.matmul that reads B as (n, k), onto the broadcast bias (or zeros)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatMulOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        *leading, in_features = tensor_shape(op.input)
        rows, out_features = prod(leading), tensor_shape(op.weight)[0]
        type = TensorType(element_type(op.input), (rows, out_features))
        lhs = reshaped(rewriter, op.input, (rows, in_features))
        init = biased(rewriter, op.bias, type, (1,))
        product = rewriter.insert(MatmulOp([lhs, op.weight], [init], maps=TRANSPOSED_B_MAPS))
        result = reshaped(rewriter, product.res[0], tensor_shape(op.result))
        rewriter.replace(op, (), [result])


class LowerBatchMatMul(Pattern):
    """gawee.batch_matmul -> linalg.generic (..., m, n | k) that reads broadcast axes at 0

    Where all matrices of a meet one matrix of b, they are the rows of one linalg.matmul.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchMatMulOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        one_matrix = prod(tensor_shape(op.b)[:-2]) == 1 and op.transpose_a is None
        result = _one_product(rewriter, op) if one_matrix else _batched(rewriter, op)
        rewriter.replace(op, (), [result])


def _one_product(builder: Builder, op: BatchMatMulOp) -> SSAValue:
    *leading, inner = tensor_shape(op.a)
    features = tensor_shape(op.result)[-1]
    a = reshaped(builder, op.a, (prod(leading), inner))
    b = reshaped(builder, op.b, tensor_shape(op.b)[-2:])
    type = TensorType(element_type(op.a), (prod(leading), features))
    maps = MATMUL_MAPS if op.transpose_b is None else TRANSPOSED_B_MAPS
    product = builder.insert(MatmulOp([a, b], [zeros(builder, type)], maps=maps))
    return reshaped(builder, product.res[0], tensor_shape(op.result))


def _batched(builder: Builder, op: BatchMatMulOp) -> SSAValue:
    rank = len(tensor_shape(op.result))
    rows, features, inner = rank - 2, rank - 1, rank
    a_axes = (inner, rows) if op.transpose_a is not None else (rows, inner)
    b_axes = (features, inner) if op.transpose_b is not None else (inner, features)
    lhs = (op.a, matrix_reads(rank, tensor_shape(op.a), a_axes))
    rhs = (op.b, matrix_reads(rank, tensor_shape(op.b), b_axes))
    return contracted(builder, zeros(builder, tensor_type(op.result)), lhs, rhs, num_reduced=1)


def matrix_reads(rank: int, shape: Sequence[int], matrix: tuple[int, int]) -> AffineMap:
    """Make the map of an operand whose leading axes broadcast to the first `rank` - 2 loops."""
    leading = shape[:-2]
    first = rank - 2 - len(leading)
    axes = [None if size == 1 else first + axis for axis, size in enumerate(leading)]
    return reads(rank + 1, *axes, *matrix)
