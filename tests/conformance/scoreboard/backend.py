# SPDX-License-Identifier: Apache-2.0

"""gawee for the scoreboard of ONNX backends: `backends/gawee/backend.py` there."""

from typing import Any

from onnx.backend.base import Backend, BackendRep

from gawee_dialect import onnx_backend


class GaweeRep(BackendRep):
    """A model that is compiled for the inputs of its runs."""

    def __init__(self, prepared: onnx_backend.PreparedModel) -> None:
        self._prepared = prepared

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        return self._prepared.run(inputs)


class GaweeBackend(Backend):
    """Machine code for nodes on tensors; text, sequences and open sizes on the host."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> GaweeRep:
        return GaweeRep(onnx_backend.prepare(model, device))

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        opset = kwargs.get("opset_version")
        return onnx_backend.run_node(node, inputs, device, outputs_info, opset_version=opset)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return onnx_backend.supports_device(device)


prepare = GaweeBackend.prepare
run_model = GaweeBackend.run_model
run_node = GaweeBackend.run_node
supports_device = GaweeBackend.supports_device
