"""Counting tensors and triangles."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.position import IotaOp, TriOp
from gawee_dialect.dialect.types import element_type, tensor_type
from gawee_dialect.passes.lower_to_linalg.positions import repeated
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerIota(Pattern):
    """gawee.iota -> linalg.generic { linalg.index, converted }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IotaOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        element, axis = type.element_type, op.axis.value.data % type.get_num_dims()

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            position = scalars.position(axis)
            if isinstance(element, AnyFloat):
                return scalars.index_to_float(position, element)
            return scalars.emit(arith.IndexCastOp(position, element))

        rewriter.replace(op, (), [generic(rewriter, type, [], body)])


class LowerTri(Pattern):
    """gawee.tri -> linalg.generic { arith.select by the two last positions }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TriOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        loops, diagonal = type.get_num_dims(), op.diagonal.value.data
        predicate = "sge" if op.upper.value.data else "sle"

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            row, column = scalars.position(loops - 2), scalars.position(loops - 1)
            limit = scalars.add(row, scalars.index(diagonal))
            keep = scalars.emit(arith.CmpiOp(column, limit, predicate))
            return scalars.select(keep, args[0], args[1])

        inputs = [(op.input, reads(loops, *range(loops))), (zero(rewriter, op), reads(loops))]
        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])


def zero(builder: Builder, op: TriOp) -> SSAValue:
    """Make a tensor of one zero, which any element type has."""
    return repeated(builder, 0, TensorType(element_type(op.input), ()))
