"""Canonicalization of kernels."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.kernels.kernel import KernelOp, Number
from gawee_dialect.dialect.kernels.schedule import Schedule
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream.arith import number_constant


class DropReduction(Pattern):
    """gawee.kernel initial 3 accumulate { yield %sum } -> a kernel without reductions, of 3

    So are reductions of which each step yields the same number.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        total = accumulated_number(op)
        if total is None:
            self.missed(op, "expected 'accumulate' to yield its accumulator, or a constant")
            return
        rewriter.replace(op, without_reductions(op, total))


def accumulated_number(op: KernelOp) -> Number | None:
    """Return what a kernel accumulates at every point, whatever its inputs are."""
    if op.initial is None:
        return None
    value = op.yielded(op.accumulate)
    if value is op.accumulate.block.args[-1]:
        return op.initial
    constant = value.owner
    if not isinstance(constant, arith.ConstantOp) or 0 in op.sizes[op.num_parallel :]:
        return None
    number = constant.value
    return number if isinstance(number, FloatAttr | IntegerAttr) else None


def without_reductions(op: KernelOp, total: Number) -> KernelOp:
    """Return a kernel that has a number in the place of what another accumulates."""
    block = op.finish.block
    read = [index for index in range(len(op.inputs)) if block.args[index].uses]
    maps = [*(op.maps[index] for index in read), op.maps[-1]]
    schedule = None if op.schedule is None else _parallel_part(op.schedule.data, op.num_parallel)
    new = KernelOp(
        [op.inputs[index] for index in read],
        op.target if op.result is None else op.result.type,
        bounds=op.sizes[: op.num_parallel],
        maps=[AffineMap(op.num_parallel, 0, map.results) for map in maps],
        finish=_finish(block, [block.args[index] for index in read], total),
        outside=op.outside,
        schedule=schedule,
    )
    new.attributes.update(op.attributes)
    return new


def _finish(block: Block, read: list[SSAValue], total: Number) -> Region:
    """Return a block's region with some of its arguments, and a constant for the last."""
    new = Block(arg_types=[value.type for value in read])
    constant = number_constant(total)
    new.add_op(constant)
    values: dict[SSAValue, SSAValue] = dict(zip(read, new.args, strict=True))
    values[block.args[-1]] = constant.result
    for each in block.ops:
        new.add_op(each.clone(values))
    return Region(new)


def _parallel_part(schedule: Schedule, num_parallel: int) -> Schedule:
    """Return the part of a schedule that is about parallel dimensions."""
    vector = schedule.vector
    return Schedule(
        tuple(loop for loop in schedule.loops if loop.dim < num_parallel),
        vector if vector is not None and vector.dim < num_parallel else None,
        schedule.parallel,
    )
