"""What one op costs, at any level down to loops: arithmetic, memory traffic, and their limits.

It answers another question than the cost of a graph (cost.py), which follows the published rule:
weights are not read, and FLOPs are those of a few kinds of node. Here all that an op moves counts.

1. A node of the graph reads its operands, weights included, and writes its result, once each.
2. A structured op, or a kernel, does its body's arithmetic at every point of its loops. It reads
   each input that its body uses and writes each output; an output that it accumulates into it reads
   as well.
3. Operands count whole, although a stride may leave out some elements: memory moves in lines. What
   is gathered counts as many elements as are gathered, where that is less.
4. A slice, a padding, a copy reads and writes. Views, empty tensors and constants are no work.
5. A call is the sum of the ops of what it calls; a loop nest counts as the op it was made from.
6. The loop of a scan is the work of a step as often as there are steps. What a step touches, the
   next one finds where that fits: the footprint is that of one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.hints import isa

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.work import (
    Work,
    bits_of,
    copying,
    has_cost,
    node_work,
    shaped,
    size_of,
    total,
    traffic,
)
from gawee_dialect.dialect.kernels.kernel import scalar_flops
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.target.description import Limit, Processor
from gawee_dialect.upstream import linalg

# The work of loop nests over buffers and tensors: every op inside counts as often as it runs.


def trip_count(loop: scf.ForOp) -> int | None:
    """Return how often a loop with constant bounds runs, None where they are not constant."""
    bounds = [constant_index(value) for value in (loop.lb, loop.ub, loop.step)]
    low, high, step = bounds
    if low is None or high is None or step is None or step < 1:
        return None
    return max(0, -(-(high - low) // step))


@dataclass
class Accesses:
    """How often elements of each buffer are loaded and stored, and the arithmetic between.

    Versions of a tensor that loops carry are buffers as well: an insertion stores one element.
    """

    flops: int = 0
    loads: Counter[SSAValue] = field(default_factory=Counter[SSAValue])
    stores: Counter[SSAValue] = field(default_factory=Counter[SSAValue])

    def visit(self, op: Operation, times: int) -> bool:
        """Count an op that runs so many times; returns whether that is known."""
        match op:
            case scf.ForOp():
                trips = trip_count(op)
                return trips is not None and self.visit_block(op.body.block, times * trips)
            case memref.LoadOp():
                self.loads[op.memref] += times
            case memref.StoreOp():
                self.stores[op.memref] += times
            case tensor.ExtractOp():
                self.loads[op.tensor] += times
            case tensor.InsertOp():
                self.stores[op.dest] += times
            case _ if op.regions:
                return False
            case _:
                self.flops += times * scalar_flops(op)
        return True

    def visit_block(self, block: Block, times: int) -> bool:
        """Count the ops of a block; returns whether all are known."""
        return all([self.visit(op, times) for op in block.ops])

    def work(self) -> Work:
        """Return the traffic: no buffer moves more than whole, however often it is loaded."""
        read = {value: _moved(value, times) for value, times in self.loads.items()}
        written = {value: _moved(value, times) for value, times in self.stores.items()}
        touched = {
            value: max(read.get(value, 0), written.get(value, 0)) for value in read | written
        }
        return Work(
            self.flops,
            sum(read.values()),
            sum(written.values()),
            sum(touched.values()),
            bits_of(written),
        )


def _moved(value: SSAValue, times: int) -> int:
    assert isa(value.type, MemRefType[Attribute] | TensorType[Attribute])
    return min(size_of(value), times * element_bytes(value.type.element_type))


def loop_work(op: Operation) -> Work | None:
    """Return the work of a loop nest, or of a load or store by itself.

    None where a bound is not constant, or where the nest holds a region of another kind.
    """
    accesses = Accesses()
    return accesses.work() if accesses.visit(op, 1) else None


OWN_MEMORY = (memref.GetGlobalOp, memref.AllocOp, memref.AllocaOp)
"""Ops that bring memory into a function, beside its arguments."""


def op_work(op: Operation) -> Work | None:
    """Return the work of an op by itself; None where it is none, or where it is unknown."""
    match op:
        case StructuredKernel():
            return traffic(op.flops, [*op.inputs, *op.packed], [op.target])
        case LinalgStructuredOperation():
            return _structured_work(op)
        case linalg.BroadcastOp():
            return traffic(0, [op.input], [op.init])
        case tensor.PadOp():
            return traffic(0, [op.source], [op.result])
        case tensor.ExtractSliceOp():
            return copying(op.result)
        case tensor.InsertSliceOp() | memref.CopyOp():
            return copying(op.source)
        case scf.ForOp():
            return loop_work(op) or _steps_work(op)
        case memref.LoadOp() | memref.StoreOp():
            return loop_work(op)
        case CallOp():
            return _call_work(op)
        case _:
            return node_work(op) if has_cost(op) else None


def limit_of(work: Work, processor: Processor) -> Limit:
    """Return the least time that some work can take on one core of a processor."""
    return processor.limit(work.flops, work.bytes, work.footprint, work.element_bits)


def _structured_work(op: LinalgStructuredOperation) -> Work | None:
    if any(shaped(value.type) is None for value in op.outputs):
        return None
    points, body = prod(op.get_static_loop_ranges()), op.body.block
    flops = points * sum(map(scalar_flops, body.ops))
    read = [value for value, inside in zip(op.operands, body.args, strict=True) if inside.uses]
    gathered = sum(
        min(size_of(value), points * element_bytes(inside.type))
        for value, inside in _gathers(op)
        if value not in read
    )
    work = traffic(flops, read, op.outputs)
    return work + Work(read_bytes=gathered, footprint=gathered)


def _steps_work(loop: scf.ForOp) -> Work | None:
    """Return the work of a loop of ops that are work by themselves: each counts at every step."""
    trips = trip_count(loop)
    works = [(op, op_work(op)) for op in loop.body.block.ops]
    if trips is None or any(work is None and op.regions for op, work in works):
        return None
    step = total(work for _, work in works if work is not None)
    return replace(
        step,
        flops=trips * step.flops,
        read_bytes=trips * step.read_bytes,
        write_bytes=trips * step.write_bytes,
    )


def _gathers(op: LinalgStructuredOperation) -> Iterable[tuple[SSAValue, SSAValue]]:
    """Return what an op's body reads at computed positions, each once, with an element of it."""
    found: dict[SSAValue, SSAValue] = {}
    for inner in op.body.block.ops:
        match inner:
            case tensor.ExtractOp():
                found[inner.tensor] = inner.result
            case memref.LoadOp():
                found[inner.memref] = inner.res
            case _:
                pass
    return found.items()


def _call_work(call: CallOp) -> Work | None:
    callee = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(callee, FuncOp) or len(callee.body.blocks) != 1:
        return None
    if callee in called_by(callee):  # it never ends, or ends as its arguments say
        return None
    works = [(op, op_work(op)) for op in callee.body.block.ops]
    if any(work is None and op.regions for op, work in works):
        return None
    together = total(work for _, work in works if work is not None)
    return replace(together, footprint=min(together.footprint, _memory_of(callee)))


def called_by(function: FuncOp) -> set[FuncOp]:
    """Return the functions that one calls, and those that they call."""
    found: set[FuncOp] = set()
    pending = [function]
    while pending:
        calls = [op for op in pending.pop().walk() if isinstance(op, CallOp)]
        callees = [SymbolTable.lookup_symbol(call, call.callee) for call in calls]
        new = {each for each in callees if isinstance(each, FuncOp)} - found
        found |= new
        pending += new
    return found


def _memory_of(function: FuncOp) -> int:
    """Return the bytes of all that a function can touch: its ops may touch the same twice."""
    block = function.body.block
    own = (result for op in block.ops if isinstance(op, OWN_MEMORY) for result in op.results)
    return sum(map(size_of, (*block.args, *own)))
