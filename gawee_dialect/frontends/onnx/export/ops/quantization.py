"""Quantizing and dequantizing."""

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType, f32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.quantization import (
    DequantizeOp,
    QuantizationOp,
    QuantizeOp,
    axis_and_block,
)
from gawee_dialect.dialect.types import (
    dtype_name,
    element_type,
    integer_range,
    tensor_shape,
    tensor_type,
    ui8,
)
from gawee_dialect.frontends.onnx.export.registry import ExportedValue, Given, Nodes, exports
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa


def _axis(op: QuantizationOp) -> dict[str, int]:
    """Return the attributes that say which scale an element has; raises Refusal."""
    found = [axis_and_block(each) for each in op.map.data.results]
    long = [each for each in found if each[1] > 1]
    if not found:
        return {}
    if not long and len(found) == 1:
        return {"axis": found[0][0]}
    if len(long) == 1 and len(found) == len(tensor_shape(op.input)):
        return {"axis": long[0][0], "block_size": long[0][1]}
    raise Refusal(
        f"cannot be written as ONNX because its scales are along '{op.map.data}'; ONNX has them "
        "along one axis"
    )


def _scale(nodes: Nodes, scale: SSAValue) -> Given:
    if element_type(scale) == f32:
        return scale
    constant = constant_of(scale)
    if constant is not None:
        return nodes.constant(array_of(constant).astype(np.float32))
    return nodes("Cast", [scale], TensorType(f32, tensor_shape(scale)), to=1)


@exports(QuantizeOp)
def quantize(nodes: Nodes, op: QuantizeOp) -> None:
    """Integers of fewer values than their type has are clipped behind it"""
    attributes, element = _axis(op), element_type(op.result)
    assert isa(element, IntegerType)
    zero: Given = op.zero_point
    if zero is None and element != ui8:
        zero = nodes.constant(np.zeros(tensor_shape(op.scale), dtype_name(element)))
    given = [op.input, _scale(nodes, op.scale), zero]
    if op.bounds == integer_range(element):
        nodes("QuantizeLinear", given, op.results, **attributes)
        return
    whole = nodes("QuantizeLinear", given, tensor_type(op.result), **attributes)
    ends: list[ExportedValue] = [
        nodes.constant(np.array(each, dtype_name(element))) for each in op.bounds
    ]
    nodes("Clip", [whole, *ends], op.results)


@exports(DequantizeOp)
def dequantize(nodes: Nodes, op: DequantizeOp) -> None:
    """Of one scale, one along an axis, or one a block"""
    given = [op.input, _scale(nodes, op.scale), op.zero_point]
    nodes("DequantizeLinear", given, op.results, **_axis(op))
