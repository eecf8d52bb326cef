"""Elementwise ops to `linalg.generic`: one lowering, a table of scalar bodies."""

from collections.abc import Mapping

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.elementwise import (
    AddOp,
    BinaryOp,
    DivOp,
    MulOp,
    ReluOp,
    SqrtOp,
    SubOp,
    UnaryOp,
)
from gawee_dialect.dialect.types import AnyTensor, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import Body, generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


def _relu(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.maximum(value, scalars.constant(0, value.type))


SCALAR_BODIES: Mapping[type[UnaryOp | BinaryOp], Body] = {
    AddOp: lambda scalars, args: scalars.add(args[0], args[1]),
    SubOp: lambda scalars, args: scalars.subtract(args[0], args[1]),
    MulOp: lambda scalars, args: scalars.multiply(args[0], args[1]),
    DivOp: lambda scalars, args: scalars.divide(args[0], args[1]),
    ReluOp: lambda scalars, args: _relu(scalars, args[0]),
    SqrtOp: lambda scalars, args: scalars.square_root(args[0]),
}
"""What each elementwise op does to the elements of its operands."""


class LowerElementwise(Pattern):
    """gawee.add, gawee.relu, ... -> linalg.generic; size-1 axes are read at position 0"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: UnaryOp | BinaryOp, rewriter: PatternRewriter) -> None:
        if type(op) not in SCALAR_BODIES:
            return self.missed(op, f"expected a scalar body for '{op.name}', got none")
        rewriter.name_hint = op.output.name_hint
        result_type = tensor_type(op.output)
        inputs = [(value, broadcast_read(value, result_type)) for value in op.operands]
        result = generic(rewriter, result_type, inputs, SCALAR_BODIES[type(op)])
        rewriter.replace(op, (), [result])


def broadcast_read(value: SSAValue, result: AnyTensor) -> AffineMap:
    """Make the map that reads an operand as NumPy broadcasts it to the result's shape."""
    shape, wide = tensor_shape(value), result.get_shape()
    missing = len(wide) - len(shape)
    axes = [
        None if size != wide[missing + axis] else missing + axis for axis, size in enumerate(shape)
    ]
    return reads(len(wide), *axes)
