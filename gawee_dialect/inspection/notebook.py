"""Graphs as notebooks show them: a picture, and tables of inputs, outputs, parameters and ops."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from gawee_dialect.inspection.drawing import Box, BoxKind, Drawing, draw, op_distribution
from gawee_dialect.inspection.graph_view import GraphView, TensorView

SHOWN = 24
"""Nodes of a picture, and rows of a table; what remains is counted."""

LINE, LETTER, GAP = 15, 7, 24
"""Pixels: the height of a line of text, the width of a letter, the distance of boxes."""

COLOURS = {BoxKind.OP: "#dbe9f6", BoxKind.MORE: "#eeeeee"}
OTHER_COLOUR = "#e5f2dd"


def graph_line(view: GraphView) -> str:
    """Return a graph in one line: what goes in and out, and how much there is of it."""
    inputs, outputs = (", ".join(map(_tensor, each)) for each in (view.inputs, view.outputs))
    numbers = sum(weight.size for weight in view.weights)
    return (
        f"{inputs or '()'} -> {outputs or '()'}; {len(view.nodes)} ops, {len(view.weights)} "
        f"parameters of {numbers:,} numbers"
    )


def _tensor(tensor: TensorView) -> str:
    return f"{tensor.name}: {tensor.text} {tensor.dtype}"


def graph_html(title: str, view: GraphView) -> str:
    """Return a graph as HTML that needs nothing else: no script, no style of a page."""
    tables = {
        "inputs": map(_cells, view.inputs),
        "outputs": map(_cells, view.outputs),
        "parameters": map(_cells, view.weights),
        "ops": ((op, str(count)) for op, count in op_distribution(view)),
    }
    picture = svg(draw(view, SHOWN, weights=False))
    return html_page(title, tables, picture)


def _cells(tensor: TensorView) -> Sequence[str]:
    return tensor.name, tensor.text, tensor.dtype


def html_page(title: str, tables: Mapping[str, Iterable[Sequence[str]]], picture: str = "") -> str:
    """Return a heading, tables by name, and a picture beside them."""
    parts = "".join(_table(name, list(rows)) for name, rows in tables.items())
    return (
        f"<div><b>{escape(title)}</b>"
        f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">'
        f'<div style="max-height:40em;overflow:auto">{picture}</div><div>{parts}</div></div></div>'
    )


def _table(name: str, rows: Sequence[Sequence[str]]) -> str:
    shown = [*rows[:SHOWN], *([(f"... {len(rows) - SHOWN} more",)] if len(rows) > SHOWN else [])]
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in shown)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<details open><summary>{len(rows)} {name}</summary><table>{body}</table></details>"


def svg(drawing: Drawing) -> str:
    """Return a drawing as SVG: each box below those that it reads."""
    levels: dict[str, int] = {box.id: 0 for box in drawing.boxes}
    for arrow in drawing.arrows:  # in the order of the graph, so sources are placed already
        levels[arrow.target] = max(levels[arrow.target], levels[arrow.source] + 1)
    rows: dict[int, list[Box]] = {}
    for box in drawing.boxes:
        rows.setdefault(levels[box.id], []).append(box)
    width = max((_row_width(row) for row in rows.values()), default=0)
    places: dict[str, tuple[float, float]] = {}
    shapes: list[str] = []
    top = 0.0
    for level in sorted(rows):
        left = (width - _row_width(rows[level])) / 2
        for box in rows[level]:
            places[box.id] = (left + _width(box) / 2, top)
            shapes.append(_box(box, left, top))
            left += _width(box) + GAP
        top += 2 * LINE + LETTER + GAP
    height = {box.id: _height(box) for box in drawing.boxes}
    lines = [
        _line(places[arrow.source], height[arrow.source], places[arrow.target])
        for arrow in drawing.arrows
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" '
        f'font-family="monospace" font-size="11">{"".join(lines)}{"".join(shapes)}</svg>'
    )


def _width(box: Box) -> int:
    return LETTER * max(map(len, box.lines), default=1) + 2 * LETTER


def _height(box: Box) -> int:
    return LINE * len(box.lines) + LETTER


def _row_width(row: Sequence[Box]) -> int:
    return sum(map(_width, row)) + GAP * (len(row) - 1)


def _box(box: Box, left: float, top: float) -> str:
    colour = COLOURS.get(box.kind, OTHER_COLOUR)
    texts = "".join(
        f'<text x="{left + LETTER:.0f}" y="{top + LINE * line:.0f}">{escape(text)}</text>'
        for line, text in enumerate(box.lines, 1)
    )
    return (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{_width(box)}" height="{_height(box)}" '
        f'rx="4" fill="{colour}" stroke="#888"/>{texts}'
    )


def _line(source: tuple[float, float], height: int, target: tuple[float, float]) -> str:
    (left, top), (right, bottom) = source, target
    return (
        f'<line x1="{left:.0f}" y1="{top + height:.0f}" x2="{right:.0f}" y2="{bottom:.0f}" '
        f'stroke="#888"/>'
    )
