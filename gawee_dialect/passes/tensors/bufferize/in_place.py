"""Whether an op on tensors may write its destination's buffer: that has no later reader.

A tensor is a value, its buffer is a place; several versions of a tensor share a place where each is
done with before the next one is made.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.effects import is_inside as made_inside
from gawee_dialect.analysis.index_bounds import Index, mixed, same_indices
from gawee_dialect.upstream.scf import ForallOp
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp
from gawee_dialect.upstream.walk import all_ops

Insertion = tensor.InsertSliceOp | ParallelInsertSliceOp
Slice = tensor.ExtractSliceOp | Insertion
Loop = scf.ForOp | scf.WhileOp | ForallOp


@dataclass(eq=False)
class Root:
    """One piece of memory, and every tensor value that lives in it, views included."""

    writable: bool
    tensors: list[SSAValue] = field(default_factory=list[SSAValue])


class InPlace:
    """Says which writes no reader sees; holds the buffer of every tensor so far."""

    def __init__(self, function: FuncOp, buffers: Mapping[SSAValue, SSAValue]):
        self._order = {op: index for index, op in enumerate(all_ops(function))}
        self._buffers = buffers

    def may_write(self, root: Root, op: Operation, old: SSAValue, *, reads: bool) -> bool:
        """Whether `op` may write what `old` is in; it `reads` what was there, or not.

        1. The memory is ours, and the op uses no other value that is in it.
        2. No value in it is used later, but to be inserted into just where the op writes.
        3. In a loop, no value from outside of it is used: each iteration would see the last one's.
        """
        if not root.writable or sum(value is old for value in op.operands) > 1:
            return False
        return not any(
            self._sees(use.operation, value, op, old, reads=reads)
            for value in root.tensors
            for use in value.uses
        )

    def _sees(
        self, user: Operation, value: SSAValue, op: Operation, old: SSAValue, *, reads: bool
    ) -> bool:
        """Whether a user of a value in the memory sees that it was written."""
        if user is op and value is not old and not self.is_own_slice(op, value):
            return True
        if user is not op or reads:
            loops = (loop for loop in loops_around(op) if is_inside(user, loop))
            if any(not made_inside(value, loop) for loop in loops):
                return True
        later = user is not op and self._order[user] > self._order[op]
        return later and not self._is_replaced(user, value, old)

    def is_own_slice(self, op: Operation, source: SSAValue) -> bool:
        """Whether an op inserts a slice into just the place where it is already."""
        if not isinstance(op, Insertion) or source is not op.source:
            return False
        return self._is_slice(self._buffers[source], self._buffers[op.dest], op)

    def names_same_box(self, lhs: Slice, rhs: Slice) -> bool:
        """Whether two ops on slices of a tensor surely name the same part of it."""
        return all(map(same_indices, self._box(lhs), self._box(rhs)))

    def _is_replaced(self, user: Operation, value: SSAValue, old: SSAValue) -> bool:
        """Whether a user replaces the part of a value that `old` is in."""
        if not isinstance(user, Insertion) or user.dest is not value:
            return False
        whole = self._buffers[value]
        return any(self._is_slice(part, whole, user) for part in parts(self._buffers[old]))

    def _is_slice(self, part: SSAValue, whole: SSAValue, op: Slice) -> bool:
        view = part.owner
        if not isinstance(view, memref.SubviewOp) or view.source is not whole:
            return False
        return all(map(same_indices, self._box(op), self._box(view)))

    def _box(self, op: Slice | memref.SubviewOp) -> Sequence[Sequence[Index]]:
        """Return offsets, sizes and strides, of values as they are in the new function."""
        each = (
            (op.static_offsets, op.offsets),
            (op.static_sizes, op.sizes),
            (op.static_strides, op.strides),
        )
        return [
            mixed(static.get_values(), [self._buffers.get(value, value) for value in dynamic])
            for static, dynamic in each
        ]


def parts(buffer: SSAValue) -> Iterator[SSAValue]:
    """Yield a buffer, and what it is a subview of, from the inside out."""
    yield buffer
    while isinstance(buffer.owner, memref.SubviewOp):
        buffer = buffer.owner.source
        yield buffer


def loops_around(op: Operation) -> Iterator[Loop]:
    """Yield the loops that an op is in, the innermost first."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, Loop):
            yield parent
        parent = parent.parent_op()


def is_inside(op: Operation, loop: Loop) -> bool:
    """Whether an op is in the body of a loop."""
    return op is not loop and loop.is_ancestor(op)
