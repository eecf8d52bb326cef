"""Einstein summation, as products of matrices: pair after pair, from the left."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from gawee_dialect.dialect.comparison import WhereOp
from gawee_dialect.dialect.elementwise import MulOp
from gawee_dialect.dialect.matmul import BatchMatMulOp
from gawee_dialect.dialect.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Tensors

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
