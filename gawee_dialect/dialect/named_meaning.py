"""What passes and the interpreter need of an op whose meaning is found by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.irdl import IRDLOperation

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


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
