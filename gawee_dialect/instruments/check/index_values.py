"""Numbers that indices are where loops stand at some iteration, and what memory ops touch there."""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arith import SCALAR_ARITH
from gawee_dialect.interpreter.arrays import dtype_of
from gawee_dialect.interpreter.scalars import evaluate_scalar
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp


class IndexValues:
    """Evaluates indices: loop counters have numbers, whatever is computed from them is computed."""

    def __init__(self, numbers: dict[SSAValue, int]) -> None:
        self.numbers = numbers

    def number(self, value: SSAValue) -> int | None:
        """Return the number that an index is in this iteration; None where data decide on it."""
        if value in self.numbers:
            return self.numbers[value]
        known = constant_index(value)
        if known is not None or not isinstance(value.owner, Operation):
            return known
        return self._result(value.owner)

    def _result(self, op: Operation) -> int | None:
        if isinstance(op, arith.SelectOp):
            condition = self.number(op.cond)
            chosen = op.lhs if condition else op.rhs
            return None if condition is None else self.number(chosen)
        evaluate = SCALAR_ARITH.get(type(op))
        if evaluate is None or not isinstance(op.results[0].type, IntegerType | IndexType):
            return None  # a vector of indices is not one of them
        operands = [self.number(each) for each in op.operands]
        known = [each for each in operands if each is not None]
        if len(known) < len(operands):
            return None
        dtypes = (dtype_of(each.type) for each in op.operands)
        arrays = [np.asarray(*each)[()] for each in zip(known, dtypes, strict=True)]
        try:
            return int(evaluate_scalar(evaluate, op, arrays))
        except InterpretationError:  # such as a division by zero, which no run gets to
            return None


Box = tuple[SSAValue, Sequence[SSAValue | int], Sequence[int], bool]
"""Memory, where a box in it begins, how many elements it has along each axis, whether written."""


def touched_box(op: Operation) -> Box | None:
    """Return what a load, a store or an insertion touches; None of any other op."""
    match op:
        case memref.LoadOp() | memref.StoreOp():
            sizes = [1] * len(op.indices)
            return op.memref, [*op.indices], sizes, isinstance(op, memref.StoreOp)
        case vector.LoadOp():
            return op.base, [*op.indices], _lanes(op.indices, op.result.type), False
        case vector.StoreOp():
            return op.base, [*op.indices], _lanes(op.indices, op.vector.type), True
        case vector.MaskedLoadOp() | vector.MaskedStoreOp():
            lanes = _lanes_of_mask(op)
            return None if False in lanes[: sum(lanes)] else reached_box(op)
        case ParallelInsertSliceOp():
            return _slice(op)
        case _:
            return None


def _lanes(indices: Iterable[SSAValue], type: Attribute) -> Sequence[int]:
    """Return the elements that a vector spans along each axis: those of the last one."""
    sizes = [1 for _ in indices]
    if sizes and isa(type, VectorType[Attribute]):
        sizes[-1] = prod(type.get_shape())
    return sizes


def reached_box(op: Operation) -> Box | None:
    """Return a box that ends with the last element that an op touches, as `touched_box` does."""
    if not isinstance(op, vector.MaskedLoadOp | vector.MaskedStoreOp):
        return touched_box(op)
    lanes = _lanes_of_mask(op)
    if not any(lanes):
        return None
    last = max(lane for lane, is_set in enumerate(lanes) if is_set)
    sizes = [*(1 for _ in op.indices[1:]), last + 1]
    return op.base, [*op.indices], sizes, isinstance(op, vector.MaskedStoreOp)


def _lanes_of_mask(op: vector.MaskedLoadOp | vector.MaskedStoreOp) -> Sequence[bool]:
    """Return which lanes a constant mask has set; none of a mask that is computed."""
    mask = op.mask.owner
    value = mask.value if isinstance(mask, arith.ConstantOp) else None
    if not isa(value, DenseIntOrFPElementsAttr[IntegerType]):
        return ()
    return [bool(bit) for bit in value.get_values()]


def _slice(op: ParallelInsertSliceOp) -> Box | None:
    if op.sizes or op.strides or any(each != 1 for each in op.static_strides.get_values()):
        return None
    given: Iterator[SSAValue] = iter(op.offsets)
    offsets = [each if each >= 0 else next(given) for each in op.static_offsets.get_values()]
    return op.dest, offsets, op.static_sizes.get_values(), True
