"""The figures of a graph: how many nodes, weights and parameters, and which ops."""

import json
from collections import Counter
from collections.abc import Sequence

from gawee_dialect.inspection.graph_view import GraphView, TensorView


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
