"""Operands in the order in which a schedule reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.kernel import KernelOp, YieldOp, element_of
from gawee_dialect.dialect.schedule import Schedule
from gawee_dialect.passes.assign_schedules.kernel_accesses import Operand


@dataclass(frozen=True)
class Packing:
    """An order of an operand's elements: one axis a loop, then the register tile."""

    shape: tuple[int, ...]
    exprs: tuple[AffineExpr, ...]

    @staticmethod
    def of(operand: Operand, schedule: Schedule, sizes: Sequence[int]) -> "Packing":
        """Return the order in which a schedule's loops come upon the operand's elements."""
        shape: list[int] = []
        exprs: list[AffineExpr] = []
        extents = list(sizes)
        for loop in schedule.loops:
            if loop.dim in operand.dims:
                point = _within(loop.dim, extents[loop.dim], sizes)
                shape.append(ceil(extents[loop.dim] / loop.step))
                exprs.append(point // loop.step if loop.step > 1 else point)
                extents[loop.dim] = min(loop.step, extents[loop.dim])
        vector = schedule.vector
        last = [] if vector is None else [vector.dim]
        for dim in [*(d for d in sorted(operand.dims) if d not in last), *last]:
            if dim not in operand.dims or extents[dim] == 1:
                continue
            size = extents[dim]
            lanes = vector.step if vector is not None and vector.dim == dim else 1
            shape.append(ceil(size / lanes) * lanes)
            exprs.append(_within(dim, size, sizes))
        kept = [axis for axis, size in enumerate(shape) if size > 1]
        return Packing(tuple(shape[axis] for axis in kept), tuple(exprs[axis] for axis in kept))


def _within(dim: int, extent: int, sizes: Sequence[int]) -> AffineExpr:
    """Return the position of a point among `extent` of a dimension's points."""
    position = AffineExpr.dimension(dim)
    return position if extent == sizes[dim] else position % extent


def pack(builder: Builder, operand: Operand, packing: Packing, sizes: Sequence[int]) -> SSAValue:
    """Insert a kernel that copies an operand into another order.

    The kernel has the dimensions of the operand alone; what the last blocks lack is zero.
    """
    dims = sorted(operand.dims)
    own: list[AffineExpr] = [AffineExpr.constant(0)] * len(sizes)
    for position, dim in enumerate(dims):
        own[dim] = AffineExpr.dimension(position)
    rank = len(dims)
    reads = [expr.replace_dims_and_symbols(own, []) for expr in operand.map.results]
    writes = [expr.replace_dims_and_symbols(own, []) for expr in packing.exprs]
    element = element_of(operand.value)
    block = Block(arg_types=[element])
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[0]))
    copy = KernelOp(
        [operand.value],
        TensorType(element, packing.shape),
        bounds=[sizes[dim] for dim in dims],
        maps=[AffineMap(rank, 0, tuple(reads)), AffineMap(rank, 0, tuple(writes))],
        finish=Region(block),
    )
    result = builder.insert(copy).result
    assert result is not None
    result.name_hint = operand.value.name_hint
    return result
