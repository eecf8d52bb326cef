"""Somebody else who says what a graph computes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:  # every tool that loads files loads this one
    from gawee_dialect.interpreter.arrays import Array


class Oracle(ABC):
    """Computes graphs by code of its own; a file that `--load` names may have one."""

    name: ClassVar[str]
    """As it is said in counts: `PyTorch`."""

    share: ClassVar[float] = 0.2
    """Of how many graphs it is asked."""

    @abstractmethod
    def outputs(
        self, module: ModuleOp, arrays: "Mapping[str, Array]"
    ) -> "Mapping[str, Array] | None":
        """Return the outputs of `@main` by name; None where it has no answer to this graph.

        An output of another dtype is not compared.
        """
