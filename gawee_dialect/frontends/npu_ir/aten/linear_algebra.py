"""Inverses of small matrices, by Gauss and Jordan with the greatest pivots."""

from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.elementwise import DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherNdOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp
from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal

LARGEST = 16
"""The size up to which elimination is written out, a few ops for each column."""


def with_pivot(emit: Emitter, matrices: SSAValue, column: int) -> SSAValue:
    """Exchange two rows (batch, size, width) so that a column has its greatest pivot."""
    batch, size, _ = tensor_shape(matrices)
    below = part(emit, part(emit, matrices, 2, column, 1), 1, column, size - column)
    greatest = emit(ArgMaxOp(emit(AbsOp(below)), axis=1))
    pivot = emit.reshape(add(emit, greatest, column), (batch, 1))
    row = emit(IotaOp(TensorType(i64, [batch, size]), axis=1))
    here, there = compared(emit, row, column, "eq"), compared(emit, row, pivot, "eq")
    source = emit(WhereOp(there, emit.number(column, i64), row))
    source = emit(WhereOp(here, pivot, source))
    return emit(GatherNdOp(matrices, unsqueeze(emit, source, 2), batch_dims=1))


@register_op("aten.linalg_inv_ex", limits=(f"matrices of up to {LARGEST} rows",))
def inverse(emit: Emitter, A: SSAValue, check_errors: object = False) -> tuple[SSAValue, SSAValue]:
    """The inverses of matrices, and for each the first pivot that is zero, counted from 1, or 0"""
    *lead, size, columns = tensor_shape(A)
    element = element_type(A)
    if size != columns or not is_float(element):
        raise Refusal(f"expected square matrices of floats, got {A.type}")
    if size > LARGEST:
        raise Refusal(f"unsupported inverse of {size} rows; supported: up to {LARGEST}")
    batch = prod(lead)
    unit = emit.broadcast(emit.array(np.eye(size), element), (batch, size, size))
    both = emit(CatOp([emit.reshape(A, (batch, size, size)), unit], dim=2))
    info = emit.full((batch,), 0, i32)
    for column in range(size):
        both = with_pivot(emit, both, column)
        row, factors = part(emit, both, 1, column, 1), part(emit, both, 2, column, 1)
        pivot = part(emit, factors, 1, column, 1)
        info = _noted(emit, info, pivot, column)
        scaled = emit(DivOp(row, pivot))
        eliminated = emit(SubOp(both, emit(MulOp(factors, scaled))))
        others = emit.array(np.arange(size).reshape(1, size, 1) != column, i1)
        both = emit(WhereOp(others, eliminated, scaled))
    result = emit.reshape(part(emit, both, 2, size, size), (*lead, size, size))
    return result, emit.reshape(info, lead)


def _noted(emit: Emitter, info: SSAValue, pivot: SSAValue, column: int) -> SSAValue:
    singular = compared(emit, emit.reshape(pivot, tensor_shape(info)), 0.0, "eq")
    first = emit(BitwiseAndOp(singular, compared(emit, info, 0, "eq")))
    return emit(WhereOp(first, emit.number(column + 1, i32), info))


@register_op("aten.linalg_inv", limits=(f"matrices of up to {LARGEST} rows",))
def inverse_alone(emit: Emitter, A: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, A)[0]


@register_op("aten.inverse", limits=(f"matrices of up to {LARGEST} rows",))
def inverse_of_self(emit: Emitter, self: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, self)[0]


@register_op("aten._linalg_check_errors")
def check_errors(
    emit: Emitter, info: SSAValue, api_name: object = None, is_matrix: object = None
) -> None:
    """Nothing: the inverse of a matrix that has none holds what is no number."""
