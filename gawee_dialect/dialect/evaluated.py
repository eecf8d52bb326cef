"""Ops that say themselves what they mean: what folds them is what interprets them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.folding import fold_constants
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import tensor_type

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


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
