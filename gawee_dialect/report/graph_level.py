"""A graph as its file has it, nodes that cannot be read included, as a level of a report."""

from collections.abc import Iterable

from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.levels import Level
from gawee_dialect.report.snapshot import LevelJson, OpJson, Origins


def graph_level(view: GraphView, origins: Origins) -> LevelJson:
    """Return the nodes of a graph as ops; the text has a line for each."""
    numbers: dict[str, int] = {}
    inputs = [each for each in view.inputs if each.name not in view.weight_of]
    for each in inputs:
        numbers.setdefault(each.name, len(numbers))
    ops = [_op(node, line, numbers, origins) for line, node in enumerate(view.nodes)]
    return {
        "name": "input",
        "level": Level.GAWEE.value,
        "passes": 0,
        "functions": [
            {
                "name": "main",
                "public": True,
                "arguments": [
                    {
                        "id": numbers[each.name],
                        "name": each.name,
                        "kind": "input",
                        "type": _type(each),
                    }
                    for each in inputs
                ],
                "ops": ops,
                "buffers": [],
                "calls": [],
                "sources": sorted({number for op in ops for number in op["sources"]}),
                "text": "\n".join(map(_line, view.nodes)),
            }
        ],
    }


def listed_nodes(graph: str, names: Iterable[tuple[str, str]]) -> GraphView:
    """Return a graph of which only the nodes' names and ops are known: each leads to the next."""
    nodes = [
        NodeView(
            name,
            op,
            [f"#{number - 1}"] if number else [],
            [TensorView(f"#{number}", (), "?")],
        )
        for number, (name, op) in enumerate(names)
    ]
    return GraphView(graph, (), (), (), nodes)


def _op(node: NodeView, line: int, numbers: dict[str, int], origins: Origins) -> OpJson:
    read = [numbers[name] for name in dict.fromkeys(node.inputs) if name in numbers]
    for each in node.outputs:
        numbers.setdefault(each.name, len(numbers))
    return {
        "id": line,
        "name": node.op,
        "operands": read,
        "results": [
            {"id": numbers[each.name], "name": each.name, "type": _type(each)}
            for each in node.outputs
        ],
        "sources": [origins.number((node.name or None, None))],
        "lines": [line, line],
        "calls": [],
        "nest": [],
    }


def _type(tensor: TensorView) -> str:
    return f"{tensor.text} {tensor.dtype}"


def _line(node: NodeView) -> str:
    made = ", ".join(f"{each.name}: {_type(each)}" for each in node.outputs)
    return f"{made} = {node.op}({', '.join(node.inputs)})".replace("\n", " ")
