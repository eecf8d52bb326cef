"""A reduction in parts: a kernel for the parts side by side, and one that combines them."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.combiners import combiner_of, neutral
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp
from gawee_dialect.hints import isa


class SplitKernels(NamedTuple):
    """What takes a kernel's place: the parts, and what combines them and finishes."""

    parts: KernelOp
    total: KernelOp


def split_reduction(op: KernelOp, dim: int, parts: int) -> SplitKernels:
    """Return two kernels on tensors that compute what one does, whose order is free.

    The parts of reduction `dim` are the last parallel dimension of the first one.

    rewrite:
        parallel [4] reduce [60]  ->  parallel [4, 5] reduce [12]; parallel [4] reduce [5]
    """
    combine = combiner_of(op)
    assert combine is not None
    first = _parts(op, combine, dim, parts)
    assert first.result is not None
    return SplitKernels(first, _total(op, combine, first.result, parts))


def _parts(op: KernelOp, combine: Operation, dim: int, parts: int) -> KernelOp:
    rank, parallel = len(op.sizes), op.num_parallel
    each = op.sizes[dim] // parts
    dims = [AffineExpr.dimension(at + (at >= parallel)) for at in range(rank)]
    bounds = [*op.sizes[:parallel], parts, *op.sizes[parallel:]]
    bounds[dim + 1] = each
    dims[dim] = AffineExpr.dimension(parallel) * each + dims[dim]
    reads = [map.replace_dims_and_symbols(dims, [], rank + 1, 0) for map in op.maps[:-1]]
    writes = AffineMap(rank + 1, 0, tuple(map(AffineExpr.dimension, range(parallel + 1))))
    type = op.accumulator_type
    assert type is not None
    arguments = [argument.type for argument in op.finish.block.args]
    finish = Block(arg_types=arguments)
    finish.add_op(YieldOp(finish.args[-1]))
    return KernelOp(
        op.inputs,
        TensorType(type, bounds[: parallel + 1]),
        bounds=bounds,
        reductions=op.reductions.value.data,
        maps=[*reads, writes],
        initial=neutral(combine, type),
        accumulate=op.accumulate.clone(),
        finish=Region(finish),
    )


def _total(op: KernelOp, combine: Operation, sums: SSAValue, parts: int) -> KernelOp:
    parallel = op.num_parallel
    used = [number for number, each in enumerate(op.finish.block.args[:-1]) if each.uses]
    inputs = [op.inputs[number] for number in used]
    # No input of `finish` depends on what is reduced.
    dims = [AffineExpr.dimension(at) for at in range(parallel)]
    dims += [AffineExpr.constant(0)] * (len(op.sizes) - parallel)
    maps = [op.maps[number] for number in (*used, len(op.inputs))]
    maps = [map.replace_dims_and_symbols(dims, [], parallel + 1, 0) for map in maps]
    reads = tuple(map(AffineExpr.dimension, range(parallel + 1)))
    target = op.target.type
    assert isa(target, TensorType[Attribute])
    return KernelOp(
        [sums, *inputs],
        target,
        bounds=[*op.sizes[:parallel], parts],
        reductions=1,
        maps=[AffineMap(parallel + 1, 0, reads), *maps],
        initial=op.initial,
        outside=op.outside,
        accumulate=_accumulate(op, combine, inputs),
        finish=_finish(op, used),
    )


def _accumulate(op: KernelOp, combine: Operation, inputs: Sequence[SSAValue]) -> Region:
    """Combine a part with the accumulator by the op that combines points with it."""
    type = op.accumulator_type
    assert type is not None
    others = [op.finish.block.args[op.inputs.index(value)].type for value in inputs]
    block = Block(arg_types=[type, *others, type])
    accumulator = op.accumulate.block.args[-1]
    new: dict[SSAValue, SSAValue] = {
        each: block.args[-1 if each is accumulator else 0] for each in combine.operands
    }
    builder = Builder(InsertPoint.at_end(block))
    builder.insert(YieldOp(builder.insert(combine.clone(new)).results[0]))
    return Region(block)


def _finish(op: KernelOp, used: Sequence[int]) -> Region:
    """Finish as the kernel does, of the inputs that it reads for it."""
    region = op.finish.clone()
    block = region.block
    for number in reversed(range(len(op.inputs))):
        if number not in used:
            block.erase_arg(block.args[number])
    type = op.accumulator_type
    assert type is not None
    block.insert_arg(type, 0)
    return region
