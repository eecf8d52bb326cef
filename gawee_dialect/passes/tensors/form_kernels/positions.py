"""What computes positions becomes part of the structured op that reads elements there."""

from math import prod

from xdsl.builder import Builder
from xdsl.dialects import linalg
from xdsl.dialects.builtin import AffineMapAttr, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_maps import composed, solve
from gawee_dialect.dialect.affine_range import is_linear, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.operation import KEPT, is_kept
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.form_kernels.drafts import Read, place, reads_of, spliced
from gawee_dialect.passes.tensors.form_kernels.from_linalg import trip_counts
from gawee_dialect.passes.tensors.form_kernels.inline import RUNS_MORE_OFTEN
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis


class InlinePositions(Pattern):
    """linalg.generic ins(%p) { tensor.extract %x[.., %p] }, %p = gawee.kernel of integers
    -> linalg.generic that computes them

    Only what is arithmetic, and read once: positions in memory take longer to write and to read
    than to compute.
    """

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.ops.GenericOp, rewriter: PatternRewriter) -> None:
        reason = "expected an input of integers that a kernel without reductions computes"
        for index, value in enumerate(op.inputs):
            producer = value.owner
            if not isinstance(producer, KernelOp) or not _computes_integers(producer):
                continue
            problem = self._why_not(op, index, producer)
            if problem is None:
                self.fused(producer, op)
                rewriter.replace(op, _inlined(op, index, producer))
                rewriter.erase(producer)
                return
            reason = problem
        self.missed(op, reason)

    def _why_not(self, op: linalg.ops.GenericOp, index: int, producer: KernelOp) -> str | None:
        value = op.inputs[index]
        if is_kept(op, producer):
            return KEPT
        if len(op.res) != 1 or producer.schedule is not None:
            return "expected one result, and a kernel without schedule"
        if producer.parent is not op.parent:
            return RUNS_MORE_OFTEN
        if value.uses.get_length() != 1:
            return "expected one reader of what is computed"
        if self._analysis.is_known_early(value) and not self._analysis.is_known_early(op.res[0]):
            return "expected what parameters alone decide to be computed apart"
        counts = trip_counts(op)
        sizes = [count for count in counts if count is not None]
        map = op.get_indexing_maps().data[index].data
        several = sum(size > 1 for size in sizes)
        if len(sizes) < len(counts) or len(used_dims(map)) < several:
            return "expected to read each element once"
        if prod(sizes) != prod(producer.sizes) or _reads_through(op, index, producer) is None:
            return "expected to read what is computed, and nothing else"
        return None


def _computes_integers(op: KernelOp) -> bool:
    """Whether a kernel computes each element by itself, by arithmetic on integers."""
    if op.initial is not None or op.outside is not None or op.result is None:
        return False
    if not isinstance(element_of(op.result), IntegerType):
        return False
    return all(each.dialect_name() in ("arith", "gawee") for each in op.finish.block.ops)


def _reads_through(op: linalg.ops.GenericOp, index: int, producer: KernelOp) -> list[Read] | None:
    """Return what the inputs of a producer are at the points of its reader."""
    sizes = [count or 0 for count in trip_counts(op)]
    maps = [each.data for each in op.get_indexing_maps()]
    dims = solve(producer.maps[-1], producer.sizes, maps[index], sizes)
    if dims is None:
        return None
    reads = [(value, composed(map, dims, sizes)) for value, map in reads_of(producer)]
    return reads if all(is_linear(map) for _, map in reads) else None


def _inlined(op: linalg.ops.GenericOp, index: int, producer: KernelOp) -> Operation:
    """Return an op that computes what it read from a producer."""
    through = _reads_through(op, index, producer)
    assert through is not None
    maps: list[AffineMap] = [each.data for each in op.get_indexing_maps()]
    own = list(zip(op.inputs, maps, strict=False))
    reads: list[Read] = []
    places = [-1 if number == index else place(reads, read) for number, read in enumerate(own)]
    inner = [place(reads, read) for read in through]
    block = Block(arg_types=[*(element_of(value) for value, _ in reads), element_of(op.outputs[0])])
    builder = Builder(InsertPoint.at_end(block))
    position = spliced(builder, producer.finish.block, [block.args[number] for number in inner])
    values: dict[SSAValue, SSAValue] = {op.body.block.args[-1]: block.args[-1]}
    for argument, number in zip(op.body.block.args, places, strict=False):
        values[argument] = position if number < 0 else block.args[number]
    for each in op.body.block.ops:
        builder.insert(each.clone(values))
    return type(op)(
        [value for value, _ in reads],
        op.outputs,
        Region(block),
        [AffineMapAttr(map) for map in (*(map for _, map in reads), maps[-1])],
        op.iterator_types,
        [result.type for result in op.res],
    )
