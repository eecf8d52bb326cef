"""Teams of threads: parallel regions, and loops whose iterations a team shares out.

Every thread computes its own contiguous part of all iterations (OpenMP's static schedule), from
its number and the number of threads.
"""

from collections.abc import Sequence

from xdsl.dialects import llvm, omp, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.irdl import IRDLOperation

from gawee_dialect.dialect import llvm as ours
from gawee_dialect.dialect import scf as our_scf
from gawee_dialect.passes.convert_to_llvm.conversion import Declined, FunctionConversion, rule
from gawee_dialect.passes.convert_to_llvm.instructions import NSW
from gawee_dialect.passes.convert_to_llvm.parallel_region import (
    BARRIER,
    RUNTIME,
    convert_parallel_region,
)
from gawee_dialect.passes.convert_to_llvm.scf import constant_of

SIGNED_LESS = IntegerAttr(2, i64)

Bounds = tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]
"""Lower bounds, upper bounds and steps of a nest, outermost first."""

ALLOWED = ("operandSegmentSizes", "schedule_kind", "nowait", "collapse_num_loops", "loop_inclusive")


def check_clauses(op: IRDLOperation) -> None:
    """Raise Declined for a clause that would change what the op does."""
    clauses = [name for name in op.properties if name not in ALLOWED]
    if clauses:
        raise Declined(f"unsupported clause '{clauses[0]}'")


def convert_parallel(op: omp.ParallelOp, to: FunctionConversion) -> None:
    """omp.parallel  ->  a private function, called by every thread of GOMP_parallel's team"""
    check_clauses(op)
    if op.operands:
        raise Declined(f"expected no clause with values, got {len(op.operands)}")
    if len(op.region.blocks) != 1:
        raise Declined(f"expected one block, got {len(op.region.blocks)}")
    convert_parallel_region(op, to)


def trip_count(
    to: FunctionConversion, lower: SSAValue, upper: SSAValue, step: SSAValue, inclusive: bool
) -> SSAValue:
    """Return how many iterations a loop has, which is not negative: a constant where known."""
    known = [constant_of(value) for value in (lower, upper, step)]
    if None not in known:
        first, last, width = (value for value in known if value is not None)
        return to.integer(max(0, -(-(last + inclusive - first) // width)))
    span = to.compute(llvm.SubOp(upper, lower))
    added = to.compute(llvm.SubOp(step, to.integer(0 if inclusive else 1)))
    rounded = to.compute(llvm.AddOp(span, added))
    trips = to.compute(llvm.SDivOp(rounded, step))
    return to.compute(ours.SMaxOp(trips, to.integer(0)))


def _own_part(to: FunctionConversion, total: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the first iteration of the current thread, and the one after its last.

    What is left over goes to threads all over the team, not to the first of them.
    """
    assert to.team is not None
    thread, threads = to.team.thread, to.team.threads

    def start(number: SSAValue) -> SSAValue:
        scaled = to.compute(llvm.MulOp(number, total, overflow=NSW))
        return to.compute(llvm.UDivOp(scaled, threads))

    following = to.compute(llvm.AddOp(thread, to.integer(1), overflow=NSW))
    return start(thread), start(following)


def _indices(
    to: FunctionConversion, position: SSAValue, trips: Sequence[SSAValue], bounds: Bounds
) -> list[SSAValue]:
    """Return the induction variables of one iteration of a nest; the innermost runs fastest."""
    result: list[SSAValue] = []
    for depth in reversed(range(len(trips))):
        number = position
        if depth:
            number = to.compute(llvm.URemOp(position, trips[depth]))
            position = to.compute(llvm.UDivOp(position, trips[depth]))
        lower, step = bounds[0][depth], bounds[2][depth]
        if constant_of(step) != 1:
            number = to.compute(llvm.MulOp(number, step, overflow=NSW))
        if constant_of(lower) != 0:
            number = to.compute(llvm.AddOp(number, lower, overflow=NSW))
        result.insert(0, number)
    return result


def _product(to: FunctionConversion, values: Sequence[SSAValue]) -> SSAValue:
    total = to.integer(1)
    for value in values:
        known = constant_of(total), constant_of(value)
        if known[0] is not None and known[1] is not None:
            total = to.integer(known[0] * known[1])
        else:
            total = to.compute(llvm.MulOp(total, value, overflow=NSW))
    return total


def _convert_range(
    to: FunctionConversion,
    body: Block,
    part: tuple[SSAValue, SSAValue],
    trips: Sequence[SSAValue],
    bounds: Bounds,
) -> None:
    """Run the iterations of a nest from one number to another."""
    header, inside, done = Block(arg_types=[i64]), Block(), Block()
    header.args[0].name_hint = "iteration"
    to.append(llvm.BrOp(header, part[0]))
    to.start(header)
    less = to.compute(llvm.ICmpOp(header.args[0], part[1], SIGNED_LESS))
    to.append(llvm.CondBrOp(less, inside, [], done, []))
    to.start(inside)
    for argument, index in zip(body.args, _indices(to, header.args[0], trips, bounds), strict=True):
        to.define(argument, index)
    to.convert_body(body)
    following = to.compute(llvm.AddOp(header.args[0], to.integer(1), overflow=NSW))
    to.append(llvm.BrOp(header, following))
    to.start(done)


def _check_indices(arguments: Sequence[BlockArgument]) -> None:
    for argument in arguments:
        if not isinstance(argument.type, IndexType):
            raise Declined(f"expected bounds of type 'index', got '{argument.type}'")


def convert_shared_loop(op: omp.WsLoopOp, to: FunctionConversion) -> None:
    """omp.wsloop { omp.loop_nest }  ->  a loop over this thread's part of the iterations"""
    check_clauses(op)
    nest = op.body.block.first_op
    if not isinstance(nest, omp.LoopNestOp) or op.operands:
        raise Declined("expected 'omp.loop_nest' alone inside, and no clause with values")
    if to.team is None:
        raise Declined("expected 'omp.parallel' around it")
    kind = op.schedule_kind
    if kind is not None and kind.data is not omp.ScheduleKind.STATIC:
        raise Declined(f"unsupported schedule '{kind.data}'; supported: static")
    check_clauses(nest)
    body = nest.body.block
    _check_indices(body.args)
    bounds = (
        to.all_values(nest.lowerBound),
        to.all_values(nest.upperBound),
        to.all_values(nest.step),
    )
    inclusive = nest.loop_inclusive is not None
    trips = [trip_count(to, *each, inclusive) for each in zip(*bounds, strict=True)]
    _convert_range(to, body, _own_part(to, _product(to, trips)), trips, bounds)
    if op.nowait is None and not isinstance(op.next_op, omp.TerminatorOp):
        _wait(to)


def convert_barrier(op: omp.BarrierOp, to: FunctionConversion) -> None:
    """omp.barrier  ->  llvm.call @GOMP_barrier where the team has several threads"""
    if to.team is None:
        raise Declined("expected 'omp.parallel' around it")
    _wait(to)


def _wait(to: FunctionConversion) -> None:
    assert to.team is not None
    waiting, done = Block(), Block()
    one = to.integer(1)
    several = to.compute(llvm.ICmpOp(one, to.team.threads, SIGNED_LESS))
    to.append(llvm.CondBrOp(several, waiting, [], done, []))
    to.start(waiting)
    to.runtime |= RUNTIME
    to.append(llvm.CallOp(BARRIER))
    to.append(llvm.BrOp(done))
    to.start(done)


def convert_serially(op: scf.ParallelOp, to: FunctionConversion) -> None:
    """scf.parallel  ->  one loop over all iterations, where no pass gave them to threads"""
    if op.initVals:
        raise Declined(f"expected no reductions, got {len(op.initVals)}")
    bounds = (
        to.all_values(op.lowerBound),
        to.all_values(op.upperBound),
        to.all_values(op.step),
    )
    trips = [trip_count(to, *each, False) for each in zip(*bounds, strict=True)]
    part = (to.integer(0), _product(to, trips))
    _convert_range(to, op.body.block, part, trips, bounds)


RULES = (
    rule(omp.ParallelOp, convert_parallel),
    rule(omp.WsLoopOp, convert_shared_loop),
    rule(omp.BarrierOp, convert_barrier),
    rule(scf.ParallelOp, convert_serially),
    rule(our_scf.ParallelOp, convert_serially),
)
