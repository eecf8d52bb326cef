"""What of a model can go through, and what not, said before anything is lowered.

Every format keeps one registry of the ops that it reads, with their limits (`OpSupport`). The table
in the documentation and the report on a model (`CoverageReport`) both come from it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rich.table import Table

SHOWN_NODES = 3
"""How many names of nodes a row of the table shows; JSON has all."""


@dataclass(frozen=True)
class OpSupport:
    """One entry of a format's registry: what an op type becomes, and what it may not be.

    `op` are several names, with commas between them, where it becomes more than one op.
    """

    op_type: str
    op: str
    limits: Sequence[str] = ()


class Verdict(StrEnum):
    """What becomes of some nodes."""

    SUPPORTED = "supported"
    LIMITED = "supported with limits"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class NodeVerdict:
    """What becomes of one node: its op, None where there is none, and limits or reasons."""

    op_type: str
    name: str
    op: str | None
    verdict: Verdict
    notes: Sequence[str] = ()

    @staticmethod
    def of(support: OpSupport, name: str) -> "NodeVerdict":
        """Make the verdict on a node that can be read."""
        verdict = Verdict.LIMITED if support.limits else Verdict.SUPPORTED
        return NodeVerdict(support.op_type, name, support.op, verdict, tuple(support.limits))

    @staticmethod
    def against(op_type: str, name: str, problems: Sequence[Diagnostic]) -> "NodeVerdict":
        """Make the verdict on a node that cannot be read."""
        notes = [_text(problem) for problem in problems]
        return NodeVerdict(op_type, name, None, Verdict.UNSUPPORTED, tuple(notes))


def _text(problem: Diagnostic) -> str:
    # The list of all op types is the documentation's; here it would drown the rest.
    listing = problem.hint is None or problem.hint.startswith("supported: ")
    return problem.message if listing else f"{problem.message}; {problem.hint}"


def ops_of(op: str | None) -> Sequence[str]:
    """Return the names in an `op` that may be several, or none."""
    return op.split(", ") if op else ()


def lowering_text(op: str | None, lowerings: Mapping[str, str | None]) -> str | None:
    """Return what lowers an op or several; None where nothing is known."""
    names = [lowerings.get(each) for each in ops_of(op)]
    return ", ".join(dict.fromkeys(name for name in names if name)) or None


def _lowered(node: NodeVerdict, lowerings: Mapping[str, str | None]) -> NodeVerdict:
    left = [op for op in ops_of(node.op) if op in lowerings and lowerings[op] is None]
    if not left:
        return node
    return replace(node, verdict=Verdict.UNSUPPORTED, notes=(f"no lowering of '{left[0]}'",))


@dataclass(frozen=True)
class CoverageRow:
    """The nodes of one op type on which the verdict is the same."""

    op_type: str
    op: str | None
    lowering: str | None
    verdict: Verdict
    notes: Sequence[str]
    nodes: Sequence[str]


@dataclass(frozen=True)
class CoverageReport:
    """The verdict on every node, and what is wrong with the graph around them."""

    file: str
    format: str
    nodes: Sequence[NodeVerdict]
    problems: Sequence[Diagnostic] = ()
    lowerings: Mapping[str, str | None] | None = None
    """What lowers each op, None for an op that nothing lowers; None where it was not looked at."""

    def with_lowerings(self, lowerings: Mapping[str, str | None]) -> "CoverageReport":
        """Return the report with nodes whose op nothing lowers unsupported."""
        return replace(
            self, nodes=[_lowered(node, lowerings) for node in self.nodes], lowerings=lowerings
        )

    @property
    def unsupported(self) -> Sequence[NodeVerdict]:
        """The nodes that cannot go through."""
        return [node for node in self.nodes if node.verdict is Verdict.UNSUPPORTED]

    @property
    def goes_through(self) -> bool:
        """Whether the whole model does."""
        return not self.unsupported and not self.problems

    @property
    def rows(self) -> Sequence[CoverageRow]:
        """Nodes of one op type with one verdict together, what is unsupported last."""

        def kind(node: NodeVerdict) -> tuple[bool, str, Sequence[str]]:
            return node.verdict is Verdict.UNSUPPORTED, node.op_type, tuple(node.notes)

        rows: list[CoverageRow] = []
        for _, group in groupby(sorted(self.nodes, key=kind), key=kind):
            first, *rest = group
            names = [first.name, *(node.name for node in rest)]
            lowering = lowering_text(first.op, self.lowerings or {})
            rows.append(
                CoverageRow(first.op_type, first.op, lowering, first.verdict, first.notes, names)
            )
        return rows

    @property
    def summary(self) -> str:
        """One line: how many nodes can go through."""
        supported = len(self.nodes) - len(self.unsupported)
        line = f"{self.file}: {supported} of {len(self.nodes)} nodes can go through"
        problems = len(self.problems)
        return f"{line}, {problems} more problem{'s'[: problems > 1]}" if problems else line

    def json(self) -> str:
        """Return the report as JSON text."""
        entry = {
            "file": self.file,
            "format": self.format,
            "goes_through": self.goes_through,
            "ops": [asdict(row) for row in self.rows],
            "problems": [asdict(problem) for problem in self.problems],
        }
        return json.dumps(entry, indent=2) + "\n"


def _nodes_text(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_NODES
    shown = ", ".join(name or '""' for name in names[:SHOWN_NODES])
    return f"{shown}, {more} more" if more > 0 else shown


def coverage_table(report: CoverageReport) -> "Table":
    """Return the report as a table for rich: a row for each op type and verdict."""
    # Imported here: other uses of the module do without rich.
    from rich.table import Table

    table = Table(title=f"Coverage of {report.file} ({report.format})", title_justify="left")
    table.add_column("op type", no_wrap=True)
    table.add_column("nodes", justify="right")
    table.add_column("verdict", min_width=11)
    table.add_column("becomes", overflow="fold")
    table.add_column("lowered by", overflow="fold")
    table.add_column("limits, or why not and where", min_width=16, overflow="fold")
    for row in report.rows:
        notes = "; ".join(row.notes)
        if row.verdict is Verdict.UNSUPPORTED:
            notes += f"\nat {_nodes_text(row.nodes)}"
        cells = (row.verdict, row.op or "", row.lowering or "", notes)
        # rich would take what stands in brackets for its markup.
        table.add_row(
            row.op_type, str(len(row.nodes)), *(cell.replace("[", r"\[") for cell in cells)
        )
    return table
