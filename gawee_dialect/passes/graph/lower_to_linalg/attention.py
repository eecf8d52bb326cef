"""Attention to its parts: two contractions, and softmax between them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, Float64Type, TensorType, f32, f64, i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.conv import joined_axes, split_axis
from gawee_dialect.passes.graph.lower_to_linalg.matmul import contracted, zeros
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import filled, lowest, zero
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerAttention(Pattern):
    """gawee.attention -> q k^T, scale and mask, exp(score - greatest) v, division by their sum

    Each is a linalg.generic; f16 is computed in f32. Where heads share keys and values, those of q
    become two axes (shared, own), and k and v are read along the first alone.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AttentionOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        work = f64 if isinstance(element_type(op.q), Float64Type) else f32
        heads = Heads.of(op)
        scores = _masked(rewriter, op, heads.products(rewriter, op, work))
        greatest = _along_keys(rewriter, scores, Scalars.maximum, lowest)
        powers = _powers(rewriter, scores, greatest)
        total = _along_keys(rewriter, powers, Scalars.add, zero)
        mixed = heads.mixed(rewriter, op, powers, work)
        result = _divided(rewriter, op, mixed, total)
        rewriter.replace(op, (), [result])


@dataclass(frozen=True)
class Heads:
    """How heads of q share those of k and v: each of k's serves `own` of q's."""

    rank: int
    shared: int
    own: int

    @classmethod
    def of(cls, op: AttentionOp) -> "Heads":
        """Compare the heads of q and k."""
        q, k = tensor_shape(op.q), tensor_shape(op.k)
        if len(q) == 2:
            return cls(2, 1, 1)
        return cls(len(q), k[-3], 1 if k[-3] == q[-3] else q[-3] // k[-3])

    def split(self, builder: Builder, value: SSAValue) -> SSAValue:
        """Split the heads of a tensor like q into (shared, own), where heads are shared."""
        return value if self.own == 1 else split_axis(builder, value, self.rank - 3, self.shared)

    def joined(self, builder: Builder, value: SSAValue) -> SSAValue:
        """Undo `split`."""
        return value if self.own == 1 else joined_axes(builder, value, self.rank - 3)

    def product(
        self,
        builder: Builder,
        lhs: SSAValue,
        rhs: SSAValue,
        type: AnyTensor,
        rhs_axes: Callable[[int, int], tuple[int, int]],
    ) -> SSAValue:
        """Multiply matrices of a tensor like q with those of one like k."""
        lhs = self.split(builder, lhs)
        rank = len(tensor_shape(lhs))
        leading, rows, columns, inner = range(rank - 2), rank - 2, rank - 1, rank
        common = leading if self.own == 1 else leading[:-1]
        sizes = (*tensor_shape(lhs)[:-1], type.get_shape()[-1])
        init = zeros(builder, TensorType(type.element_type, sizes))
        left = (lhs, reads(rank + 1, *leading, rows, inner))
        right = (rhs, reads(rank + 1, *common, *rhs_axes(columns, inner)))
        result = contracted(builder, init, left, right, num_reduced=1)
        return self.joined(builder, result)

    def products(self, builder: Builder, op: AttentionOp, work: AnyFloat) -> SSAValue:
        """Compute the products (..., queries, keys) of queries and keys."""
        shape = (*tensor_shape(op.q)[:-1], tensor_shape(op.k)[-2])
        type = TensorType(work, shape)
        return self.product(builder, op.q, op.k, type, lambda column, inner: (column, inner))

    def mixed(
        self, builder: Builder, op: AttentionOp, weights: SSAValue, work: AnyFloat
    ) -> SSAValue:
        """Add up the values (..., queries, value width), weighted."""
        type = TensorType(work, tensor_shape(op.result))
        return self.product(builder, weights, op.v, type, lambda column, inner: (inner, column))


def _masked(builder: Builder, op: AttentionOp, products: SSAValue) -> SSAValue:
    """Scale the products; add the mask, or hide what it hides."""
    type = tensor_type(products)
    rank, work = type.get_num_dims(), type.element_type
    assert isinstance(work, AnyFloat)
    inputs = [(products, reads(rank, *range(rank)))]
    if op.mask is not None:
        inputs.append((op.mask, _broadcast_reads(rank, tensor_shape(op.mask))))

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        value = scalars.multiply(args[0], scalars.constant(op.scale.value.data, work))
        hidden = scalars.constant(float("-inf"), work)
        if op.mask is not None and element_type(op.mask) == i1:
            value = scalars.select(args[1], value, hidden)
        elif op.mask is not None:
            value = scalars.add(value, scalars.widen(args[1], work))
        if op.causal is not None:
            later = scalars.less(scalars.position(rank - 2), scalars.position(rank - 1))
            value = scalars.select(later, hidden, value)
        return value

    return generic(builder, type, inputs, body)


def _broadcast_reads(rank: int, shape: Sequence[int]) -> AffineMap:
    """Make the map of a tensor that broadcasts to `rank` loops, aligned at the last."""
    first = rank - len(shape)
    return reads(rank, *(None if size == 1 else first + axis for axis, size in enumerate(shape)))


def _along_keys(
    builder: Builder,
    scores: SSAValue,
    combine: Callable[[Scalars, SSAValue, SSAValue], SSAValue],
    neutral: Callable[[Builder, AnyFloat], SSAValue],
) -> SSAValue:
    """Combine (..., queries, keys) to (..., queries)."""
    type = tensor_type(scores)
    rank, element = type.get_num_dims(), type.element_type
    assert isinstance(element, AnyFloat)
    result = TensorType(element, type.get_shape()[:-1])
    init = filled(builder, neutral(builder, element), result)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return combine(scalars, args[1], args[0])

    return reduction(builder, init, [(scores, reads(rank, *range(rank)))], body, num_reduced=1)


def _powers(builder: Builder, scores: SSAValue, greatest: SSAValue) -> SSAValue:
    """Compute exp(score - greatest); zeros where all scores are -inf."""
    type = tensor_type(scores)
    rank = type.get_num_dims()
    inputs = [
        (scores, reads(rank, *range(rank))),
        (greatest, reads(rank, *range(rank - 1))),
    ]

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        score, most, _ = args
        hidden = scalars.equal(most, scalars.constant(float("-inf"), most.type))
        most = scalars.select(hidden, scalars.constant(0, most.type), most)
        return scalars.exponential(scalars.subtract(score, most))

    return generic(builder, type, inputs, body)


def _divided(builder: Builder, op: AttentionOp, mixed: SSAValue, total: SSAValue) -> SSAValue:
    """Divide what weights mixed by their sum, if that is not 0; round to the element type."""
    type = tensor_type(op.result)
    rank = type.get_num_dims()
    inputs = [(mixed, reads(rank, *range(rank))), (total, reads(rank, *range(rank - 1)))]

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        value, weight, _ = args
        nothing = scalars.equal(weight, scalars.constant(0, weight.type))
        weight = scalars.select(nothing, scalars.constant(1, weight.type), weight)
        return scalars.narrow(scalars.divide(value, weight), type.element_type)

    return generic(builder, type, inputs, body)
