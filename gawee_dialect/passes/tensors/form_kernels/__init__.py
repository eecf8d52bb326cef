"""Form kernels of structured ops: what is computed together becomes one `gawee.kernel`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import linalg, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.kernel_kind import copied_input
from gawee_dialect.dialect.affine_range import composed, is_linear, solve, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.open_size import OpenSize, number_of
from gawee_dialect.dialect.operation import KEPT, is_kept
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver, Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    place,
    reads_of,
    rewired,
    spliced,
)
from gawee_dialect.passes.tensors.form_kernels.from_linalg import (
    DropFill,
    FormBroadcast,
    FormKernel,
    FormPad,
    trip_counts,
)
from gawee_dialect.passes.tensors.form_kernels.inline import (
    RUNS_MORE_OFTEN,
    FuseIntoReduction,
    InlineConstant,
    InlineProducer,
)
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.passes.tensors.tensor_forms import with_forms

# Reads and writes through views: reshapes and slices become part of maps.


Reshape: TypeAlias = tensor.CollapseShapeOp | tensor.ExpandShapeOp
View: TypeAlias = Reshape | tensor.ExtractSliceOp


def is_static(op: View) -> bool:
    """Whether a view is always the same part of its source."""
    sizes: tuple[int, ...] = (*tensor_shape(op.operands[0]), *tensor_shape(op.result))
    numbers: tuple[int, ...] = tuple(size for size in sizes if not isinstance(size, OpenSize))
    if isinstance(op, tensor.ExtractSliceOp):
        numbers += (*op.static_offsets.get_values(), *op.static_strides.get_values())
    return DYNAMIC_INDEX not in numbers


def source_map(op: View) -> AffineMap:
    """Return which element of its source each element of a view is."""
    shape = tensor_shape(op.result)
    if isinstance(op, tensor.ExtractSliceOp):
        moved = AffineMap(len(shape), 0, tuple(_slice_places(op, shape)))
        return composed(moved, AffineMap.identity(len(shape)).results, shape)
    larger = tensor_shape(op.src if isinstance(op, tensor.CollapseShapeOp) else op.result)
    if isinstance(op, tensor.CollapseShapeOp):
        return split_axes(groups_of(op), larger)
    return joined_axes(groups_of(op), larger)


def _slice_places(op: tensor.ExtractSliceOp, shape: Sequence[int]) -> Iterator[AffineExpr]:
    """Yield where along each axis of its source a slice is, which may leave out axes of one."""
    axis = 0
    for offset, stride, size in zip(
        op.static_offsets.get_values(),
        op.static_strides.get_values(),
        op.static_sizes.get_values(),
        strict=True,
    ):
        if axis < len(shape) and size == shape[axis]:
            yield AffineDimExpr(axis) * stride + offset
            axis += 1
        else:
            yield AffineExpr.constant(offset)


def joined_axes(groups: Sequence[Sequence[int]], larger: Sequence[int]) -> AffineMap:
    """Return the map from the axes of the larger shape to those of the smaller: `i * 5 + j`."""
    results: list[AffineExpr] = []
    for group in groups:
        parts = [AffineDimExpr(axis) * _points_behind(axis, group, larger) for axis in group]
        results.append(sum(parts, AffineExpr.constant(0)))
    map = AffineMap(len(larger), 0, tuple(results))
    return composed(map, AffineMap.identity(len(larger)).results, larger)


def split_axes(groups: Sequence[Sequence[int]], larger: Sequence[int]) -> AffineMap:
    """Return the map from the smaller shape to the larger: `i floordiv 5`, `i mod 5`.

    A scalar has no groups: it is at the start of every axis.
    """
    if not groups:
        return AffineMap(0, 0, tuple(AffineExpr.constant(0) for _ in larger))
    smaller = [prod(larger[axis] for axis in group) for group in groups]
    results: list[AffineExpr] = []
    for number, group in enumerate(groups):
        for axis in group:
            place = AffineDimExpr(number) // _points_behind(axis, group, larger)
            if axis != group[0]:
                place = place % number_of(larger[axis])
            results.append(place)
    map = AffineMap(len(groups), 0, tuple(results))
    return composed(map, AffineMap.identity(len(groups)).results, smaller)


def _points_behind(axis: int, group: Sequence[int], shape: Sequence[int]) -> int:
    """Return how far apart neighbours along an axis of a group are; raises UnknownSize."""
    return number_of(prod(shape[later] for later in group if later > axis))


def groups_of(op: Reshape) -> list[list[int]]:
    """Return the axes of the larger shape that each axis of the smaller one stands for."""
    return [
        [axis.value.data for axis in group if isa(axis, IntegerAttr)] for group in op.reassociation
    ]


class ReadThroughView(Pattern):
    """gawee.kernel ins(reshape or slice of %x) -> gawee.kernel ins(%x), read by another map

    Declines where that takes quotients: a reshape of a buffer costs nothing.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        reads = reads_of(op)
        reason = "expected an input that is a reshape or a slice"
        for index, (value, map) in enumerate(reads):
            view = value.owner
            if not isinstance(view, View):
                continue
            if is_kept(op, view):
                reason = KEPT
                continue
            source = view.operands[0]
            if not is_static(view):
                reason = f"expected a view at a known place, got '{view.name}'"
                continue
            through = source_map(view)
            if through.num_dims != len(map.results) or len(tensor_shape(source)) == 0:
                reason = f"expected a view of as many axes, got '{view.name}'"
                continue
            new_map = composed(through, map.results, op.sizes)
            if not is_linear(new_map):
                reason = f"expected a sum of multiples of dimensions, got '{new_map}'"
                continue
            self.fused(view, op)
            reads[index] = source, new_map
            rewriter.replace(op, rewired(op, reads))
            return
        self.missed(op, reason)


class WriteThroughReshape(Pattern):
    """reshape of what gawee.kernel computes -> gawee.kernel that writes by another map"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Reshape, rewriter: PatternRewriter) -> None:
        producer = op.src.owner
        if not isinstance(producer, KernelOp) or producer.parent is not op.parent:
            self.missed(op, "expected a reshape of what a kernel computes")
            return
        if is_kept(op, producer):
            self.missed(op, KEPT)
            return
        larger = tensor_shape(op.src if isinstance(op, tensor.CollapseShapeOp) else op.result)
        collapses = isinstance(op, tensor.CollapseShapeOp)
        moves = (joined_axes if collapses else split_axes)(groups_of(op), larger)
        new_map = composed(moves, producer.maps[-1].results, producer.sizes)
        users = {use.operation for use in op.src.uses}
        if users != {op} or not is_linear(new_map):
            self.missed(op, f"expected one use and a sum of dimensions, got '{new_map}'")
            return
        self.fused(op, producer)
        output = Output(tensor_type(op.result), new_map, producer.outside)
        new = rewired(producer, reads_of(producer), output)
        rewriter.replace(op, new)
        rewriter.erase(producer)


# Copies of what a kernel computes: the kernel writes where the copy did.


class WriteThroughCopy(Pattern):
    """A kernel, and a copy of all of its result -> a kernel that writes where the copy did

    Padding, for one. Other kernels that read the result find it inside of the copy.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        move = Move.of(op)
        if move is None:
            self.missed(op, "expected a copy of all that a kernel computes, each to one place")
            return
        if is_kept(op, move.producer, *move.readers):
            self.missed(op, KEPT)
            return
        readers = [reader for reader in move.readers if isinstance(reader, KernelOp)]
        if len(readers) < len(move.readers) or any(reader.schedule for reader in readers):
            self.missed(op, "expected all readers of what is copied to be kernels without schedule")
            return
        moved_reads = [read for reader in readers for read in move.reads(reader, op.target)]
        output = move.output()
        if not all(is_linear(map) for map in (output.map, *(map for _, map in moved_reads))):
            self.missed(op, "expected sums of multiples of dimensions")
            return
        producer = move.producer
        self.fused(op, producer)
        new = rewired(producer, reads_of(producer), output)
        rewriter.insert(new, InsertPoint.before(producer))
        for reader in readers:
            moved = rewired(reader, move.reads(reader, new.target))
            rewriter.replace(reader, moved)
        rewriter.replace(op, (), [new.target])
        rewriter.erase(producer)


@dataclass(frozen=True)
class Move:
    """A kernel that copies, as a map from what it reads to what it writes."""

    op: KernelOp
    producer: KernelOp
    map: AffineMap

    @staticmethod
    def of(op: KernelOp) -> "Move | None":
        """Return the move that a kernel is of all that another computes; None where it is none."""
        index = copied_input(op)
        producer = op.inputs[index].owner if index is not None else None
        if index is None or not isinstance(producer, KernelOp) or op.result is None:
            return None
        if producer.parent is not op.parent:  # a step's copy is made at each step
            return None
        shape = tensor_shape(op.inputs[index])
        dims = solve(op.maps[index], op.sizes, AffineMap.identity(len(shape)), shape)
        if dims is None or not (producer.covers_output() or op.covers_output()):
            return None
        if op.schedule is not None or producer.schedule is not None:
            return None
        return Move(op, producer, composed(op.maps[-1], dims, shape))

    @property
    def readers(self) -> Sequence[Operation]:
        """The other readers of what is copied."""
        users = (use.operation for use in self.producer.target.uses)
        return list(dict.fromkeys(user for user in users if user is not self.op))

    def output(self) -> Output:
        """Return what the producer writes instead."""
        map = composed(self.map, self.producer.maps[-1].results, self.producer.sizes)
        # One of the two covers all that it writes.
        outside = self.op.outside if self.producer.covers_output() else self.producer.outside
        return Output(tensor_type(self.op.target), map, outside)

    def reads(self, reader: KernelOp, value: SSAValue) -> list[Read]:
        """Return what a reader reads where `value` takes the place of what was copied."""
        source = self.producer.target
        return [
            (value, composed(self.map, map.results, reader.sizes))
            if read is source
            else (read, map)
            for read, map in reads_of(reader)
        ]


# What computes positions becomes part of the structured op that reads elements there.


class InlinePositions(Pattern):
    """linalg.generic ins(%p) { tensor.extract %x[.., %p] }, %p = gawee.kernel of integers
    -> linalg.generic that computes them

    Only what is arithmetic, and read once: positions in memory take longer to write and to read
    than to compute.
    """

    def __init__(self, analysis: ParameterAnalysis) -> None:
        self._analysis = analysis

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
        if self._analysis.is_read_late(value, op.res[0]):
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


FORM: tuple[type[Pattern], ...] = (FormKernel, FormBroadcast, FormPad)

FUSE: tuple[type[Pattern], ...] = (
    ReadThroughView,  # first: a view between two kernels hides one from the other
    InlineConstant,
    InlineProducer,
    FuseIntoReduction,
    InlinePositions,
    WriteThroughReshape,
    WriteThroughCopy,  # last: a copy that can be read through needs no place in memory
    DropFill,
)


ANALYSING = (InlineProducer, FuseIntoReduction, InlinePositions)
"""The patterns that ask what depends on parameters alone."""


@dataclass(frozen=True)
class FormKernels(RewritePass):
    """Form a `gawee.kernel` of every structured op, and one kernel of those that belong together.

    1. A structured op whose body is scalar arithmetic becomes a kernel; padding becomes a copy
       that leaves a constant around it. Others stay as they are.
    2. Reshapes, slices, broadcasts and transpositions become part of the maps that read or write
       through them, as long as these stay sums of multiples of dimensions.
    3. Elementwise kernels become part of the one that computes their input, or reads their result;
       those that compute positions, of the structured op that reads elements there.
    4. Padding becomes part of the kernel whose result it pads.
    5. What widens bytes stays apart from the kernel that computes them: memory holds the bytes.

    What depends on parameters alone is never fused with what depends on an input.

    rewrite:
        %p = tensor.pad %x; %c = linalg.conv_2d_nchw_fchw ins(%p, %w) outs(broadcast of %bias)
        %y = linalg.generic ins(%c) { maximumf }; %q = tensor.pad %y
        ->
        %p = gawee.kernel ins(%x) finish { %x }
        %q = gawee.kernel ins(%p, %w, %bias) accumulate { + %p * %w } finish { maximumf(+ %bias) }
    """

    name = "form-kernels"
    numerics: ClassVar[Numerics] = REASSOCIATES
    patterns: ClassVar[tuple[type[Pattern], ...]] = (*FORM, *FUSE)

    takes_open_sizes: ClassVar[bool] = True

    def make_patterns(self) -> Sequence[Pattern]:
        return _instances(self.patterns)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with with_forms(op):
            for patterns in (FORM, FUSE):
                driver = Driver(_instances(patterns), ctx)
                PatternWalk(driver, post_walk_func=erase_dead).rewrite_module(op)


def _instances(patterns: Sequence[type[Pattern]]) -> Sequence[Pattern]:
    """Make the patterns of a table; what one has found of a value, all know."""
    analysis = ParameterAnalysis()
    return [
        pattern(analysis) if issubclass(pattern, ANALYSING) else pattern() for pattern in patterns
    ]
