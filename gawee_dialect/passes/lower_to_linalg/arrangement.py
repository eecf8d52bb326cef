"""Transposing, repeating and reversing whole tensors."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect import linalg
from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.elementwise import broadcast_read
from gawee_dialect.passes.lower_to_linalg.positions import picked
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.lower_to_linalg.structured import generic
from gawee_dialect.passes.lower_to_linalg.tensors import broadcast, empty
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerTranspose(Pattern):
    """gawee.transpose -> linalg.transpose"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        if op.same() is not None:
            rewriter.replace(op, (), [op.input])
            return
        init = empty(rewriter, tensor_type(op.result))
        rewriter.replace(op, linalg.TransposeOp(op.input, init, op.permutation))


class LowerBroadcastTo(Pattern):
    """gawee.broadcast_to -> linalg.generic that reads axes of size 1 at position 0"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastToOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        source = op.input, broadcast_read(op.input, type)
        rewriter.replace(op, (), [generic(rewriter, type, [source], lambda _, args: args[0])])


class LowerTile(Pattern):
    """gawee.tile -> linalg.broadcast to a new axis before each repeated one, then a reshape"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TileOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        wide: list[int] = []
        added: list[int] = []
        for size, count in zip(tensor_shape(op.input), op.repeats.get_values(), strict=True):
            if count != 1:
                added.append(len(wide))
                wide.append(count)
            wide.append(size)
        type = TensorType(element_type(op.input), wide)
        repeated = broadcast(rewriter, op.input, type, added) if added else op.input
        rewriter.replace(op, (), [reshaped(rewriter, repeated, tensor_shape(op.result))])


class LowerReverse(Pattern):
    """gawee.reverse -> linalg.generic with tensor.extract at n - 1 - i"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReverseOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, axes = tensor_shape(op.input), op.reversed_axes()

        def position(scalars: Scalars, axis: int) -> SSAValue:
            if axis not in axes:
                return scalars.position(axis)
            return scalars.subtract(scalars.index(shape[axis] - 1), scalars.position(axis))

        def positions(scalars: Scalars) -> Sequence[SSAValue]:
            return [position(scalars, axis) for axis in range(len(shape))]

        rewriter.replace(op, (), [picked(rewriter, tensor_type(op.result), op.input, positions)])
