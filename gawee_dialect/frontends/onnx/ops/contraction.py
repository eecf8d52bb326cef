"""Products of matrices."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten import contraction as aten
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Refusal, Tensors


@register_op("MatMul")
def matmul(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """The product of matrices, of batches of them, or of vectors, by NumPy's rule"""
    return aten.matmul(emit, a, b)


@register_op("Gemm")
def gemm(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    c: SSAValue | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> SSAValue:
    """alpha * a' b' + beta * c"""
    left = permuted(emit, a, (1, 0)) if transA else a
    stored = b if transB else permuted(emit, b, (1, 0))
    columns = tensor_shape(stored)[0]
    plain = alpha == 1 and beta == 1 and is_float(element_type(a))
    if plain and c is not None and tensor_shape(c) == (columns,):
        return emit(MatMulOp(left, stored, c))
    result = scaled(emit, emit(MatMulOp(left, stored)), alpha)
    if c is None or beta == 0:
        return result
    return emit(AddOp(result, scaled(emit, c, beta)))


@register_op("Det", limits=("matrices of at most 4 rows",))
def determinant(emit: Emitter, x: SSAValue) -> SSAValue:
    """The determinant of each matrix, by its minors"""
    shape = tensor_shape(x)
    size = shape[-1]
    if size > 4 or shape[-2] != size:
        raise Refusal(f"unsupported matrices of {shape[-2]}x{size}; supported: at most 4x4")
    many = emit.reshape(x, (prod(shape[:-2]), size, size))
    return emit.reshape(_minor(emit, many, 0, list(range(size))), shape[:-2])


def _entry(emit: Emitter, x: SSAValue, row: int, column: int) -> SSAValue:
    rank = len(tensor_shape(x))
    taken = part(emit, part(emit, x, rank - 2, row, 1), rank - 1, column, 1)
    return emit.reshape(taken, tensor_shape(x)[:-2])


def _minor(emit: Emitter, x: SSAValue, row: int, columns: Sequence[int]) -> SSAValue:
    if not columns:
        return emit.full(tensor_shape(x)[:-2], 1, element_type(x))
    total = emit.full(tensor_shape(x)[:-2], 0, element_type(x))
    for index, column in enumerate(columns):
        rest = _minor(emit, x, row + 1, [*columns[:index], *columns[index + 1 :]])
        term = emit(MulOp(_entry(emit, x, row, column), rest))
        total = emit(SubOp(total, term) if index % 2 else AddOp(total, term))
    return total


@register_op("Einsum")
def einsum(emit: Emitter, inputs: Tensors, equation: str) -> SSAValue:
    """Products and sums over axes that letters name"""
    return aten.einsum(emit, equation, inputs)
