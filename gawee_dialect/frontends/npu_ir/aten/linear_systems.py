"""Linear systems: solutions, inverses, determinants, Cholesky's factors."""

from collections.abc import Sequence
from functools import partial
from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp, LogOp, NegOp, SignOp
from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
from gawee_dialect.dialect.graph.elementwise import (
    DivOp,
    MulOp,
    SqrtOp,
    SubOp,
    broadcast_shape,
)
from gawee_dialect.dialect.graph.indexing import GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ReduceProdOp, ReduceSumOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.contraction import matmul
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.control_flow import Values, recurrence
from gawee_dialect.frontends.op_mapping.emitter import Emitter, as_element, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Operand, Refusal

# Elimination, by Gauss and Jordan with the greatest pivots.


UNFACTORED = ("triangular factors are not made",)


def first_noted(emit: Emitter, info: SSAValue, fails: SSAValue, column: Operand) -> SSAValue:
    """Return info with a column, counted from 1, where it is the first that fails."""
    first = emit(BitwiseAndOp(fails, compared(emit, info, 0, "eq")))
    return emit(WhereOp(first, as_element(emit, add(emit, column, 1), i32), info))


class Elimination:
    """Solves square systems, A (batch, size, size) beside right sides (batch, size, width).

    `result` are the solutions, `info` for each matrix the first pivot that is zero, counted from 1,
    or 0, and `pivots` those of each column (size, batch), negated where two rows were exchanged.
    """

    def __init__(self, emit: Emitter, matrices: SSAValue, right: SSAValue | None) -> None:
        batch, size, _ = tensor_shape(matrices)
        both = matrices if right is None else emit(CatOp([matrices, right], dim=2))
        self.info = emit.full((batch,), 0, i32)
        columns = emit(IotaOp(TensorType(i64, [size]), axis=0))
        steps = recurrence(emit, partial(_eliminated, emit), (both, self.info), [columns])
        (both, self.info), (self.pivots,) = steps
        self.result = part(emit, both, 2, size, tensor_shape(both)[2] - size)

    def unless_singular(self, emit: Emitter, value: SSAValue, otherwise: float) -> SSAValue:
        """Return what was made of the pivots, or a number where one of them is zero."""
        singular = compared(emit, self.info, 0, "ne")
        return emit(WhereOp(singular, emit.number(otherwise, element_type(value)), value))


def _eliminated(emit: Emitter, state: Values, now: Values) -> tuple[Values, Values]:
    """Take the step of a column that a run counts: the state has the matrices, and `info`."""
    (both, info), (column,) = state, now
    batch, size, _ = tensor_shape(both)
    row = emit(IotaOp(TensorType(i64, [batch, size]), axis=1))
    below = compared(emit, row, column, "ge")
    sizes = emit(AbsOp(emit(GatherOp(both, column, axis=2))))
    left = emit(WhereOp(below, sizes, emit.number(-1, element_type(both))))
    place = emit(ArgMaxOp(left, axis=1))
    pivot = emit.reshape(place, (batch, 1))
    here, there = compared(emit, row, column, "eq"), compared(emit, row, pivot, "eq")
    source = emit(WhereOp(here, pivot, emit(WhereOp(there, column, row))))
    both = emit(GatherNdOp(both, unsqueeze(emit, source, 2), batch_dims=1))
    factors = emit(GatherOp(both, column, axis=2))
    found = emit(GatherOp(factors, column, axis=1))
    scaled = emit(DivOp(emit(GatherOp(both, column, axis=1)), unsqueeze(emit, found, 1)))
    scaled = unsqueeze(emit, scaled, 1)
    eliminated = emit(SubOp(both, emit(MulOp(unsqueeze(emit, factors, 2), scaled))))
    both = emit(WhereOp(unsqueeze(emit, here, 2), scaled, eliminated))
    info = first_noted(emit, info, compared(emit, found, 0.0, "eq"), column)
    exchanged = compared(emit, place, column, "ne")
    return (both, info), (emit(WhereOp(exchanged, emit(NegOp(found)), found)),)


def square_matrices(emit: Emitter, A: SSAValue) -> SSAValue:
    """Return matrices with one axis for all of a batch; raises Refusal unless they are square."""
    *lead, size, columns = tensor_shape(A)
    if size != columns or not is_float(element_type(A)):
        raise Refusal(f"expected square matrices of floats, got {A.type}")
    return emit.reshape(A, (prod(lead), size, size))


@register_op("aten.linalg_inv_ex")
def inverse(emit: Emitter, A: SSAValue, check_errors: object = False) -> tuple[SSAValue, SSAValue]:
    """The inverses of matrices, and for each the first pivot that is zero, counted from 1, or 0"""
    matrices = square_matrices(emit, A)
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
    matrices, lead = square_matrices(emit, A), tensor_shape(A)[:-2]
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


@register_op("aten.linalg_solve_triangular")
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


@register_op("aten.linalg_cholesky_ex")
def cholesky(
    emit: Emitter, self: SSAValue, upper: bool = False, check_errors: object = False
) -> tuple[SSAValue, SSAValue]:
    """The triangular roots of matrices, and for each the first row without one, from 1, or 0"""
    rest = square_matrices(emit, self)
    batch, size, _ = tensor_shape(rest)
    rest = transposed(emit, rest) if upper else rest
    info = emit.full((batch,), 0, i32)
    places = emit(IotaOp(TensorType(i64, [size]), axis=0))
    (_, info), (kept,) = recurrence(emit, partial(_root_column, emit), (rest, info), [places])
    made = permuted(emit, kept, [1, 0, 2] if upper else [1, 2, 0])
    shape = tensor_shape(self)
    return emit.reshape(made, shape), emit.reshape(info, shape[:-2])


def _root_column(emit: Emitter, state: Values, now: Values) -> tuple[Values, Values]:
    """Take the step of a column that a run counts: the state has what is left, and the info."""
    (rest, info), (place,) = state, now
    batch, size, _ = tensor_shape(rest)
    row = emit(IotaOp(TensorType(i64, [batch, size]), axis=1))
    column = emit(GatherOp(rest, place, axis=2))
    pivot = unsqueeze(emit, emit(GatherOp(column, place, axis=1)), 1)
    info = first_noted(emit, info, not_positive(emit, pivot), place)
    found = emit(DivOp(column, emit(SqrtOp(pivot))))
    nothing = emit.number(0, element_type(rest))
    full = emit(WhereOp(compared(emit, row, place, "ge"), found, nothing))
    product = emit(MulOp(unsqueeze(emit, full, 2), unsqueeze(emit, full, 1)))
    return (emit(SubOp(rest, product)), info), (full,)


def not_positive(emit: Emitter, pivot: SSAValue) -> SSAValue:
    """Return whether a pivot of each matrix has no root: zero, below it, or NaN."""
    positive = compared(emit, emit.reshape(pivot, tensor_shape(pivot)[:1]), 0.0, "gt")
    return emit(LogicalNotOp(positive))


@register_op("aten.cholesky_solve")
def cholesky_solve(
    emit: Emitter, self: SSAValue, input2: SSAValue, upper: bool = False
) -> SSAValue:
    """The solutions of a system of which a triangular root is given"""
    lower = transposed(emit, input2) if upper else input2
    half = solve_triangular(emit, lower, self, upper=False)
    return solve_triangular(emit, transposed(emit, lower), half, upper=True)


@register_op("aten.cholesky_inverse")
def cholesky_inverse(emit: Emitter, self: SSAValue, upper: bool = False) -> SSAValue:
    """The inverse of a matrix of which a triangular root is given"""
    shape = tensor_shape(self)
    unit = emit.broadcast(emit.array(np.eye(shape[-1]), element_type(self)), shape)
    return cholesky_solve(emit, unit, self, upper)


@register_op("aten.linalg_qr")
def qr(emit: Emitter, A: SSAValue, mode: str = "reduced") -> Sequence[SSAValue]:
    """Orthogonal columns and what makes a matrix of them, by Householder's reflections"""
    *lead, rows, columns = tensor_shape(A)
    rest = emit.reshape(A, (prod(lead), rows, columns))
    count = min(rows, columns)
    unit = emit.array(np.eye(rows), element_type(A))
    turned = emit.broadcast(unit, (prod(lead), rows, rows))
    places = emit(IotaOp(TensorType(i64, [count]), axis=0))
    (rest, turned), _ = recurrence(emit, partial(_reflected, emit), (rest, turned), [places])
    upper = emit(TriOp(rest, upper=True, diagonal=0))
    kept = rows if mode == "complete" else count
    upper, turned = part(emit, upper, 1, 0, kept), part(emit, turned, 2, 0, kept)
    left = (
        emit.full((0,), 0, element_type(A))
        if mode == "r"
        else emit.reshape(turned, (*lead, rows, kept))
    )
    return left, emit.reshape(upper, (*lead, kept, columns))


def _reflected(emit: Emitter, state: Values, now: Values) -> tuple[Values, Values]:
    """Make a column zero below the diagonal: by what is the other half of I - 2 v v' / v'v."""
    (rest, turned), (place,) = state, now
    batch, rows, _ = tensor_shape(rest)
    element = element_type(rest)
    row = emit(IotaOp(TensorType(i64, [batch, rows]), axis=1))
    nothing, one = emit.number(0, element), emit.number(1, element)
    column = emit(GatherOp(rest, place, axis=2))
    below = emit(WhereOp(compared(emit, row, place, "gt"), column, nothing))
    first = emit(GatherOp(column, place, axis=1))
    tail = emit(ReduceSumOp(emit(MulOp(below, below)), axes=[1], keep_dims=False))
    length = emit(SqrtOp(add(emit, emit(MulOp(first, first)), tail)))
    negative = compared(emit, first, 0.0, "lt")
    start = emit(WhereOp(negative, emit(SubOp(first, length)), add(emit, first, length)))
    here = compared(emit, row, place, "eq")
    normal = emit(WhereOp(here, unsqueeze(emit, start, 1), below))
    square = add(emit, emit(MulOp(start, start)), tail)
    # What has nothing below the diagonal stays as it is.
    done = compared(emit, tail, 0.0, "eq")
    square = emit(WhereOp(done, one, square))
    factor = emit(WhereOp(done, nothing, emit(DivOp(emit.number(2, element), square))))
    across, along = (unsqueeze(emit, normal, axis) for axis in (1, 2))
    factor = emit.reshape(factor, (batch, 1, 1))
    shadow = emit(MulOp(matmul(emit, across, rest), factor))
    rest = emit(SubOp(rest, emit(MulOp(along, shadow))))
    return (rest, _turned(emit, turned, normal, factor)), ()


def _turned(emit: Emitter, turned: SSAValue, normal: SSAValue, factor: SSAValue) -> SSAValue:
    """Return matrices times I - factor v v', of normals v (batch, rows)."""
    shadow = emit(MulOp(matmul(emit, turned, unsqueeze(emit, normal, 2)), factor))
    return emit(SubOp(turned, emit(MulOp(shadow, unsqueeze(emit, normal, 1)))))


@register_op("aten.linalg_householder_product")
def householder_product(emit: Emitter, input: SSAValue, tau: SSAValue) -> SSAValue:
    """The first columns of a product of reflections, whose normals are below a diagonal of ones"""
    *lead, rows, columns = tensor_shape(input)
    count = tensor_shape(tau)[-1]
    element = element_type(input)
    normals = emit(TriOp(input, upper=False, diagonal=-1))
    ones = emit.array(np.eye(rows, columns), element)
    normals = emit.reshape(add(emit, normals, ones), (prod(lead), rows, columns))
    normals = permuted(emit, part(emit, normals, 2, 0, count), [2, 0, 1])
    factors = permuted(emit, emit.reshape(tau, (prod(lead), count)), [1, 0])
    unit = emit.broadcast(emit.array(np.eye(rows), element), (prod(lead), rows, rows))

    def step(state: Values, now: Values) -> tuple[Values, Values]:
        factor = emit.reshape(now[1], (prod(lead), 1, 1))
        return (_turned(emit, state[0], now[0], factor),), ()

    (turned,), _ = recurrence(emit, step, (unit,), [normals, factors])
    return emit.reshape(part(emit, turned, 2, 0, columns), (*lead, rows, columns))


def transposed(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor with its last two axes exchanged."""
    rank = len(tensor_shape(value))
    return permuted(emit, value, [*range(rank - 2), rank - 1, rank - 2])


@register_op("aten._linalg_det", limits=UNFACTORED)
def determinant(emit: Emitter, A: SSAValue) -> Sequence[SSAValue | None]:
    """The determinants of matrices"""
    check_unfactored(emit, (1, 2))
    solved = Elimination(emit, square_matrices(emit, A), None)
    product = emit(ReduceProdOp(solved.pivots, axes=[0], keep_dims=False))
    found = solved.unless_singular(emit, product, 0.0)
    return emit.reshape(found, tensor_shape(A)[:-2]), None, None


@register_op("aten._linalg_slogdet", limits=UNFACTORED)
def log_determinant(emit: Emitter, A: SSAValue) -> Sequence[SSAValue | None]:
    """The signs of determinants of matrices, and the logarithms of their magnitudes"""
    check_unfactored(emit, (2, 3))
    solved = Elimination(emit, square_matrices(emit, A), None)
    sign = emit(ReduceProdOp(emit(SignOp(solved.pivots)), axes=[0], keep_dims=False))
    sizes = emit(LogOp(emit(AbsOp(solved.pivots))))
    total = emit(ReduceSumOp(sizes, axes=[0], keep_dims=False))
    shape = tensor_shape(A)[:-2]
    found = solved.unless_singular(emit, sign, 0.0), solved.unless_singular(emit, total, -inf)
    return *(emit.reshape(each, shape) for each in found), None, None


@register_op("aten.linalg_inv")
def inverse_alone(emit: Emitter, A: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, A)[0]


@register_op("aten.inverse")
def inverse_of_self(emit: Emitter, self: SSAValue) -> SSAValue:
    """The inverses of matrices"""
    return inverse(emit, self)[0]


@register_op("aten._linalg_check_errors")
def check_errors(
    emit: Emitter, info: SSAValue, api_name: object = None, is_matrix: object = None
) -> None:
    """Nothing: the inverse of a matrix that has none holds what is no number."""
