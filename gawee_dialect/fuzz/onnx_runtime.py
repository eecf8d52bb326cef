"""ONNX Runtime, on one thread of this processor."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from gawee_dialect.interpreter.arrays import Array

if TYPE_CHECKING:
    from onnx import ModelProto


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
