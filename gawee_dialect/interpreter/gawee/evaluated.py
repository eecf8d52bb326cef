"""Ops that say themselves what they mean, by equations or by a function of arrays."""

from functools import lru_cache

from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.arrays import elements
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import floats_of


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    if isinstance(op, EquationOp):
        return tuple(map(elements, op.evaluate_all(args, floats_of(interpreter).functions)))
    assert isinstance(op, EvaluatedOp)
    try:
        return (elements(op.evaluate(*args)),)
    except IndexError as error:
        raise InterpretationError(str(error)) from error


@lru_cache(maxsize=256)
def evaluated_functions(kinds: frozenset[type[Operation]]) -> type[OpFunctions]:
    """Make the implementations of every op among some classes that says what it means."""
    meant = (kind for kind in kinds if issubclass(kind, EquationOp | EvaluatedOp))
    members = {f"run_{number}": impl(kind)(_run) for number, kind in enumerate(meant)}
    return register_impls(type("EvaluatedFunctions", (OpFunctions,), members))


OURS = frozenset(GAWEE.operations)

EvaluatedFunctions = evaluated_functions(OURS)
