"""Rules of `scf.forall`: each iteration writes its parts of the buffers that all share."""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.analysis.index_bounds import Index
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer, Rules
from gawee_dialect.passes.tensors.bufferize.in_place import Root
from gawee_dialect.passes.tensors.bufferize.tensors import view_of
from gawee_dialect.upstream import scf as ours
from gawee_dialect.upstream.arith import index_constant
from gawee_dialect.upstream.scf import ForallOp, InParallelOp
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp


def forall(to: FunctionBufferizer, op: Operation) -> None:
    """scf.forall -> scf.parallel, or a nest of scf.for where iterations use the same scratch memory

    What they share is read in place where each iteration reads the parts that it writes alone; else
    it is read from a copy, as it was before.
    """
    assert isinstance(op, ForallOp)
    old = op.body.block
    counters, arguments = old.args[: op.rank], old.args[op.rank :]
    written = [to.destination(op, output, reads=True) for output in op.outputs]
    for argument, (buffer, root) in zip(arguments, written, strict=True):
        to.shared[argument] = buffer
        to.assign(argument, buffer, root)
        if not reads_what_it_writes(to, op, argument):
            to.assign(argument, to.copy_of(argument), Root(writable=False))
    block = Block(arg_types=[IndexType()] * op.rank)
    for counter, new in zip(counters, block.args, strict=True):
        to.new[counter] = new
        new.name_hint = counter.name_hint
    lower, upper, step = (
        [_index(to, each) for each in numbers] for numbers in (op.lower, op.upper, op.step)
    )
    before = to.allocations
    loops = to.builder.insert(ours.ParallelOp(lower, upper, step, Region(block)))
    to.fill_loop(loops, old, block)
    if to.allocations > before:
        one_after_the_other(loops)
    for result, (buffer, root) in zip(op.res, written, strict=True):
        to.assign(result, buffer, root)


def _index(to: FunctionBufferizer, bound: Index) -> SSAValue:
    if isinstance(bound, int):
        return to.builder.insert(index_constant(bound)).result
    return to.value(bound)


def reads_what_it_writes(to: FunctionBufferizer, op: ForallOp, argument: SSAValue) -> bool:
    """Whether an iteration reads no part of a shared tensor but one that it alone writes."""
    users = [use.operation for use in argument.uses]
    insertions = [user for user in users if isinstance(user, ParallelInsertSliceOp)]
    return all(
        isinstance(user, tensor.ExtractSliceOp)
        and any(to.in_place.names_same_box(user, each) for each in insertions)
        for user in users
        if user not in insertions
    )


def in_parallel(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.parallel_insert_slice -> memref.copy to a subview; nothing where it is there"""
    assert isinstance(op, InParallelOp)
    for insertion in op.insertions:
        buffer = to.shared[insertion.dest]
        own = buffer is to.new[insertion.dest]
        if own and to.in_place.is_own_slice(insertion, insertion.source):
            continue
        source = to.source(insertion.source)
        target = view_of(to, buffer, insertion, insertion.source)
        to.builder.insert(memref.CopyOp(source, target))
    to.builder.insert(scf.ReduceOp())


def one_after_the_other(loops: scf.ParallelOp) -> None:
    """Replace parallel loops by a nest of sequential ones."""
    inner, block = loops.body.block, loops.parent
    reduce = inner.last_op
    assert block is not None
    assert reduce is not None
    _erase(reduce)
    counters: list[SSAValue] = []
    nest: list[scf.ForOp] = []
    for lower, upper, step in zip(loops.lowerBound, loops.upperBound, loops.step, strict=True):
        body = Block(arg_types=[IndexType()])
        counters.append(body.args[0])
        nest.append(scf.ForOp(lower, upper, step, (), Region(body)))
    for counter, old in zip(counters, inner.args, strict=True):
        counter.name_hint = old.name_hint
        old.replace_all_uses_with(counter)
    _move(list(inner.ops), nest[-1].body.block)
    for around, inside in pairwise(nest):
        around.body.block.add_op(inside)
    for each in nest:
        each.body.block.add_op(scf.YieldOp())
    block.insert_op_before(nest[0], loops)
    hand_on_location(loops, nest[0])
    _erase(loops)


def _move(ops: Sequence[Operation], block: Block) -> None:
    for op in ops:
        op.detach()
        block.add_op(op)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


RULES: Rules = {ForallOp: forall, InParallelOp: in_parallel}
