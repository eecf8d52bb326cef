"""Products of matrices and vectors."""

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.dialect.elementwise import MulOp
from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, scaled
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Number

LOOKED_FOR = (TransposeOp,)
"""What is matched, not made."""


def product(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return the product of matrices.

    One matrix of floats that was transposed, as the weights of decomposed linear layers are, is
    used as it is stored.
    """
    if element_type(a) != element_type(b):
        raise Refusal(f"expected both of one dtype, got '{element_type(a)}', '{element_type(b)}'")
    stored = stored_transposed(b)
    if stored is None or len(tensor_shape(stored)) != 2 or not is_float(element_type(a)):
        return emit(BatchMatMulOp(a, b))
    return emit(MatMulOp(a, stored))


def stored_transposed(value: SSAValue) -> SSAValue | None:
    """Return what a value is the transpose of in its last two axes; None for anything else."""
    op = value.owner
    if not isinstance(op, LOOKED_FOR):
        return None
    order = list(op.permutation.get_values())
    rank = len(order)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    return op.input if rank >= 2 and order == swapped else None


@register_op("aten.linear")
def linear(
    emit: Emitter, input: SSAValue, weight: SSAValue, bias: SSAValue | None = None
) -> SSAValue:
    """A linear layer: the weight is (out, in)"""
    if len(tensor_shape(weight)) == 1:
        value = matmul(emit, input, weight)
        return value if bias is None else add(emit, value, bias)
    return emit(MatMulOp(input, weight, bias))


@register_op("aten.addmm")
def addmm(
    emit: Emitter,
    self: SSAValue,
    mat1: SSAValue,
    mat2: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """beta * self + alpha * mat1 @ mat2"""
    stored = stored_transposed(mat2)
    as_bias = beta == alpha == 1 and tensor_shape(self) == tensor_shape(mat2)[1:]
    if stored is not None and as_bias and is_float(element_type(mat1)):
        return emit(MatMulOp(mat1, stored, self))
    return baddbmm(emit, self, mat1, mat2, beta, alpha)


@register_op("aten.baddbmm")
def baddbmm(
    emit: Emitter,
    self: SSAValue,
    batch1: SSAValue,
    batch2: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """beta * self + alpha * batch1 @ batch2"""
    value = scaled(emit, product(emit, batch1, batch2), alpha)
    return value if beta == 0 else add(emit, value, scaled(emit, self, beta))


@register_op("aten.mm", "aten.bmm")
def mm(emit: Emitter, self: SSAValue, mat2: SSAValue) -> SSAValue:
    """The product of matrices"""
    return product(emit, self, mat2)


@register_op("aten._int_mm")
def int_mm(emit: Emitter, self: SSAValue, mat2: SSAValue) -> SSAValue:
    """The product of matrices of int8, in int32"""
    return product(emit, emit.cast(self, i32), emit.cast(mat2, i32))


@register_op("aten.matmul", "aten.linalg_matmul")
def matmul(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The product of matrices, leading axes broadcast; a vector is a row, on the right a column"""
    left, right = tensor_shape(self), tensor_shape(other)
    if not left or not right:
        raise Refusal("expected tensors of rank 1 or more, got a scalar")
    row = emit.reshape(self, (1, *left)) if len(left) == 1 else self
    column = emit.reshape(other, (*right, 1)) if len(right) == 1 else other
    result = product(emit, row, column)
    shape = list(tensor_shape(result))
    if len(right) == 1:
        del shape[-1]
    if len(left) == 1:
        del shape[-1 if len(right) == 1 else -2]
    return emit.reshape(result, shape)


@register_op("aten.mv")
def mv(emit: Emitter, self: SSAValue, vec: SSAValue) -> SSAValue:
    """A matrix times a vector"""
    return matmul(emit, self, vec)


@register_op("aten.vdot")
def vdot(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The sum of the products of two vectors"""
    return dot(emit, self, other)


@register_op("aten.dot")
def dot(emit: Emitter, self: SSAValue, tensor: SSAValue) -> SSAValue:
    """The sum of the products of two vectors"""
    return emit(ReduceSumOp(emit(MulOp(self, tensor)), axes=[0], keep_dims=False))


@register_op("aten.outer", "aten.ger")
def outer(emit: Emitter, self: SSAValue, vec2: SSAValue) -> SSAValue:
    """Every product of an element of one vector and one of the other"""
    return emit(MulOp(emit.reshape(self, (*tensor_shape(self), 1)), vec2))
