"""Elementwise ops to `linalg.generic`: one lowering, tables of scalar bodies."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import AnyFloat, i1, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.arithmetic import (
    AbsOp,
    CeilOp,
    FloorOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    RoundOp,
)
from gawee_dialect.dialect.cast import BitcastOp, CastOp
from gawee_dialect.dialect.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.elementwise import (
    AddOp,
    DivOp,
    ElementwiseOp,
    MulOp,
    ReluOp,
    SqrtOp,
    SubOp,
)
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.activation import ACTIVATIONS
from gawee_dialect.passes.lower_to_linalg.arithmetic import ARITHMETIC, ELEMENTARY
from gawee_dialect.passes.lower_to_linalg.bodies import ScalarBody
from gawee_dialect.passes.lower_to_linalg.choices import CHOICES
from gawee_dialect.passes.lower_to_linalg.conversions import converted, opened
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern

SCALAR_BODIES: Mapping[type[ElementwiseOp], ScalarBody] = {
    **ARITHMETIC,
    **ELEMENTARY,
    **ACTIVATIONS,
    **CHOICES,
}
"""What each elementwise op does to the elements of its operands."""

ROUNDED_ALIKE: tuple[type[ElementwiseOp], ...] = (
    *(AddOp, SubOp, MulOp, DivOp, SqrtOp, ReluOp, NegOp, AbsOp),
    *(FloorOp, CeilOp, RoundOp, MaximumOp, MinimumOp),
)
"""Ops that give f16 the same bits whether it is computed in f16 or in f32 and rounded."""

AS_THEY_ARE = (WhereOp, CastOp, BitcastOp)
"""Ops whose bodies take elements of every type."""


class LowerElementwise(Pattern):
    """gawee.add, gawee.relu, ... -> linalg.generic; size-1 axes are read at position 0"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        if type(op) not in SCALAR_BODIES:
            return self.missed(op, f"expected a scalar body for '{op.name}', got none")
        rewriter.name_hint = op.output.name_hint
        result_type = tensor_type(op.output)
        inputs = [(value, broadcast_read(value, result_type)) for value in op.operands]

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            values = [entering(scalars, op, value) for value in args[:-1]]
            result = SCALAR_BODIES[type(op)](scalars, values, op)
            return converted(scalars, result, element_type(op.output))

        rewriter.replace(op, (), [generic(rewriter, result_type, inputs, body)])


def entering(scalars: Scalars, op: ElementwiseOp, value: SSAValue) -> SSAValue:
    """Convert an operand's element to the type that the op's body computes in."""
    if isinstance(op, AS_THEY_ARE):
        return value
    if type(op) in ROUNDED_ALIKE and isinstance(value.type, AnyFloat):
        return value
    if isinstance(op, CompareOp) and value.type == i1:
        return converted(scalars, value, i32)
    return opened(scalars, value)


def broadcast_read(value: SSAValue, result: AnyTensor) -> AffineMap:
    """Make the map that reads an operand as NumPy broadcasts it to the result's shape."""
    shape, wide = tensor_shape(value), result.get_shape()
    missing = len(wide) - len(shape)
    axes = [
        None if size != wide[missing + axis] else missing + axis for axis, size in enumerate(shape)
    ]
    return reads(len(wide), *axes)
