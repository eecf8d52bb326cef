"""Linear layers to the named matrix product."""

from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.linalg import TRANSPOSED_B_MAPS, MatmulOp
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.lower_to_linalg.tensors import broadcast, filled, zero
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerMatMul(Pattern):
    """gawee.matmul -> linalg.matmul that reads B as (n, k), onto the broadcast bias (or zeros)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatMulOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        *leading, in_features = tensor_shape(op.input)
        rows, out_features = prod(leading), tensor_shape(op.weight)[0]
        type = TensorType(element_type(op.input), (rows, out_features))
        lhs = reshaped(rewriter, op.input, (rows, in_features))
        init = _accumulator(rewriter, op, type)
        product = rewriter.insert(MatmulOp([lhs, op.weight], [init], maps=TRANSPOSED_B_MAPS))
        result = reshaped(rewriter, product.res[0], tensor_shape(op.result))
        rewriter.replace(op, (), [result])


def _accumulator(builder: Builder, op: MatMulOp, type: AnyTensor) -> SSAValue:
    """Make what the product adds to: the bias in every row, zeros where there is none."""
    if op.bias is None:
        return filled(builder, zero(builder, type.element_type), type)
    return broadcast(builder, op.bias, type, (0,))
