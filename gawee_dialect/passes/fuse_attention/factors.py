"""What a product of matrices is of, without what was done to it on the way."""

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.elementwise import DivOp, MulOp
from gawee_dialect.dialect.folding import constant_of
from gawee_dialect.dialect.shape import ReshapeOp
from gawee_dialect.dialect.types import tensor_shape


@dataclass(frozen=True)
class Factor:
    """`scale` times the matrices of a value, which are transposed where `swapped`."""

    value: SSAValue
    swapped: bool
    scale: float

    @property
    def count(self) -> int:
        """The number of matrices."""
        return prod(tensor_shape(self.value)[:-2])


def factor_of(value: SSAValue, *, swapped: bool, scaled: bool = True) -> Factor:
    """Look through scales, transposed matrices and other leading axes."""
    scale = 1.0
    while True:
        owner = value.owner
        step = scaling_of(value) if scaled else None
        if step is not None:
            value, number = step
            scale *= number
        elif isinstance(owner, ReshapeOp) and keeps_matrices(owner):
            value = owner.input
        elif isinstance(owner, TransposeOp) and swaps_matrices(owner):
            value, swapped = owner.input, not swapped
        else:
            return Factor(value, swapped, scale)


def scaling_of(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Return what a value is a multiple of by one constant, and that."""
    op = value.owner
    if not isinstance(op, MulOp | DivOp):
        return None
    pairs = [(op.lhs, op.rhs)] + ([(op.rhs, op.lhs)] if isinstance(op, MulOp) else [])
    for factor, by in pairs:
        constant = constant_of(by)
        if constant is None or len(constant) != 1 or factor.type != value.type:
            continue
        number = float(array_of(constant).item())
        if isinstance(op, MulOp):
            return factor, number
        return (factor, 1 / number) if number else None
    return None


def keeps_matrices(op: ReshapeOp) -> bool:
    """Whether a reshape changes the axes before the last two alone."""
    before, after = tensor_shape(op.input), tensor_shape(op.result)
    return min(len(before), len(after)) >= 2 and before[-2:] == after[-2:]


def swaps_matrices(op: TransposeOp) -> bool:
    """Whether a transpose exchanges the last two axes alone."""
    axes = list(op.permutation.get_values())
    axes[-2:] = reversed(axes[-2:])
    return len(axes) >= 2 and axes == sorted(axes)
