"""What folders share: constant operands, constant results, neutral elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import SSAValue
from xdsl.traits import ConstantLike

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.hints import isa

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array

MAX_FOLDED_ELEMENTS = 4096
"""Larger results stay computed: the IR is for graphs, not for data."""


def constant_of(value: SSAValue) -> DenseIntOrFPElementsAttr | None:
    """Return what a constant op says a value is, None where the value is not constant."""
    constant = ConstantLike.get_constant_value(value)
    return constant if isa(constant, DenseIntOrFPElementsAttr) else None


def fold_constants(
    operands: Sequence[SSAValue], result: AnyTensor, compute: Callable[..., Array]
) -> DenseIntOrFPElementsAttr | None:
    """Compute a result from constant operands in the result's dtype, rounding to it.

    Returns None where an operand is not constant, a size of the result is open, or the result has more than
    `MAX_FOLDED_ELEMENTS` elements.
    """
    if is_open(result.get_shape()) or prod(result.get_shape()) > MAX_FOLDED_ELEMENTS:
        return None
    constants = [constant_of(operand) for operand in operands]
    arrays = [array_of(constant) for constant in constants if constant is not None]
    if len(arrays) != len(operands):
        return None
    import numpy as np

    # Overflow, division by zero and the like mean what IEEE 754 and wrap-around say.
    with np.errstate(all="ignore"):
        return dense_of(np.asarray(compute(*arrays)), result)


def is_filled_with(value: SSAValue, number: float) -> bool:
    """Whether a value is a constant whose elements all equal a number; -0.0 equals 0."""
    constant = constant_of(value)
    return constant is not None and bool((array_of(constant) == number).all())
