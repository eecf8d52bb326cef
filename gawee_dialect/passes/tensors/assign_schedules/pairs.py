"""Products of two bf16 at a time, where a processor has an instruction for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, f32

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.kernels.schedule import PAIR, Loop, Schedule
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.passes.tensors.assign_schedules.cost_model import is_packed
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses, Operand
from gawee_dialect.target.description import Processor

BITS = 32
"""Bits of a lane: of a sum, and of the two numbers whose products are added to it."""


Choose = Callable[[Sequence[KernelAccesses]], Schedule]
"""Returns the schedule of kernels that are one, but for sizes that are open."""


def schedule_of_pairs(
    kernels: Sequence[KernelAccesses], sizes: Sequence[int], processor: Processor, choose: Choose
) -> Schedule | None:
    """Return a schedule whose steps take two neighbours along the innermost reduction each.

    That is for sums in f32 of products of bf16, of which one factor is packed, and the other has
    such neighbours side by side; None for other kernels. `sizes` are those of the kernel, of which
    some may be open.
    """
    kernel = kernels[0]
    if not processor.bf16_products or not _sums_bf16(kernel.op):
        return None
    # Nothing is widened: the model's steps are half of those that there are, all of them.
    schedule = choose([_as_stored(each) for each in kernels])
    vector = schedule.vector
    if schedule.tiles is not None:
        return schedule
    if vector is None or not schedule.loops or vector.dim in kernel.reductions:
        return None
    *others, last = schedule.loops
    size = sizes[last.dim]
    if last.step != 1 or last.dim not in kernel.reductions or isinstance(size, OpenSize):
        return None
    if size % PAIR or vector.step * BITS > processor.bf16_products:
        return None
    if not all(_has_pairs(each, kernel, last.dim, vector) for each in _factors(kernel)):
        return None
    return replace(schedule, loops=(*others, Loop(last.dim, PAIR)))


def _as_stored(kernel: KernelAccesses) -> KernelAccesses:
    inputs = [replace(each, is_widened=False) for each in kernel.inputs]
    return replace(kernel, inputs=inputs, in_pairs=True)


def _factors(kernel: KernelAccesses) -> Sequence[Operand]:
    return [kernel.inputs[each] for each in multiplied_inputs(kernel.op) or ()]


def _has_pairs(operand: Operand, kernel: KernelAccesses, dim: int, vector: Loop) -> bool:
    """Whether neighbours along a reduction are side by side: one of all lanes, or in each lane."""
    packed = is_packed(operand, kernel, vector)
    if vector.dim in operand.dims:
        return packed and dim in operand.dims
    return not packed and dim in operand.dims and operand.step(dim, PAIR) == 1


def _sums_bf16(op: KernelOp) -> bool:
    """Whether a kernel adds products of two inputs in bf16 to a sum in f32."""
    indices = multiplied_inputs(op)
    if indices is None or op.accumulator_type != f32:
        return False
    if not all(isinstance(element_of(op.inputs[each]), BFloat16Type) for each in indices):
        return False
    return sum(isinstance(each, arith.ExtFOp) for each in op.accumulate.block.ops) == len(indices)
