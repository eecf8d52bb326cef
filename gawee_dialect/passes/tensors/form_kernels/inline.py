"""Kernels without reductions become part of the kernels that read them."""

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, UnrealizedConversionCastOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.kernel_kind import (
    KernelKind,
    has_windows,
    kernel_kind,
    multiplied_inputs,
    sums_products,
    widens,
)
from gawee_dialect.dialect.affine_range import composed, is_linear, solve, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, YieldOp, element_of
from gawee_dialect.dialect.operation import KEPT, is_kept
from gawee_dialect.dialect.types import is_byte, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant as make_constant
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.form_kernels.constants import number_everywhere
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    Write,
    argument,
    hand_on_identity,
    place,
    reads_of,
    rebuilt,
    spliced,
    worker,
)
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

RUNS_MORE_OFTEN = "expected kernels of one block: a step of a loop would compute it again"
WIDENS = "expected a result as narrow as what is read of bytes: memory holds the bytes"


def widens_bytes(op: KernelOp, value: SSAValue) -> bool:
    """Whether a kernel computes wider numbers of bytes that another one computes.

    Where windows of floats read them, memory holds the floats: each is read several times.
    """
    if not is_byte(element_of(value)) or is_byte(element_of(op.target)):
        return False
    readers = [use.operation for use in op.target.uses] if op.result is not None else []
    return not all(map(_is_window_of_floats, readers)) or len(readers) != 1


def _is_window_of_floats(op: Operation) -> bool:
    if not isinstance(op, KernelOp) or not sums_products(op) or not has_windows(op):
        return False
    return isinstance(op.accumulator_type, AnyFloat)


def _widens_bytes_quickly(op: KernelOp) -> bool:
    """Whether a kernel makes integers of bytes, less a number at most: a load widens them."""
    if len(op.inputs) != 1 or not is_byte(element_of(op.inputs[0])):
        return False
    extends = arith.ExtSIOp | arith.ExtUIOp | UnrealizedConversionCastOp
    kinds = extends | arith.ConstantOp | arith.SubiOp | YieldOp
    return all(isinstance(each, kinds) for each in op.finish.block.ops)


def _multiplies(op: KernelOp, index: int) -> bool:
    """Whether an input is a factor of what a kernel sums."""
    return op.initial is not None and index in (multiplied_inputs(op) or ())


class InlineProducer(Pattern):
    """A kernel without reductions, and one that reads it -> one kernel

    Every reader reads through a copy. What computes is inlined where it has one reader, which
    reads each element once. What depends on parameters alone stays apart from what does not, so
    that it can be computed once.
    """

    def __init__(self, analysis: ParameterAnalysis) -> None:
        self._analysis = analysis

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
            works = worker(op, producer)
            new = inlined(op, index, producer, moves=True)
            if works is producer:
                self.fused(op, producer)
                hand_on_identity(producer, new)
            else:
                self.fused(producer, op)
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
        is_weight = self._analysis.is_read_late(value, op.target)
        if is_weight and sums_products(op) and widens(producer) and not has_windows(op):
            return None  # a product reads its weights as they are stored: fewer bytes
        if _widens_bytes_quickly(producer) and not _multiplies(op, index):
            return None
        if value.uses.get_length() != 1:
            return "expected one reader of what is computed"
        if is_weight:
            return "expected what parameters alone decide to be computed apart"
        if widens_bytes(op, value):
            return WIDENS
        return _why_more_work(op, index, producer)


def _why_more_work(op: KernelOp, index: int, producer: KernelOp) -> str | None:
    """Say why inlining a computation would repeat it."""
    finish_only = op.initial is None or not op.accumulate.block.args[index].uses
    visited = op.sizes[: op.num_parallel] if finish_only else op.sizes
    if prod(visited) != prod(producer.sizes):
        return f"expected {prod(producer.sizes)} points, got {prod(visited)}"
    if not finish_only and multiplied_inputs(op) is not None:
        return "expected no computation inside of a product"
    if len(used_dims(op.maps[index])) < sum(size != 1 for size in visited):
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


def inlined(op: KernelOp, index: int, producer: KernelOp, *, moves: bool = False) -> KernelOp:
    """Return a kernel that computes what it read from a producer; `moves` is as for `rebuilt`."""
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
    return rebuilt(op, reads, elements, moves=moves)


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
        rewriter.replace(op, rebuilt(op, reads, elements, moves=True))


def constant(number: Number) -> Write:
    """Return what makes a constant."""
    value = number.value.data
    return lambda builder, arguments: make_constant(builder, value, number.get_type())


# Elementwise kernels behind a reduction become part of it.


class FuseIntoReduction(Pattern):
    """A reduction, and a kernel without one that alone reads it -> one kernel, longer `finish`

    Of several such reductions it becomes part of the last. What depends on parameters alone stays
    apart from what does not.
    """

    def __init__(self, analysis: ParameterAnalysis) -> None:
        self._analysis = analysis

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
        works = worker(op, found)
        new = fused(op, found)
        if works is found:
            self.fused(op, found)
        else:
            self.fused(found, op)
            hand_on_identity(op, new)
        rewriter.replace(op, new)
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
        if self._analysis.is_read_late(value, op.target):
            return "expected what parameters alone decide to be computed apart"
        if widens_bytes(op, value):
            return WIDENS
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
    """Return a kernel that goes on with `op` where its producer would write; both are erased."""
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
        return spliced(builder, op.finish.block, taken, moves=True)

    output = Output(tensor_type(op.target), output_map, op.outside)
    return rebuilt(producer, reads, elements, output, go_on, moves=True)
