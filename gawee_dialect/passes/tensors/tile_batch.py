"""Compute a batch in parts whose images stay in the cache, each by all threads or by one."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from gawee_dialect.analysis.batch_axes import Along, BatchAxes, batch_axes
from gawee_dialect.analysis.batch_traffic import Batch, Parts, node_traffic
from gawee_dialect.analysis.open_sizes import (
    has_forms,
    open_names_of,
    specialized,
    write_block_sizes,
)
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
)
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.indexing import IndexedOp
from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.dialect.graph.scan import BATCH_MARK, THREADS_MARK, ScanOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.dialect.types import is_tensor, tensor_shape
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.specialize_batch import inputs_with_images, resize
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.target.machine import MachinePass

LEAST_GAIN = 0.01
"""The part of a network's time that the model has to promise, for a loop to be worth it."""

SEVERAL = 2
"""The fewest images that are a batch."""

LEAST_SECONDS = 100e-6
"""Of networks that take less, what they read and write says less than what the model leaves out."""


class Run(NamedTuple):
    """Nodes one after the other that keep images apart, and the parts to compute them in."""

    nodes: Sequence[Operation]
    parts: Parts


@dataclass(frozen=True)
class TileBatch(MachinePass):
    """Compute a batch in parts whose images stay in the cache, each by all threads or by one.

    1. Images are along axis 0 of the inputs. Nodes that compute something of each by itself, one
       after the other, become the body of a `gawee.scan` over parts of the batch; it is marked
       `gawee.batch`. Recurrences, and nodes whose indices come from an image, stay outside.
    2. How many images a part has is what a model of the memory traffic
       (`analysis/batch_traffic.py`) expects to be fastest: small parts stay in a near memory, large
       ones read the weights less often. Without a gain the graph stays as it is.
    3. The model says as well if all threads compute one part after the other, or each of them parts
       of its own, which the mark `gawee.threads` says: then no thread waits for others in each
       kernel, but more images are in the caches at a time. What comes behind all convolutions, from
       a node on that reads more of weights than of images, stays outside where that is faster.
    4. A part divides the batch, so that nothing is left over.
    5. Where how many images there are is open, and nothing else, what convolves is computed of one
       image after the other: algorithms and layouts of convolutions are for numbers. So is what
       comes behind, up to a node that reads more of weights than of images.

    Requires: a graph that keeps images apart (else it stays as it is).

    rewrite:
        %y = gawee.conv %x, %w : (tensor<32x3x8x8xf32>, ...) -> tensor<32x4x8x8xf32>
        ->
        %parts = gawee.reshape %x shape [16, 2, 3, 8, 8]
        %all = gawee.scan steps 16 over(%parts) {
        ^bb0(%images: tensor<2x3x8x8xf32>):
          %made = gawee.conv %images, %w
          gawee.yield %made
        } -> tensor<16x2x4x8x8xf32> {gawee.batch}
        %y = gawee.reshape %all shape [32, 4, 8, 8]
    """

    name = "tile-batch"
    # A matrix of one row is another product, whose sums may have another order.
    numerics: ClassVar[Numerics] = REASSOCIATES
    special_values: ClassVar[bool] = True

    images: int = 0
    """How many images a part has; 0 for what the model expects to be fastest."""

    threads: int = 0
    """How many parts are computed at the same time, each by one thread; 0 for what the model
    expects, or for one after the other where `images` is given."""

    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = find_function(op)
        if function is None or len(function.body.blocks) != 1:
            return
        if has_forms(function):
            if _tile_open_batch(op, function):
                report_statistic(self, "images of a part", 1)
            return
        try:
            inputs = inputs_with_images(function, None)
            if not self.images and _has_one_image(function, inputs):
                return
            found = _images_of(function, inputs)
        except GaweeError:
            if self.images:
                raise
            return
        run = self._given(function, found) if self.images else self._chosen(function, found)
        if run is not None:
            nodes, parts = run
            inside = set(nodes)

            def write_part(block: Block) -> None:
                resize(_only_inside(found, block, inside), parts.images)

            scan = _put_in_scan(nodes, found.axes, found.batch // parts.images, write_part)
            if parts.threads > 1:
                scan.attributes[THREADS_MARK] = IntegerAttr(parts.threads, i64)
            report_statistic(self, "images of a part", parts.images)
            report_statistic(self, "parts at the same time", parts.threads)

    def _given(self, function: FuncOp, found: BatchAxes) -> Run | None:
        if self.images < 0 or found.batch % self.images:
            message = f"expected a part of {self.images} images to divide a batch of {found.batch}"
            raise GaweeError(Diagnostic(message, hint="of 12, parts of 1, 2, 3, 4 and 6 can be"))
        longest = max(_runs(function, found), key=len, default=())
        if not longest or self.images == found.batch:
            return None
        threads = min(self.threads or 1, found.batch // self.images)
        return Run(longest, Parts(self.images, threads))

    def _chosen(self, function: FuncOp, found: BatchAxes) -> Run | None:
        processor = self.processor
        batch = Batch(found.batch, processor, processor.cores)
        runs = [(run, [node_traffic(op, found) for op in run]) for run in _runs(function, found)]
        nodes = [node for _, traffic in runs for node in traffic]
        seconds = batch.seconds(nodes, Parts(found.batch))
        if seconds < LEAST_SECONDS:
            return None
        least = LEAST_GAIN * seconds
        best: Run | None = None
        for run, every in runs:
            for end in dict.fromkeys((len(run), len(_convolving(run, found)))):
                traffic = every[:end]
                whole = batch.seconds(traffic, Parts(found.batch))
                for parts in self._ways(batch):
                    gain = whole - batch.seconds(traffic, parts)
                    if gain > least:
                        best, least = Run(run[:end], parts), gain
        return best

    def _ways(self, batch: Batch) -> Iterator[Parts]:
        """Yield the ways to compute a batch in parts, the largest first: fewer parts at a tie."""
        for images in _divisors(batch.images):
            count = batch.images // images
            for threads in sorted({1, min(batch.threads, count)}):
                if self.threads in (0, threads):
                    yield Parts(images, threads)


Inputs = Mapping[str, tuple[EntryArgument, int]]
"""Inputs by name, and along which axis they have images."""


def _has_one_image(function: FuncOp, inputs: Inputs) -> bool:
    arguments = function.body.block.args
    return all(tensor_shape(arguments[each.index])[axis] == 1 for each, axis in inputs.values())


def _images_of(function: FuncOp, inputs: Inputs) -> BatchAxes:
    arguments = function.body.block.args
    return batch_axes(function, {arguments[each.index]: axis for each, axis in inputs.values()})


def _divisors(number: int) -> list[int]:
    """Return what divides a number, but for itself, the largest first: fewer parts at a tie."""
    return [each for each in range(number - 1, 0, -1) if number % each == 0]


def _runs(function: FuncOp, found: BatchAxes) -> Iterator[Sequence[Operation]]:
    """Yield nodes in their order, all with images, none between them that has to be outside."""
    for run in _neighbours(function, found):
        end = _end(run, found)
        if end:
            yield run[:end]


def _neighbours(function: FuncOp, found: BatchAxes) -> Iterator[list[Operation]]:
    run: list[Operation] = []
    for op in function.body.block.ops:
        if not any(value in found.axes for value in op.operands) or not op.results:
            continue
        if isinstance(op, IndexedOp | ScanOp) or not _is_alike(op.results, found):
            yield run
            run = []
        else:
            run.append(op)
    yield run


def _is_alike(results: Sequence[SSAValue], found: BatchAxes) -> bool:
    return all(value in found.axes for value in results)


def _end(run: Sequence[Operation], found: BatchAxes) -> int:
    """Return how many nodes of a run can be in parts: what goes in and out is along axis 0."""
    places = {op: index for index, op in enumerate(run)}
    needed = found_end = 0  # so many have to be inside, for all others to read along axis 0
    for end, op in enumerate(run, 1):
        outside = (value for value in op.operands if value.owner not in places)
        if not all(_is_first(found.axes[value]) for value in outside if value in found.axes):
            break
        for value in op.results:
            if not _is_first(found.axes[value]):
                readers = (places.get(use.operation, len(run)) for use in value.uses)
                needed = max([needed, *(reader + 1 for reader in readers)])
        if needed <= end:
            found_end = end
    return found_end


def _is_first(place: Along) -> bool:
    """Whether images are one after the other along axis 0."""
    return place == Along(0)


def _taken(
    nodes: Sequence[Operation], inside: set[Operation], images: Container[SSAValue]
) -> list[SSAValue]:
    """Return the values with images that nodes read and that are made outside, each once."""
    read = (value for op in nodes for value in op.operands if value in images)
    return list(dict.fromkeys(value for value in read if value.owner not in inside))


def _leaving(nodes: Sequence[Operation], inside: set[Operation]) -> list[OpResult]:
    """Return what nodes make and others read."""
    return [
        value
        for op in nodes
        for value in op.results
        if any(use.operation not in inside for use in value.uses)
    ]


def _put_in_scan(
    nodes: Sequence[Operation],
    images: Container[SSAValue],
    steps: int,
    write_part: Callable[[Block], None],
) -> ScanOp:
    """Move nodes into the body of a scan over parts of the batch; return it.

    `images` are the values that have some; `write_part` writes a body for the images of one part.
    """
    inside = set(nodes)
    last = nodes[-1]
    around = last.parent
    assert around is not None
    behind = last.next_op
    assert behind is not None
    taken = _taken(nodes, inside, images)
    leaving = [(value.op, value.index) for value in _leaving(nodes, inside)]
    block = Block(arg_types=[value.type for value in taken])
    for value, argument in zip(taken, block.args, strict=True):
        value.replace_uses_with_if(argument, lambda use: use.operation in inside)
        argument.name_hint = value.name_hint
    for op in nodes:
        op.detach()
        block.add_op(op)
    write_part(block)
    made = [op.results[index] for op, index in leaving]
    block.add_op(YieldOp(*made))

    def insert(new: Operation, source: Operation) -> None:
        hand_on_location(source, new)
        around.insert_op_before(new, behind)

    parts: list[SSAValue] = []
    for value, argument in zip(taken, block.args, strict=True):
        cut = ReshapeOp(value, shape=(steps, *tensor_shape(argument)))
        insert(cut, nodes[0])
        parts.append(cut.output)
    scan = ScanOp([], parts, Region(block), steps=steps)
    scan.attributes[BATCH_MARK] = UnitAttr()
    insert(scan, last)
    for (op, index), all_parts in zip(leaving, scan.results, strict=True):
        value = op.results[index]
        rows, *rest = tensor_shape(value)
        whole = ReshapeOp(all_parts, shape=(steps * rows, *rest))
        insert(whole, op)
        value.replace_uses_with_if(whole.output, lambda use: use.operation.parent is not block)
    return scan


def _only_inside(found: BatchAxes, block: Block, nodes: set[Operation]) -> BatchAxes:
    """Return what was found of nodes that were moved into a block, which takes parts of axis 0."""
    made = (value for op in block.ops for value in op.results)
    axes = {value: found.axes[value] for value in made}
    return BatchAxes(
        found.batch,
        {**dict.fromkeys(block.args, Along(0)), **axes},
        [each for each in found.repeated if each.op in nodes],
        [each for each in found.sizes if each.op in nodes],
    )


# A batch whose number of images is open: one image after the other, by code for one.

FEW = 7
"""How many images the graph has that is looked at: as many as hardly another axis has rows."""


def _tile_open_batch(module: ModuleOp, function: FuncOp) -> bool:
    """Have one image after the other convolved, where only their number is open."""
    name = _open_batch(function)
    few = 0 if name is None else min(max(FEW, name.low), name.last)
    if name is None or few < SEVERAL or name.step != 1:
        return False
    try:
        copy = find_function(specialized(module, {name.name: few}))
        assert copy is not None
        found = _images_of(copy, inputs_with_images(copy, None))
    except GaweeError:
        return False
    shared = {each.op for each in found.repeated}  # what it reads is written out for all images
    runs = (list(takewhile(lambda op: op not in shared, run)) for run in _runs(copy, found))
    nodes = max((_convolving(run, found) for run in runs), key=len, default=())
    if not nodes:
        return False
    own = dict(zip(copy.walk(), function.walk(), strict=True))
    images = {
        mine
        for op in own
        for value, mine in zip(_values(op), _values(own[op]), strict=True)
        if value in found.axes
    }

    def write_part(block: Block) -> None:
        write_block_sizes(block, {name.name: 1})

    _put_in_scan([own[op] for op in nodes], images, OpenSize.named(name), write_part)
    return True


def _values(op: Operation) -> Iterator[SSAValue]:
    """Yield what an op makes, and what its blocks take."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _open_batch(function: FuncOp) -> SizeName | None:
    """Return the name of a batch, if nothing else is open and all inputs have images."""
    names = open_names_of(function)
    inputs = [each for each in entry_arguments(function) if each.kind is ArgumentKind.INPUT]
    shapes = [each.type.get_shape() for each in inputs if is_tensor(each.type)]
    sizes = {shape[0] for shape in shapes if shape}
    return names[0] if len(names) == 1 and sizes == {OpenSize.named(names[0])} else None


def _convolving(run: Sequence[Operation], found: BatchAxes) -> Sequence[Operation]:
    """Return the nodes of a run up to the last convolution, and those behind it that read more of
    images than of weights; none where nothing convolves."""
    places = [index for index, op in enumerate(run) if isinstance(op, ConvOp | ConvTransposeOp)]
    if not places:
        return ()
    end = places[-1] + 1
    for op in run[end:]:
        traffic = node_traffic(op, found)
        if 0 < traffic.touched < traffic.weights:
            break
        end += 1
    end = _end(run[:end], found)
    return run[:end] if places[0] < end else ()
