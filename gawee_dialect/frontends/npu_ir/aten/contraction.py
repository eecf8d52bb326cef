"""Products of matrices and vectors, and distances."""

from collections.abc import Sequence
from math import prod
from string import ascii_letters

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import MulOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, TransposeOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, in_signed, scaled, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.reduction import vector_norm
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Refusal, Tensors

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
        return in_signed(emit, BatchMatMulOp, a, b)
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


def added(
    emit: Emitter, value: SSAValue, product: SSAValue, beta: Number, alpha: Number
) -> SSAValue:
    """Return beta * value + alpha * product; the value is not read where beta is 0."""
    total = scaled(emit, product, alpha)
    return total if beta == 0 else add(emit, total, scaled(emit, value, beta))


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
    return added(emit, self, product(emit, batch1, batch2), beta, alpha)


@register_op("aten.addbmm")
def addbmm(
    emit: Emitter,
    self: SSAValue,
    batch1: SSAValue,
    batch2: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """beta * self + alpha * the sum of all batch1 @ batch2"""
    total = emit(ReduceSumOp(product(emit, batch1, batch2), axes=[0], keep_dims=False))
    return added(emit, self, total, beta, alpha)


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


@register_op("aten.addmv")
def addmv(
    emit: Emitter,
    self: SSAValue,
    mat: SSAValue,
    vec: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """beta * self + alpha * mat @ vec"""
    return added(emit, self, matmul(emit, mat, vec), beta, alpha)


@register_op("aten.dot")
def dot(emit: Emitter, self: SSAValue, tensor: SSAValue) -> SSAValue:
    """The sum of the products of two vectors"""
    return emit(ReduceSumOp(emit(MulOp(self, tensor)), axes=[0], keep_dims=False))


@register_op("aten.outer", "aten.ger")
def outer(emit: Emitter, self: SSAValue, vec2: SSAValue) -> SSAValue:
    """Every product of an element of one vector and one of the other"""
    return emit(MulOp(emit.reshape(self, (*tensor_shape(self), 1)), vec2))


# Distances between the rows of two matrices.


@register_op("aten._cdist_forward", "aten.cdist", "aten._euclidean_dist")
def cdist(
    emit: Emitter, x1: SSAValue, x2: SSAValue, p: float = 2.0, compute_mode: object = None
) -> SSAValue:
    """The vector norm of each row of one matrix minus each row of the other"""
    difference = sub(emit, unsqueeze(emit, x1, -2), unsqueeze(emit, x2, -3))
    return vector_norm(emit, difference, p, [-1])


@register_op("aten._pdist_forward")
def pdist(emit: Emitter, self: SSAValue, p: float = 2.0) -> SSAValue:
    """The vector norm of each row minus each later one"""
    pairs = np.triu_indices(tensor_shape(self)[0], 1)
    first, second = (emit(GatherOp(self, emit.array(each, i64), axis=0)) for each in pairs)
    return vector_norm(emit, sub(emit, first, second), p, [-1])


@register_op("aten.dist")
def dist(emit: Emitter, self: SSAValue, other: SSAValue, p: float = 2.0) -> SSAValue:
    """The vector norm of one tensor minus the other"""
    return vector_norm(emit, sub(emit, self, other), p)


# Products of matrices whose rows, columns or inner elements are in groups.
#
# The ends of the groups are data, so every product is made of everything, and what is not of the
# group is left out.


def members(emit: Emitter, offs: SSAValue, count: int) -> SSAValue:
    """Return which of so many positions are in each group (groups, count), by the groups' ends."""
    (groups,) = tensor_shape(offs)
    element = element_type(offs)
    first = emit.full((1,), 0, element)
    begins = first if groups == 1 else emit(CatOp([first, part(emit, offs, 0, 0, groups - 1)]))
    place = emit(IotaOp(TensorType(element, [count]), axis=0))
    after = compared(emit, unsqueeze(emit, begins, 1), place, "le")
    return emit(BitwiseAndOp(after, compared(emit, unsqueeze(emit, offs, 1), place, "gt")))


def kept(emit: Emitter, value: SSAValue, mask: SSAValue) -> SSAValue:
    """Return elements where a mask says so, and zeros."""
    return emit(WhereOp(mask, value, emit.number(0, element_type(value))))


@register_op("aten._grouped_mm")
def grouped_mm(
    emit: Emitter,
    self: SSAValue,
    mat2: SSAValue,
    offs: SSAValue | None = None,
    bias: SSAValue | None = None,
    out_dtype: str | None = None,
) -> SSAValue:
    """A product for each group: of rows, of columns, of inner elements, or of a batch"""
    if bias is not None:
        raise Refusal("unsupported bias; supported: none")
    ranks = len(tensor_shape(self)), len(tensor_shape(mat2))
    result = product(emit, self, mat2) if ranks == (3, 3) else None
    if result is None and offs is None:
        raise Refusal("expected argument 'offs', got none")
    if result is None and offs is not None:
        result = _by_offsets(emit, self, mat2, offs, ranks)
    assert result is not None
    return result if out_dtype is None else emit.cast(result, dtype_element(out_dtype))


def _by_offsets(
    emit: Emitter, self: SSAValue, mat2: SSAValue, offs: SSAValue, ranks: tuple[int, int]
) -> SSAValue:
    if ranks == (2, 2):
        inner = members(emit, offs, tensor_shape(self)[1])
        return matmul(emit, kept(emit, self, unsqueeze(emit, inner, 1)), mat2)
    everything = matmul(emit, self, mat2)
    rows, axis = (tensor_shape(self)[0], 2) if ranks == (2, 3) else (tensor_shape(mat2)[1], 1)
    mask = unsqueeze(emit, members(emit, offs, rows), axis)
    return emit(ReduceSumOp(kept(emit, everything, mask), axes=[0], keep_dims=False))


@register_op("transformers.grouped_mm_fallback")
def grouped_mm_fallback(
    emit: Emitter, input: SSAValue, weight: SSAValue, offs: SSAValue
) -> SSAValue:
    """A product for each group of rows, as transformers makes it of experts"""
    return grouped_mm(emit, input, weight, offs)


# Einstein summation, as products of matrices: pair after pair, from the left.

ELLIPSIS_LABELS = "0123456789"
"""Labels of the axes that `...` stands for, the last one last."""


class Term:
    """A tensor whose axes have labels."""

    def __init__(self, value: SSAValue, labels: str) -> None:
        self.value = value
        self.labels = labels

    def size(self, label: str) -> int:
        """Return the size of a label's axis, 1 where the tensor has none."""
        return tensor_shape(self.value)[self.labels.index(label)] if label in self.labels else 1

    def arranged(self, emit: Emitter, labels: str) -> "Term":
        """Return the tensor with its axes in an order; labels that it lacks become axes of 1."""
        missing = "".join(label for label in labels if label not in self.labels)
        shape = (*tensor_shape(self.value), *[1] * len(missing))
        mine = self.labels + missing
        value = emit.reshape(self.value, shape)
        return Term(permuted(emit, value, [mine.index(label) for label in labels]), labels)

    def summed(self, emit: Emitter, gone: Sequence[str]) -> "Term":
        """Return the tensor summed over some labels."""
        axes = [self.labels.index(label) for label in gone]
        if not axes:
            return self
        rest = "".join(label for label in self.labels if label not in gone)
        return Term(emit(ReduceSumOp(self.value, axes=sorted(axes), keep_dims=False)), rest)


def parse_equation(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result, `...` spelled out with digits.

    Raises Refusal where the equation does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise Refusal(f"expected {len(parts)} operands of '{equation}', got {len(ranks)}")
    for term in (*parts, right):
        named = term.replace("...", "", 1)
        if named and not (named.isascii() and named.isalpha()):
            raise Refusal(f"expected letters and one '...' in '{term}' of '{equation}'")
    labels = [_spell_out(term, rank, equation) for term, rank in zip(parts, ranks, strict=True)]
    most = max((sum(label.isdigit() for label in each) for each in labels), default=0)
    dots = ELLIPSIS_LABELS[len(ELLIPSIS_LABELS) - most :]
    if arrow:
        result = right.replace("...", dots)
        if len(set(result)) != len(result) or not set(result) <= set("".join(labels)):
            raise Refusal(f"expected labels of the operands, each once, in '{right}'")
        return labels, result
    every = "".join(labels)
    once = sorted(label for label in set(every) if label.isalpha() and every.count(label) == 1)
    return labels, dots + "".join(once)


def _spell_out(part: str, rank: int, equation: str) -> str:
    named = len(part.replace("...", ""))
    count = rank - named
    if count < 0 or (count > 0 and "..." not in part) or count > len(ELLIPSIS_LABELS):
        raise Refusal(f"expected {named} axes of '{part}' in '{equation}', got {rank}")
    labels = part.replace("...", ELLIPSIS_LABELS[len(ELLIPSIS_LABELS) - count :])
    return labels


def _on_diagonals(emit: Emitter, value: SSAValue, labels: str) -> Term:
    """Return what lies where equal labels have equal indices, with each label once.

    All else is zero in a sum over the axis that the label has last.
    """
    while len(set(labels)) < len(labels):
        last = max(at for at, label in enumerate(labels) if label in labels[:at])
        first, shape = labels.index(labels[last]), tensor_shape(value)
        if shape[first] != shape[last]:
            sizes = f"{shape[first]} and {shape[last]}"
            raise Refusal(f"expected axes of one size for a label that is there twice, got {sizes}")
        eye = np.eye(shape[first], shape[last], dtype=bool)
        between = [size if at in (first, last) else 1 for at, size in enumerate(shape)]
        mask = emit.array(eye.reshape(between), i1)
        zero = emit.number(0, element_type(value))
        value = emit(ReduceSumOp(emit(WhereOp(mask, value, zero)), axes=[last], keep_dims=False))
        labels = labels[:last] + labels[last + 1 :]
    return Term(value, labels)


def contracted(emit: Emitter, lhs: Term, rhs: Term, kept: str) -> Term:
    """Return the product of two terms, summed over the labels that are not kept."""

    def own(term: Term, other: Term) -> list[str]:
        return [each for each in term.labels if each not in other.labels and each not in kept]

    lhs, rhs = lhs.summed(emit, own(lhs, rhs)), rhs.summed(emit, own(rhs, lhs))
    shared = [label for label in lhs.labels if label in rhs.labels]
    batch = "".join(label for label in shared if label in kept)
    inner = "".join(label for label in shared if label not in kept)
    rows = "".join(label for label in lhs.labels if label not in shared)
    columns = "".join(label for label in rhs.labels if label not in shared)
    if not inner:
        order = batch + rows + columns
        a, b = lhs.arranged(emit, order).value, rhs.arranged(emit, order).value
        return Term(emit(MulOp(a, b)), order)
    return _product(emit, lhs, rhs, (batch, rows, inner, columns))


def _product(emit: Emitter, lhs: Term, rhs: Term, labels: tuple[str, str, str, str]) -> Term:
    batch, rows, inner, columns = labels
    sizes = {
        label: max(lhs.size(label), rhs.size(label)) for label in batch + rows + inner + columns
    }

    def matrix(term: Term, first: str, second: str) -> SSAValue:
        value = term.arranged(emit, batch + first + second).value
        lead = tensor_shape(value)[: len(batch)]
        joined = [prod(sizes[label] for label in each) for each in (first, second)]
        full = (*lead, *(sizes[label] for label in first + second))
        return emit.reshape(emit.broadcast(value, full), (*lead, *joined))

    a, b = matrix(lhs, rows, inner), matrix(rhs, columns, inner)
    result = emit(BatchMatMulOp(a, b, transpose_b=True))
    order = batch + rows + columns
    return Term(emit.reshape(result, [sizes[label] for label in order]), order)


@register_op("aten.einsum")
def einsum(emit: Emitter, equation: str, tensors: Tensors, path: object = None) -> SSAValue:
    """Products summed over the labels that the result does not have"""
    labels, result = parse_equation(equation, [len(tensor_shape(each)) for each in tensors])
    terms = [_on_diagonals(emit, *each) for each in zip(tensors, labels, strict=True)]
    term = terms[0]
    for index, other in enumerate(terms[1:], 1):
        later = "".join(each.labels for each in terms[index + 1 :])
        term = contracted(emit, term, other, result + later)
    term = term.summed(emit, [label for label in term.labels if label not in result])
    return term.arranged(emit, result).value


@register_op("aten._trilinear")
def trilinear(
    emit: Emitter,
    i1: SSAValue,
    i2: SSAValue,
    i3: SSAValue,
    expand1: Ints,
    expand2: Ints,
    expand3: Ints,
    sumdim: Ints,
    unroll_dim: object = 1,
) -> SSAValue:
    """The sum of the products of three tensors, each of which lacks some of the axes"""
    axes = ascii_letters[: len(tensor_shape(i1)) + len(expand1)]

    def without(lacking: Ints) -> str:
        return "".join(label for axis, label in enumerate(axes) if axis not in lacking)

    terms = ",".join(without(each) for each in (expand1, expand2, expand3))
    return einsum(emit, f"{terms}->{without(sumdim)}", [i1, i2, i3])
