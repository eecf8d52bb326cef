"""Ops that say themselves what they mean: elementwise ones, reductions, movements of elements."""

from collections.abc import Callable, Iterable

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.interpreter.functions import OpFunctions


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, EvaluatedOp)
    try:
        return (np.asarray(op.evaluate(*args)),)
    except IndexError as error:
        raise InterpretationError(str(error)) from error


def evaluated_functions(ops: Iterable[type[Operation]]) -> type[OpFunctions]:
    """Make the set of implementations of all ops that say what they mean."""
    members: dict[str, Callable[..., PythonValues]] = {
        op.__name__: impl(op)(_run) for op in ops if issubclass(op, EvaluatedOp)
    }
    return register_impls(type("EvaluatedFunctions", (OpFunctions,), members))


EvaluatedFunctions = evaluated_functions(GAWEE.operations)
