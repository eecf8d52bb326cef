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

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from gawee_dialect.analysis.loop_work import loop_work, trip_count
from gawee_dialect.analysis.node_work import node_work
from gawee_dialect.analysis.work import (
    Work,
    copying,
    shaped,
    size_of,
    total,
    traffic,
)
from gawee_dialect.dialect import linalg
from gawee_dialect.dialect.operation import CountedOp
from gawee_dialect.dialect.scalar_flops import scalar_flops
from gawee_dialect.dialect.structured_kernel import StructuredKernel
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.target.description import Limit, Processor

OWN_MEMORY = (memref.GetGlobalOp, memref.AllocOp, memref.AllocaOp)
"""Ops that bring memory into a function, beside its arguments."""


def op_work(op: Operation) -> Work | None:
    """Return the work of an op by itself; None where it is none, or where it cannot be told."""
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
            known = op.dialect_name() == "gawee" or isinstance(op, CountedOp)
            return node_work(op) if known else None


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
    if callee in _called_by(callee):  # it never ends, or ends as its arguments say
        return None
    works = [(op, op_work(op)) for op in callee.body.block.ops]
    if any(work is None and op.regions for op, work in works):
        return None
    together = total(work for _, work in works if work is not None)
    return replace(together, footprint=min(together.footprint, _memory_of(callee)))


def _called_by(function: FuncOp) -> set[FuncOp]:
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
