"""ONNX Runtime, on one thread of this processor."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from gawee_dialect.interpreter.arrays import Array

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


class Session(Protocol):
    """What of ONNX Runtime's session is called."""

    def run(self, names: Sequence[str], feeds: Mapping[str, Array]) -> Sequence[Array]:
        """Return outputs by their names."""
        ...


def onnx_runtime(proto: "ModelProto", arrays: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """Return what ONNX Runtime computes; None where it has no kernel for the model."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    names = [output.name for output in proto.graph.output]
    try:
        session: Session = runtime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return dict(zip(names, session.run(names, dict(arrays)), strict=True))
    except Exception:  # onnxruntime has exceptions of its own for each kind of mistake
        return None


def values_read(
    proto: "ModelProto", nodes: Sequence["NodeProto"], arrays: Mapping[str, Array]
) -> Mapping[str, Array] | None:
    """Return the floats that nodes read, and all inputs, by name; None where there are none."""
    read = {name for node in nodes for name in node.input}
    values = onnx_runtime(_with_outputs(proto, sorted(read - arrays.keys())), arrays)
    return None if not nodes or values is None else {**arrays, **values}


def _with_outputs(proto: "ModelProto", names: Sequence[str]) -> "ModelProto":
    from onnx import TensorProto, helper

    copy = type(proto).FromString(proto.SerializeToString())
    del copy.graph.output[:]
    copy.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names
    )
    return copy
