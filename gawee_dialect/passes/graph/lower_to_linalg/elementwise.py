"""Elementwise ops to `linalg.generic`: their equations say the scalar body."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.equations.syntax import accesses
from gawee_dialect.passes.graph.lower_to_linalg.conversions import bits_as
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import (
    Body,
    Context,
    Operand,
    is_as_stored,
)
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerElementwise(Pattern):
    """gawee.add, gawee.relu, ... -> linalg.generic; size-1 axes are read at position 0"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.output.name_hint
        result_type = tensor_type(op.output)
        inputs = [(value, broadcast_read(value, result_type)) for value in op.operands]

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            if isinstance(op, BitcastOp):
                return bits_as(scalars, args[0], result_type.element_type)
            return element(scalars, args[:-1], op)

        rewriter.replace(op, (), [generic(rewriter, result_type, inputs, body)])


def element(scalars: Scalars, args: Sequence[SSAValue], op: ElementwiseOp) -> SSAValue:
    """Write what an op computes of elements of its operands."""
    instance = op.meaning()
    (equation,) = instance.steps[0].equations
    value = equation.definition.value
    inputs = instance.program.inputs
    read = {id(each): Operand(inputs.index(each.tensor)) for each in accesses(value)}
    context = Context(instance, equation, {}, {})
    body = Body(context, scalars, (), args, read, is_as_stored(value, instance.typing))
    return body.converted(body.value(value), element_type(op.output))


def broadcast_read(value: SSAValue, result: AnyTensor) -> AffineMap:
    """Make the map that reads an operand as NumPy broadcasts it to the result's shape."""
    shape, wide = tensor_shape(value), result.get_shape()
    missing = len(wide) - len(shape)
    axes = [
        None if size != wide[missing + axis] else missing + axis for axis, size in enumerate(shape)
    ]
    return reads(len(wide), *axes)
