"""Give every intermediate buffer a place in one workspace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i8,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.signature import entries
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, argument_kinds
from gawee_dialect.dialect.graph.scan import blocks_of_kernels, kernel_blocks
from gawee_dialect.dialect.types import dense_bytes
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.open_workspace import ALIGNMENT, Sizing
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream.arith import index_constant

VIEWS = (
    memref.SubviewOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.CastOp,
    memref.ReinterpretCastOp,
    memref.ViewOp,
)

Spans = Mapping[Operation, tuple[int, int]]
"""The numbers of the first and of the last op that each op is or has inside, in their order."""


@dataclass
class Lifetime:
    """A buffer's bytes, and the positions of the first and last op that touch it."""

    alloc: memref.AllocOp
    bytes: int
    first: int
    last: int
    offset: int = 0

    def overlaps(self, other: "Lifetime") -> bool:
        """Whether both buffers hold something at one moment."""
        return self.first <= other.last and other.first <= self.last


def users_through_views(value: SSAValue) -> Iterable[Operation]:
    """Yield every op that uses a buffer, directly or through views of it."""
    for use in value.uses:
        yield use.operation
        if type(use.operation) in VIEWS:
            yield from users_through_views(use.operation.results[0])


def local_spans(block: Block) -> Spans:
    """Number the ops of a block; what is inside of an op has its number."""
    return {op: (index, index) for index, op in enumerate(block.ops)}


def spans_of(function: FuncOp) -> Spans:
    """Number the ops of a function, of its loops over a batch, and of its branches; what has others
    inside spans them."""
    spans: dict[Operation, tuple[int, int]] = {}

    def number(block: Block) -> None:
        for op in block.ops:
            first = len(spans)
            for inner in blocks_of_kernels(op):
                number(inner)
            spans[op] = first, len(spans)

    number(function.body.blocks[0])
    return spans


def lifetimes(block: Block, spans: Spans) -> list[Lifetime]:
    """Return the lifetime of every buffer that a block allocates itself."""
    found: list[Lifetime] = []
    for op in block.ops:
        if isinstance(op, memref.AllocOp):
            users = map(block.find_ancestor_op_in_block, users_through_views(op.memref))
            used = [spans[user] for user in users if user is not None] or [spans[op]]
            type = op.memref.type
            assert isa(type, MemRefType[Attribute])
            # Of open sizes, a plan of their own says where it is.
            size = 0 if op.dynamic_sizes else dense_bytes(type.get_shape(), type.element_type)
            first, last = min(first for first, _ in used), max(last for _, last in used)
            found.append(Lifetime(op, size, first, last))
    return found


def assign_offsets(buffers: list[Lifetime]) -> int:
    """Place buffers, the largest first, each at the lowest offset free for its lifetime.

    Returns the bytes of workspace that they need together.
    """
    placed: list[Lifetime] = []
    for buffer in sorted(buffers, key=lambda buffer: -buffer.bytes):
        neighbours = sorted(
            (other for other in placed if other.overlaps(buffer)), key=lambda other: other.offset
        )
        offset = 0
        for other in neighbours:
            if offset + buffer.bytes <= other.offset:
                break
            offset = max(offset, aligned(other.offset + other.bytes))
        buffer.offset = offset
        placed.append(buffer)
    return aligned(max((buffer.offset + buffer.bytes for buffer in buffers), default=0))


def aligned(bytes: int) -> int:
    """Round up to the workspace's alignment."""
    return -(-bytes // ALIGNMENT) * ALIGNMENT


def find_workspace(function: FuncOp) -> SSAValue | None:
    """Return the workspace argument that a function has already, None without one."""
    kinds = argument_kinds(function)
    if ArgumentKind.WORKSPACE not in kinds:
        return None
    return function.body.blocks[0].args[kinds.index(ArgumentKind.WORKSPACE)]


def enlarge(function: FuncOp, workspace: SSAValue, size: int) -> tuple[SSAValue, int]:
    """Append bytes to a workspace; returns it as it is then, and where the bytes begin."""
    type = workspace.type
    assert isa(type, MemRefType[Attribute])
    start = aligned(dense_bytes(type.get_shape(), type.element_type))
    new = Rewriter.replace_value_with_new_type(workspace, MemRefType(i8, (start + size,)))
    function.update_function_type()
    return new, start


def add_workspace(function: FuncOp, size: int) -> SSAValue:
    """Append the workspace argument, marked `gawee.workspace`, and return it.

    Its size may be `DYNAMIC_INDEX`.
    """
    block = function.body.blocks[0]
    workspace = block.insert_arg(MemRefType(i8, (size,)), len(block.args))
    workspace.name_hint = "workspace"
    inputs = [argument.type for argument in block.args]
    function.function_type = FunctionType.from_lists(inputs, function.function_type.outputs.data)
    marks = function.arg_attrs
    old = marks.data if marks is not None else (DictionaryAttr({}),) * (len(inputs) - 1)
    function.arg_attrs = ArrayAttr((*old, DictionaryAttr({"gawee.workspace": UnitAttr()})))
    return workspace


def pieces(alloc: memref.AllocOp) -> Sequence[tuple[memref.AllocOp | memref.ViewOp, int]]:
    """Return the views that allocated bytes are used by, and where they begin; else the buffer."""
    views = [use.operation for use in alloc.memref.uses]
    found = [
        (view, shift)
        for view in views
        if isinstance(view, memref.ViewOp)
        and (shift := constant_index(view.byte_shift)) is not None
    ]
    return found if found and len(found) == len(views) else [(alloc, 0)]


def place(
    buffer: memref.AllocOp | memref.ViewOp, workspace: SSAValue, start: int | SSAValue
) -> None:
    """Replace a buffer by the view of the workspace that begins at a byte."""
    block, old = buffer.parent, buffer.results[0]
    assert block is not None
    assert isa(old.type, MemRefType[Attribute])
    offset = index_constant(start) if isinstance(start, int) else start
    sizes = buffer.dynamic_sizes if isinstance(buffer, memref.AllocOp) else ()
    view = memref.ViewOp(workspace, offset, sizes, old.type)
    made = (view,) if isinstance(offset, SSAValue) else (offset, view)
    for new in made:
        hand_on_location(buffer, new)
    view.result.name_hint = old.name_hint
    block.insert_ops_before(made, buffer)
    old.replace_all_uses_with(view.result)
    shift = buffer.byte_shift.owner if isinstance(buffer, memref.ViewOp) else None
    erase(buffer)
    if isinstance(shift, arith.ConstantOp) and not shift.result.uses:
        erase(shift)


def erase(op: Operation) -> None:
    """Take an op that nothing uses out of its block."""
    op.detach()
    op.erase()


# Buffers of open sizes.


def place_open_buffers(
    function: FuncOp, buffers: Sequence[Lifetime], workspace: SSAValue, start: int
) -> None:
    """Give buffers of open sizes places in a workspace behind its first bytes; say its size."""
    sizing = Sizing(function)
    most = {each.alloc: sizing.most_bytes(each.alloc) for each in buffers}
    slots = shared_slots(buffers, most)
    offsets = sizing.offsets([[each.alloc for each in slot] for slot in slots], start)
    for slot, offset in zip(slots, offsets, strict=True):
        for each in slot:
            place(each.alloc, workspace, offset)


def shared_slots(
    buffers: Sequence[Lifetime], most: Mapping[memref.AllocOp, int]
) -> list[list[Lifetime]]:
    """Return buffers that share a place: of those that are not alive with it, the least that is as
    large."""
    slots: list[list[Lifetime]] = []
    for buffer in sorted(buffers, key=lambda each: -most[each.alloc]):
        free = [slot for slot in slots if not any(map(buffer.overlaps, slot))]
        if free:
            min(free, key=lambda slot: most[slot[0].alloc]).append(buffer)
        else:
            slots.append([buffer])
    return slots


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Give every intermediate buffer a place in one workspace, an argument of the function.

    1. A buffer lives from the first op that touches it to the last, views included.
    2. Largest first, each buffer gets the lowest 64-byte aligned offset that no buffer alive at
       the same time occupies. Views of allocated bytes are placed with them.
    3. Allocations become views of the workspace, whose size is the peak of the plan. A workspace
       that is there already grows by it; a function with one and no allocations stays as it is.
    4. Buffers of open sizes come behind: those that are not alive at the same time share a place
       as large as the largest of them. Names are greatest where buffers are compared. Where a place
       begins is computed of the sizes, and a function `@main_workspace_size` returns how many bytes
       there are to be.

    What is allocated in the loop over a batch holds nothing from one part of the batch to the next:
    such buffers share memory as those of a function do.

    What branches and steps of `scf.while` allocate shares memory likewise: one is run at a time.

    Requires: allocations at the top level of functions with one block, or of loops over a batch,
    `scf.if` or `scf.while` there (else they stay).

    rewrite:
        func.func @main(%x: memref<4xf32>) {
          %b = memref.alloc() : memref<4xf32>
        ->
        func.func @main(%x: memref<4xf32>, %workspace: memref<64xi8> {gawee.workspace}) {
          %b = memref.view %workspace[%c0][] : memref<64xi8> to memref<4xf32>
    """

    name = "plan-memory"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in entries(op):  # a kernel works on its caller's buffers
            self._plan(function)

    def _plan(self, function: FuncOp) -> None:
        spans = spans_of(function)
        buffers = [each for block in kernel_blocks(function) for each in lifetimes(block, spans)]
        opened = [each for each in buffers if each.alloc.dynamic_sizes]
        size = assign_offsets([each for each in buffers if not each.alloc.dynamic_sizes])
        workspace, start = find_workspace(function), 0
        if opened:
            if workspace is not None:
                text = "expected no workspace yet where buffers of open sizes are allocated"
                raise GaweeError(Diagnostic.at(opened[0].alloc, text))
            workspace = add_workspace(function, DYNAMIC_INDEX)
            place_open_buffers(function, opened, workspace, size)
            buffers = [each for each in buffers if not each.alloc.dynamic_sizes]
        if workspace is None:
            workspace = add_workspace(function, size)
        elif buffers and not opened:
            workspace, start = enlarge(function, workspace, size)
        for buffer in buffers:
            for piece, shift in pieces(buffer.alloc):
                place(piece, workspace, start + buffer.offset + shift)
            if buffer.alloc.parent is not None:
                erase(buffer.alloc)
        name = function.sym_name.data
        report_statistic(self, f"workspace bytes of @{name}", size)
        report_statistic(
            self, f"bytes of @{name}'s buffers without reuse", sum(b.bytes for b in buffers)
        )
