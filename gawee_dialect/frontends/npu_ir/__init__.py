"""NPU_IR, the weight-free graph of a PyTorch model: extracted, read, written, checked.

with torch.device("meta"):
    model = Net().eval()
    ir = extract_ir(model, (torch.randn(1, 3, 224, 224),))
ir.save("net.json")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gawee_dialect.frontends.npu_ir.extract import extract_ir as extract_ir
    from gawee_dialect.frontends.npu_ir.ir import NPU_IR as NPU_IR
    from gawee_dialect.frontends.npu_ir.ir import ConversionError as ConversionError
    from gawee_dialect.frontends.npu_ir.ir import ExecutionError as ExecutionError
    from gawee_dialect.frontends.npu_ir.ir import ExportError as ExportError
    from gawee_dialect.frontends.npu_ir.ir import OpNode as OpNode
    from gawee_dialect.frontends.npu_ir.ir import SerializationError as SerializationError
    from gawee_dialect.frontends.npu_ir.ir import TensorMeta as TensorMeta
    from gawee_dialect.frontends.npu_ir.ir import WeightLoadError as WeightLoadError
    from gawee_dialect.frontends.npu_ir.json_text import load_ir as load_ir
    from gawee_dialect.frontends.npu_ir.json_text import save_ir as save_ir
    from gawee_dialect.frontends.npu_ir.ops import register_executor as register_executor
    from gawee_dialect.frontends.npu_ir.validate import validate_ir as validate_ir
    from gawee_dialect.frontends.npu_ir.weights import bind_weights as bind_weights
    from gawee_dialect.frontends.npu_ir.weights import load_weights as load_weights

_HOMES = {
    "NPU_IR": "ir",
    "OpNode": "ir",
    "TensorMeta": "ir",
    "ConversionError": "ir",
    "ExecutionError": "ir",
    "ExportError": "ir",
    "SerializationError": "ir",
    "WeightLoadError": "ir",
    "bind_weights": "weights",
    "extract_ir": "extract",
    "load_ir": "json_text",
    "load_weights": "weights",
    "register_executor": "ops",
    "save_ir": "json_text",
    "validate_ir": "validate",
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
    "bind_weights",
    "extract_ir",
    "load_ir",
    "load_weights",
    "register_executor",
    "save_ir",
    "validate_ir",
]


def __getattr__(name: str) -> object:
    # Loaded at first use: reading another format must not pay for this one.
    if name in _HOMES:
        return getattr(import_module(f"gawee_dialect.frontends.npu_ir.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
