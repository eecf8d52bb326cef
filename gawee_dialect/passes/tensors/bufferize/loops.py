"""Rules of loops: each version of a tensor is left where the next one starts."""

from collections.abc import Sequence

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.analysis.index_bounds import same_indices
from gawee_dialect.dialect.graph.scan import keep_marks
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.passes.next_pass import hint_on_tensors
from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer, Rules, is_empty
from gawee_dialect.passes.tensors.bufferize.in_place import Root
from gawee_dialect.passes.tensors.bufferize.tensors import place_in_batch


def loop(to: FunctionBufferizer, op: Operation) -> None:
    """scf.for iter_args(%t = %x) -> scf.for that writes %x's buffer, or a fresh one"""
    assert isinstance(op, scf.ForOp)
    old = op.body.block
    block = Block(arg_types=[old.args[0].type])
    to.new[old.args[0]] = block.args[0]
    starts: list[SSAValue] = []
    for init, argument, result in zip(op.iter_args, old.args[1:], op.results, strict=True):
        if is_tensor(init.type):
            to.assign(argument, *_destination(to, op, init, result))
        else:
            starts.append(to.value(init))
            to.new[argument] = block.insert_arg(init.type, len(block.args))
    for value in old.args:
        to.new[value].name_hint = to.new[value].name_hint or value.name_hint
    lower, upper, step = (to.value(value) for value in (op.lb, op.ub, op.step))
    twin = to.builder.insert(scf.ForOp(lower, upper, step, starts, Region(block)))
    keep_marks(op, twin)
    to.fill_loop(twin, old, block)
    scalars = iter(twin.results)
    for argument, result in zip(old.args[1:], op.results, strict=True):
        if is_tensor(result.type):
            to.assign(result, to.new[argument], to.roots[argument])
        else:
            to.new[result] = next(scalars)


def _destination(
    to: FunctionBufferizer, op: scf.ForOp, init: SSAValue, result: SSAValue
) -> tuple[SSAValue, Root]:
    """Return the buffer of all versions of a tensor; one that is copied is so to where it ends."""
    copied = not is_empty(init) and not to.roots[init].writable
    place = place_in_batch(to, result) if copied else None
    if place is None:
        return to.destination(op, init, reads=True)
    to.builder.insert(memref.CopyOp(to.new[init], place[0]))
    return place


def branch(to: FunctionBufferizer, op: Operation) -> None:
    """scf.if -> (tensor) -> scf.if, each branch of which writes a fresh buffer"""
    assert isinstance(op, scf.IfOp)
    for result, sizes in zip(op.results, to.size_values.of_results(op), strict=True):
        if is_tensor(result.type):
            to.assign(result, to.allocate(result.type, sizes), Root(writable=True))
    scalars = [result for result in op.results if not is_tensor(result.type)]
    then, otherwise = (Region(Block()) if each.blocks else Region() for each in op.regions)
    types = [result.type for result in scalars]
    twin = to.builder.insert(scf.IfOp(to.value(op.cond), types, then, otherwise))
    for old, new in zip(op.regions, twin.regions, strict=True):
        if old.blocks:
            to.fill_loop(twin, old.block, new.block)
    to.new.update(zip(scalars, twin.results, strict=True))


def repeat(to: FunctionBufferizer, op: Operation) -> None:
    """scf.while (%t = %x) -> scf.while on buffers of what is tested, and of what is passed on

    Each test copies what it passes on, and each step what it yields: neither sees the other write.
    """
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    test, body = Block(), Block()
    starts: list[SSAValue] = []
    for init, argument in zip(op.arguments, before.args, strict=True):
        if is_tensor(init.type):
            to.assign(argument, to.allocate(init.type, to.sizes(init)), Root(writable=True))
            if not is_empty(init):
                to.builder.insert(memref.CopyOp(to.new[init], to.new[argument]))
        else:
            starts.append(to.value(init))
            to.new[argument] = test.insert_arg(init.type, len(test.args))
    sizes = to.size_values.of_results(op)
    for argument, found in zip(after.args, sizes, strict=True):
        if is_tensor(argument.type):
            to.assign(argument, to.allocate(argument.type, found), Root(writable=True))
        else:
            to.new[argument] = body.insert_arg(argument.type, len(body.args))
    types = [result.type for result in op.results if not is_tensor(result.type)]
    twin = to.builder.insert(scf.WhileOp(starts, types, Region(test), Region(body)))
    to.fill_loop(twin, before, test)
    to.fill_loop(twin, after, body)
    scalars = iter(twin.results)
    for argument, result in zip(after.args, op.results, strict=True):
        if is_tensor(result.type):
            to.assign(result, to.new[argument], to.roots[argument])
        else:
            to.new[result] = next(scalars)


def condition(to: FunctionBufferizer, op: Operation) -> None:
    """scf.condition(%c) %t -> %t copied to where the body finds it, and scf.condition(%c)"""
    assert isinstance(op, scf.ConditionOp)
    around = op.parent_op()
    assert isinstance(around, scf.WhileOp)
    kept = _copied(to, op.args, around.after_region.block.args)
    to.builder.insert(scf.ConditionOp(to.value(op.condition), *kept))


def _copied(
    to: FunctionBufferizer, values: Sequence[SSAValue], targets: Sequence[SSAValue]
) -> list[SSAValue]:
    """Copy tensors to the buffers of others; return the scalars.

    No two of these share a buffer, so the order of the copies does not matter where a value is not
    in the buffer of another target; where it is, all are read before any is written.
    """
    pairs = zip(values, targets, strict=True)
    moved = [(value, target) for value, target in pairs if is_tensor(value.type)]
    moved = [(value, target) for value, target in moved if not is_empty(value)]
    written = {to.roots[target] for _, target in moved}
    sources = [
        to.copy_of(value) if to.roots[value] in written - {to.roots[target]} else to.new[value]
        for value, target in moved
    ]
    for source, (_, target) in zip(sources, moved, strict=True):
        if source is not to.new[target]:
            to.builder.insert(memref.CopyOp(source, to.new[target]))
    return [to.value(value) for value in values if not is_tensor(value.type)]


def yield_(to: FunctionBufferizer, op: Operation) -> None:
    """scf.yield %t -> nothing where %t is in the buffer that the loop carries, else a copy"""
    around = op.parent_op()
    if isinstance(around, scf.IfOp | scf.WhileOp):
        is_if = isinstance(around, scf.IfOp)
        targets = around.results if is_if else around.before_region.block.args
        to.builder.insert(scf.YieldOp(*_copied(to, op.operands, targets)))
        return
    if not isinstance(around, scf.ForOp):
        to.reject("no rule is for it", hint_on_tensors(op))
    arguments = around.body.block.args[1:]
    moved: list[tuple[SSAValue, SSAValue]] = []
    for value, argument in zip(op.operands, arguments, strict=True):
        if not is_tensor(value.type) or is_empty(value):
            continue
        if not same_indices(to.sizes(value), to.sizes(argument)):
            to.reject("expected a tensor of the size of the one that the loop carries")
        if to.new[value] is not to.new[argument]:
            moved.append((value, to.new[argument]))
    sources = [to.new[value] for value, _ in moved]
    carried = {to.roots[argument] for argument in arguments if argument in to.roots}
    if {to.roots[value] for value, _ in moved} & carried:
        # One is where another goes to: all are read before any is written.
        sources = [to.copy_of(value) for value, _ in moved]
    for source, (_, target) in zip(sources, moved, strict=True):
        to.builder.insert(memref.CopyOp(source, target))
    kept = [to.value(value) for value in op.operands if not is_tensor(value.type)]
    to.builder.insert(scf.YieldOp(*kept))


RULES: Rules = {
    scf.ForOp: loop,
    scf.IfOp: branch,
    scf.WhileOp: repeat,
    scf.ConditionOp: condition,
    scf.YieldOp: yield_,
}
