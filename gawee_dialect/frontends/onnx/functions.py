"""Functions of a model in the place of their calls."""

from collections.abc import Iterator, Mapping, Sequence

from gawee_dialect.frontends.onnx.model import AttributeReference, OnnxFunction, OnnxNode


def body_of_call(
    call: OnnxNode, function: OnnxFunction, given: Sequence[str]
) -> Iterator[OnnxNode]:
    """Yield the nodes of a function with the attributes of a call, which gives some inputs."""
    attributes = {**function.attributes, **call.attributes}
    absent = set(function.inputs) - set(given)
    for each in function.nodes:
        yield OnnxNode(
            f"{call.name}/{each.name}",
            each.op_type,
            ["" if name in absent else name for name in each.inputs],
            each.outputs,
            _resolved(each.attributes, attributes),
            each.domain,
        )


def _resolved(
    attributes: Mapping[str, object], outer: Mapping[str, object]
) -> Mapping[str, object]:
    """Return attributes with references replaced; what the call leaves out is left out."""
    found = {
        key: outer.get(value.name) if isinstance(value, AttributeReference) else value
        for key, value in attributes.items()
    }
    return {key: value for key, value in found.items() if value is not None}
