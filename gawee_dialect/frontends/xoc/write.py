"""XOC graphs as JSON text, in the layout of the format's description."""

import json
from collections.abc import Mapping

from gawee_dialect.frontends.metadata import nest
from gawee_dialect.frontends.onnx_attributes import ATTRIBUTES
from gawee_dialect.frontends.xoc.document import XocDocument, XocNode, XocTensor, edges
from gawee_dialect.located_json import JsonValue


def xoc_text(document: XocDocument, *, with_edges: bool = False) -> str:
    """Return the JSON text of a graph, a tensor and a node a line; nothing that it lacks is added.

    `with_edges` adds what follows from the nodes, for readers that do not derive it.
    """
    parts = [
        f'  "id": {_json(document.id)}',
        f'  "name": {_json(document.name)}',
        f'  "tensors": {_lines([_json(_tensor(each)) for each in document.tensors])}',
        f'  "nodes": {_lines([_json(_node(each)) for each in document.nodes])}',
        f'  "inputs": {_json(list(document.inputs))}',
        f'  "outputs": {_json(list(document.outputs))}',
        f'  "metadata": {_json(document.metadata or {})}',
    ]
    if with_edges:
        pairs = [_json({"source": a, "target": b}) for a, b in edges(document)]
        parts.append(f'  "edges": {_lines(pairs)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def split_attributes(
    operator: str, mixed: Mapping[str, JsonValue]
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return which of an operator's attributes ONNX defines, and all others as nested metadata.

    All of an operator that ONNX does not have are its attributes. Raises KeyConflict for keys that
    cannot be nested.
    """
    known = ATTRIBUTES.get(operator, tuple(mixed))
    attributes = {key: value for key, value in mixed.items() if key in known}
    return attributes, nest({key: value for key, value in mixed.items() if key not in known})


def _tensor(tensor: XocTensor) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": tensor.id,
        "name": tensor.role.value,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
    }
    return fields | ({} if tensor.metadata is None else {"metadata": tensor.metadata})


def _node(node: XocNode) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": node.id,
        "name": node.name,
        "inputs": list(node.inputs),
        "outputs": list(node.outputs),
        "attributes": dict(node.attributes),
    }
    return fields | ({} if node.metadata is None else {"metadata": node.metadata})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(items: list[str]) -> str:
    return "[\n" + ",\n".join(f"    {item}" for item in items) + "\n  ]" if items else "[]"
