"""Ops that are defined by equations: they say themselves what they mean."""

from functools import lru_cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation

from gawee_dialect.dialect.index_notation import IndexNotationOp
from gawee_dialect.interpreter.functions import OpFunctions


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, IndexNotationOp)
    return tuple(op.evaluate(args))


def index_notation_functions(module: ModuleOp) -> type[OpFunctions]:
    """Make the implementations of every such op that a module has."""
    return _functions_for(
        frozenset(type(op) for op in module.walk() if isinstance(op, IndexNotationOp))
    )


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    members = {op_type.__name__: impl(op_type)(_run) for op_type in classes}
    return register_impls(type("IndexNotationFunctions", (OpFunctions,), members))
