"""Give parts of a batch to several threads, each of which has its own buffers."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, i8
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.graph.scan import THREADS_MARK, is_batch_loop, keep_marks, threads_of
from gawee_dialect.passes.buffers.plan_memory import (
    assign_offsets,
    erase,
    lifetimes,
    local_spans,
    pieces,
    place,
)
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import located_builder
from gawee_dialect.upstream.arith import index_constant


@dataclass(frozen=True)
class DistributeBatch(ModulePass):
    """Give parts of a batch to several threads, each of which has its own buffers.

    1. A loop over parts of a batch that is marked `gawee.threads` becomes an `scf.parallel` with an
       iteration for each thread. Thread t takes parts t, t + threads, t + 2 * threads, and so on,
       so that any number of parts is right.
    2. The buffers of a part share memory as far as they do not live at the same time. All threads
       together have one allocation, of which each sees its own bytes.

    Comes after `outline-kernels` and before `plan-memory`. Without it the parts are computed one
    after the other.

    rewrite:
        scf.for %part = %c0 to %c7 step %c1 {
          %b = memref.alloc() : memref<4xf32>
        } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}
        ->
        %all = memref.alloc() : memref<128xi8>
        scf.parallel (%thread) = (%c0) to (%c2) step (%c1) {
          %start = arith.muli %thread, %c64
          %own = memref.view %all[%start][] : memref<128xi8> to memref<64xi8>
          scf.for %part = %thread to %c7 step %c2 {
            %b = memref.view %own[%c0][] : memref<64xi8> to memref<4xf32>
          } {gawee.scan, gawee.batch}
          scf.reduce
        }
    """

    name = "distribute-batch"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            for block in function.body.blocks if isinstance(function, FuncOp) else ():
                for loop in [each for each in block.ops if is_batch_loop(each)]:
                    if threads_of(loop) > 1:
                        size = _distribute(loop, threads_of(loop))
                        report_statistic(self, "workspace bytes of a thread", size)


def _distribute(loop: scf.ForOp, threads: int) -> int:
    """Share a loop among threads; returns how many bytes the buffers of one of them take."""
    block = Block(arg_types=[IndexType()])
    thread = block.args[0]
    thread.name_hint = "thread"
    outside = located_builder(loop)
    inside = located_builder(loop, InsertPoint.at_end(block))
    parts = _number_of_parts(loop)
    size = _place_buffers(loop, outside, inside, thread, threads)
    end, step = _index(inside, parts), _index(inside, threads)
    inner = scf.ForOp(thread, end, step, (), Region(loop.body.detach_block(0)))
    keep_marks(loop, inner)
    del inner.attributes[THREADS_MARK]
    inside.insert(inner)
    inside.insert(scf.ReduceOp())
    first, count, one = (_index(outside, each) for each in (0, threads, 1))
    outside.insert(scf.ParallelOp([first], [count], [one], Region(block)))
    erase(loop)
    return size


def _number_of_parts(loop: scf.ForOp) -> int:
    """Return how many parts a loop has; raises GaweeError where they are not counted from 0."""
    first, parts, step = (constant_index(each) for each in (loop.lb, loop.ub, loop.step))
    if first != 0 or parts is None or step != 1 or loop.iter_args:
        message = "cannot be shared among threads: expected parts that are counted from 0 by 1"
        raise GaweeError(Diagnostic.at(loop, message))
    return parts


def _place_buffers(
    loop: scf.ForOp, outside: Builder, inside: Builder, thread: SSAValue, threads: int
) -> int:
    """Put the buffers of a part into bytes of a thread's own; returns how many these are."""
    block = loop.body.block
    buffers = lifetimes(block, local_spans(block))
    size = assign_offsets(buffers)
    if not buffers:
        return size
    all_bytes = outside.insert(memref.AllocOp((), (), MemRefType(i8, (threads * size,)))).memref
    start = inside.insert(arith.MuliOp(thread, _index(inside, size))).result
    own = inside.insert(memref.ViewOp(all_bytes, start, (), MemRefType(i8, (size,)))).result
    all_bytes.name_hint, own.name_hint = "of_threads", "of_thread"
    for buffer in buffers:
        for piece, shift in pieces(buffer.alloc):
            place(piece, own, buffer.offset + shift)
        if buffer.alloc.parent is not None:
            erase(buffer.alloc)
    return size


def _index(builder: Builder, value: int) -> SSAValue:
    """Insert a constant."""
    return builder.insert(index_constant(value)).result
