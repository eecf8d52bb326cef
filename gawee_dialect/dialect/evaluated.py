"""Ops that say themselves what they mean: what folds them is what interprets them.

Folders share constant operands, constant results, neutral elements. The meaning of other ops is
found by their name, by passes and the interpreter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import ConstantLike

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import AnyTensor, tensor_type
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


class EvaluatedOp(GaweeOp, HasFolderInterface, ABC):
    """An op whose one NumPy function, `evaluate`, is its meaning.

    The folder and the interpreter call it. The meaning of an op that nothing folds, such as
    resampling, is in `interpreter/gawee/`, in the file of its family; no op has both.
    """

    @abstractmethod
    def evaluate(self, *operands: Array) -> Array:
        """Compute the result from an array an operand, in the result's shape and dtype.

        Raises IndexError where an operand is an index that is none of its axis.
        """

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op(constants) -> constant"""
        try:
            constant = fold_constants(self.operands, tensor_type(self.output), self.evaluate)
        except IndexError:  # refused where it runs, if it does
            return None
        return None if constant is None else (constant,)


class NamedMeaningOp(IRDLOperation, ABC):
    """An op that `lower-opdesc` lowers by its name, or a Python function is registered for."""

    @abstractmethod
    def has_function(self) -> bool:
        """Whether a Python function is registered for the op."""

    @abstractmethod
    def call_function(self, arrays: Sequence[Array]) -> Array | Sequence[Array]:
        """Call the function that is registered for the op with an array an operand.

        Returns what it does: an array, or one for each result.
        """
