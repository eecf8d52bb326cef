"""Compute the parts of a buffer where they end up, in the place of copies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnknownLoc, i8
from xdsl.dialects.func import CallOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from gawee_dialect.analysis.effects import VIEWS, WrittenBuffers, buffer_of
from gawee_dialect.analysis.kernel_kind import bytes_of_words, is_word_copy
from gawee_dialect.analysis.signature import entries
from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.graph.scan import kernel_blocks
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.types import dense_bytes
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.plan_memory import (
    ALIGNMENT,
    Lifetime,
    erase,
    lifetimes,
    local_spans,
    place,
    users_through_views,
)
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream.amx import TileLoadOp, TileStoreOp

GROWTH = 1.2
"""How many times the bytes alive at once may be what they were."""

ACCESSES = (
    LinalgStructuredOperation,
    StructuredKernel,
    memref.CopyOp,
    memref.LoadOp,
    memref.StoreOp,
    vector.LoadOp,
    vector.StoreOp,
    vector.MaskedLoadOp,
    vector.MaskedStoreOp,
    TileLoadOp,
    TileStoreOp,
    CallOp,
)
"""Ops of which it is known what they read and write, and that keep no buffer."""


@dataclass(frozen=True)
class Run:
    """Bytes side by side in an allocation, from `start` to before `end`."""

    start: int
    end: int

    def overlaps(self, other: "Run") -> bool:
        return self.start < other.end and other.start < self.end

    def moved(self, by: int) -> "Run":
        return Run(self.start + by, self.end + by)


@dataclass(frozen=True)
class Touch:
    """What an op of the function's block does with an allocation, itself or by ops inside.

    It reads or writes in `run`, and is given the buffer that `given` is the whole of.
    """

    op: Operation
    position: int
    writes: bool
    run: Run
    given: Run

    def moved(self, by: int) -> "Touch":
        return replace(self, run=self.run.moved(by), given=self.given.moved(by))


@dataclass(eq=False)
class Storage:
    """One allocation: its buffers, each with its first byte, and the ops that touch them."""

    lifetime: Lifetime
    touches: Sequence[Touch]
    buffers: list[tuple[memref.AllocOp, int]] = field(
        default_factory=list[tuple[memref.AllocOp, int]]
    )


@dataclass(frozen=True)
class PartCopy:
    """A copy of a whole allocation into a run of another one."""

    copy: memref.CopyOp | KernelOp
    part: SSAValue
    whole: SSAValue
    run: Run


def dense_run(value: SSAValue) -> Run | None:
    """Return which bytes of its allocation a memref is; None if they are not side by side."""
    type = value.type
    if not isa(type, MemRefType[Attribute]) or not type.has_static_shape():
        return None
    strides, offset, dense = type.get_strides(), type.get_offset(), 1
    if strides is None or offset is None:
        return None
    for size, stride in zip(reversed(type.get_shape()), reversed(strides), strict=True):
        if size != 1 and stride != dense:
            return None
        dense *= size
    start = dense_bytes((offset,), type.element_type)
    return Run(start, start + dense_bytes(type.get_shape(), type.element_type))


def part_copy(op: Operation) -> PartCopy | None:
    """Return a copy as one of an allocation into an aligned run of another; None for others."""
    if isinstance(op, memref.CopyOp):
        source, destination = op.source, op.destination
    elif isinstance(op, KernelOp) and op.inputs and bytes_of_words(op) is not None:
        source, destination = op.inputs[0], op.target
    else:
        return None
    part, whole = buffer_of(source), buffer_of(destination)
    allocated = all(isinstance(each.owner, memref.AllocOp) for each in (part, whole))
    if part is whole or not allocated:
        return None
    if isinstance(op, KernelOp) and not is_word_copy(op):
        return None
    read, written = dense_run(source), dense_run(destination)
    if read is None or written is None:
        return None
    if written.start % ALIGNMENT or read.start == read.end or read != dense_run(part):
        return None
    if read.end - read.start != written.end - written.start:
        return None  # what a kernel leaves around its points is no copy
    return PartCopy(op, part, whole, written)


def outlined_with(op: Operation) -> Iterator[object]:
    """Yield what an op shares with those that `outline-kernels` may put in one function with it."""
    yield op
    if not isinstance(op.location, UnknownLoc) and not isinstance(op, StructuredKernel):
        yield op.location


def fits(copy: PartCopy, at: int, part: Storage, whole: Storage) -> bool:
    """Whether no op sees that a part, which is copied `at` a position, lies in the whole.

    1. It is complete when it is copied, with the zeros that the copy leaves around its points.
    2. From its first touch to its last no other op writes its place, and until the copy none
       reads there.
    3. No op, and no function that is made of ops, is given both.
    """
    mine = [each for each in part.touches if each.op is not copy.copy]
    others = [each for each in whole.touches if each.op is not copy.copy]
    if any(each.writes and each.position > at for each in mine):
        return False
    if not leaves_the_same(copy.copy, [each.op for each in mine if each.writes]):
        return False
    first, last = part.lifetime.first, part.lifetime.last
    for each in others:
        until = last if each.writes else at
        if each.run.overlaps(copy.run) and first <= each.position <= until:
            return False
    given = {key for each in mine for key in outlined_with(each.op)}
    beside = (each.op for each in others if each.given.overlaps(copy.run))
    return given.isdisjoint(key for op in beside for key in outlined_with(op))


def leaves_the_same(copy: memref.CopyOp | KernelOp, writers: Sequence[Operation]) -> bool:
    """Whether a copy leaves zeros where what writes its source does."""
    if isinstance(copy, memref.CopyOp) or copy.covers_output():
        return True
    read = _box(copy.maps[:-1], copy.sizes)
    return copy.has_zeros_outside and all(
        isinstance(op, StructuredKernel)
        and op.has_zeros_outside
        and _box(op.maps[-1:], op.sizes) == read
        for op in writers
    )


def _box(maps: Sequence[AffineMap], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the least and greatest index along each axis."""
    ranges = [[value_range(expr, sizes) for expr in map.results] for map in maps]
    axes = zip(*ranges, strict=True)
    return [(min(low for low, _ in axis), max(high for _, high in axis)) for axis in axes]


class Coalescer:
    """Finds the copies of one block that need not be, and gives parts their places."""

    def __init__(self, block: Block, copies: Sequence[PartCopy], written: WrittenBuffers):
        self._copies = copies
        self._block = block
        self._written = written
        self._positions = {op: index for index, op in enumerate(self._block.ops)}
        self._lifetimes: dict[SSAValue, Lifetime] = {
            each.alloc.memref: each for each in lifetimes(block, local_spans(block))
        }
        self._storages: dict[SSAValue, Storage | None] = {}
        self._alive = np.zeros(len(self._positions), np.int64)
        for each in self._lifetimes.values():
            self._alive[each.first : each.last + 1] += each.bytes
        self._limit = int(GROWTH * self._alive.max(initial=0))

    def run(self) -> int:
        """Coalesce every part that fits, in the order of copies; returns how many."""
        done = [each for each in self._copies if self._coalesce(each)]
        for each in done:
            erase_copy(each.copy)
        for root in dict.fromkeys(self._storage(each.whole) for each in done):
            assert root is not None
            allocate(root)
        return len(done)

    def _coalesce(self, copy: PartCopy) -> bool:
        part, whole = self._storage(copy.part), self._storage(copy.whole)
        if part is None or whole is None or part is whole:
            return False
        by = next(start for alloc, start in whole.buffers if alloc.memref is copy.whole)
        if part.buffers[0][0].memref is not copy.part:
            return False
        copy = replace(copy, run=copy.run.moved(by))
        if not fits(copy, self._positions[copy.copy], part, whole) or not self._join(part, whole):
            return False
        start = copy.run.start
        moved = [each.moved(start) for each in part.touches]
        touches = [each for each in (*whole.touches, *moved) if each.op is not copy.copy]
        whole.touches = touches
        whole.buffers += [(alloc, start + inner) for alloc, inner in part.buffers]
        self._storages.update((alloc.memref, whole) for alloc, _ in part.buffers)
        return True

    def _join(self, part: Storage, whole: Storage) -> bool:
        """Make two lifetimes one, unless too much would be alive then."""
        one, other = part.lifetime, whole.lifetime
        first, last = min(one.first, other.first), max(one.last, other.last)
        alive = self._alive.copy()
        for each in (one, other):
            alive[each.first : each.last + 1] -= each.bytes
        alive[first : last + 1] += other.bytes
        if alive.max() > self._limit:
            return False
        self._alive, whole.lifetime = alive, replace(other, first=first, last=last)
        return True

    def _storage(self, buffer: SSAValue) -> Storage | None:
        """Return what a buffer lies in; None where not everything is known that touches it."""
        if buffer not in self._storages:
            self._storages[buffer] = self._storage_of_its_own(buffer)
        return self._storages[buffer]

    def _storage_of_its_own(self, buffer: SSAValue) -> Storage | None:
        touches, lifetime = self._touches(buffer), self._lifetimes.get(buffer)
        if touches is None or lifetime is None:
            return None
        return Storage(lifetime, touches, [(lifetime.alloc, 0)])

    def _touches(self, buffer: SSAValue) -> list[Touch] | None:
        given, found = dense_run(buffer), list[Touch]()
        for user in dict.fromkeys(users_through_views(buffer)):
            if isinstance(user, VIEWS):
                continue
            op = self._block.find_ancestor_op_in_block(user)
            if op is None or given is None or not isinstance(user, ACCESSES) or user.results:
                return None
            at = self._positions[op]
            found += [Touch(op, at, *each, given) for each in self._accesses(user, buffer, given)]
        return found

    def _accesses(self, op: Operation, buffer: SSAValue, given: Run) -> Iterator[tuple[bool, Run]]:
        """Yield what an op reads or writes of a buffer: which it is, and where."""
        if not isinstance(op, memref.CopyOp):
            yield buffer in self._written.of(op), given
            return
        for value, writes in ((op.source, False), (op.destination, True)):
            if buffer_of(value) is buffer:
                yield writes, dense_run(value) or given


def allocate(storage: Storage) -> None:
    """Make one allocation of bytes, and views of it of the buffers that lie there."""
    whole, _ = storage.buffers[0]
    block = whole.parent
    assert block is not None
    allocs = {alloc for alloc, _ in storage.buffers}
    first = next(op for op in block.ops if op in allocs)
    bytes = memref.AllocOp((), (), MemRefType(i8, (storage.lifetime.bytes,)))
    hand_on_location(whole, bytes)
    block.insert_op_before(bytes, first)
    for alloc, start in storage.buffers:
        place(alloc, bytes.memref, start)


def erase_copy(copy: memref.CopyOp | KernelOp) -> None:
    """Erase a copy, and the views that only it used."""
    views = dict.fromkeys(copy.operands)
    erase(copy)
    for view in views:
        while isinstance(op := view.owner, VIEWS) and not view.uses:
            view = op.operands[0]
            erase(op)


@dataclass(frozen=True)
class CoalesceCopies(ModulePass):
    """Compute the parts of a buffer where they end up, in the place of copies.

    A buffer that is copied whole into bytes of another one that lie side by side, at a multiple of
    64 bytes, becomes a view of these bytes; so concatenation along the outermost axis that is
    not 1 moves nothing. That is so where

    1. both are allocated at the top level of the function, where they are used by ops of known
       effects alone;
    2. nothing writes the part from the copy on;
    3. from the first use of the part to the last, nothing else writes there, and until the copy
       nothing reads there;
    4. no op is given both, nor may `outline-kernels` make a function that is;
    5. at no moment much more is alive than there was at the worst: at most a fifth.

    So does a kernel that joins words of four bytes which lie side by side: the words are a view of
    the bytes. A part may have parts. What is copied to several places is computed in the first that
    fits. Comes after `bufferize` and before `outline-kernels`.

    rewrite:
        %a = memref.alloc() : memref<1x3x16xf32>
        linalg.exp ins(%x) outs(%a)
        %d = memref.alloc() : memref<1x5x16xf32>
        %s = memref.subview %d[0, 2, 0] [1, 3, 16] [1, 1, 1]
        memref.copy %a, %s
        ->
        %bytes = memref.alloc() : memref<320xi8>
        %a = memref.view %bytes[%c128][] : memref<320xi8> to memref<1x3x16xf32>
        linalg.exp ins(%x) outs(%a)
        %d = memref.view %bytes[%c0][] : memref<320xi8> to memref<1x5x16xf32>
    """

    name = "coalesce-copies"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written, saved = WrittenBuffers(op), 0
        for function in entries(op):  # others' buffers are no part of the workspace
            for block in kernel_blocks(function) if len(function.body.blocks) == 1 else ():
                copies = [each for op in block.ops if (each := part_copy(op)) is not None]
                saved += Coalescer(block, copies, written).run() if copies else 0
        report_statistic(self, "copies saved", saved)
