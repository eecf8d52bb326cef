"""NPU_IR as JSON text: one line a tensor of the graph, one line a node."""

import json
from collections.abc import Iterable, Sequence
from math import isfinite, isnan
from pathlib import Path

from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, SIZE, AttributeValue, OpNode, TensorMeta
from gawee_dialect.frontends.npu_ir.validate import validate_ir
from gawee_dialect.frontends.npu_ir.weights import constant_data
from gawee_dialect.whole_file import write_file


def save_ir(ir: NPU_IR, path: str | Path) -> None:
    """Write a graph as JSON; raises SerializationError where it contradicts itself."""
    validate_ir(ir)
    write_file(Path(path), ir_text(ir))


def ir_text(ir: NPU_IR) -> str:
    """Return a graph as JSON text; `read.parse_ir` makes the same graph of it again."""
    entries = [
        f'"model_name": {_text(ir.model_name)}',
        f'"pytorch_version": {_text(ir.pytorch_version)}',
        _listing("graph_inputs", map(_tensor, ir.graph_inputs)),
        _listing("graph_outputs", map(_tensor, ir.graph_outputs)),
        *([_table("sizes", ranges)] if (ranges := _ranges(ir)) else []),
        _listing("weights", map(_tensor, ir.weights)),
        _table("weight_name_mapping", list(ir.weight_name_mapping.items())),
        _listing("nodes", map(_node, ir.nodes)),
        _table(
            "constants",
            [
                (name, {"data": constant_data(constant), "dtype": constant.dtype})
                for name, constant in ir.constants.items()
            ],
        ),
        *(f"{_text(key)}: {_text(value)}" for key, value in ir.extra.items()),
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _ranges(ir: NPU_IR) -> Sequence[tuple[str, AttributeValue]]:
    return [(each.name, each.range_text()) for each in ir.size_names]


def _listing(key: str, entries: Iterable[AttributeValue]) -> str:
    lines = ",\n  ".join(map(_text, entries))
    return f'"{key}": [\n  {lines}\n]' if lines else f'"{key}": []'


def _table(key: str, entries: Sequence[tuple[str, AttributeValue]]) -> str:
    lines = ",\n  ".join(f"{_text(name)}: {_text(value)}" for name, value in entries)
    return f'"{key}": {{\n  {lines}\n}}' if lines else f'"{key}": {{}}'


def _tensor(tensor: TensorMeta) -> AttributeValue:
    entry: dict[str, AttributeValue] = {
        "name": tensor.name,
        "shape": [str(size) if isinstance(size, OpenSize) else size for size in tensor.shape],
        "dtype": tensor.dtype,
    }
    if tensor.producer_node is not None:
        entry["producer_node"] = tensor.producer_node
        entry["producer_output_idx"] = tensor.producer_output_idx
    return {**entry, **tensor.extra}


def _node(node: OpNode) -> AttributeValue:
    return {
        "name": node.name,
        "op_type": node.op_type,
        "inputs": [_tensor(each) for each in node.inputs],
        "outputs": [_tensor(each) for each in node.outputs],
        "attrs": node.attrs,
        **({"graphs": graphs} if (graphs := _graphs(node)) else {}),
        **node.extra,
    }


def _graphs(node: OpNode) -> dict[str, AttributeValue]:
    """Return the graphs of a node of control flow, which have no weights of their own."""
    return {
        name: {
            "graph_inputs": [_tensor(each) for each in graph.graph_inputs],
            "graph_outputs": [_tensor(each) for each in graph.graph_outputs],
            "weights": [],
            "nodes": [_node(each) for each in graph.nodes],
        }
        for name, graph in node.graphs.items()
    }


def _text(value: AttributeValue) -> str:
    return json.dumps(_finite(value), allow_nan=False, ensure_ascii=False)


def _finite(value: AttributeValue) -> AttributeValue:
    """Return a value with numbers that JSON does not have as text: `inf`, `-inf`, `nan`."""
    if isinstance(value, OpenSize):
        return {SIZE: str(value)}
    if isinstance(value, float) and not isfinite(value):
        return "nan" if isnan(value) else str(value)
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    return value
