"""Described ops whose meaning is a Python function that is registered for their name."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.named_meaning import NamedMeaningOp
from gawee_dialect.dialect.types import shape_text, tensor_type
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.walk import all_ops


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, NamedMeaningOp)
    made = op.call_function([_read_only(array) for array in args])
    return _checked(op, (made,) if isinstance(made, np.ndarray | np.generic) else tuple(made))


def _read_only(array: Array) -> Array:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _checked(op: Operation, made: Sequence[Array]) -> tuple[Array, ...]:
    """Return what a function made; raises InterpretationError where it is not the op's results."""
    if len(made) != len(op.results):
        raise InterpretationError(
            f"expected its Python function to return {len(op.results)} arrays, got {len(made)}"
        )
    arrays = tuple(np.asarray(each) for each in made)
    for index, (array, result) in enumerate(zip(arrays, op.results, strict=True)):
        type = tensor_type(result)
        expected = f"{shape_text(type.get_shape())} of {dtype_of(type)}"
        got = f"{shape_text(array.shape)} of {array.dtype}"
        if got != expected:
            raise InterpretationError(
                f"expected its Python function to return result #{index} as {expected}, got {got}"
            )
    return arrays


def python_meaning_functions(
    kinds: frozenset[type[Operation]], module: ModuleOp
) -> type[OpFunctions]:
    """Make the implementations of every op of a module that a function is registered for."""
    named = any(issubclass(kind, NamedMeaningOp) for kind in kinds)
    ops = all_ops(module) if named else ()
    found = (op for op in ops if isinstance(op, NamedMeaningOp) and op.has_function())
    return _functions_for(frozenset(type(op) for op in found))


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    members = {kind.__name__: impl(kind)(_run) for kind in classes}
    return register_impls(type("PythonMeaningFunctions", (OpFunctions,), members))
