"""How far ONNX Runtime's own roundings may move the outputs of a model.

InstanceNormalization is computed as x * s + (bias - mean * s), with s = scale / sqrt(variance +
epsilon). Where an instance varies little, the two products are far larger than what is left of
them: of one element, which is its mean, the bias is left, and roundings of x * s, by an epsilon of
1e-5 hundreds of times as large as x. The model runs again with that much added to each such node's
output, or taken away.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gawee_dialect.instruments.check.compare import absolute_difference, magnitude
from gawee_dialect.interpreter.arrays import Array
from tests.graph_fuzz.onnx_runtime import onnx_runtime, values_read

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

ROUNDED = "InstanceNormalization"
EPSILON = 1e-5
"""Of a node that has none."""

ROUNDINGS = 4 * 2.0**-24
"""Two products, a difference and a sum."""

TRIES = 4


def moved_by_rounding(
    proto: "ModelProto", arrays: Mapping[str, Array], said: Mapping[str, Array]
) -> Mapping[str, float]:
    """Return how far each output may be off, 0 where there is no such node."""
    bounds = dict.fromkeys(said, 0.0)
    nodes = [node for node in proto.graph.node if node.op_type == ROUNDED]
    errors = _errors(proto, nodes, arrays)
    for number in range(TRIES if errors else 0):
        moved = onnx_runtime(_with_added(proto, errors, number), arrays) or said
        for name, each in said.items():
            bounds[name] = max(bounds[name], magnitude(absolute_difference(moved[name], each)))
    return {name: 2 * bound for name, bound in bounds.items()}


def _errors(
    proto: "ModelProto", nodes: Sequence["NodeProto"], arrays: Mapping[str, Array]
) -> Mapping[str, Array]:
    """Return how far the output of each node may be off, by its name."""
    known = values_read(proto, nodes, arrays)
    if known is None:
        return {}
    return {node.output[0]: _error(node, *(known[name] for name in node.input)) for node in nodes}


def _error(node: "NodeProto", x: Array, scale: Array, bias: Array) -> Array:
    """Return ROUNDINGS * max |x| * |scale| / sqrt(variance + epsilon) of every instance."""
    epsilon = next((each.f for each in node.attribute if each.name == "epsilon"), EPSILON)
    axes = tuple(range(2, x.ndim))
    wide = x.astype(np.float64)
    factor = np.abs(scale).reshape(-1, *(1 for _ in axes))
    deviation = np.sqrt(wide.var(axes, keepdims=True) + epsilon)
    error = ROUNDINGS * np.abs(wide).max(axes, keepdims=True) * factor / deviation
    return np.asarray(error, np.float32)


def _with_added(proto: "ModelProto", errors: Mapping[str, Array], seed: int) -> "ModelProto":
    """Return a model that adds errors of any sign to the values of their names."""
    from onnx import helper, numpy_helper

    copy = type(proto).FromString(proto.SerializeToString())
    random = np.random.default_rng(seed)
    nodes: list[NodeProto] = []
    for node in copy.graph.node:
        nodes.append(node)
        name = node.output[0]
        if name in errors:
            signed = errors[name] * random.choice((-1, 1), errors[name].shape)
            error = numpy_helper.from_array(signed.astype(np.float32), f"{name}_error")
            copy.graph.initializer.append(error)
            node.output[0] = f"{name}_rounded"
            nodes.append(helper.make_node("Add", [node.output[0], error.name], [name]))
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy
