"""Models of ONNX that are a step smaller than another: candidates, which are valid by shapes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto

CONSTANT = "Constant"


def smaller_models(proto: "ModelProto") -> Iterator["ModelProto"]:
    """Yield models of one output, of fewer nodes, and of smaller inputs."""
    known = _types(proto)
    steps = _of_one_output(proto), _without_a_node(proto, known), _of_smaller_sizes(proto)
    yield from filter(None, map(_inferred, chain(*steps)))


def _of_one_output(proto: "ModelProto") -> Iterator["ModelProto"]:
    names = [each.name for each in proto.graph.output]
    for name in names if len(names) > 1 else ():
        yield _model(proto, proto.graph.node, proto.graph.input, [name])


def _without_a_node(
    proto: "ModelProto", types: Mapping[str, "TypeProto"]
) -> Iterator["ModelProto"]:
    """Yield models with an input for a node that is read, or without one that is not."""
    from onnx import helper

    nodes = list(proto.graph.node)
    for node in reversed(nodes):
        (made,) = node.output
        if node.op_type == CONSTANT or made not in types:
            continue
        others = [each for each in nodes if each is not node]
        names = [each.name for each in proto.graph.output if each.name != made]
        if any(made in each.input for each in others):
            given = helper.make_value_info(made, types[made])
            yield _model(proto, others, [*proto.graph.input, given], names or _ends(others))
            continue
        computed = {name for each in others if each.op_type != CONSTANT for name in each.output}
        names += [name for name in node.input if name in computed and name not in names]
        yield _model(proto, others, proto.graph.input, names)


def _ends(nodes: Sequence["NodeProto"]) -> Sequence[str]:
    """Return what no node reads."""
    read = {name for node in nodes for name in node.input}
    return [name for node in nodes for name in node.output if name not in read]


def _of_smaller_sizes(proto: "ModelProto") -> Iterator["ModelProto"]:
    """Yield models with a smaller size wherever inputs have one: 1, half of it, one less."""
    dims = (dim for each in proto.graph.input for dim in each.type.tensor_type.shape.dim)
    for size in sorted({dim.dim_value for dim in dims}, reverse=True):
        for smaller in sorted({1, size // 2, size - 1} - {0, size}):
            copy = type(proto).FromString(proto.SerializeToString())
            for each in copy.graph.input:
                for dim in each.type.tensor_type.shape.dim:
                    dim.dim_value = smaller if dim.dim_value == size else dim.dim_value
            yield _model(
                copy, copy.graph.node, copy.graph.input, [o.name for o in copy.graph.output]
            )


def _model(
    proto: "ModelProto",
    nodes: Sequence["NodeProto"],
    inputs: Sequence["ValueInfoProto"],
    outputs: Sequence[str],
) -> "ModelProto":
    """Return a model of the nodes and inputs that some outputs are computed of."""
    from onnx import helper

    needed, kept = set(outputs), list["NodeProto"]()
    for node in reversed(nodes):
        if needed & set(node.output):
            kept.insert(0, node)
            needed.update(node.input)
    given = [each for each in inputs if each.name in needed]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(kept, proto.graph.name, given, results)
    return helper.make_model(graph, opset_imports=proto.opset_import, ir_version=proto.ir_version)


def _inferred(proto: "ModelProto") -> "ModelProto | None":
    """Return a model with its outputs' types; None where shapes do not fit, or it has none."""
    from onnx import shape_inference
    from onnx.shape_inference import InferenceError

    if not proto.graph.output:
        return None
    try:
        known = shape_inference.infer_shapes(proto, strict_mode=True)
    except InferenceError:
        return None
    del known.graph.value_info[:]
    return known if all(each.type.HasField("tensor_type") for each in known.graph.output) else None


def _types(proto: "ModelProto") -> Mapping[str, "TypeProto"]:
    from onnx import shape_inference

    graph = shape_inference.infer_shapes(proto, strict_mode=True).graph
    return {each.name: each.type for each in (*graph.value_info, *graph.output)}
