"""Ops that are one NumPy function each, which their folder shares: elementwise and reductions."""

from collections.abc import Callable, Iterable

from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.computed import ComputedOp
from gawee_dialect.interpreter.functions import OpFunctions


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, ComputedOp)
    return (op.evaluate(*args),)


def computed_functions(ops: Iterable[type[Operation]]) -> type[OpFunctions]:
    """Make the set of implementations of all ops that say what they compute."""
    members: dict[str, Callable[..., PythonValues]] = {
        op.__name__: impl(op)(_run) for op in ops if issubclass(op, ComputedOp)
    }
    return register_impls(type("ComputedFunctions", (OpFunctions,), members))


ComputedFunctions = computed_functions(GAWEE.operations)
