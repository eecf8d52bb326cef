"""Memory whose contents go by the order in which elements or iterations are computed, in a run.

An interpreter reads all that an op needs before it writes, and runs what is parallel in one order.
Here a run notes which bytes every iteration reads and writes, wherever data put them, and which
elements an op reads that it has written for others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from xdsl.dialects import memref, omp, scf, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.interpreter import OpImplResult, PythonValues
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.effects import memory_of
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.instruments.check.execute import is_array, not_interpretable
from gawee_dialect.instruments.check.failure import Violation
from gawee_dialect.instruments.check.parallel_writes import is_of_threads
from gawee_dialect.interpreter.amx import rows_of
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.loop_views import loop_ranges, loop_view
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program
from gawee_dialect.interpreter.scf import SeesLoops
from gawee_dialect.interpreter.vector import vector_shape
from gawee_dialect.upstream.amx import TileLoadOp, TileStoreOp, tile_of
from gawee_dialect.upstream.walk import all_ops

MOST_NUMBERS = 1_000_000
"""Inputs and weights of a network that is run for this."""

MOST_BYTES = 1 << 20
"""Of memory of which each byte is watched."""

MOST_POINTS = 1 << 20
"""Points of a nest whose elements are compared."""

# What a parallel loop touches, by iteration.

OPS = 1 << 16
"""More ops than a loop has: `iteration * OPS + op` says which op touched a byte, 0 none."""

Codes = NDArray[np.int64]


class _Watched:
    """The ops that touched each byte of some memory: the last writer, and up to two readers."""

    def __init__(self, owner: Array) -> None:
        self.owner = owner  # so that nothing else gets its memory
        self.writer, self.reader, self.other = np.zeros((3, owner.nbytes), np.int64)

    def part(self, codes: Codes, array: Array) -> Codes:
        """View the codes of an array's bytes."""
        offset = _address(array) - _address(self.owner)
        strides = [*(codes.itemsize * each for each in array.strides), codes.itemsize]
        return as_strided(codes[offset:], (*array.shape, array.itemsize), strides)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _owner(array: Array) -> Array:
    while is_array(array.base):
        array = array.base
    return array


@dataclass
class _Iterations:
    """A parallel loop that runs."""

    opened_by: Operation
    loop: Operation
    first: Operation | None
    """The op that every iteration begins with."""
    number: int = 0
    ops: dict[Operation, int] = field(default_factory=dict[Operation, int])
    memory: dict[int, _Watched] = field(default_factory=dict[int, _Watched])
    found: Violation | None = None

    def touch(self, op: Operation, array: Array, *, is_write: bool) -> None:
        """Note what the current iteration reads or writes."""
        owner = _owner(array)
        if self.found is not None or not array.size or owner.nbytes > MOST_BYTES:
            return
        if id(owner) not in self.memory:
            self.memory[id(owner)] = _Watched(owner)
        watched = self.memory[id(owner)]
        code = self.number * OPS + self.ops.setdefault(op, len(self.ops))
        writer = watched.part(watched.writer, array)
        reader, other = (watched.part(each, array) for each in (watched.reader, watched.other))
        self._judge(op, writer, written=True, is_write=is_write)
        if is_write:
            self._judge(op, reader, written=False, is_write=True)
            self._judge(op, other, written=False, is_write=True)
            writer[...] = code
        else:
            is_second = (reader != 0) & (reader // OPS != self.number)
            other[...] = np.where(is_second, code, other)
            reader[...] = np.where(reader == 0, code, reader)

    def _judge(self, op: Operation, codes: Codes, *, written: bool, is_write: bool) -> None:
        others = codes[(codes != 0) & (codes // OPS != self.number)]
        if others.size:
            other = list(self.ops)[int(others.flat[0]) % OPS]
            self.found = self.found or self._violation(op, other, written, is_write)

    def _violation(
        self, op: Operation, other: Operation, written: bool, is_write: bool
    ) -> Violation:
        if written and is_write:
            what = f"two of which write one element by '{op.name}'"
        else:
            write, read = (op, other) if is_write else (other, op)
            what = f"one of which reads by '{read.name}' what another one writes by '{write.name}'"
        return Violation(
            self.loop, f"runs iterations at the same time, {what}, where data place it"
        )


def _parallel_loop(op: Operation) -> Operation | None:
    """Return the loop whose iterations an op begins to run, which threads may share."""
    if isinstance(op, omp.WsLoopOp):
        return op.body.block.first_op
    is_parallel = isinstance(op, scf.ParallelOp) or is_of_threads(op)
    return op if is_parallel and _body(op) is not None else None


def _body(op: Operation) -> Block | None:
    return op.body.block if isinstance(op, scf.ParallelOp | scf.ForOp | omp.LoopNestOp) else None


class MemoryOrder(SeesLoops):
    """What a run found."""

    def __init__(self) -> None:
        self.found: list[Violation] = []
        self._running: list[_Iterations] = []

    def will_run(self, op: Operation, inputs: PythonValues, captured: Iterable[object]) -> None:
        """Note what an op is about to read and write."""
        for each in self._running:
            each.number += each.first is op
        loop = _parallel_loop(op)
        if loop is not None:
            body = _body(loop)
            assert body is not None
            self._running.append(_Iterations(op, loop, body.first_op))
        self.found += _in_loop_order(op, inputs)
        if self._running:
            for array, is_write in _touched(op, inputs, captured):
                for each in self._running:
                    each.touch(op, array, is_write=is_write)

    def did_run(self, op: Operation) -> None:
        """End a loop."""
        if self._running and self._running[-1].opened_by is op:
            found = self._running.pop().found
            self.found += [] if found is None else [found]


class MemoryMachine(Machine):
    """An interpreter whose MemoryOrder sees all ops, those of loops too."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        order = next(each for each in self.listeners if isinstance(each, MemoryOrder))
        in_bodies = isinstance(op, LinalgStructuredOperation | StructuredKernel)
        order.will_run(op, inputs, self._captured(op) if in_bodies else ())
        result = super()._run_op(op, inputs)
        order.did_run(op)
        return result


Touched = Iterator[tuple[Array, bool]]
"""Memory, and whether it is written."""


def _touched(op: Operation, inputs: PythonValues, captured: Iterable[object]) -> Touched:
    match op:
        case memref.LoadOp() | vector.LoadOp():
            yield from _part(inputs[0], inputs[1:], _lanes(op.results[0]), is_write=False)
        case memref.StoreOp() | vector.StoreOp():
            yield from _part(inputs[1], inputs[2:], _lanes(op.operands[0]), is_write=True)
        case vector.MaskedLoadOp() | vector.MaskedStoreOp():
            mask = np.flatnonzero(inputs[-2])
            for lane in mask.tolist():
                indices = [*inputs[1:-3], inputs[-3] + lane]
                is_write = isinstance(op, vector.MaskedStoreOp)
                yield from _part(inputs[0], indices, 1, is_write=is_write)
        case TileLoadOp() | TileStoreOp():
            yield from _rows(op, inputs)
        case memref.CopyOp():
            yield inputs[0], False
            yield inputs[1], True
        case LinalgStructuredOperation() | StructuredKernel():
            read = {*op.inputs, *(op.packed if isinstance(op, StructuredKernel) else ())}
            buffers = zip(op.operands, inputs, strict=True)
            for operand, value in buffers:
                if isinstance(operand.type, MemRefType) and is_array(value):
                    yield value, operand not in read
            yield from ((each, False) for each in captured if is_array(each))
        case _:
            pass


def _rows(op: TileLoadOp | TileStoreOp, inputs: PythonValues) -> Touched:
    """Yield the rows of a tile; the interpreter reports what is out of bounds."""
    last = 1 + len(op.indices)
    is_write = isinstance(op, TileStoreOp)
    type, stride = (
        tile_of(op.val if isinstance(op, TileStoreOp) else op.res),
        inputs[last + is_write :],
    )
    if is_array(inputs[0]):
        yield rows_of(inputs[0], inputs[1:last], type, *stride), is_write


def _lanes(value: SSAValue) -> int:
    return (vector_shape(value.type) or (1,))[-1]


def _part(array: object, indices: Sequence[Array], lanes: int, *, is_write: bool) -> Touched:
    """Yield a row of elements; the interpreter reports what is out of bounds."""
    if is_array(array) and len(indices) == array.ndim:
        sizes = [*(1 for _ in indices[1:]), lanes]
        starts = map(int, indices)
        part = array[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=False))]
        yield part, is_write


# Elements of an op on buffers, in the order of its loops.


def _in_loop_order(op: Operation, inputs: PythonValues) -> Iterator[Violation]:
    """Yield what an op writes before it reads it, in this order of its loops or in another."""
    if isinstance(op, memref.CopyOp):
        pairs = [(1, 0)]
    elif isinstance(op, LinalgStructuredOperation) and not op.results:
        pairs = [*product(range(len(op.inputs), len(inputs)), range(len(inputs)))]
    else:
        return
    for written, read in pairs:
        arrays = inputs[written], inputs[read]
        if written != read and all(map(is_array, arrays)) and np.may_share_memory(*arrays):
            if _goes_by_order(op, inputs, written, read):
                yield Violation(
                    op,
                    f"writes elements of operand {written} that other points of its loops read "
                    f"as operand {read}",
                )
                return


def _goes_by_order(op: Operation, inputs: PythonValues, written: int, read: int) -> bool:
    """Whether a point of the nest reads an element that another one writes."""
    target, source = inputs[written], inputs[read]
    if not np.shares_memory(target, source):
        return False
    if target.itemsize != source.itemsize or (_address(target) - _address(source)) % (
        target.itemsize
    ):
        return True
    places = _places(op, inputs)
    if places is None:
        return True
    writes, reads = places[written].reshape(-1), places[read].reshape(-1)
    elements, counts = np.unique(writes, return_counts=True)
    index = np.minimum(np.searchsorted(elements, reads), elements.size - 1)
    writers = np.where(elements[index] == reads, counts[index], 0) - (reads == writes)
    return bool((writers > 0).any())


def _places(op: Operation, inputs: PythonValues) -> Sequence[Codes] | None:
    """Return the address of each operand's element at each point; None where there are too many."""
    if not isinstance(op, LinalgStructuredOperation):
        return [_addresses(each) for each in inputs]
    maps = [each.data for each in op.get_indexing_maps()]
    try:
        ranges = loop_ranges(maps, [np.shape(each) for each in inputs])
        views = [loop_view(*each, ranges) for each in zip(inputs, maps, strict=True)]
    except InterpretationError:
        return None
    found = [each for each in views if each is not None]
    if len(found) < len(views) or np.prod(ranges) > MOST_POINTS:
        return None
    return [np.broadcast_to(_addresses(each), ranges) for each in found]


def _addresses(array: Array) -> Codes:
    """Return where each element begins."""
    grids: Codes = np.indices(array.shape, np.int64)
    strides = np.array(array.strides, np.int64)
    return _address(array) + np.tensordot(strides, grids, 1)


# Which modules are run for this.

Arguments = Mapping[str, Mapping[str, Array]]
"""What each function is run on, by its name and the argument's."""


def order_violations(module: ModuleOp, arguments: Arguments) -> Iterator[Violation]:
    """Run the functions of a module, and yield the ops whose memory goes by an order.

    Nothing is said of large networks and loops, nor of what no data separates from what its text
    says (`parallel_writes.py`).
    """
    size = sum(array.size for each in arguments.values() for array in each.values())
    if size > MOST_NUMBERS or not any(map(_needs_run, all_ops(module))):
        return
    for function, arrays in arguments.items():
        if not_interpretable(module, function) is not None:
            continue
        order = MemoryOrder()
        try:
            Program(module, function, (order,), kind=MemoryMachine).run(arrays)
        except GaweeError:
            pass  # the check says so
        yield from order.found


def _needs_run(op: Operation) -> bool:
    """Whether only a run shows what an op's memory is."""
    match op:
        case scf.ParallelOp() | omp.LoopNestOp():
            return any(map(_is_placed_by_data, op.walk()))
        case scf.ForOp():
            return is_of_threads(op)
        case LinalgStructuredOperation() | memref.CopyOp():
            buffers = [each for each in op.operands if isinstance(each.type, MemRefType)]
            return len({*map(memory_of, buffers)}) < len({*buffers})
        case _:
            return False


LOADS = memref.LoadOp | vector.LoadOp | vector.MaskedLoadOp | TileLoadOp


def _is_placed_by_data(op: Operation) -> bool:
    match op:
        case memref.LoadOp() | memref.StoreOp():
            return any(map(_comes_from_memory, op.indices))
        case vector.LoadOp() | vector.StoreOp() | vector.MaskedLoadOp() | vector.MaskedStoreOp():
            return any(map(_comes_from_memory, op.indices))
        case TileLoadOp() | TileStoreOp():
            return any(map(_comes_from_memory, op.indices))
        case memref.SubviewOp():
            return any(map(_comes_from_memory, op.offsets))
        case _:
            return False


def _comes_from_memory(value: SSAValue) -> bool:
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if each in seen or isinstance(each, BlockArgument):
            continue
        seen.add(each)
        assert isinstance(each.owner, Operation)
        if isinstance(each.owner, LOADS):
            return True
        waiting.extend(each.owner.operands)
        for region in each.owner.regions:
            last = region.block.last_op if len(region.blocks) == 1 else None
            waiting.extend(() if last is None else last.operands)
    return False
