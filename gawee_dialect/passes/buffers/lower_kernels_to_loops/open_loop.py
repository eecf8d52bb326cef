"""Loops whose bodies are still to be built."""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.open_size import greatest
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.lower_kernels_to_loops.linear_index import (
    Counters,
    IndexBuilder,
    LinearIndex,
    delinearized,
    size_index,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.quick_ops import (
    counted_loop,
    end_iteration,
)
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index

UNROLL = "gawee.unroll"
"""The attribute of a loop that says how LLVM unrolls it: `"full"`, or how many times."""
ROLLED = IntegerAttr(1, i64)
"""Its value on a loop that LLVM is to leave as it is."""


def open_loop(
    builder: Builder,
    counters: Counters,
    count: int,
    name: str,
    *,
    unroll: bool | None = None,
    upper: SSAValue | None = None,
) -> tuple[Builder, SSAValue]:
    """Insert a loop of `count` iterations, or `upper` where that is smaller.

    A count that is open is computed of its names.

    `unroll` says whether LLVM unrolls it; None leaves that to LLVM.
    """
    lower, end, step = (size_index(builder, counters, value) for value in (0, count, 1))
    loop = _loop(builder, counters, (lower, upper or end, step), greatest(count), name)
    if unroll is not None:
        loop.attributes[UNROLL] = StringAttr("full") if unroll else ROLLED
    return Builder(InsertPoint.at_end(loop.body.block)), loop.body.block.args[0]


def rolled_loop(
    builder: Builder, counters: Counters, upper: SSAValue, most: int, name: str
) -> tuple[Builder, SSAValue]:
    """Insert a loop of `upper` iterations, at most `most`, which LLVM leaves as it is."""
    lower, step = (constant_index(builder, value) for value in (0, 1))
    loop = _loop(builder, counters, (lower, upper, step), most, name)
    loop.attributes[UNROLL] = ROLLED
    return Builder(InsertPoint.at_end(loop.body.block)), loop.body.block.args[0]


def _loop(
    builder: Builder,
    counters: Counters,
    range: tuple[SSAValue, SSAValue, SSAValue],
    most: int,
    name: str,
) -> scf.ForOp:
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = name
    counters.trip_counts[body.args[0]] = most
    return counted_loop(builder, *range, Region(body))


def loops(
    builder: Builder,
    counters: Counters,
    counts: Sequence[int],
    names: Sequence[str],
    inside: Callable[[Builder, Sequence[LinearIndex]], None],
    *,
    unroll: bool | None = None,
) -> None:
    """Insert loops inside one another, none for one iteration, and what is in the innermost."""
    opened: list[Builder] = []
    indices: list[LinearIndex] = []
    for count, name in zip(counts, names, strict=True):
        if count == 1:
            indices.append(LinearIndex())
            continue
        builder, counter = open_loop(builder, counters, count, name, unroll=unroll)
        opened.append(builder)
        indices.append(LinearIndex(terms={counter: 1}))
    inside(builder, indices)
    for inner in reversed(opened):
        end_iteration(inner)


def with_last_iteration(
    builder: Builder,
    counters: Counters,
    index: LinearIndex,
    count: int,
    extents: tuple[int, int],
    inside: Callable[[Builder, int], None],
) -> None:
    """Insert the body of a loop whose last iteration has another extent: once for each.

    `index` is the loop's counter, `count` how many iterations it has, and `extents` are those of
    the last iteration and of all others. The body is there once where the two are the same, or
    where there is one iteration, which has the second extent.
    """
    rest, whole = extents
    if count == 1 or rest == whole:
        inside(builder, whole)
        return
    number = IndexBuilder(builder, counters).value(index)
    last = constant_index(builder, count - 1)
    is_last = builder.insert(arith.CmpiOp(number, last, "eq")).result
    blocks = Block(), Block()
    builder.insert(scf.IfOp(is_last, (), Region(blocks[0]), Region(blocks[1])))
    for block, extent in zip(blocks, extents, strict=True):
        inner = Builder(InsertPoint.at_end(block))
        inside(inner, extent)
        end_iteration(inner)


def parallel_loop(
    builder: Builder,
    counters: Counters,
    counts: Sequence[int],
    inside: Callable[[Builder, Sequence[LinearIndex]], None],
) -> None:
    """Insert one parallel loop over the points of several loops."""
    if prod(counts) == 1:
        inside(builder, [LinearIndex()] * len(counts))
        return
    body = Block(arg_types=[IndexType()])
    counter = body.args[0]
    counter.name_hint = "task"
    counters.trip_counts[counter] = greatest(prod(counts))
    zero, end, one = (size_index(builder, counters, value) for value in (0, prod(counts), 1))
    builder.insert(scf.ParallelOp([zero], [end], [one], Region(body)))
    inner = Builder(InsertPoint.at_end(body))
    inside(inner, delinearized(IndexBuilder(inner, counters), counter, counts))
    inner.insert(scf.ReduceOp())


def allocate(
    builder: Builder, source: Operation, type: Attribute, shape: Sequence[int], name: str
) -> SSAValue:
    """Allocate an array on the stack of a task, or of the function where there are no tasks.

    `source` is the op that it is for.
    """
    alloca = memref.AllocaOp.get(type, shape=list(shape))
    hand_on_location(source, alloca)
    alloca.memref.name_hint = name
    top = task_block(builder.insertion_point.block)
    if top.first_op is None:
        top.add_op(alloca)
    else:
        top.insert_op_before(alloca, top.first_op)
    return alloca.memref


def task_block(block: Block) -> Block:
    """Return the body of the parallel loop around a block, or of its function."""
    parent: Operation | None = block.parent_op()
    while not isinstance(parent, FuncOp | scf.ParallelOp):
        assert parent is not None
        assert parent.parent is not None
        block = parent.parent
        parent = block.parent_op()
    return block
