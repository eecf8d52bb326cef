"""A graph as boxes and arrows, and these as text: Mermaid, which Markdown pages show, and DOT."""

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.whole_file import whole_file


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


# The figures of a graph: how many nodes, weights and parameters, and which ops.


def _total_parameters(view: GraphView) -> int:
    return sum(weight.size for weight in view.weights)


def op_distribution(view: GraphView) -> list[tuple[str, int]]:
    """Return how often each op occurs, the most frequent first, ties as they come in the graph."""
    return Counter(node.op for node in view.nodes).most_common()


def summary_text(view: GraphView) -> str:
    """Return the figures as lines of text."""
    ops = op_distribution(view)
    width = max((len(op) for op, _ in ops), default=0)
    lines = [
        f"Model: {view.name}",
        f"Nodes: {len(view.nodes)}",
        f"Inputs: {len(view.inputs)}",
        f"Outputs: {len(view.outputs)}",
        f"Weights: {len(view.weights)}",
        f"Total parameters: {_total_parameters(view):,}",
        "Input shapes:",
        *map(_tensor_line, view.inputs),
        "Output shapes:",
        *map(_tensor_line, view.outputs),
        "Op distribution:",
        *(f"  {op:{width}}  {count}" for op, count in ops),
    ]
    return "\n".join(lines) + "\n"


def _tensor_line(tensor: TensorView) -> str:
    return f"  {tensor.name}: {tensor.text} {tensor.dtype}"


def summary_json(view: GraphView) -> str:
    """Return the figures as JSON text; a list of shapes has an entry a tensor, in order."""
    entry = {
        "model_name": view.name,
        "num_nodes": len(view.nodes),
        "num_inputs": len(view.inputs),
        "num_outputs": len(view.outputs),
        "num_weights": len(view.weights),
        "total_parameters": _total_parameters(view),
        "input_shapes": _shapes(view.inputs),
        "output_shapes": _shapes(view.outputs),
        "op_distribution": dict(op_distribution(view)),
    }
    return json.dumps(entry, indent=2, ensure_ascii=False) + "\n"


def _shapes(tensors: Sequence[TensorView]) -> list[dict[str, object]]:
    return [{"name": each.name, "shape": list(each.shape), "dtype": each.dtype} for each in tensors]


PIE_SLICES = 10
"""How many ops a pie shows; what remains is one slice more."""

# Mermaid has entities of its own, without `&`. A `#` begins one, so it is written as one too.
_SPECIAL = re.compile(r'[#"<>&`\\|{}\[\]()]')


def _escaped(text: str) -> str:
    line = " ".join(text.split("\n"))
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", line)


def _mermaid_box(box: Box) -> str:
    label = "<br/>".join(map(_escaped, box.lines))
    if box.kind in (BoxKind.OP, BoxKind.MORE):
        return f'{box.id}["{label}"]'
    return f'{box.id}[/"{label}"/]'


def _mermaid_arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.dashed else "-->"
    label = f'|"{_escaped(arrow.label)}"|' if arrow.label else ""
    return f"{arrow.source} {line}{label} {arrow.target}"


def mermaid_text(drawing: Drawing) -> str:
    """Return a drawing as a Mermaid flowchart."""
    lines = [*map(_mermaid_box, drawing.boxes), *map(_mermaid_arrow, drawing.arrows)]
    return "\n".join(["flowchart TD", *(f"    {line}" for line in lines)]) + "\n"


def mermaid_pie(view: GraphView) -> str:
    """Return how often each op occurs as a Mermaid pie."""
    ops = op_distribution(view)
    slices = [(short_op(op), count) for op, count in ops[:PIE_SLICES]]
    others = sum(count for _, count in ops[PIE_SLICES:])
    if others:
        slices.append(("Others", others))
    lines = ["title Operator Distribution", *(f'"{_escaped(op)}" : {n}' for op, n in slices)]
    return "\n".join(["pie showData", *(f"    {line}" for line in lines)]) + "\n"


_DOT_SHAPES = {BoxKind.OP: "box", BoxKind.MORE: "plaintext"}


def _dot_label(lines: Sequence[str]) -> str:
    return f"<{'<br/>'.join(html.escape(line) for line in lines)}>"


def dot_text(drawing: Drawing) -> str:
    """Return a drawing in Graphviz's language."""
    boxes = [
        f"{box.id} [shape={_DOT_SHAPES.get(box.kind, 'parallelogram')}, "
        f"label={_dot_label(box.lines)}];"
        for box in drawing.boxes
    ]
    arrows = [
        f"{arrow.source} -> {arrow.target} [label={_dot_label([arrow.label or ' '])}"
        f"{', style=dashed' if arrow.dashed else ''}];"
        for arrow in drawing.arrows
    ]
    lines = "\n".join(f"  {line}" for line in (*boxes, *arrows))
    return f"digraph {{\n{lines}\n}}\n"


# Drawings as pictures, by what is installed: Mermaid's `mmdc`, else Graphviz's `dot`.

PICTURES = (".svg", ".png")
"""What renderers write."""


def render(path: Path, mermaid: str, dot: str | None) -> None:
    """Write a picture of Mermaid text, or of the same drawing in DOT where there is one.

    Raises GaweeError where no renderer is installed, or where it fails.
    """
    mmdc, graphviz = shutil.which("mmdc"), shutil.which("dot")
    with TemporaryDirectory() as folder:
        if mmdc is not None:
            source = Path(folder, "graph.mmd")
            source.write_text(mermaid, encoding="utf-8")
            with whole_file(path) as draft:
                _run([mmdc, "--input", str(source), "--output", str(draft)])
        elif graphviz is not None and dot is not None:
            source = Path(folder, "graph.dot")
            source.write_text(dot, encoding="utf-8")
            with whole_file(path) as draft:
                _run([graphviz, f"-T{path.suffix[1:]}", "-o", str(draft), str(source)])
        else:
            raise GaweeError(
                Diagnostic(
                    f"cannot write '{path}': no renderer is installed; supported: "
                    + ("mmdc" if dot is None else "mmdc, dot"),
                    hint="-o FILE.mmd writes Mermaid text, which many pages show as a picture",
                )
            )


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = first_line(RuntimeError(result.stderr or result.stdout or "it says nothing"))
        raise GaweeError(f"cannot render: '{Path(command[0]).name}' failed: {said}")
