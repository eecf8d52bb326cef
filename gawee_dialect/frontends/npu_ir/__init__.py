"""NPU_IR, the weight-free graph of a PyTorch model: extracted, read, written, checked."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gawee_dialect.frontends.npu_ir.errors import ConversionError as ConversionError
    from gawee_dialect.frontends.npu_ir.errors import ExecutionError as ExecutionError
    from gawee_dialect.frontends.npu_ir.errors import ExportError as ExportError
    from gawee_dialect.frontends.npu_ir.errors import SerializationError as SerializationError
    from gawee_dialect.frontends.npu_ir.errors import WeightLoadError as WeightLoadError
    from gawee_dialect.frontends.npu_ir.ir import NPU_IR as NPU_IR
    from gawee_dialect.frontends.npu_ir.ir import OpNode as OpNode
    from gawee_dialect.frontends.npu_ir.ir import TensorMeta as TensorMeta

_HOMES = {
    "NPU_IR": "ir",
    "OpNode": "ir",
    "TensorMeta": "ir",
    "ConversionError": "errors",
    "ExecutionError": "errors",
    "ExportError": "errors",
    "SerializationError": "errors",
    "WeightLoadError": "errors",
}

__all__ = [
    "NPU_IR",
    "ConversionError",
    "ExecutionError",
    "ExportError",
    "OpNode",
    "SerializationError",
    "TensorMeta",
    "WeightLoadError",
]


def __getattr__(name: str) -> object:
    # Loaded at first use: reading another format must not pay for this one.
    if name in _HOMES:
        return getattr(import_module(f"gawee_dialect.frontends.npu_ir.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
