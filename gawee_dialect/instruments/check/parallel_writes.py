"""Loops that are called parallel, and whose iterations write the same element.

Run one after the other, as a check runs them, they compute the right thing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref, omp, scf, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.written_buffers import WrittenBuffers, buffer_of
from gawee_dialect.dialect.forall import ForallOp
from gawee_dialect.dialect.tensor import ParallelInsertSliceOp
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.iteration_accesses import collision
from gawee_dialect.instruments.check.violation import Violation
from gawee_dialect.interpreter.arrays import ShapedType
from gawee_dialect.interpreter.loop_views import loop_ranges
from gawee_dialect.walk import all_ops


def wrong_parallel_loops(module: ModuleOp) -> Iterator[Violation]:
    """Yield the loops of which two iterations surely write the same element.

    Where it depends on data, or on arithmetic that is not looked into, nothing is said.
    """
    buffers = WrittenBuffers(module)
    for op in all_ops(module):
        if isinstance(op, LinalgStructuredOperation):
            yield from _structured(op)
            continue
        block = _body(op)
        for index, counter in enumerate(() if block is None else block.args[: _rank(op)]):
            if _trips(op, index) < 2:
                continue
            written = _shared_write(buffers, op, counter) or _overlap(op, index)
            if written is not None:
                yield Violation(op, f"runs loop {index} in parallel, {written}")


def _structured(op: LinalgStructuredOperation) -> Iterator[Violation]:
    maps = [each.data for each in op.get_indexing_maps()]
    shapes = [each.type.get_shape() if isa(each.type, ShapedType) else () for each in op.operands]
    kinds = [each.data for each in op.get_iterator_types()]
    try:
        ranges = loop_ranges(maps, shapes)
    except InterpretationError:
        return  # of a size that no operand tells
    for affine_map in maps[len(op.inputs) :]:
        used = {
            each.position
            for expr in affine_map.results
            for each in expr.dfs()
            if isinstance(each, AffineDimExpr)
        }
        for dim, kind in enumerate(kinds):
            if kind is IteratorType.PARALLEL and dim not in used and ranges[dim] > 1:
                message = f"calls loop {dim} parallel, which no index of its output depends on"
                yield Violation(op, message)


def _body(op: Operation) -> Block | None:
    return op.body.block if isinstance(op, scf.ParallelOp | omp.LoopNestOp | ForallOp) else None


def _rank(op: Operation) -> int:
    if isinstance(op, ForallOp):
        return len(op.static_lower.get_values())
    return len(op.lowerBound) if isinstance(op, scf.ParallelOp | omp.LoopNestOp) else 0


def _trips(op: Operation, index: int) -> int:
    """Return the trips of a loop of a nest; 0 where they are not known."""
    return len(_counts(op, index))


def _counts(op: Operation, index: int) -> range:
    """Return the numbers that a counter of a nest takes; none where they are not known."""
    if isinstance(op, ForallOp):
        bounds = (op.static_lower, op.static_upper, op.static_step)
        lower, upper, step = (each.get_values()[index] for each in bounds)
        return range(0) if min(lower, upper, step) < 0 else range(lower, upper, step)
    if not isinstance(op, scf.ParallelOp | omp.LoopNestOp):
        return range(0)
    found = [constant_index(each[index]) for each in (op.lowerBound, op.upperBound, op.step)]
    lower, upper, step = found
    if lower is None or upper is None or not step:
        return range(0)
    return range(lower, upper + ("loop_inclusive" in op.properties), step)


def _overlap(loop: Operation, index: int) -> str | None:
    """Say which element two iterations share that one of them writes; None where none is found."""
    counters = [_counts(loop, each) for each in range(_rank(loop))]
    block = _body(loop)
    if block is None or not all(map(len, counters)):
        return None
    found = collision(block, counters, index, lambda value: _is_shared(value, loop))
    return None if found is None else found.text


def _is_shared(value: SSAValue, loop: Operation) -> bool:
    """Whether memory is no view, and not an iteration's own."""
    return buffer_of(value) is value and _is_outside(value, loop)


@dataclass
class _Dependent:
    """The values that depend on a loop's counter."""

    values: set[SSAValue] = field(default_factory=set[SSAValue])

    def any_of(self, values: Iterable[SSAValue]) -> bool:
        return any(each in self.values for each in values)

    def spread(self, block: Block) -> None:
        for op in block.ops:
            blocks = [each for region in op.regions for each in region.blocks]
            if self.any_of(op.operands):
                self.values.update(op.results)
                self.values.update(arg for each in blocks for arg in each.args)
            for each in blocks:
                self.spread(each)
                last = each.last_op
                if last is not None and self.any_of(last.operands):
                    self.values.update(op.results)


def _shared_write(buffers: WrittenBuffers, loop: Operation, counter: SSAValue) -> str | None:
    """Say which write all iterations of a loop make to one place; None where there is none."""
    block = _body(loop)
    assert block is not None
    dependent = _Dependent({counter})
    dependent.spread(block)
    for op in loop.walk():
        places = _places(buffers, op)
        if not places or dependent.any_of(places) or _is_guarded(op, loop, dependent):
            continue
        if any(_is_outside(_root(each), loop) for each in places if _is_memory(each)):
            return f"each iteration of which writes the same place by '{op.name}'"
    return None


def _places(buffers: WrittenBuffers, op: Operation) -> Sequence[SSAValue]:
    """Return the buffer that an op writes, and where: of several buffers, the first."""
    match op:
        case memref.StoreOp():
            return (op.memref, *op.indices)
        case vector.StoreOp():
            return (op.base, *op.indices)
        case vector.MaskedStoreOp():
            return (op.base, *op.indices, op.mask)
        case memref.CopyOp():
            return (op.destination,)
        case ParallelInsertSliceOp():
            return (op.dest, *op.offsets)
        case CallOp() | LinalgStructuredOperation():
            # What a callee does with an argument that tells iterations apart, nobody knows here.
            written = list(buffers.of(op))
            return (*written, *op.operands) if written else ()
        case _:
            return ()


def _is_memory(value: SSAValue) -> bool:
    return isinstance(value.type, MemRefType) or value.type.name == "tensor"


def _root(value: SSAValue) -> SSAValue:
    while isinstance((buffer := buffer_of(value)).owner, memref.ViewOp):
        value = buffer.owner.source
    return buffer


def _is_outside(value: SSAValue, loop: Operation) -> bool:
    """Whether memory is not an iteration's own."""
    if isinstance(value.owner, Block):
        # What `scf.forall` shares, its body takes as arguments.
        inside = loop.is_ancestor(value.owner)
        return not inside or value.owner.parent_op() is loop
    return not loop.is_ancestor(value.owner)


def _is_guarded(op: Operation, loop: Operation, dependent: _Dependent) -> bool:
    """Whether it depends on the iteration if an op runs."""
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        if dependent.any_of(parent.operands):
            return True
        parent = parent.parent_op()
    return False
