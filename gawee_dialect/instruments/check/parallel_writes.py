"""Loops that are called parallel, and whose iterations write the same element.

Run one after the other, as a check runs them, they compute the right thing. Indices have numbers
where loops stand at some iteration, and memory ops touch the elements there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import TypeGuard

import numpy as np
from xdsl.dialects import arith, memref, omp, scf, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.effects import WrittenBuffers, buffer_of, memory_of
from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.dialect.graph.scan import threads_of
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.failure import Violation
from gawee_dialect.interpreter.arith import SCALAR_ARITH
from gawee_dialect.interpreter.arrays import ShapedType, dtype_of
from gawee_dialect.interpreter.loop_views import loop_ranges
from gawee_dialect.interpreter.scalars import evaluate_scalar
from gawee_dialect.passes.buffers.plan_memory import find_workspace
from gawee_dialect.upstream.amx import TileLoadOp, TileStoreOp, tile_of
from gawee_dialect.upstream.scf import ForallOp, InParallelOp
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp


class IndexValues:
    """Evaluates indices: loop counters have numbers, whatever is computed from them is computed."""

    def __init__(self, numbers: dict[SSAValue, int]) -> None:
        self.numbers = numbers

    def number(self, value: SSAValue) -> int | None:
        """Return the number that an index is in this iteration; None where data decide on it."""
        if value in self.numbers:
            return self.numbers[value]
        known = constant_index(value)
        if known is not None or not isinstance(value.owner, Operation):
            return known
        return self._result(value.owner)

    def _result(self, op: Operation) -> int | None:
        if isinstance(op, arith.SelectOp):
            condition = self.number(op.cond)
            chosen = op.lhs if condition else op.rhs
            return None if condition is None else self.number(chosen)
        evaluate = SCALAR_ARITH.get(type(op))
        if evaluate is None or not isinstance(op.results[0].type, IntegerType | IndexType):
            return None  # a vector of indices is not one of them
        operands = [self.number(each) for each in op.operands]
        known = [each for each in operands if each is not None]
        if len(known) < len(operands):
            return None
        dtypes = (dtype_of(each.type) for each in op.operands)
        arrays = [np.asarray(*each)[()] for each in zip(known, dtypes, strict=True)]
        try:
            return int(evaluate_scalar(evaluate, op, arrays))
        except InterpretationError:  # such as a division by zero, which no run gets to
            return None


Box = tuple[SSAValue, Sequence[SSAValue | int], Sequence[int], bool]
"""Memory, where a box in it begins, how many elements it has along each axis, whether written."""


def touched_box(op: Operation) -> Box | None:
    """Return what a load, a store or an insertion touches; None of any other op."""
    match op:
        case memref.LoadOp() | memref.StoreOp():
            sizes = [1] * len(op.indices)
            return op.memref, [*op.indices], sizes, isinstance(op, memref.StoreOp)
        case vector.LoadOp():
            return op.base, [*op.indices], _lanes(op.indices, op.result.type), False
        case vector.StoreOp():
            return op.base, [*op.indices], _lanes(op.indices, op.vector.type), True
        case vector.MaskedLoadOp() | vector.MaskedStoreOp():
            lanes = _lanes_of_mask(op)
            return None if False in lanes[: sum(lanes)] else reached_box(op)
        case TileLoadOp() | TileStoreOp():
            return _tile(op)
        case ParallelInsertSliceOp():
            return _slice(op)
        case _:
            return None


def _lanes(indices: Iterable[SSAValue], type: Attribute) -> Sequence[int]:
    """Return the elements that a vector spans along each axis: those of the last one."""
    sizes = [1 for _ in indices]
    if sizes and isa(type, VectorType[Attribute]):
        sizes[-1] = prod(type.get_shape())
    return sizes


def _tile(op: TileLoadOp | TileStoreOp) -> Box | None:
    """Return the rows of a tile that lie as those of its memref do."""
    is_write, rank = isinstance(op, TileStoreOp), len(op.indices)
    type = tile_of(op.val if isinstance(op, TileStoreOp) else op.res)
    if op.stride is not None or rank < 2:
        return None
    sizes = [*[1] * (rank - 2), type.shape[0], type.row_bytes // element_bytes(element_of(op.base))]
    return op.base, [*op.indices], sizes, is_write


def reached_box(op: Operation) -> Box | None:
    """Return a box that ends with the last element that an op touches, as `touched_box` does."""
    if not isinstance(op, vector.MaskedLoadOp | vector.MaskedStoreOp):
        return touched_box(op)
    lanes = _lanes_of_mask(op)
    if not any(lanes):
        return None
    last = max(lane for lane, is_set in enumerate(lanes) if is_set)
    sizes = [*(1 for _ in op.indices[1:]), last + 1]
    return op.base, [*op.indices], sizes, isinstance(op, vector.MaskedStoreOp)


def _lanes_of_mask(op: vector.MaskedLoadOp | vector.MaskedStoreOp) -> Sequence[bool]:
    """Return which lanes a constant mask has set; none of a mask that is computed."""
    mask = op.mask.owner
    value = mask.value if isinstance(mask, arith.ConstantOp) else None
    if not isa(value, DenseIntOrFPElementsAttr[IntegerType]):
        return ()
    return [bool(bit) for bit in value.get_values()]


def _slice(op: ParallelInsertSliceOp) -> Box | None:
    if op.sizes or op.strides or any(each != 1 for each in op.static_strides.get_values()):
        return None
    given: Iterator[SSAValue] = iter(op.offsets)
    offsets = [each if each >= 0 else next(given) for each in op.static_offsets.get_values()]
    return op.dest, offsets, op.static_sizes.get_values(), True


# Which elements the first iterations of a parallel loop read and write.
#
# Indices are evaluated, so that whatever arithmetic they are made by is looked through; what
# depends on data is left out. Of inner loops the first two iterations and the last one are looked
# at: what is found there is so, and what is nowhere to be found may still be.

ITERATIONS = 4
"""Of a parallel loop, how many of the first are compared with each other."""

MOST = 400
"""Loads and stores of an iteration that are looked at."""

Element = tuple[SSAValue, tuple[int, ...]]
"""A place in memory: whose, and which indices."""


@dataclass
class Accesses:
    """What an iteration reads and writes: which op did so first, by element."""

    reads: dict[Element, Operation] = field(default_factory=dict[Element, Operation])
    writes: dict[Element, Operation] = field(default_factory=dict[Element, Operation])


@dataclass(frozen=True)
class Collision:
    """An element that one iteration writes, and another one touches."""

    write: Operation
    other: Operation
    is_read: bool

    @property
    def text(self) -> str:
        """What the other iteration does: `another of which reads by 'memref.load' what ...`."""
        if self.is_read:
            return (
                f"an iteration of which reads by '{self.other.name}' what another one writes by "
                f"'{self.write.name}'"
            )
        return f"two iterations of which write one element by '{self.other.name}'"


def collision(
    body: Block,
    counters: Sequence[Sequence[int]],
    index: int,
    is_outside: Callable[[SSAValue], bool],
) -> Collision | None:
    """Return an element that two iterations of a nest share, which differ in one counter.

    counters: the numbers that each counter of the nest takes; the others are at their first one.
    is_outside: whether memory is shared by the iterations.
    """
    found: list[Accesses] = []
    for number in counters[index][:ITERATIONS]:
        numbers = [number if place == index else each[0] for place, each in enumerate(counters)]
        trace = _Trace(dict(zip(body.args, numbers, strict=False)), is_outside)
        trace.walk(body)
        found.append(trace.accesses)
    for one, other in combinations(found, 2):
        for first, second in ((one, other), (other, one)):
            shared = next((each for each in first.writes if each in second.writes), None)
            if shared is not None:
                return Collision(first.writes[shared], second.writes[shared], is_read=False)
            shared = next((each for each in first.writes if each in second.reads), None)
            if shared is not None:
                return Collision(first.writes[shared], second.reads[shared], is_read=True)
    return None


class _Trace(IndexValues):
    """Follows an iteration."""

    def __init__(
        self, numbers: dict[SSAValue, int], is_outside: Callable[[SSAValue], bool]
    ) -> None:
        super().__init__(numbers)
        self.accesses = Accesses()
        self._is_outside = is_outside
        self._left = MOST

    def walk(self, block: Block) -> None:
        for op in block.ops:
            if self._left <= 0:
                return
            match op:
                case scf.ForOp():
                    self._nest(op.body.block, [self._counts(op.lb, op.ub, op.step)])
                case scf.ParallelOp():
                    bounds = zip(op.lowerBound, op.upperBound, op.step, strict=True)
                    self._nest(op.body.block, [self._counts(*each) for each in bounds])
                case scf.IfOp():
                    self._branch(op)
                case InParallelOp():
                    self.walk(op.body.block)
                case _:
                    self._note(op)

    def _nest(self, body: Block, counts: Sequence[Sequence[int]]) -> None:
        for numbers in product(*counts):
            self.numbers.update(zip(body.args, numbers, strict=False))
            self.walk(body)

    def _counts(self, *bounds: SSAValue) -> Sequence[int]:
        lower, upper, step = map(self.number, bounds)
        if lower is None or upper is None or not step:
            return ()
        counts = range(lower, upper, step)
        return sorted({*counts[:2], *counts[-1:]})

    def _branch(self, op: scf.IfOp) -> None:
        taken = self.number(op.cond)
        if taken is None:
            return
        region = op.true_region if taken else op.false_region
        if region.blocks:
            self.walk(region.block)

    def _note(self, op: Operation) -> None:
        found = touched_box(op)
        if found is None:
            return
        base, offsets, sizes, is_write = found
        starts = [each if isinstance(each, int) else self.number(each) for each in offsets]
        known = [each for each in starts if each is not None]
        if len(known) < len(starts) or prod(sizes) > MOST or not self._is_outside(base):
            return
        self._left -= 1
        kept = self.accesses.writes if is_write else self.accesses.reads
        for place in product(*(range(a, a + n) for a, n in zip(known, sizes, strict=True))):
            kept.setdefault((base, place), op)


def wrong_parallel_loops(module: ModuleOp, ops: Sequence[Operation]) -> Iterator[Violation]:
    """Yield the loops of which two iterations surely write the same element.

    Where it depends on data, or on arithmetic that is not looked into, nothing is said.
    """
    buffers = WrittenBuffers(module)
    for op in ops:
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
        return  # of a size that no operand has
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
    is_parallel = isinstance(op, scf.ParallelOp | omp.LoopNestOp | ForallOp)
    return op.body.block if is_parallel or is_of_threads(op) else None


def is_of_threads(op: Operation) -> TypeGuard[scf.ForOp]:
    """Whether an op is a loop over parts of a batch that threads will compute at the same time.

    Where parts have places in a workspace already, they are computed one after the other.
    """
    if not isinstance(op, scf.ForOp) or op.results or threads_of(op) < 2:
        return False
    function = op.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    return function is None or find_workspace(function) is None


def _rank(op: Operation) -> int:
    if isinstance(op, ForallOp):
        return len(op.static_lower.get_values())
    if is_of_threads(op):
        return 1
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
    if is_of_threads(op):
        bounds = (op.lb, op.ub, op.step)
    elif isinstance(op, scf.ParallelOp | omp.LoopNestOp):
        bounds = tuple(each[index] for each in (op.lowerBound, op.upperBound, op.step))
    else:
        return range(0)
    found = map(constant_index, bounds)
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
        written = buffers.of(op) if isinstance(op, CallOp) else places
        if any(_is_outside(memory_of(each), loop) for each in written if _is_memory(each)):
            return f"each iteration of which writes the same place by '{op.name}'"
    return None


def _places(buffers: WrittenBuffers, op: Operation) -> Sequence[SSAValue]:
    """Return the buffer that an op writes, and where: of several buffers, the first."""
    match op:
        case memref.StoreOp():
            return (op.memref, *op.indices)
        case vector.StoreOp():
            return (op.base, *op.indices)
        case TileStoreOp():
            return (op.base, *op.indices)
        case vector.MaskedStoreOp():
            return (op.base, *op.indices, op.mask)
        case memref.CopyOp():
            return (op.destination,)
        case ParallelInsertSliceOp():
            return (op.dest, *op.offsets)
        case LinalgStructuredOperation():
            return op.outputs
        case StructuredKernel():
            return () if op.output is None else (op.output,)
        case CallOp():
            # How a callee uses an argument that differs between iterations is unknown here.
            written = list(buffers.of(op))
            return (*written, *op.operands) if written else ()
        case _:
            return ()


def _is_memory(value: SSAValue) -> bool:
    return isinstance(value.type, MemRefType) or value.type.name == "tensor"


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
