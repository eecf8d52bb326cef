"""Ops that are defined by equations: they say themselves what they mean."""

from functools import lru_cache

from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation

from gawee_dialect.dialect.index_notation import IndexNotationOp
from gawee_dialect.interpreter.functions import OpFunctions


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, IndexNotationOp)
    return tuple(op.evaluate(args))


def index_notation_functions(kinds: frozenset[type[Operation]]) -> type[OpFunctions]:
    """Make the implementations of every such op among some classes."""
    return _functions_for(frozenset(kind for kind in kinds if issubclass(kind, IndexNotationOp)))


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    members = {op_type.__name__: impl(op_type)(_run) for op_type in classes}
    return register_impls(type("IndexNotationFunctions", (OpFunctions,), members))
