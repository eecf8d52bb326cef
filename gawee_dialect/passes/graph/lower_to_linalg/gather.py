"""Gathers to `linalg.generic` with `tensor.extract` at the positions that indices name.

Nothing here checks the indices: the interpreter refuses a wrong one at every level, and for native
code `check-indices` has clamped them before.
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.positions import (
    from_start,
    picked,
    positions_from_start,
)
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerGather(Pattern):
    """gawee.gather -> linalg.generic over indices with tensor.extract

    Indices that are read again for each line become positions before, by a linalg.generic.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        axis, loops = op.axis.value.data % len(shape), type.get_num_dims()
        named = range(axis, axis + len(tensor_shape(op.indices)))
        indices, read_again = op.indices, axis > 0 and named.stop == loops
        if read_again:
            indices = positions_from_start(rewriter, indices, shape[axis])

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            outer = [scalars.position(loop) for loop in range(axis)]
            inner = [scalars.position(loop) for loop in range(named.stop, loops)]
            if read_again:
                index = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            else:
                index = from_start(scalars, args[0], shape[axis])
            return scalars.element(op.input, [*outer, index, *inner])

        inputs = [(indices, reads(loops, *named))]
        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])


class LowerGatherElements(Pattern):
    """gawee.gather_elements -> linalg.generic over positions with tensor.extract"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherElementsOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        axis = op.axis.value.data % len(shape)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            place = [scalars.position(loop) for loop in range(len(shape))]
            place[axis] = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            return scalars.element(op.input, place)

        positions = positions_from_start(rewriter, op.indices, shape[axis])
        inputs = [(positions, reads(len(shape), *range(len(shape))))]
        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])


class LowerGatherNd(Pattern):
    """gawee.gather_nd -> linalg.generic with tensor.extract of each index, then of the element"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherNdOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        *rows, named = tensor_shape(op.indices)
        batch = op.batch_dims.value.data

        def positions(scalars: Scalars) -> Sequence[SSAValue]:
            row = [scalars.position(loop) for loop in range(len(rows))]
            found = [
                scalars.element(op.indices, [*row, scalars.index(part)])
                for part in indices_of(named)
            ]
            middle = [
                from_start(scalars, index, shape[batch + part]) for part, index in enumerate(found)
            ]
            inner = [scalars.position(loop) for loop in range(len(rows), type.get_num_dims())]
            return [*row[:batch], *middle, *inner]

        rewriter.replace(op, (), [picked(rewriter, type, op.input, positions)])
