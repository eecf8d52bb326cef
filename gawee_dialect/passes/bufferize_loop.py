"""Loops that carry tensors to loops that write one buffer in place: a part of `bufferize`."""

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.tensor_loops import stale_use
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.locations import hand_on_location


def reads_itself(loop: scf.ForOp, init: SSAValue) -> bool:
    """Whether a loop reads what it starts from by any other way than the version it carries."""
    uses = [value for inner in loop.walk() for value in inner.operands if value is init]
    return len(uses) > 1


def check_loop(loop: scf.ForOp) -> None:
    """Raise GaweeError where the versions of a carried tensor need more than one buffer."""
    stale = stale_use(loop)
    if stale is not None:
        raise GaweeError(
            Diagnostic.at(
                stale,
                "cannot be bufferized: it uses a version of a tensor that a newer one took "
                "the place of",
            )
        )


def buffer_loop(
    builder: Builder,
    loop: scf.ForOp,
    carried: Mapping[SSAValue, SSAValue],
    outside: Mapping[SSAValue, SSAValue],
) -> Sequence[SSAValue]:
    """Insert a loop's twin on buffers; returns what stands for each of its results.

    `carried` has the buffer of each tensor that the loop carries, by the argument of its body;
    `outside` the buffers of tensors that it only reads.

    scf.for iter_args(%t = %x) { tensor.extract %t; tensor.insert %v into %t; yield }
    ->  scf.for { memref.load %m; memref.store %v, %m }
    """
    values = dict(outside)
    _build(builder, loop, carried, values)
    return [values[result] for result in loop.results]


def _build(
    builder: Builder,
    loop: scf.ForOp,
    carried: Mapping[SSAValue, SSAValue],
    values: dict[SSAValue, SSAValue],
) -> None:
    old = loop.body.block
    pairs = list(zip(loop.iter_args, old.args[1:], strict=True))
    starts = [values.get(init, init) for init, argument in pairs if argument not in carried]
    block = Block(arg_types=[old.args[0].type, *(value.type for value in starts)])
    arguments = iter(block.args)
    values[old.args[0]] = next(arguments)
    for argument in old.args[1:]:
        values[argument] = carried[argument] if argument in carried else next(arguments)
    inside = Builder(InsertPoint.at_end(block))
    for op in old.ops:
        _build_op(inside, op, values)
        if block.last_op is not None:
            hand_on_location(op, block.last_op)
    lower, upper, step = (values.get(value, value) for value in (loop.lb, loop.ub, loop.step))
    twin = builder.insert(scf.ForOp(lower, upper, step, starts, Region(block)))
    results = iter(twin.results)
    for argument, result in zip(old.args[1:], loop.results, strict=True):
        values[result] = carried[argument] if argument in carried else next(results)


def _build_op(builder: Builder, op: Operation, values: dict[SSAValue, SSAValue]) -> None:
    match op:
        case tensor.ExtractOp():
            indices = [values.get(index, index) for index in op.indices]
            load = builder.insert(memref.LoadOp.get(values[op.tensor], indices))
            values[op.result] = load.res
        case tensor.InsertOp():
            indices = [values.get(index, index) for index in op.indices]
            scalar = values.get(op.scalar, op.scalar)
            builder.insert(memref.StoreOp.get(scalar, values[op.dest], indices))
            values[op.result] = values[op.dest]
        case scf.ForOp():
            pairs = zip(op.iter_args, op.body.block.args[1:], strict=True)
            tensors: dict[SSAValue, SSAValue] = {
                argument: values[init]
                for init, argument in pairs
                if isinstance(init.type, TensorType)
            }
            _build(builder, op, tensors, values)
        case scf.YieldOp():
            kept = [value for value in op.operands if not isinstance(value.type, TensorType)]
            builder.insert(scf.YieldOp(*(values.get(value, value) for value in kept)))
        case _ if any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
            raise GaweeError(
                Diagnostic.at(op, "cannot be bufferized inside a loop: no rule is for it")
            )
        case _:
            builder.insert(op.clone(values))
