"""What passes and the interpreter ask of an op whose meaning is equations between elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gawee_dialect.dialect.operation import CountedOp

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array
    from gawee_dialect.equations.instance import Instance


class IndexNotationOp(CountedOp, ABC):
    """An op that is defined by a body in index notation of a description."""

    @abstractmethod
    def meaning(self) -> Instance:
        """Return the equations for this op; raises CheckFailure where they do not fit."""

    @abstractmethod
    def evaluate(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Compute the results from an array an operand.

        Raises InterpretationError where NumPy would need too much memory for it.
        """
