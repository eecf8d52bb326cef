"""Padding below maxima: zeros do for minus infinity where nothing is negative."""

from collections.abc import Iterator
from itertools import product

from xdsl.dialects import arith
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.analysis.kernel_kind import Pad, combiner_of, never_negative, pad_of
from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, shape_of


def pad_maxima_with_zeros(block: Block) -> None:
    """Pad what is never negative with zeros, where maxima are taken of it alone."""
    for op in block.ops:
        pad = pad_of(op.results[0]) if isinstance(op, KernelOp) and op.results else None
        if pad is None or pad.number >= 0 or not never_negative(pad.source):
            continue
        users = [use.operation for use in pad.op.results[0].uses]
        if all(_takes_maximum(user, pad) for user in users):
            pad.op.outside = None


def _takes_maximum(op: Operation, pad: Pad) -> bool:
    """Whether each maximum is of some element of what is padded, and of nothing else."""
    if not isinstance(op, KernelOp) or len(op.inputs) != 1 or op.finish.block.args[0].uses:
        return False
    combiner = combiner_of(op)
    if not isinstance(combiner, arith.MaximumfOp | arith.MaxSIOp):
        return False
    if op.accumulate.block.args[0] not in combiner.operands:
        return False
    own = [used_dims(AffineMap(len(op.sizes), 0, (expr,))) for expr in op.maps[0].results]
    walked = [dim for dims in own for dim in dims if dim >= op.num_parallel]
    inside = zip(pad.low, shape_of(pad.source), strict=True)
    return len(set(walked)) == len(walked) and all(
        any(low <= index < low + size for index in window)
        for expr, (low, size) in zip(op.maps[0].results, inside, strict=True)
        for window in _windows(op, expr)
    )


def _windows(op: KernelOp, expr: AffineExpr) -> Iterator[list[int]]:
    """Yield the indices along one axis that a point of the parallel dimensions looks at."""
    dims = sorted(used_dims(AffineMap(len(op.sizes), 0, (expr,))))
    parallel = [dim for dim in dims if dim < op.num_parallel]
    reduced = [dim for dim in dims if dim >= op.num_parallel]
    point = [0] * len(op.sizes)
    for places in product(*(range(op.sizes[dim]) for dim in parallel)):
        window: list[int] = []
        for offsets in product(*(range(op.sizes[dim]) for dim in reduced)):
            for dim, value in zip((*parallel, *reduced), (*places, *offsets), strict=True):
                point[dim] = value
            window.append(expr.eval(point, []))
        yield window
