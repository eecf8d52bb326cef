"""Kernels that only pad, and what padding with zeros is as good as."""

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.analysis.kernel_kind import copied_input
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, shape_of


@dataclass(frozen=True)
class Pad:
    """A kernel that copies a tensor into a larger one with a number around it."""

    op: KernelOp
    source: SSAValue
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def number(self) -> float:
        """What is around the tensor."""
        return number_of(self.op.outside)


def number_of(attribute: Number | None) -> float:
    """Return the value of a number, zero for an absent one."""
    if attribute is None:
        return 0.0
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def pad_of(value: SSAValue) -> Pad | None:
    """Return the padding that makes a tensor; None where anything else does."""
    op = value.owner
    if not isinstance(op, KernelOp) or op.result is None:
        return None
    if copied_input(op) is None or len(op.inputs) != 1:
        return None
    sizes, shape = op.sizes, shape_of(op.result)
    source_map, result_map = op.maps
    if source_map != AffineMap.identity(len(sizes)) or shape_of(op.inputs[0]) != sizes:
        return None
    offsets = [_offset(expr, dim) for dim, expr in enumerate(result_map.results)]
    low = tuple(offset for offset in offsets if offset is not None)
    if len(low) != len(sizes):
        return None
    high = tuple(
        total - size - before for total, size, before in zip(shape, sizes, low, strict=True)
    )
    return Pad(op, op.inputs[0], low, high)


def zero_pad_of(value: SSAValue) -> Pad | None:
    """Return the padding with zeros that makes a tensor, its first two axes as they were."""
    pad = pad_of(value)
    if pad is None or pad.number != 0 or len(pad.low) < 2:
        return None
    return None if any((*pad.low[:2], *pad.high[:2])) else pad


def _offset(expr: AffineExpr, dim: int) -> int | None:
    """Return k of the expression d<dim> + k."""
    match expr:
        case AffineDimExpr(position=position) if position == dim:
            return 0
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Add,
            lhs=AffineDimExpr(position=position),
            rhs=AffineConstantExpr(value=value),
        ) if position == dim:
            return value
        case _:
            return None


def never_negative(value: SSAValue) -> bool:
    """Whether a kernel's last step is to take the maximum with a number that is not negative."""
    op = value.owner
    if not isinstance(op, KernelOp) or number_of(op.outside) < 0:
        return False
    last = op.yielded(op.finish).owner
    if not isinstance(last, arith.MaximumfOp | arith.MaxSIOp):
        return False
    bounds = (side.owner for side in last.operands)
    return any(
        isinstance(bound, arith.ConstantOp)
        and isinstance(bound.value, FloatAttr | IntegerAttr)
        and number_of(bound.value) >= 0
        for bound in bounds
    )
