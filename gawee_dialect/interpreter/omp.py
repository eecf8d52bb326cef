"""What the ops of the omp dialect do, by a team of one thread."""

from xdsl.dialects import omp
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scf import iterations, run_compiled


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
