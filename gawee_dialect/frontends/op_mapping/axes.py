"""Parts and orders of axes, as mappings of every vocabulary need them."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter


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


def permuted(emit: Emitter, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """Return a tensor with its axes in another order; itself where it is the same order."""
    in_order = list(permutation) == sorted(permutation)
    return value if in_order else emit(TransposeOp(value, permutation=permutation))
