"""Nodes as early opsets had them, in the form of opset 7 or later: attributes that went away.

Where an op's meaning changed otherwise, its mapping is registered for both (`registry.py`).

https://onnx.ai/onnx/operators/, "Differences" of each op
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.model import OnnxNode, Value
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.registry import Refusal

Inputs = Sequence[Value | None]

DROPPED = frozenset(("consumed_inputs", "is_test", "output_sequence"))
"""Attributes that say how a framework of its time runs a node: where it writes the result, that it
does not train, which outputs it makes."""

RENAMED: Mapping[str, Mapping[str, str]] = {"Pad": {"paddings": "pads"}}

ALIGNED = frozenset("Add Sub Mul Div Pow And Or Xor Equal Less Greater".split())
"""Ops whose second input was broadcast only if `broadcast` said so, from `axis` on."""


def in_later_form(
    emit: Emitter, node: OnnxNode, inputs: Inputs, opset: int
) -> tuple[OnnxNode, Inputs]:
    """Return a node of an opset before 7 as one of opset 7, and its inputs; raises Refusal."""
    if opset >= 7 or node.domain not in ("", "ai.onnx"):
        return node, inputs
    names = RENAMED.get(node.op_type, {})
    attributes = {
        names.get(name, name): value
        for name, value in node.attributes.items()
        if name not in DROPPED
    }
    if node.op_type in ALIGNED:
        axis = attributes.pop("axis", None)
        broadcast = attributes.pop("broadcast", 0)
        if broadcast and isinstance(axis, int):
            inputs = [inputs[0], _aligned(emit, inputs[0], inputs[1], axis)]
    elif node.op_type == "Gemm":
        attributes.pop("broadcast", None)
    elif node.op_type == "PRelu":
        inputs = [inputs[0], _aligned(emit, inputs[0], inputs[1], 1)]
    elif node.op_type == "Upsample" and "height_scale" in attributes:
        scales = [attributes.pop("height_scale"), attributes.pop("width_scale", 1.0)]
        attributes["scales"] = [1.0, 1.0, *scales]
    elif node.op_type == "Tile" and len(inputs) == 3:
        inputs = [inputs[0], _repeats(inputs)]
    return replace(node, attributes=attributes), inputs


def _shape(value: Value | None) -> Sequence[int]:
    if value is None:
        raise Refusal("expected two inputs, got one")
    if value.elements is not None:
        return value.elements.shape
    assert value.tensor is not None
    return tensor_shape(value.tensor)


def _aligned(emit: Emitter, first: Value | None, second: Value | None, axis: int) -> Value | None:
    """Return the second input with axes behind, so that its first one is `axis` of the first."""
    rank, shape = len(_shape(first)), _shape(second)
    behind = rank - axis % max(rank, 1) - len(shape)
    if second is None or behind <= 0 or not shape:
        return second
    wanted = (*shape, *[1] * behind)
    if second.elements is not None:
        return Value(second.name, elements=second.elements.reshape(wanted))
    assert second.tensor is not None
    return Value(second.name, emit.reshape(second.tensor, wanted))


def _repeats(inputs: Inputs) -> Value:
    tiles, axis = (None if each is None else each.known for each in inputs[1:])
    if tiles is None or axis is None:
        raise Refusal("expected tiles and axis to be known when the graph is read")
    repeats = np.ones(len(_shape(inputs[0])), np.int64)
    repeats[int(axis.item())] = int(tiles.item())
    return Value("repeats", elements=repeats)
