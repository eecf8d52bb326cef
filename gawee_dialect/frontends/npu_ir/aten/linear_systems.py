"""Linear systems of a few rows: solutions, inverses, determinants, Cholesky's factors."""

from collections.abc import Sequence
from functools import reduce
from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp, LogOp, NegOp, SignOp
from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
from gawee_dialect.dialect.graph.elementwise import (
    AddOp,
    DivOp,
    MulOp,
    SqrtOp,
    SubOp,
    broadcast_shape,
)
from gawee_dialect.dialect.graph.indexing import GatherNdOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Refusal

# Elimination in small matrices, by Gauss and Jordan with the greatest pivots.


LARGEST = 16
"""The size up to which elimination is written out, a few ops for each column."""

SMALL = (f"matrices of up to {LARGEST} rows",)
UNFACTORED = (*SMALL, "triangular factors are not made")


def with_pivot(emit: Emitter, matrices: SSAValue, column: int) -> tuple[SSAValue, SSAValue]:
    """Exchange two rows (batch, size, width) so that a column has its greatest pivot.

    Returns which row it was too, of each matrix (batch, 1).
    """
    batch, size, _ = tensor_shape(matrices)
    below = part(emit, part(emit, matrices, 2, column, 1), 1, column, size - column)
    greatest = emit(ArgMaxOp(emit(AbsOp(below)), axis=1))
    pivot = emit.reshape(add(emit, greatest, column), (batch, 1))
    row = emit(IotaOp(TensorType(i64, [batch, size]), axis=1))
    here, there = compared(emit, row, column, "eq"), compared(emit, row, pivot, "eq")
    source = emit(WhereOp(there, emit.number(column, i64), row))
    source = emit(WhereOp(here, pivot, source))
    return emit(GatherNdOp(matrices, unsqueeze(emit, source, 2), batch_dims=1)), pivot


def first_noted(emit: Emitter, info: SSAValue, fails: SSAValue, column: int) -> SSAValue:
    """Return info with a column, counted from 1, where it is the first that fails."""
    first = emit(BitwiseAndOp(fails, compared(emit, info, 0, "eq")))
    return emit(WhereOp(first, emit.number(column + 1, i32), info))


class Elimination:
    """Solves square systems, A (batch, size, size) beside right sides (batch, size, width).

    `result` are the solutions, `info` for each matrix the first pivot that is zero, counted from 1,
    or 0, and `pivots` are (batch,) for each column, negated where two rows were exchanged.
    """

    def __init__(self, emit: Emitter, matrices: SSAValue, right: SSAValue | None) -> None:
        batch, size, _ = tensor_shape(matrices)
        both = matrices if right is None else emit(CatOp([matrices, right], dim=2))
        self.info = emit.full((batch,), 0, i32)
        self.pivots: list[SSAValue] = []
        for column in indices_of(size):
            both, place = with_pivot(emit, both, column)
            row, factors = part(emit, both, 1, column, 1), part(emit, both, 2, column, 1)
            pivot = part(emit, factors, 1, column, 1)
            self._note(emit, emit.reshape(pivot, (batch,)), emit.reshape(place, (batch,)), column)
            scaled = emit(DivOp(row, pivot))
            eliminated = emit(SubOp(both, emit(MulOp(factors, scaled))))
            others = emit.array(np.arange(size).reshape(1, size, 1) != column, i1)
            both = emit(WhereOp(others, eliminated, scaled))
        self.result = part(emit, both, 2, size, tensor_shape(both)[2] - size)

    def _note(self, emit: Emitter, pivot: SSAValue, place: SSAValue, column: int) -> None:
        exchanged = compared(emit, place, column, "ne")
        self.pivots.append(emit(WhereOp(exchanged, emit(NegOp(pivot)), pivot)))
        self.info = first_noted(emit, self.info, compared(emit, pivot, 0.0, "eq"), column)

    def unless_singular(self, emit: Emitter, value: SSAValue, otherwise: float) -> SSAValue:
        """Return what was made of the pivots, or a number where one of them is zero."""
        singular = compared(emit, self.info, 0, "ne")
        return emit(WhereOp(singular, emit.number(otherwise, element_type(value)), value))


def square_matrices(emit: Emitter, A: SSAValue, what: str) -> SSAValue:
    """Return matrices with one axis for all of a batch; raises Refusal unless they are square."""
    *lead, size, columns = tensor_shape(A)
    if size != columns or not is_float(element_type(A)):
        raise Refusal(f"expected square matrices of floats, got {A.type}")
    if size > LARGEST:
        raise Refusal(f"unsupported {what} of {size} rows; supported: up to {LARGEST}")
    return emit.reshape(A, (prod(lead), size, size))


@register_op("aten.linalg_inv_ex", limits=SMALL)
def inverse(emit: Emitter, A: SSAValue, check_errors: object = False) -> tuple[SSAValue, SSAValue]:
    """The inverses of matrices, and for each the first pivot that is zero, counted from 1, or 0"""
    matrices = square_matrices(emit, A, "inverse")
    unit = emit.array(np.eye(tensor_shape(matrices)[1]), element_type(A))
    solved = Elimination(emit, matrices, emit.broadcast(unit, tensor_shape(matrices)))
    shape = tensor_shape(A)
    return emit.reshape(solved.result, shape), emit.reshape(solved.info, shape[:-2])


def check_unfactored(emit: Emitter, factors: Sequence[int]) -> None:
    """Raise Refusal where anything reads the triangular factors, which are not made."""
    if any(map(emit.is_used, factors)):
        raise Refusal("unsupported use of triangular factors; supported: what is made of them")


def solutions(emit: Emitter, A: SSAValue, right: SSAValue, left: bool) -> tuple[SSAValue, SSAValue]:
    """Return X of A X = right, or of X A = right, and `Elimination.info` of each matrix of A."""
    matrices, lead = square_matrices(emit, A, "system"), tensor_shape(A)[:-2]
    if not left:
        matrices, right = transposed(emit, matrices), transposed(emit, right)
    batch, (size, width) = broadcast_shape(lead, tensor_shape(right)[:-2]), tensor_shape(right)[-2:]
    many = emit.broadcast(emit.reshape(matrices, (*lead, size, size)), (*batch, size, size))
    sides = many, emit.broadcast(right, (*batch, size, width))
    flat = (emit.reshape(each, (prod(batch), *tensor_shape(each)[-2:])) for each in sides)
    solved = Elimination(emit, *flat)
    found = emit.reshape(solved.result, (*batch, size, width))
    of_matrices = solved if batch == lead else Elimination(emit, matrices, None)
    return found if left else transposed(emit, found), emit.reshape(of_matrices.info, lead)


@register_op("aten._linalg_solve_ex", limits=UNFACTORED)
def solve(
    emit: Emitter, A: SSAValue, B: SSAValue, left: bool = True, check_errors: object = False
) -> Sequence[SSAValue | None]:
    """The solutions X of A X = B, or of X A = B, and what `inverse` says of each matrix"""
    check_unfactored(emit, (1, 2))
    size = tensor_shape(A)[-1]
    vectors = tensor_shape(B) in ((size,), tensor_shape(A)[:-1])
    found, info = solutions(emit, A, unsqueeze(emit, B, -1) if vectors else B, left)
    return emit.reshape(found, tensor_shape(found)[:-1]) if vectors else found, None, None, info


@register_op("aten.linalg_solve_triangular", limits=SMALL)
def solve_triangular(
    emit: Emitter,
    self: SSAValue,
    B: SSAValue,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> SSAValue:
    """The solutions of a system of which one triangle is read, and with ones on the diagonal"""
    matrices = emit(TriOp(self, upper=upper, diagonal=0))
    if unitriangular:
        element = element_type(self)
        diagonal = emit.array(np.eye(tensor_shape(self)[-1]), i1)
        matrices = emit(WhereOp(diagonal, emit.number(1, element), matrices))
    return solutions(emit, matrices, B, left)[0]


@register_op("aten.linalg_cholesky_ex", limits=SMALL)
def cholesky(
    emit: Emitter, self: SSAValue, upper: bool = False, check_errors: object = False
) -> tuple[SSAValue, SSAValue]:
    """The triangular roots of matrices, and for each the first row without one, from 1, or 0"""
    rest = square_matrices(emit, self, "root")
    batch, size, _ = tensor_shape(rest)
    rest = transposed(emit, rest) if upper else rest
    info = emit.full((batch,), 0, i32)
    columns: list[SSAValue] = []
    for column in indices_of(size):
        below = part(emit, part(emit, rest, 2, column, 1), 1, column, size - column)
        pivot = part(emit, below, 1, 0, 1)
        info = first_noted(emit, info, not_positive(emit, pivot), column)
        found = emit(DivOp(below, emit(SqrtOp(pivot))))
        above = emit.full((batch, column, 1), 0, element_type(self))
        full = emit(CatOp([above, found], dim=1)) if column else found
        columns.append(full)
        rest = emit(SubOp(rest, emit(MulOp(full, transposed(emit, full)))))
    made = emit(CatOp(columns, dim=2)) if size > 1 else columns[0]
    made = transposed(emit, made) if upper else made
    shape = tensor_shape(self)
    return emit.reshape(made, shape), emit.reshape(info, shape[:-2])


def not_positive(emit: Emitter, pivot: SSAValue) -> SSAValue:
    """Return whether a pivot (batch, 1, 1) has no root: zero, below it, or NaN."""
    positive = compared(emit, emit.reshape(pivot, tensor_shape(pivot)[:1]), 0.0, "gt")
    return emit(LogicalNotOp(positive))


def transposed(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor with its last two axes exchanged."""
    rank = len(tensor_shape(value))
    return permuted(emit, value, [*range(rank - 2), rank - 1, rank - 2])


@register_op("aten._linalg_det", limits=UNFACTORED)
def determinant(emit: Emitter, A: SSAValue) -> Sequence[SSAValue | None]:
    """The determinants of matrices"""
    check_unfactored(emit, (1, 2))
    solved = Elimination(emit, square_matrices(emit, A, "determinant"), None)
    product = reduce(lambda lhs, rhs: emit(MulOp(lhs, rhs)), solved.pivots)
    found = solved.unless_singular(emit, product, 0.0)
    return emit.reshape(found, tensor_shape(A)[:-2]), None, None


@register_op("aten._linalg_slogdet", limits=UNFACTORED)
def log_determinant(emit: Emitter, A: SSAValue) -> Sequence[SSAValue | None]:
    """The signs of determinants of matrices, and the logarithms of their magnitudes"""
    check_unfactored(emit, (2, 3))
    solved = Elimination(emit, square_matrices(emit, A, "determinant"), None)
    signs = (emit(SignOp(each)) for each in solved.pivots)
    sizes = (emit(LogOp(emit(AbsOp(each)))) for each in solved.pivots)
    sign = reduce(lambda lhs, rhs: emit(MulOp(lhs, rhs)), signs)
    total = reduce(lambda lhs, rhs: emit(AddOp(lhs, rhs)), sizes)
    shape = tensor_shape(A)[:-2]
    found = solved.unless_singular(emit, sign, 0.0), solved.unless_singular(emit, total, -inf)
    return *(emit.reshape(each, shape) for each in found), None, None


@register_op("aten.linalg_inv", limits=SMALL)
def inverse_alone(emit: Emitter, A: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, A)[0]


@register_op("aten.inverse", limits=SMALL)
def inverse_of_self(emit: Emitter, self: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, self)[0]


@register_op("aten._linalg_check_errors")
def check_errors(
    emit: Emitter, info: SSAValue, api_name: object = None, is_matrix: object = None
) -> None:
    """Nothing: the inverse of a matrix that has none holds what is no number."""
