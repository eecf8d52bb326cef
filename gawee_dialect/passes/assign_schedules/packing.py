"""Operands in the order in which a schedule reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.builder import Builder
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.analysis.kernel_kind import KernelKind, kernel_kind
from gawee_dialect.dialect.copy_kernel import copy_kernel, insert_copy
from gawee_dialect.dialect.kernel import KernelOp
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
        points: list[AffineExpr] = [AffineExpr.dimension(dim) for dim in range(len(sizes))]
        for loop in schedule.loops:
            if loop.dim in operand.dims:
                point = points[loop.dim]
                shape.append(ceil(extents[loop.dim] / loop.step))
                exprs.append(point // loop.step if loop.step > 1 else point)
                if loop.step < extents[loop.dim]:
                    whole = extents[loop.dim] % loop.step == 0
                    within = AffineExpr.dimension(loop.dim) if whole else point
                    extents[loop.dim], points[loop.dim] = loop.step, within % loop.step
        vector = schedule.vector
        last = [] if vector is None else [vector.dim]
        for dim in [*(d for d in sorted(operand.dims) if d not in last), *last]:
            if dim not in operand.dims or extents[dim] == 1:
                continue
            size = extents[dim]
            lanes = vector.step if vector is not None and vector.dim == dim else 1
            shape.append(ceil(size / lanes) * lanes)
            exprs.append(points[dim])
        kept = [axis for axis, size in enumerate(shape) if size > 1]
        return Packing(tuple(shape[axis] for axis in kept), tuple(exprs[axis] for axis in kept))

    def is_order_of(self, operand: Operand) -> bool:
        """Whether the operand's elements are in this order, in memory of ours.

        What a file holds is copied all the same: it need not begin where vectors do.
        """
        owner = operand.value.owner
        if not isinstance(owner, KernelOp) or kernel_kind(owner) is KernelKind.COPY:
            return False
        return (operand.shape, operand.map.results) == (self.shape, self.exprs)


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
    copy = copy_kernel(
        operand.value,
        packing.shape,
        bounds=[sizes[dim] for dim in dims],
        reads=AffineMap(rank, 0, tuple(reads)),
        writes=AffineMap(rank, 0, tuple(writes)),
    )
    return insert_copy(builder, copy)
