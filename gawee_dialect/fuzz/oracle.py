"""Oracles: other implementations of what a graph computes."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:
    from gawee_dialect.interpreter.arrays import Array


class Oracle(ABC):
    """Computes graphs by code of its own; a file that `--load` names may have one."""

    name: ClassVar[str]
    """As it is said in counts: `PyTorch`."""

    share: ClassVar[float] = 0.2
    """The part of all graphs that it runs."""

    @abstractmethod
    def outputs(
        self, module: ModuleOp, arrays: "Mapping[str, Array]"
    ) -> "Mapping[str, Array] | None":
        """Return the outputs of `@main` by name; None where it has no answer to this graph.

        An output of another dtype is not compared.
        """


# What a trial finds.

Done: TypeAlias = Counter[str]
"""What was done, and to how many."""

SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """What is wrong: its kind, what is the same for all of one cause, and what is said of it."""

    kind: str
    cause: str
    message: str
    has_all_ops: bool = field(default=False, compare=False)
    """Whether the cause is all ops that there are: what is smaller has fewer."""

    @property
    def key(self) -> tuple[str, str]:
        """What two findings of one cause have in common."""
        return self.kind, self.cause

    def is_in(self, smaller: "Finding") -> bool:
        """Whether what is wrong with something smaller is of this cause."""
        return self.key == smaller.key or (self.has_all_ops and self.kind == smaller.kind)


class Skipped(Exception):
    """A graph of which nothing can be said: it does not run at all, as an index is out of range."""
