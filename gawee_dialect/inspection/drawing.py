"""A graph as boxes and arrows, independent of the language that they are written in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView


class BoxKind(StrEnum):
    """What a box stands for."""

    INPUT = "input"
    OUTPUT = "output"
    OP = "op"
    WEIGHT = "w"
    MORE = "more"


@dataclass(frozen=True)
class Box:
    """One box: an identifier of ASCII letters, digits and `_`, and its lines of text."""

    id: str
    kind: BoxKind
    lines: Sequence[str]


@dataclass(frozen=True)
class Arrow:
    """One arrow, dashed from a weight; the label is a shape, or nothing."""

    source: str
    target: str
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Drawing:
    """All boxes and arrows, in the order of the graph; each occurs once."""

    boxes: Sequence[Box]
    arrows: Sequence[Arrow]


def draw(view: GraphView, max_nodes: int | None = None, *, weights: bool = True) -> Drawing:
    """Draw a graph: its first `max_nodes` nodes, and one box for all others."""
    artist = _Artist(weights)
    shown = list(view.nodes if max_nodes is None else view.nodes[:max_nodes])
    hidden = view.nodes[len(shown) :]
    artist.add_sources(view)
    for node in shown:
        artist.add_node(node, view)
    if hidden:
        artist.add_hidden(hidden)
    for index, (output, value) in enumerate(view.returned):
        artist.add_output(index, output, value)
    return Drawing(artist.boxes, list(dict.fromkeys(artist.arrows)))


def short_op(op: str) -> str:
    """Return the name of an op without what goes without saying.

    `aten.conv2d.default` is `conv2d`, `<built-in function getitem>` is `getitem`.
    """
    built_in = re.fullmatch(r"<built-in function (\w+)>", op)
    if built_in is not None:
        return built_in[1]
    return op.removeprefix("aten.").removesuffix(".default")


@dataclass
class _Artist:
    """Adds boxes and arrows; `sources` is the box in which each value is made."""

    weights: bool
    boxes: list[Box] = field(default_factory=list[Box])
    arrows: list[Arrow] = field(default_factory=list[Arrow])
    sources: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    weight_boxes: dict[str, str] = field(default_factory=dict[str, str])
    ids: set[str] = field(default_factory=set[str])

    def _box(self, kind: BoxKind, name: str, lines: Sequence[str]) -> str:
        base = f"{kind}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        id, attempt = base, 0
        while id in self.ids:
            attempt += 1
            id = f"{base}__{attempt}"
        self.ids.add(id)
        self.boxes.append(Box(id, kind, lines))
        return id

    def add_sources(self, view: GraphView) -> None:
        for each in view.inputs:
            id = self._box(BoxKind.INPUT, each.name, [f"Input: {each.name}", each.text])
            self.sources[each.name] = id, each.text

    def add_node(self, node: NodeView, view: GraphView) -> None:
        first = [node.outputs[0].text] if node.outputs else []
        id = self._box(BoxKind.OP, node.name, [short_op(node.op), *first])
        for name in node.inputs:
            self.arrows.extend(self._arrows_to(id, name, view))
        for output in node.outputs:
            self.sources[output.name] = id, output.text

    def _arrows_to(self, id: str, name: str, view: GraphView) -> Iterator[Arrow]:
        weight = view.weight_of.get(name)
        if name in self.sources:
            source, label = self.sources[name]
            yield Arrow(source, id, label)
        elif weight is not None and self.weights:
            tensor = next(each for each in view.weights if each.name == weight)
            if weight not in self.weight_boxes:
                self.weight_boxes[weight] = self._box(BoxKind.WEIGHT, weight, [weight])
            yield Arrow(self.weight_boxes[weight], id, tensor.text, dashed=True)

    def add_hidden(self, nodes: Sequence[NodeView]) -> None:
        """Add one box for nodes that are not shown; what they make comes from it."""
        plural = "s" if len(nodes) > 1 else ""
        id = self._box(BoxKind.MORE, "nodes", [f"… {len(nodes)} more node{plural} …"])
        for node in nodes:
            for name in node.inputs:
                source, label = self.sources.get(name, (id, ""))
                if source != id:
                    self.arrows.append(Arrow(source, id, label))
            for output in node.outputs:
                self.sources[output.name] = id, output.text

    def add_output(self, index: int, output: TensorView, value: str) -> None:
        lines = [f"Output: {output.name}", output.text]
        id = self._box(BoxKind.OUTPUT, str(index), lines)
        if value in self.sources:
            source, label = self.sources[value]
            self.arrows.append(Arrow(source, id, label))
