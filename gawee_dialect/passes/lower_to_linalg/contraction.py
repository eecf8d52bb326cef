"""Sums of products as `linalg.generic`: what matrix products and convolutions share."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import reduction
from gawee_dialect.passes.lower_to_linalg.tensors import broadcast, expanded, filled, zero

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
    return broadcast(builder, bias, type, others)
