"""Small Gawee graphs for tests, in the style of real files; each call makes a new one."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.gawee_json import parse_gawee_json

Json = dict[str, Any]


def value(name: str, shape: Sequence[int] | None, dtype: str | None = "torch.float32") -> Json:
    return {
        "id": name,
        "shape": None if shape is None else list(shape),
        "dtype": None if shape is None else dtype,
    }


def data(shape: Sequence[int], path: str, dtype: str = "float32") -> Json:
    return {"shape": list(shape), "dtype": dtype, "path": path}


def node(
    op_type: str, inputs: Sequence[str], output: str, /, name: str | None = None, **attrs: Any
) -> Json:
    return {
        "op_type": op_type,
        "name": f"body.{output}" if name is None else name,
        "inputs": list(inputs),
        "outputs": [output],
        "attrs": attrs,
    }


def graph(
    nodes: Sequence[Json], values: Sequence[Json], inputs: Sequence[str] = ("x",)
) -> dict[str, object]:
    """Make a graph whose output is that of the last node."""
    outputs = nodes[-1]["outputs"]
    return {
        "inputs": list(inputs),
        "outputs": outputs,
        "values": {str(entry["id"]): entry for entry in values},
        "nodes": list(nodes),
    }


def one_node(
    op_type: str,
    in_shape: Sequence[int] | None,
    out_shape: Sequence[int] | None,
    dtype: str = "torch.float32",
    /,
    **attrs: object,
) -> Json:
    """Make a graph of one node `n` that reads `x` and makes `y`."""
    return graph(
        [node(op_type, ["x"], "y", name="n", **attrs)],
        [value("x", in_shape, dtype), value("y", out_shape, dtype)],
    )


def conv(in_shape: Sequence[int], out_shape: Sequence[int], /, **attrs: object) -> Json:
    """Make a graph of one convolution `n`; its weight is 6x4x3x2 where attrs say nothing else."""
    return one_node(
        "Conv", in_shape, out_shape, **{"weight": data((6, 4, 3, 2), "weights/w.bin"), **attrs}
    )


def parse(graph: object, folder: Path | None = None) -> ModuleOp:
    return parse_gawee_json(json.dumps(graph, indent=1), name="g.json", folder=folder)


def write_data(folder: Path, path: str, array: np.ndarray) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    array.tofile(folder / path)


def op_text(module: ModuleOp, name: str) -> str:
    """Return the text of the one op of a name, its result apart."""
    (op,) = [op for op in module.walk() if op.name == name]
    return str(op).partition(" = ")[2]
