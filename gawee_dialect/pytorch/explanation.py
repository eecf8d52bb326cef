"""What of a model `torch.compile` compiles with this backend, what PyTorch runs, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.convert import place_of
from gawee_dialect.frontends.npu_ir.ir import place_text
from gawee_dialect.frontends.npu_ir.pytorch import Node
from gawee_dialect.frontends.npu_ir.symbols import decides_sizes
from gawee_dialect.pytorch.partition import (
    Partition,
    flops_of,
    is_getitem,
    is_view,
    partition,
    tensors_of,
)

TOO_SMALL = "supported, with less work around it than a call of compiled code takes"


@dataclass(frozen=True)
class LeftOp:
    """An op that PyTorch runs."""

    op: str
    count: int
    flops: int
    places: Sequence[str]
    """Lines of the user's, each once."""
    reason: str
    parts: int | None = None
    """How many parts there were if it were supported; None where it is."""
    flops_left: int = 0
    """The FLOPs that PyTorch ran then."""

    @property
    def is_unsupported(self) -> bool:
        """Whether it is left for what it is, and not for how little work it has."""
        return self.reason != TOO_SMALL


@dataclass(frozen=True)
class ExplainedGraph:
    """One graph that TorchDynamo found."""

    flops: int
    parts: Sequence[tuple[int, int]]
    """How many ops and FLOPs each compiled part has."""
    left: Sequence[LeftOp] = ()
    """What PyTorch runs, the most FLOPs first."""

    @property
    def flops_left(self) -> int:
        """The FLOPs that PyTorch runs."""
        return self.flops - sum(flops for _, flops in self.parts)

    @property
    def share_left(self) -> float:
        """The part of the FLOPs that PyTorch runs, from 0 to 1."""
        return self.flops_left / self.flops if self.flops else float(not self.parts)

    def __str__(self) -> str:
        count = sum(each.count for each in self.left)
        lines = [_headline(len(self.parts), count, self.share_left)]
        for each in self.left:
            lines += [f"  {each.op}, {_counted(each.count, 'node')}: {each.reason}"]
            lines += [f"    {place}" for place in each.places]
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """All graphs of a model; between them runs Python."""

    graphs: Sequence[ExplainedGraph] = field(default_factory=tuple[ExplainedGraph, ...])

    @property
    def flops(self) -> int:
        """The FLOPs of all graphs: of products as PyTorch counts them, else one an element."""
        return sum(each.flops for each in self.graphs)

    @property
    def share_left(self) -> float:
        """The part of the FLOPs that PyTorch runs, from 0 to 1."""
        left = sum(each.flops_left for each in self.graphs)
        return left / self.flops if self.flops else 0.0

    @property
    def unlocks(self) -> Sequence[LeftOp]:
        """The ops that are not supported, first what would take most FLOPs from PyTorch."""
        pairs = [
            (graph.flops_left - each.flops_left, len(graph.parts) - (each.parts or 0), each)
            for graph in self.graphs
            for each in graph.left
            if each.parts is not None
        ]
        return [each for *_, each in sorted(pairs, key=lambda pair: pair[:2], reverse=True)]

    def __str__(self) -> str:
        lines = [f"{_counted(len(self.graphs), 'graph')}, {self.flops:,} FLOPs"]
        for number, graph in enumerate(self.graphs, 1):
            lines.append(f"graph {number}: {graph}")
            for index, (ops, flops) in enumerate(graph.parts, 1):
                lines.append(f"  part {index}: {_counted(ops, 'op')}, {flops:,} FLOPs")
        for each in self.unlocks:
            lines.append(
                f"with {each.op}: {_counted(each.parts or 0, 'part')}, "
                f"{each.flops_left:,} FLOPs left to PyTorch"
            )
        return "\n".join(lines)


def _headline(parts: int, ops: int, share: float) -> str:
    if not ops:
        return "a graph is compiled as a whole"
    left = f"PyTorch runs {_counted(ops, 'op')}, {share:.1%} of the FLOPs:"
    if not parts:
        return f"a graph stays with PyTorch: {left}"
    return f"a graph is compiled in {_counted(parts, 'part')}, {left}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def explained(
    cut: Partition,
    sized: Mapping[str, Node],
    refused: Mapping[str, Diagnostic],
    *,
    unlocks: bool = False,
) -> ExplainedGraph:
    """Explain a graph that was cut; with `unlocks`, also what each op would make possible."""
    flops = {name: flops_of(node) for name, node in sized.items()}
    by_op: dict[str, list[Node]] = defaultdict(list)
    for node in cut.left:
        listed = tensors_of(node) or decides_sizes(node)
        if listed and not is_getitem(node) and not is_view(node):
            by_op[str(node.target)].append(node)
    left = [_left_op(cut, op, nodes, sized, refused, flops, unlocks) for op, nodes in by_op.items()]
    parts = [(len(part.nodes), sum(flops[node.name] for node in part.nodes)) for part in cut.parts]
    most_first = sorted(left, key=lambda each: (not each.is_unsupported, -each.flops))
    return ExplainedGraph(sum(flops.values()), parts, most_first)


def explained_whole(nodes: Sequence[Node]) -> ExplainedGraph:
    """Explain a graph that is compiled as a whole."""
    flops = sum(map(flops_of, nodes))
    ops = sum(node.op == "call_function" for node in nodes)
    return ExplainedGraph(flops, [(ops, flops)])


def _left_op(
    cut: Partition,
    op: str,
    nodes: Sequence[Node],
    sized: Mapping[str, Node],
    refused: Mapping[str, Diagnostic],
    flops: Mapping[str, int],
    unlocks: bool,
) -> LeftOp:
    why = next((refused[node.name] for node in nodes if node.name in refused), None)
    places = dict.fromkeys(place_text(place_of(node)) for node in nodes)
    made = LeftOp(
        op,
        len(nodes),
        sum(flops.get(node.name, 0) for node in nodes),
        [place for place in places if place is not None],
        TOO_SMALL if why is None else why.message,
    )
    if why is None or not unlocks:
        return made
    names = {node.name for node in nodes}
    other = partition(cut.whole, sized, {name for name in refused if name not in names})
    kept = sum(flops[node.name] for part in other.parts for node in part.nodes)
    return LeftOp(
        *(made.op, made.count, made.flops, made.places, made.reason),
        *(len(other.parts), sum(flops.values()) - kept),
    )
