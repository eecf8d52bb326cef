"""Decide how kernels are run: register tiles, loop order, vectors, threads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar, NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.analysis.kernel_kind import KernelKind, combiner_of, kernel_kind, neutral
from gawee_dialect.analysis.tile_product import tile_product
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.graph.scan import is_branching, is_of_one_thread, is_step_loop
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import (
    KernelOp,
    YieldOp,
    copy_kernel,
    insert_copy,
    shape_of,
)
from gawee_dialect.dialect.kernels.schedule import PAIR, Loop, Schedule, ScheduleAttr
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.assign_schedules.copied_inputs import is_copied
from gawee_dialect.passes.tensors.assign_schedules.cost_model import is_packed
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses, Operand
from gawee_dialect.passes.tensors.assign_schedules.loop_order import schedule_of
from gawee_dialect.passes.tensors.assign_schedules.open_kernels import (
    open_schedule,
    typical_numbers,
    with_numbers,
)
from gawee_dialect.passes.tensors.assign_schedules.pairs import schedule_of_pairs
from gawee_dialect.passes.tensors.assign_schedules.tile_products import schedule_of_tiles
from gawee_dialect.passes.tensors.assign_schedules.tiles import best_tile
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.passes.tensors.tensor_forms import with_forms
from gawee_dialect.schedules.database import Database
from gawee_dialect.schedules.keys import schedule_key
from gawee_dialect.schedules.pass_option import ScheduledPass
from gawee_dialect.schedules.script import Script, behind
from gawee_dialect.target.description import Processor
from gawee_dialect.target.machine import MachinePass

# A reduction in parts: a kernel for the parts side by side, and one that combines them.


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


# More points than a kernel has, so that tiles are whole.


def padded_kernel(builder: Builder, op: KernelOp, sizes: Sequence[int]) -> KernelOp:
    """Insert a kernel of more points, on inputs that have zeros behind; return it.

    rewrite:
        parallel [37] ins(%a : tensor<37xf32>)  ->  parallel [40] ins(%0 : tensor<40xf32>)
    """
    inputs: list[SSAValue] = []
    for value, reads in zip(op.inputs, op.maps, strict=False):
        old = shape_of(value)
        ends = (value_range(expr, sizes)[1] + 1 for expr in reads.results)
        shape = tuple(map(max, old, ends))
        inputs.append(value if shape == old else insert_copy(builder, _resized(value, shape, old)))
    target = op.target.type
    assert isa(target, TensorType[Attribute])
    ends = (value_range(expr, sizes)[1] + 1 for expr in op.maps[-1].results)
    new = op.with_operands(inputs, TensorType(target.element_type, list(ends)))
    new.bounds = DenseArrayBase.from_list(i64, sizes)
    return builder.insert(new)


def _resized(value: SSAValue, shape: Sequence[int], copied: Sequence[int]) -> KernelOp:
    """Return a copy of a tensor's first elements along each axis; what it lacks is zero."""
    same = AffineMap.identity(len(shape))
    return copy_kernel(value, shape, bounds=copied, reads=same, writes=same)


# Operands in the order in which a schedule reads them.


@dataclass(frozen=True)
class Packing:
    """An order of an operand's elements: one axis a loop, then the register tile."""

    shape: tuple[int, ...]
    exprs: tuple[AffineExpr, ...]

    @staticmethod
    def of(
        operand: Operand, schedule: Schedule, sizes: Sequence[int], pair: int | None = None
    ) -> "Packing":
        """Return the order in which a schedule's loops come upon the operand's elements.

        Neighbours along the reduction `pair` lie side by side, in each lane of a vector. So do
        the channels of a block of an input, which are copied as a vector.
        """
        shape: list[int] = []
        exprs: list[AffineExpr] = []
        block: int | None = None
        extents = list(sizes)
        points: list[AffineExpr] = [AffineExpr.dimension(dim) for dim in range(len(sizes))]
        for loop in schedule.loops:
            if loop.dim in operand.dims:
                if not operand.is_parameter and 1 < operand.block_of(loop.dim) == extents[loop.dim]:
                    block = len(shape)
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
            size = extents[dim] // PAIR if dim == pair else extents[dim]
            if dim not in operand.dims or size == 1:
                continue
            lanes = vector.step if vector is not None and vector.dim == dim else 1
            shape.append(ceil(size / lanes) * lanes)
            exprs.append(points[dim] // PAIR if dim == pair else points[dim])
        if pair is not None and pair in operand.dims:
            within = points[pair] % PAIR if extents[pair] > PAIR else points[pair]
            shape[-1], exprs[-1] = PAIR * shape[-1], exprs[-1] * PAIR + within
        order = sorted(range(len(shape)), key=lambda axis: axis == block)
        kept = [axis for axis in order if shape[axis] > 1]
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


def _pair(op: KernelOp, schedule: Schedule) -> int | None:
    """Return the reduction of which neighbours lie in each lane, of vectors or of tiles."""
    product = None if schedule.tiles is None else tile_product(op)
    if product is None:
        return schedule.pair(op.num_parallel)
    return schedule.depth(op.sizes, op.num_parallel) if product.in_word > 1 else None


@dataclass(frozen=True)
class AssignSchedules(MachinePass, ScheduledPass):
    """Decide how kernels are run: register tiles, loop order, vectors, threads.

    1. The register tile is the one that an explicit model (`cost_model.py`) says takes the fewest
       cycles on the target: along the dimension of the vector and one other.
    2. Loops run in an order in which the larger operand is walked once, reductions inside.
    3. Weights that a reduction reads are copied into the order in which the schedule reads them;
       `hoist-parameter-computation` then moves the copy into `@prepare`. Those that a kernel
       computes in that order stay as they are. So are inputs in blocks of channels that are read
       often (`copied_inputs.py`).
    4. Products of bytes and of bf16 are those of tiles, where the processor has registers for them
       and that takes fewer cycles (`tile_products.py`).
    5. A kernel that takes long enough has its outermost loops shared among threads. One that is
       part of a step is not, where threads compute steps of their own.

    A kernel that has a schedule keeps it. One that the database has a choice for gets
    that; raises GaweeError where it doesn't fit, with the reason.

    rewrite:
        gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w)
        ->
        %packed = gawee.kernel parallel [64, 64, 3, 3] ins(%w)
        gawee.kernel ... ins(%x, %packed) schedule #gawee.schedule<
          loops = [d1 by 32, d2, d3 by 14, d4 by 16, d5, d6, d4],
          vector = d1 by 16, parallel = 2>
    """

    name = "assign-schedules"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        processor = self.processor
        with with_forms(op):
            for function in op.ops:
                if isinstance(function, FuncOp) and function.body.blocks:
                    _Scheduler(processor, self.schedules).run(function)


def accesses_of(op: KernelOp, analysis: ParameterAnalysis) -> KernelAccesses:
    """Look at a kernel: parameters' layouts are free where it reads anything else too."""
    early = [analysis.is_known_early(value) for value in op.inputs]
    return KernelAccesses.of(op, early)


class _Chosen(NamedTuple):
    """What is chosen for a kernel: its schedule, and inputs that are packed since it says so."""

    schedule: Schedule
    packed: Sequence[int] = ()
    parts: Loop | None = None
    """The reduction that is split, and into how many parts."""
    padded: Sequence[int] | None = None
    """How many points each dimension gets; None where no one gets more."""


class _Scheduler:
    """Schedules the kernels of one function; kernels of one kind get one schedule."""

    def __init__(self, processor: Processor, database: Database):
        self.processor = processor
        self.database = database
        self.analysis = ParameterAnalysis()
        self.known: dict[object, _Chosen] = {}
        self.texts = Fingerprints()

    def run(self, function: FuncOp) -> None:
        for block in function.body.blocks:
            self._run_block(block)

    def _run_block(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, KernelOp) and op.result is not None:
                self._assign(op)
            elif is_step_loop(op) or is_branching(op):
                for inner in (block for region in op.regions for block in region.blocks):
                    self._run_block(inner)

    def _assign(self, op: KernelOp) -> None:
        if is_open(op.sizes):
            self._assign_open(op)
            return
        kernel = accesses_of(op, self.analysis)
        packed: Sequence[int] = ()
        if op.schedule is None:
            key = self._kind(op, [operand.is_parameter for operand in kernel.inputs])
            if key not in self.known:
                self.known[key] = self._schedule_of(kernel)
            schedule, packed, parts, padded = self.known[key]
            if parts is not None:
                self._assign_parts(op, parts, schedule, packed)
                return
            if padded is not None:
                self._assign_padded(op, padded, schedule, packed)
                return
            op.schedule = ScheduleAttr(schedule)
        self._pack(op, kernel, packed)

    def _assign_open(self, op: KernelOp) -> None:
        """Schedule a kernel of open sizes, and pack the weights whose sizes are numbers."""
        samples = [with_numbers(op, numbers) for numbers in typical_numbers(op.names)]
        known = [each for each in samples if each is not None]
        if len(known) < len(samples) or op.schedule is not None:
            return
        early = [self.analysis.is_known_early(value) for value in op.inputs]
        kernels = [KernelAccesses.of(each, early) for each in known]
        kernel = kernels[0]
        key = self._kind(op, [operand.is_parameter for operand in kernel.inputs])
        if key not in self.known:
            processor = self._processor_of(op)

            def choose(each: Sequence[KernelAccesses]) -> Schedule:
                return open_schedule(op, each, processor)

            paired = schedule_of_pairs(kernels, op.sizes, processor, choose)
            self.known[key] = _Chosen(paired or choose(kernels))
        op.schedule = ScheduleAttr(self.known[key].schedule)
        own = [replace(each, value=v) for each, v in zip(kernel.inputs, op.inputs, strict=True)]
        self._pack(op, replace(kernel, inputs=own), ())
        self._transpose_open(op, kernel)

    def _transpose_open(self, op: KernelOp, kernel: KernelAccesses) -> None:
        """Copy inputs of open sizes whose lanes are apart, with the lanes along the last axis."""
        vector = None if op.schedule is None else op.schedule.data.vector
        builder = Builder(InsertPoint.before(op))
        maps = list(op.maps)
        for index, operand in enumerate(kernel.inputs):
            value = op.inputs[index]
            if vector is None or operand.is_parameter or not is_open(shape_of(value)):
                continue
            if not is_packed(operand, kernel, vector):
                continue
            dims = [*sorted(operand.dims - {vector.dim}), vector.dim]
            places = {dim: AffineExpr.dimension(place) for place, dim in enumerate(dims)}
            own = [places.get(dim, AffineExpr.constant(0)) for dim in range(len(op.sizes))]
            sizes = [op.sizes[dim] for dim in dims]
            reads = tuple(e.replace_dims_and_symbols(own, []) for e in maps[index].results)
            copy = copy_kernel(
                value,
                sizes,
                bounds=sizes,
                reads=AffineMap(len(dims), 0, reads),
                writes=AffineMap.identity(len(dims)),
            )
            hand_on_location(op, copy)
            op.operands[index] = insert_copy(builder, copy)
            self._assign(copy)
            axes = tuple(AffineExpr.dimension(dim) for dim in dims)
            maps[index] = AffineMap(len(op.sizes), 0, axes)
        op.indexing_maps = ArrayAttr(AffineMapAttr(map) for map in maps)

    def _processor_of(self, op: KernelOp) -> Processor:
        return self.processor.one_core if is_of_one_thread(op) else self.processor

    def _assign_parts(
        self, op: KernelOp, parts: Loop, schedule: Schedule, packed: Sequence[int]
    ) -> None:
        """Replace a kernel by one whose reduction is split, run so, and one that combines."""
        first, total = split_reduction(op, parts.dim, parts.step)
        first.schedule = ScheduleAttr(schedule)
        for new in (first, total):
            hand_on_location(op, new)
        Rewriter.replace_op(op, [first, total], total.results)
        self._pack(first, accesses_of(first, self.analysis), packed)
        self._assign(total)

    def _assign_padded(
        self, op: KernelOp, sizes: Sequence[int], schedule: Schedule, packed: Sequence[int]
    ) -> None:
        """Replace a kernel by one of more points, run so, and a copy of those that are wanted."""
        new: list[Operation] = []
        builder = Builder(InsertPoint.before(op))
        builder.operation_insertion_handler = [new.append]
        kernel = padded_kernel(builder, op, sizes)
        kernel.schedule = ScheduleAttr(schedule)
        assert kernel.result is not None
        wanted = shape_of(op.target)
        insert_copy(builder, _resized(kernel.result, wanted, wanted))
        for each in new:
            hand_on_location(op, each)
        Rewriter.replace_op(op, [], new[-1].results)
        for each in new:
            if each is kernel:
                self._pack(kernel, accesses_of(kernel, self.analysis), packed)
            else:
                assert isinstance(each, KernelOp)
                self._assign(each)

    def _schedule_of(self, kernel: KernelAccesses) -> "_Chosen":
        alone, processor = is_of_one_thread(kernel.op), self._processor_of(kernel.op)
        chosen = self._chosen(kernel)
        if chosen is None:

            def choose(kernels: Sequence[KernelAccesses]) -> Schedule:
                (only,) = kernels
                tile = best_tile(only, processor)
                vectors = schedule_of(only, tile, processor)
                return schedule_of_tiles(only, vectors, tile, processor) or vectors

            paired = schedule_of_pairs([kernel], kernel.sizes, processor, choose)
            chosen = _Chosen(paired or choose([kernel]))
        return chosen._replace(schedule=replace(chosen.schedule, parallel=0)) if alone else chosen

    def _chosen(self, kernel: KernelAccesses) -> "_Chosen | None":
        """Return what the database has for a kernel; raises GaweeError."""
        if not self.database:
            return None
        op = kernel.op
        key = schedule_key(op, [operand.is_parameter for operand in kernel.inputs])
        entry = self.database.find(key, self.processor.cpu)
        if entry is None or isinstance(entry.choice, Algorithm):
            return None
        hint = f"the schedule is that of {entry.place}"
        if isinstance(entry.choice, Script):
            nest = behind(entry.choice, op, hint)
            if nest.algorithm:
                return None
            padded = nest.sizes if nest.padded else None
            return _Chosen(nest.schedule, nest.packed, nest.parts, padded)
        problem = entry.choice.problem(op.sizes, op.reductions.value.data)
        if problem is not None:
            raise GaweeError(Diagnostic.at(op, f"cannot have the schedule: {problem}", hint))
        return _Chosen(entry.choice)

    def _pack(self, op: KernelOp, kernel: KernelAccesses, asked: Sequence[int]) -> None:
        schedule, processor = op.schedule, self._processor_of(kernel.op)
        assert schedule is not None
        builder = Builder(InsertPoint.before(op))
        maps: list[AffineMap] = []
        before = op.prev_op
        for index, operand in enumerate(kernel.inputs):
            if is_open(operand.shape):
                continue
            if not (
                index in asked
                or is_packed(operand, kernel, schedule.data.vector)
                or _is_copied(index, operand, kernel, schedule.data, processor)
            ):
                continue
            packing = Packing.of(operand, schedule.data, op.sizes, _pair(op, schedule.data))
            if not packing.is_order_of(operand):
                op.operands[index] = pack(builder, operand, packing, op.sizes)
                maps = maps or list(op.maps)
                maps[index] = AffineMap(len(op.sizes), 0, packing.exprs)
        if maps:
            op.indexing_maps = ArrayAttr(AffineMapAttr(map) for map in maps)
        copy = op.prev_op
        while copy is not None and copy is not before:
            hand_on_location(op, copy)
            assert isinstance(copy, KernelOp)
            self._assign(copy)
            copy = copy.prev_op

    def _kind(self, op: KernelOp, early: list[bool]) -> object:
        """Return what kernels have in common that are scheduled alike."""
        types = tuple(value.type for value in (*op.inputs, op.target))
        return types, tuple(early), self.texts.of(op), is_of_one_thread(op)


def _is_copied(
    index: int, operand: Operand, kernel: KernelAccesses, schedule: Schedule, processor: Processor
) -> bool:
    """Whether an input is copied without being asked for: not if it is fetched as it lies."""
    if schedule.prefetch is not None and schedule.prefetch.input == index:
        return False
    return is_copied(operand, kernel, schedule.loops, processor)
