"""Shapes, parts and orders of axes, as mappings of every vocabulary need them."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arrangement import TransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Ints, Number


def completed(shape: Ints, elements: int) -> list[int]:
    """Return a shape whose one -1, if any, is what the number of elements leaves for it."""
    known = prod(size for size in shape if size != -1)
    if -1 not in shape:
        return list(shape)
    if shape.count(-1) > 1 or known == 0 or elements % known != 0:
        raise Refusal(f"expected shape {list(shape)} to hold {elements} elements")
    return [elements // known if size == -1 else size for size in shape]


def part(
    emit: Emitter, value: SSAValue, axis: int, start: int, size: int, step: int = 1
) -> SSAValue:
    """Return a part of one axis; the tensor itself where that is all of it."""
    shape = tensor_shape(value)
    if (start, size, step) == (0, shape[axis], 1):
        return value
    offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    offsets[axis], sizes[axis], strides[axis] = start, size, step
    return emit(SliceOp(value, offsets=offsets, sizes=sizes, strides=strides))


def bounds(size: int, start: int | None, end: int | None, step: int) -> tuple[int, int]:
    """Return the first position that a slice takes of an axis, and how many: Python's rule.

    The step is at least 1. Raises UnknownSize where open sizes do not tell.
    """
    ends = (0 if start is None else start, size if end is None else end)
    first, last = (
        each if each == size else min(max(each if each >= 0 else each + size, 0), size)
        for each in ends
    )
    count = max(-((first - last) // step), 0)
    return (first if isinstance(count, OpenSize) or count else 0), count


def counted(emit: Emitter, start: Number, count: int, step: Number, element: Attribute) -> SSAValue:
    """Return so many numbers: start, start + step, ...; start and count may be open sizes.

    Raises Refusal for an open start with a step other than 1.
    """
    if isinstance(start, OpenSize):
        if step != 1:
            raise Refusal(f"expected a step of 1 from the open size '{start}', got {step}")
        return part(emit, counted(emit, 0, start + count, 1, element), 0, start, count)
    value = emit(IotaOp(TensorType(element, [count]), axis=0))
    if step != 1:
        value = emit(MulOp(value, emit.number(step, element)))
    return value if start == 0 else emit(AddOp(value, emit.number(start, element)))


def permuted(emit: Emitter, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """Return a tensor with its axes in another order; itself where it is the same order."""
    in_order = list(permutation) == sorted(permutation)
    return value if in_order else emit(TransposeOp(value, permutation=permutation))


def stacked(emit: Emitter, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Return tensors of one type along a new axis, counted from the start.

    They are put together along the axis that is there, which is split then: what follows on images
    sees channels. Behind the last axis there is none.
    """
    shape = tensor_shape(values[0])
    if axis < len(shape) and all(tensor_shape(each) == shape for each in values):
        joined = emit(CatOp(values, dim=axis)) if len(values) > 1 else values[0]
        return emit.reshape(joined, (*shape[:axis], len(values), *shape[axis:]))
    rows = [_with_axis(emit, each, axis) for each in values]
    return emit(CatOp(rows, dim=axis)) if len(rows) > 1 else rows[0]


def _with_axis(emit: Emitter, value: SSAValue, axis: int) -> SSAValue:
    shape = tensor_shape(value)
    return emit.reshape(value, (*shape[:axis], 1, *shape[axis:]))
