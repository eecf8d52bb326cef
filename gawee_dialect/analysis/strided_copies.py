"""Kernels that only move elements, as nests of loops at constant distances."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineMap,
)

from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.hints import isa

ROW = 16
"""Elements that the innermost loop copies where that divides what is contiguous: as many rows of
the source stay in the first cache, however far they are from each other."""


@dataclass(frozen=True)
class CopyLoop:
    """A loop of a copy: its iterations, and how many elements each is from the one before."""

    count: int
    source: int
    target: int


@dataclass(frozen=True)
class StridedCopy:
    """A copy between buffers: the elements that it begins with, and loops, outermost first."""

    source: int
    target: int
    loops: Sequence[CopyLoop]


@dataclass(frozen=True)
class _Part:
    """Points of a dimension: the first, and loops of so many iterations and points a step."""

    start: int
    loops: Sequence[tuple[int, int]]


def strided_copies(op: KernelOp) -> Sequence[StridedCopy]:
    """Return the copies that a kernel on dense buffers consists of, none where it is none.

    They leave alone what no point of the kernel is about.
    """
    if not _only_moves(op):
        return ()
    buffers = [buffer.type for buffer in (op.inputs[0], op.target)]
    blocks = _block_sizes(op.maps)
    if blocks is None or not all(map(_is_dense, buffers)):
        return ()
    dims = [_parts(size, blocks.get(dim, size)) for dim, size in enumerate(op.sizes)]
    return [_copy(op, parts) for parts in product(*dims)]


def _only_moves(op: KernelOp) -> bool:
    """Whether each point moves an element of the one input."""
    if len(op.inputs) != 1 or op.reductions.value.data or op.names:
        return False
    return op.yielded(op.finish) is op.finish.block.args[0]


def _is_dense(type: Attribute) -> bool:
    if not isa(type, MemRefType[Attribute]):
        return False
    return isinstance(type.layout, NoneAttr) and DYNAMIC_INDEX not in type.get_shape()


def _block_sizes(maps: Sequence[AffineMap]) -> dict[int, int] | None:
    """Return what dimensions are divided by; None where an index is no dimension or part of one."""
    found: dict[int, int] = {}
    for expr in (expr for each in maps for expr in each.results):
        match expr:
            case AffineDimExpr() | AffineConstantExpr():
                pass
            case AffineBinaryOpExpr(
                kind=AffineBinaryOpKind.FloorDiv | AffineBinaryOpKind.Mod,
                lhs=AffineDimExpr(position=dim),
                rhs=AffineConstantExpr(value=size),
            ) if found.setdefault(dim, size) == size:
                pass
            case _:
                return None
    return found


def _parts(size: int, block: int) -> Sequence[_Part]:
    """Cut a dimension into whole blocks, and the rest of the last one."""
    blocks, rest = divmod(size, block)
    whole = [_Part(0, [(blocks, block), (block, 1)])] if blocks else []
    return [*whole, _Part(blocks * block, [(rest, 1)])] if rest else whole


def _copy(op: KernelOp, parts: Sequence[_Part]) -> StridedCopy:
    origin = [part.start for part in parts]
    source, target = _places(op, origin)
    loops: list[CopyLoop] = []
    for dim, part in enumerate(parts):
        for count, step in part.loops:
            if count > 1:
                moved = [*origin[:dim], origin[dim] + step, *origin[dim + 1 :]]
                there = _places(op, moved)
                loops.append(CopyLoop(count, there[0] - source, there[1] - target))
    return StridedCopy(source, target, _in_order(loops))


def _places(op: KernelOp, point: Sequence[int]) -> tuple[int, int]:
    """Return which elements of source and target a point is about."""
    return _place(op.maps[0], op.inputs[0], point), _place(op.maps[1], op.target, point)


def _place(map: AffineMap, buffer: SSAValue, point: Sequence[int]) -> int:
    assert isa(buffer.type, MemRefType[Attribute])
    strides = buffer.type.get_strides() or ()
    pairs = zip(map.eval(point, []), strides, strict=True)
    return sum(index * stride for index, stride in pairs if stride is not None)


def _in_order(loops: Sequence[CopyLoop]) -> Sequence[CopyLoop]:
    """Order loops as the source is read, around one over a row of the target."""
    if not loops:
        return ()
    row = min(loops, key=lambda loop: loop.target)
    others = [loop for loop in loops if loop is not row]
    if row.count > ROW and row.count % ROW == 0 and row.source != 1:
        others.append(CopyLoop(row.count // ROW, ROW * row.source, ROW * row.target))
        row = CopyLoop(ROW, row.source, row.target)
    others.sort(key=lambda loop: -loop.source)
    return _joined([*others, row])


def _joined(loops: Sequence[CopyLoop]) -> Sequence[CopyLoop]:
    """Make one loop of neighbours that go through both buffers as one would."""
    joined: list[CopyLoop] = []
    for loop in loops:
        source, target = loop.count * loop.source, loop.count * loop.target
        if joined and (joined[-1].source, joined[-1].target) == (source, target):
            loop = CopyLoop(joined.pop().count * loop.count, loop.source, loop.target)
        joined.append(loop)
    return joined
