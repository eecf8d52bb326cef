"""What every format makes of a source: a graph that is decoded once, behind one interface."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.source import Source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from gawee_dialect.inspection.graph_view import GraphView
    from gawee_dialect.parameters.store import ParameterStore


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a graph that its source does not."""

    folder: Path | None = None
    """Where paths of data files start; with None no data file is looked at."""
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """Sizes of inputs by name, and of sizes that have names themselves (ONNX)."""
    ranges: Mapping[str, SizeName] = field(default_factory=dict[str, SizeName])
    """Which values sizes with names may have, where they stay open."""
    values: "Mapping[str, ArrayLike]" = field(default_factory=dict[str, "ArrayLike"])
    """Elements of inputs, which are then constants: what says a shape or a count (ONNX)."""
    other_weights: bool = False
    """Whether the user gives weights that take the place of those in the source: none of them may
    be written into the graph as a number."""


class Graph(ABC):
    """A decoded graph of one format, by the name that `--from` has for it."""

    format: ClassVar[str]

    @cached_property
    def _module(self) -> ModuleOp:
        return self.build_module()

    def module(self) -> ModuleOp:
        """Return the verified module, made at its first use, and then always the same.

        Raises GaweeError that lists every node that cannot be read.
        """
        return self._module

    @abstractmethod
    def build_module(self) -> ModuleOp:
        """Make the module of the graph; verified."""

    def weights(self, store: "ParameterStore") -> "ParameterStore":
        """Return a store under the names of the graph, with the data that the graph itself has."""
        return store

    def size_names(self) -> AbstractSet[str]:
        """Return the names that `ReadOptions.shapes` may have: of inputs, and of their sizes."""
        inputs = self.view().inputs
        sizes = (size for each in inputs for size in each.shape if isinstance(size, OpenSize))
        return {each.name for each in inputs} | {name.name for size in sizes for name in size.names}

    def check_names(self, options: ReadOptions) -> None:
        """Raise GaweeError for sizes of what the graph does not name."""
        if not options.shapes and not options.ranges:
            return
        known = self.size_names()
        for name in (*options.shapes, *options.ranges):
            if name not in known:
                hint = did_you_mean(name, known, f"names: {', '.join(sorted(known)) or 'none'}")
                raise GaweeError(Diagnostic(f"unknown input or size '{name}'", hint=hint))

    @abstractmethod
    def view(self) -> "GraphView":
        """Describe the graph for inspection."""

    @abstractmethod
    def coverage(self) -> CoverageReport:
        """Say of every node whether it can be read, whatever the others are like."""


# Problems of one graph, collected so that all of them are reported at once.


class Report:
    """Collects diagnostics of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[tuple[int, Diagnostic]] = []

    def add(
        self, offset: int, message: str, node: str | None = None, hint: str | None = None
    ) -> None:
        """Add a problem of the object at an offset."""
        self.problems.append((offset, Diagnostic(message, self.source.place(offset), node, hint)))

    def raise_if_any(self, error: type[GaweeError] = GaweeError) -> None:
        """Raise GaweeError, or a kind of it, with all problems in the order of the text."""
        if self.problems:
            ordered = sorted(self.problems, key=lambda problem: problem[0])
            raise error(diagnostic for _, diagnostic in ordered)
