"""The registry of ONNX ops, by the opset that each meaning of an op came with.

    @register_op("Clip")            # opsets before 11: bounds are attributes
    @register_op("Clip", since=11)  # bounds are inputs

A function's parameters have the names that the ONNX op's inputs and attributes have.
"""

from collections.abc import Callable, Sequence

from gawee_dialect.frontends.op_mapping.registry import Function, OpMapping, Registry

FAMILIES = (
    "activation",
    "arithmetic",
    "attention",
    "contraction",
    "convolution",
    "creation",
    "detection",
    "indexing",
    "machine_learning",
    "microsoft_attention",
    "microsoft_layers",
    "microsoft_quantization",
    "normalization",
    "pooling",
    "quantization",
    "recurrent",
    "reduction",
    "resizing",
    "sampling",
    "shape",
    "signal",
    "slicing",
    "text",
    "training",
    "trees",
)
"""The files of `ops/` that register the ops of ONNX."""

LATEST_OPSET = 27
"""The newest version of ONNX's op set that these mappings support."""

ONNX = Registry("gawee_dialect.frontends.onnx.ops", FAMILIES)
"""What is registered for ops of ONNX; `Clip-11` is Clip from opset 11 on."""


def register_op(
    *names: str, since: int = 1, limits: Sequence[str] = ()
) -> Callable[[Function], Function]:
    """Register a function for ops as they are from an opset on."""
    spelled = [name if since == 1 else f"{name}-{since}" for name in names]
    return ONNX.register(*spelled, limits=limits)


def find_mapping(op_type: str, opset: int) -> OpMapping | None:
    """Return what is registered for an op as it is in an opset."""
    versions = (f"{op_type}-{version}" for version in range(opset, 1, -1))
    return ONNX.find(*versions, op_type)


def is_registered(domain: str, op_type: str) -> bool:
    """Whether anything is registered for an op, in any opset."""
    name = op_type if domain in ("", "ai.onnx") else f"{domain}.{op_type}"
    return find_mapping(name, LATEST_OPSET) is not None
