"""Elementwise kernels behind a reduction become part of it."""

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.index_maps import composed, solve
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.keep import KEPT, is_kept
from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.passes.form_kernels.drafts import (
    Output,
    Read,
    argument,
    place,
    reads_of,
    rebuilt,
    spliced,
)
from gawee_dialect.passes.form_kernels.inline import RUNS_MORE_OFTEN
from gawee_dialect.passes.parameter_analysis import ParameterAnalysis
from gawee_dialect.passes.rewrite_pass import Pattern


class FuseIntoReduction(Pattern):
    """A reduction, and a kernel without one that alone reads it -> one kernel, longer `finish`

    Of several such reductions it becomes part of the last. What depends on parameters alone stays
    apart from what does not.
    """

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.initial is not None or op.schedule is not None:
            self.missed(op, "expected a kernel without reductions and schedule")
            return
        reason = "expected an input that a reduction computes"
        found: KernelOp | None = None
        for index, value in enumerate(op.inputs):
            producer = value.owner
            if not isinstance(producer, KernelOp) or producer.initial is None:
                continue
            problem = self._why_not(op, index, producer)
            if problem is not None:
                reason = problem
            elif found is None or found.is_before_in_block(producer):
                found = producer
        if found is None:
            self.missed(op, reason)
            return
        self.fused(op, found)
        rewriter.replace(op, fused(op, found))
        rewriter.erase(found)

    def _why_not(self, op: KernelOp, index: int, producer: KernelOp) -> str | None:
        value = op.inputs[index]
        if is_kept(op, producer):
            return KEPT
        if producer.schedule is not None or op.result is None:
            return "expected kernels without schedules, on tensors"
        if producer.parent is not op.parent:
            return RUNS_MORE_OFTEN
        if value.uses.get_length() != 1:
            return "expected one reader of what is computed"
        if self._analysis.is_known_early(value) and not self._analysis.is_known_early(op.result):
            return "expected what parameters alone decide to be computed apart"
        points = prod(producer.sizes[: producer.num_parallel])
        if prod(op.sizes) != points:
            return f"expected {points} points, got {prod(op.sizes)}"
        reads = reads_behind(op, producer)
        if reads is None or not all(is_linear(map) for _, map in reads):
            return f"expected to read what is computed once each, got map '{op.maps[index]}'"
        return None


def reads_behind(op: KernelOp, producer: KernelOp) -> list[Read] | None:
    """Return what a kernel reads, and last what it writes, at the points of its producer.

    None where their points do not correspond.
    """
    index = list(op.inputs).index(producer.target)
    dims = solve(op.maps[index], op.sizes, producer.maps[-1], producer.sizes)
    if dims is None:
        return None
    operands = (*op.inputs, op.target)
    return [
        (value, composed(map, dims, producer.sizes))
        for value, map in zip(operands, op.maps, strict=True)
    ]


def fused(op: KernelOp, producer: KernelOp) -> KernelOp:
    """Return a kernel that goes on with `op` where its producer would write."""
    behind = reads_behind(op, producer)
    assert behind is not None
    *inputs, (_, output_map) = behind
    reads: list[Read] = []
    own = [place(reads, read) for read in reads_of(producer)]
    elements = [argument(index) for index in own]
    places = [
        None if value is producer.target else place(reads, (value, map)) for value, map in inputs
    ]

    def go_on(builder: Builder, arguments: Sequence[SSAValue], value: SSAValue) -> SSAValue:
        taken = [value if index is None else arguments[index] for index in places]
        return spliced(builder, op.finish.block, taken)

    output = Output(tensor_type(op.target), output_map, op.outside)
    new = rebuilt(producer, reads, elements, output, go_on)
    new.location = producer.location
    return new
