"""What the ops of the scf dialect do: a loop nest is compiled once, or interpreted op by op."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import product

import numpy as np
from xdsl.dialects import omp, scf
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.arrays import OtherNumbers
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions, RunError
from gawee_dialect.interpreter.loop_views import mixed_values, put_slice
from gawee_dialect.interpreter.loops.compiler import CompiledNest, compile_nest
from gawee_dialect.interpreter.loops.writer import NotCompilable
from gawee_dialect.upstream import scf as ours
from gawee_dialect.upstream.scf import ForallOp, InParallelOp
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp

_most_rounds: ContextVar[int | None] = ContextVar("most_rounds", default=None)


@contextmanager
def limited_rounds(most: int) -> Generator[None]:
    """Let an `scf.while` go round so often at most, for the time of a with block."""
    token = _most_rounds.set(most)
    try:
        yield
    finally:
        _most_rounds.reset(token)


_backwards: ContextVar[bool] = ContextVar("backwards", default=False)


@contextmanager
def parallel_loops_backwards() -> Generator[None]:
    """Run the last iteration of parallel loops first, for the time of a with block.

    Their order is no part of what they mean. Compiled nests keep theirs.
    """
    token = _backwards.set(True)
    try:
        yield
    finally:
        _backwards.reset(token)


class SeesLoops(Interpreter.Listener):
    """A listener of every op: where there is one, nests are run op by op."""


def compiled(interpreter: Interpreter, op: Operation) -> CompiledNest | None:
    """Return an op's compiled nest, None where it has ops that only the interpreter has."""

    def table() -> dict[Operation, CompiledNest | None]:
        return {}

    nests: dict[Operation, CompiledNest | None] = interpreter.get_data(ScfFunctions, "nests", table)
    if op not in nests:
        try:
            nests[op] = compile_nest(op)
        except NotCompilable:
            nests[op] = None
    return nests[op]


def run_compiled(interpreter: Interpreter, op: Operation) -> PythonValues | None:
    """Run an op's compiled nest; None where it has none for these values."""
    sees_loops = any(isinstance(each, SeesLoops) for each in interpreter.listeners)
    nest = None if sees_loops else compiled(interpreter, op)
    if nest is None:
        return None
    values = interpreter.get_values(nest.captured)
    if any(isinstance(value, OtherNumbers) for value in values):
        return None
    return nest.run(values) if nest.accepts(values) else None


def iterations(
    lower: Sequence[object], upper: Sequence[object], step: Sequence[object]
) -> Iterator[tuple[np.int64, ...]]:
    """Yield the indices of every iteration of parallel loops, the innermost fastest."""
    bounds = zip(lower, upper, step, strict=True)
    ranges = [range(*(int(np.asarray(bound).item()) for bound in each)) for each in bounds]
    if _backwards.get():
        ranges = [each[::-1] for each in ranges]
    for indices in product(*ranges):
        yield tuple(map(np.int64, indices))


def run_parallel(interpreter: Interpreter, op: scf.ParallelOp, args: PythonValues) -> PythonValues:
    """Run the iterations of a parallel loop one after the other."""
    if op.initVals:
        raise InterpretationError(f"expected no reductions, got {len(op.initVals)}")
    if run_compiled(interpreter, op) is None:
        rank = len(op.lowerBound)
        for indices in iterations(args[:rank], args[rank : 2 * rank], args[2 * rank :]):
            interpreter.run_ssacfg_region(op.body, indices, "parallel_loop")
    return ()


@register_impls
class ScfFunctions(OpFunctions):
    """Implementations of scf ops; loops run in their order, whatever is in them."""

    @impl(scf.ForOp)
    def for_(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        results = run_compiled(interpreter, op)
        if results is not None:
            return results
        lower, upper, step, *carried = args
        results = tuple(carried)
        for index in range(int(lower), int(upper), int(step)):
            results = interpreter.run_ssacfg_region(
                op.body, (type(lower)(index), *results), "for_loop"
            )
        return results

    @impl(scf.ParallelOp)
    def parallel(
        self, interpreter: Interpreter, op: scf.ParallelOp, args: PythonValues
    ) -> PythonValues:
        return run_parallel(interpreter, op, args)

    @impl(ours.ParallelOp)
    def parsed_parallel(
        self, interpreter: Interpreter, op: ours.ParallelOp, args: PythonValues
    ) -> PythonValues:
        return run_parallel(interpreter, op, args)

    @impl(ForallOp)
    def forall(self, interpreter: Interpreter, op: ForallOp, args: PythonValues) -> PythonValues:
        values = iter(args)
        lower, upper, step = (
            mixed_values(static, values)
            for static in (op.static_lower, op.static_upper, op.static_step)
        )
        shared = tuple(values)
        results = tuple(array.copy() for array in shared)
        arguments = op.body.block.args[op.rank :]
        targets: dict[SSAValue, Array] = dict(zip(arguments, results, strict=True))
        for indices in iterations(lower, upper, step):
            # Each iteration sees what is shared as it was.
            operands = interpreter.run_ssacfg_region(op.body, (*indices, *shared), "forall")
            for insertion, values in zip(op.in_parallel.insertions, operands, strict=True):
                source, _, *dynamic = values
                put_slice(targets[insertion.dest], source, insertion, dynamic)
        return results

    @impl_terminator(InParallelOp)
    def in_parallel(
        self, interpreter: Interpreter, op: InParallelOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        operands = (interpreter.get_values(each.operands) for each in op.insertions)
        return ReturnedValues(tuple(operands)), ()

    @impl(ParallelInsertSliceOp)
    def insertion(
        self, interpreter: Interpreter, op: ParallelInsertSliceOp, args: PythonValues
    ) -> PythonValues:
        raise InterpretationError(f"expected to be in '{InParallelOp.name}'")

    @impl_terminator(scf.ReduceOp)
    def reduce(
        self, interpreter: Interpreter, op: scf.ReduceOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(()), ()

    @impl(scf.IfOp)
    def if_(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        region = op.true_region if np.all(args[0]) else op.false_region
        return interpreter.run_ssacfg_region(region, (), "branch")

    @impl(scf.IndexSwitchOp)
    def switch(
        self, interpreter: Interpreter, op: scf.IndexSwitchOp, args: PythonValues
    ) -> PythonValues:
        cases = dict(zip(op.cases.get_values(), op.case_regions, strict=True))
        region = cases.get(int(args[0]), op.default_region)
        return interpreter.run_ssacfg_region(region, (), "case")

    @impl(scf.ExecuteRegionOp)
    def execute_region(
        self, interpreter: Interpreter, op: scf.ExecuteRegionOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.region, (), "region")

    @impl(scf.WhileOp)
    def while_(self, interpreter: Interpreter, op: scf.WhileOp, args: PythonValues) -> PythonValues:
        most, rounds = _most_rounds.get(), 0
        while True:
            if rounds == most:
                message = f"has not ended after {most} rounds"
                raise RunError(Diagnostic.at(op, message, "give data for which it ends"))
            holds, *passed = interpreter.run_ssacfg_region(op.before_region, args, "while")
            if not np.all(holds):
                return tuple(passed)
            args = interpreter.run_ssacfg_region(op.after_region, tuple(passed), "do")
            rounds += 1

    @impl_terminator(scf.ConditionOp)
    def condition(
        self, interpreter: Interpreter, op: scf.ConditionOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(scf.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: scf.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


# What the ops of the omp dialect do, by a team of one thread.


def run_nest(interpreter: Interpreter, op: omp.LoopNestOp, args: PythonValues) -> PythonValues:
    """Run all iterations of a nest, which is compiled where it can be."""
    if run_compiled(interpreter, op) is not None:
        return ()
    rank = len(op.lowerBound)
    lower, upper, step = args[:rank], args[rank : 2 * rank], args[2 * rank :]
    if op.loop_inclusive is not None:
        upper = tuple(type(last)(last + 1) for last in upper)
    for indices in iterations(lower, upper, step):
        interpreter.run_ssacfg_region(op.body, indices, "loop_nest")
    return ()


@register_impls
class OmpFunctions(OpFunctions):
    """Implementations of omp ops: every region runs once, every loop does all its iterations."""

    @impl(omp.ParallelOp)
    def parallel(
        self, interpreter: Interpreter, op: omp.ParallelOp, args: PythonValues
    ) -> PythonValues:
        interpreter.run_ssacfg_region(op.region, (), "parallel")
        return ()

    @impl(omp.WsLoopOp)
    def shared_loop(
        self, interpreter: Interpreter, op: omp.WsLoopOp, args: PythonValues
    ) -> PythonValues:
        nest = op.body.block.first_op
        if not isinstance(nest, omp.LoopNestOp) or args:
            raise InterpretationError("expected 'omp.loop_nest' alone inside, and no clauses")
        return run_nest(interpreter, nest, interpreter.get_values(nest.operands))

    @impl(omp.LoopNestOp)
    def nest(
        self, interpreter: Interpreter, op: omp.LoopNestOp, args: PythonValues
    ) -> PythonValues:
        return run_nest(interpreter, op, args)

    @impl(omp.BarrierOp)
    def barrier(
        self, interpreter: Interpreter, op: omp.BarrierOp, args: PythonValues
    ) -> PythonValues:
        return ()

    @impl_terminator(omp.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: omp.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(()), ()

    @impl_terminator(omp.TerminatorOp)
    def terminator(
        self, interpreter: Interpreter, op: omp.TerminatorOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(()), ()
