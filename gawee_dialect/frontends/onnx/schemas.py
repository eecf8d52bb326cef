"""What the package `onnx` says of ops: the types of their results, and functions that define some.

https://onnx.ai/onnx/api/defs.html
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol

from gawee_dialect.frontends.onnx.held_types import CODES
from gawee_dialect.frontends.onnx.model import OnnxFunction, OnnxNode
from gawee_dialect.frontends.onnx.model_proto import read_function


class _Serialized(Protocol):
    def SerializeToString(self) -> bytes: ...


class _FormalParameter(Protocol):
    type_str: str


class _OpSchema(Protocol):
    inputs: Sequence[_FormalParameter]
    outputs: Sequence[_FormalParameter]
    has_function: bool
    has_context_dependent_function: bool
    context_dependent_function_opset_versions: Sequence[int]
    function_body: _Serialized

    def get_context_dependent_function_with_opset_version(
        self, opset: int, node: bytes, types: Sequence[bytes]
    ) -> bytes: ...


def _schema_of(node: OnnxNode, opsets: Mapping[str, int]) -> _OpSchema | None:
    defs = import_module("onnx.defs")
    domain = "" if node.domain == "ai.onnx" else node.domain
    find: Callable[[str, int, str], _OpSchema] = getattr(defs, "get_schema")
    unknown: type[Exception] = getattr(defs, "SchemaError")
    try:
        return find(node.op_type, opsets.get(domain, 1), domain)
    except unknown:
        return None


def type_sources(node: OnnxNode, opsets: Mapping[str, int]) -> Iterator[int | None]:
    """Yield for each output the first input that has its type; None where none has."""
    schema = _schema_of(node, opsets)
    inputs = [] if schema is None else [each.type_str for each in schema.inputs]
    for index in range(len(node.outputs)):
        type = (
            "" if schema is None else schema.outputs[min(index, len(schema.outputs) - 1)].type_str
        )
        yield inputs.index(type) if type in inputs else None


def standard_function(
    node: OnnxNode, opsets: Mapping[str, int], types: Sequence[tuple[str, Sequence[int]] | None]
) -> OnnxFunction | None:
    """Return the function that ONNX defines an op by; None where it does not, or has no such op.

    types: the dtype and the shape of each input, None for one that the node leaves out.
    """
    schema = None if node.serialized is None else _schema_of(node, opsets)
    if schema is None or node.serialized is None:
        return None
    if schema.has_context_dependent_function:
        opset = max(schema.context_dependent_function_opset_versions)
        make = schema.get_context_dependent_function_with_opset_version
        try:
            return read_function(
                make(opset, node.serialized, [_type_proto(each) for each in types])
            )
        except (ValueError, RuntimeError):  # inputs of types that the op does not take
            return None
    return read_function(schema.function_body.SerializeToString()) if schema.has_function else None


def _type_proto(type: tuple[str, Sequence[int]] | None) -> bytes:
    if type is None:
        return b""
    codes = {name: code for code, name in CODES.items()}
    make: Callable[[int, Sequence[int]], _Serialized] = getattr(
        import_module("onnx.helper"), "make_tensor_type_proto"
    )
    return make(codes[type[0]], type[1]).SerializeToString()
