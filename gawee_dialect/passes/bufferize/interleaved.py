"""Kernels whose results are put a stride apart into one tensor: each writes there at once.

Such parts share no element, and nobody reads the whole before the last of them is in it. So it does
not matter that a part is there before the op that inserts it.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.types import tensor_shape


def insertion_of(kernel: KernelOp) -> tensor.InsertSliceOp | None:
    """Return the op that puts a kernel's result between others; None where there is none."""
    result = kernel.result
    user = None if result is None else only_user(result)
    if not isinstance(user, tensor.InsertSliceOp) or user.dest is result:
        return None
    return user if max(user.static_strides.get_values(), default=1) > 1 else None


def only_user(value: SSAValue) -> object:
    """Return the only op that uses a value, and uses it once; None where there are others."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def interleaved(op: tensor.InsertSliceOp) -> Sequence[tensor.InsertSliceOp]:
    """Return the ops that fill one tensor, of which `op` is one: from an empty one on, in order.

    None at all where others use the tensor in between, or where parts overlap.
    """
    chain = [*reversed(list(_before(op))), op, *_behind(op)]
    starts_empty = isinstance(chain[0].dest.owner, tensor.EmptyOp)
    alone = only_user(chain[0].dest) is chain[0]
    static = all(not (each.offsets or each.sizes or each.strides) for each in chain)
    together = len({each.parent for each in chain}) == 1
    apart = static and all(_are_apart(lhs, rhs) for lhs, rhs in combinations(chain, 2))
    return chain if starts_empty and alone and together and apart else ()


def _before(op: tensor.InsertSliceOp) -> Iterator[tensor.InsertSliceOp]:
    earlier = op.dest.owner
    while isinstance(earlier, tensor.InsertSliceOp) and only_user(earlier.result) is not None:
        yield earlier
        earlier = earlier.dest.owner


def _behind(op: tensor.InsertSliceOp) -> Iterator[tensor.InsertSliceOp]:
    later = only_user(op.result)
    while isinstance(later, tensor.InsertSliceOp) and later.dest is op.result:
        yield later
        op, later = later, only_user(later.result)


def _are_apart(lhs: tensor.InsertSliceOp, rhs: tensor.InsertSliceOp) -> bool:
    """Whether two parts share no element: along some axis they go by one stride, from others."""
    offsets = zip(lhs.static_offsets.get_values(), rhs.static_offsets.get_values(), strict=True)
    strides = zip(lhs.static_strides.get_values(), rhs.static_strides.get_values(), strict=True)
    return len(tensor_shape(lhs.source)) == len(tensor_shape(lhs.dest)) and any(
        one == other and (first - second) % one
        for (first, second), (one, other) in zip(offsets, strides, strict=True)
    )
