"""Products of matrices, and attention."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import AnyTensor, dtype_name, element_type, is_float, tensor_shape
from gawee_dialect.frontends.onnx.export.registry import (
    ExportedValue,
    Figures,
    Given,
    Nodes,
    OpenFigures,
    exports,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal


def sizes(values: Sequence[int], name: str) -> Figures | OpenFigures:
    """Return integers as an input with known elements, or of sizes that a run knows."""
    if is_open(values):
        return OpenFigures(name, values)
    return Figures(name, np.array(values, np.int64))


@exports(MatMulOp)
def matmul(nodes: Nodes, op: MatMulOp) -> None:
    """Gemm with its second matrix transposed, on rows: other axes are made one"""
    shape, element = tensor_shape(op.input), element_type(op.input)
    operands: list[Given] = [op.weight, op.bias]
    if len(shape) == 2:
        nodes("Gemm", [op.input, *operands], op.results, transB=1)
        return
    rows, columns = prod(shape[:-1]), tensor_shape(op.weight)[0]
    flat: AnyTensor = TensorType(element, (rows, shape[-1]))
    made: AnyTensor = TensorType(element, (rows, columns))
    given = nodes("Reshape", [op.input, sizes((rows, shape[-1]), "shape")], flat)
    product = nodes("Gemm", [given, *operands], made, transB=1)
    nodes("Reshape", [product, sizes(tensor_shape(op.result), "shape")], op.results)


@exports(BatchMatMulOp)
def batch_matmul(nodes: Nodes, op: BatchMatMulOp) -> None:
    """MatMul; what is stored transposed is transposed first"""
    a = op.a if op.transpose_a is None else _swapped(nodes, op.a)
    b = op.b if op.transpose_b is None else _swapped(nodes, op.b)
    if not is_float(element_type(op.a)) and dtype_name(element_type(op.a)) not in INTEGERS:
        raise Refusal("cannot be written as ONNX because of its element type")
    nodes("MatMul", [a, b], op.results)


INTEGERS = ("int32", "int64")
"""The integers that ONNX multiplies matrices of."""


def _swapped(nodes: Nodes, value: SSAValue) -> ExportedValue:
    *batch, rows, columns = tensor_shape(value)
    order = [*range(len(batch)), len(batch) + 1, len(batch)]
    type: AnyTensor = TensorType(element_type(value), (*batch, columns, rows))
    return nodes("Transpose", [value], type, perm=order)


@exports(AttentionOp)
def attention(nodes: Nodes, op: AttentionOp) -> None:
    """softmax(scale * q k^T + mask) v, where all queries see some key and heads are as many"""
    *batch, queries, _ = tensor_shape(op.q)
    keys, element = tensor_shape(op.k)[-2], element_type(op.q)
    mask = op.mask
    if tensor_shape(op.k)[:-2] != tuple(batch):
        raise Refusal("cannot be written as ONNX because its heads are grouped")
    if op.causal is not None or (mask is not None and element_type(mask) != element):
        raise Refusal("cannot be written as ONNX because it leaves keys out")
    scores: AnyTensor = TensorType(element, (*batch, queries, keys))
    product = nodes("MatMul", [op.q, _swapped(nodes, op.k)], scores)
    scale = nodes.constant(np.asarray(op.scale.value.data, dtype_name(element)))
    product = nodes("Mul", [product, scale], scores)
    if mask is not None:
        product = nodes("Add", [product, mask], scores)
    weights = nodes("Softmax", [product], scores, axis=-1)
    nodes("MatMul", [weights, op.v], op.results)
