"""Kernels without reductions become part of the kernels that read them."""

from math import prod

from xdsl.dialects import arith
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.index_maps import composed, solve
from gawee_dialect.analysis.kernel_kind import KernelKind, kernel_kind, multiplied_inputs
from gawee_dialect.dialect.affine_range import is_linear, used_dims
from gawee_dialect.dialect.keep import KEPT, is_kept
from gawee_dialect.dialect.kernel import KernelOp, Number
from gawee_dialect.passes.form_kernels.constants import number_everywhere
from gawee_dialect.passes.form_kernels.drafts import (
    Read,
    Write,
    argument,
    place,
    reads_of,
    rebuilt,
    spliced,
)
from gawee_dialect.passes.parameter_analysis import ParameterAnalysis
from gawee_dialect.passes.rewrite_pass import Pattern

RUNS_MORE_OFTEN = "expected kernels of one block: a step of a loop would compute it again"


class InlineProducer(Pattern):
    """A kernel without reductions, and one that reads it -> one kernel

    What copies is read through by everybody. What computes is inlined where it has one reader, who
    reads each element once. What depends on parameters alone stays apart from what does not, so
    that it can be computed once.
    """

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        reason = "expected an input that a kernel without reductions computes"
        for index, value in enumerate(op.inputs):
            producer = value.owner
            if not isinstance(producer, KernelOp) or producer.initial is not None:
                continue
            found = self._why_not(op, index, producer)
            if found is not None:
                reason = found
                continue
            self.fused(producer, op)
            new = inlined(op, index, producer)
            rewriter.replace(op, new)
            if producer.result is not None and not producer.result.uses:
                rewriter.erase(producer)
            return
        self.missed(op, reason)

    def _why_not(self, op: KernelOp, index: int, producer: KernelOp) -> str | None:
        if is_kept(op, producer):
            return KEPT
        if op.schedule is not None or producer.schedule is not None or op.result is None:
            return "expected kernels without schedules, on tensors"
        if kernel_kind(producer) is not KernelKind.COPY:
            reason = self._why_apart(op, index, producer)  # first: maps take longer to look at
            if reason is not None:
                return reason
        reads = reads_through(op, index, producer)
        if reads is None:
            return f"expected to read only what is computed, got map '{op.maps[index]}'"
        if not all(is_linear(map) for _, map in reads):
            return "expected sums of multiples of dimensions"
        return None

    def _why_apart(self, op: KernelOp, index: int, producer: KernelOp) -> str | None:
        """Say why a computation is not to be repeated at each of its readers' points."""
        assert op.result is not None
        if producer.parent is not op.parent:
            return RUNS_MORE_OFTEN
        value = op.inputs[index]
        if value.uses.get_length() != 1:
            return "expected one reader of what is computed"
        if self._analysis.is_known_early(value) and not self._analysis.is_known_early(op.result):
            return "expected what parameters alone decide to be computed apart"
        return _why_more_work(op, index, producer)


def _why_more_work(op: KernelOp, index: int, producer: KernelOp) -> str | None:
    """Say why inlining a computation would repeat it."""
    finish_only = op.initial is None or not op.accumulate.block.args[index].uses
    visited = op.sizes[: op.num_parallel] if finish_only else op.sizes
    if prod(visited) != prod(producer.sizes):
        return f"expected {prod(producer.sizes)} points, got {prod(visited)}"
    if not finish_only and multiplied_inputs(op) is not None:
        return "expected no computation inside of a product"
    if len(used_dims(op.maps[index])) < sum(size > 1 for size in visited):
        return "expected to read each element once"
    return None


def reads_through(op: KernelOp, index: int, producer: KernelOp) -> list[Read] | None:
    """Return what the inputs of a producer are at the points of its reader.

    None where the reader is about elements that no point of the producer is about.
    """
    dims = solve(producer.maps[-1], producer.sizes, op.maps[index], op.sizes)
    if dims is None:
        return None
    return [(value, composed(map, dims, op.sizes)) for value, map in reads_of(producer)]


def inlined(op: KernelOp, index: int, producer: KernelOp) -> KernelOp:
    """Return a kernel that computes what it read from a producer."""
    through = reads_through(op, index, producer)
    assert through is not None
    reads: list[Read] = []
    elements = [
        argument(-1 if number == index else place(reads, read))
        for number, read in enumerate(reads_of(op))
    ]
    inner = [place(reads, read) for read in through]
    elements[index] = lambda builder, arguments: spliced(
        builder, producer.finish.block, [arguments[number] for number in inner]
    )
    return rebuilt(op, reads, elements)


class InlineConstant(Pattern):
    """gawee.kernel ins(%c), %c = arith.constant dense<2.0> -> the number in the kernel's regions"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        numbers = [number_everywhere(value) for value in op.inputs]
        if all(number is None for number in numbers) or op.schedule is not None or is_kept(op):
            self.missed(op, KEPT if is_kept(op) else "expected an input of one number everywhere")
            return
        reads: list[Read] = []
        elements = [
            argument(place(reads, read)) if number is None else constant(number)
            for read, number in zip(reads_of(op), numbers, strict=True)
        ]
        rewriter.replace(op, rebuilt(op, reads, elements))


def constant(number: Number) -> Write:
    """Return what makes a constant."""
    return lambda builder, arguments: builder.insert(arith.ConstantOp(number)).result
