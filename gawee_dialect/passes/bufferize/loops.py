"""Rules of loops: each version of a tensor is left where the next one starts."""

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.analysis.buffer_sizes import same_indices
from gawee_dialect.dialect.scan import keep_marks
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.passes.bufferize.function import FunctionBufferizer, Rules, is_empty
from gawee_dialect.passes.bufferize.in_place import Root
from gawee_dialect.passes.bufferize.tensors import place_in_batch


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


def yield_(to: FunctionBufferizer, op: Operation) -> None:
    """scf.yield %t -> nothing where %t is in the buffer that the loop carries, else a copy"""
    around = op.parent_op()
    if not isinstance(around, scf.ForOp):
        to.reject("no rule is for it")
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


RULES: Rules = {scf.ForOp: loop, scf.YieldOp: yield_}
