"""Scalar ops, each defined once: on NumPy scalars, and elementwise on arrays that broadcast.

The linalg level evaluates bodies with them on whole arrays, the loops level on single elements.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.arrays import OtherNumbers, elements
from gawee_dialect.interpreter.arrays import Array, dtype_of, fresh_array, view_of_bytes
from gawee_dialect.interpreter.functions import OpFunctions

Evaluate: TypeAlias = Callable[[Operation, Sequence[Array]], Array]
"""Computes an op's only result of its operands, which may be arrays."""


def plain(function: Callable[..., Array]) -> Evaluate:
    """Make an `Evaluate` of a function that needs nothing of the op but its operands."""

    def evaluate(op: Operation, operands: Sequence[Array]) -> Array:
        return function(*operands)

    return evaluate


class OtherFloats:
    """The base of interpreters whose floats are such arrays, and none of NumPy's."""

    functions: Mapping[str, Callable[..., Array]] = MappingProxyType({})
    """What functions of equations compute that are no functions of NumPy."""

    scalars: Mapping[type[Operation], Evaluate] = MappingProxyType({})
    """What scalar ops compute of integers, where that is not what taking up their result makes."""

    def taken_up(self, array: Array) -> Array:
        """Return floats that an op made of integers, or of nothing, as such an array."""
        return array

    def fresh(self, type: Attribute, sizes: Sequence[Array] = ()) -> Array:
        """Allocate an array of a type, as `fresh_array` does."""
        return fresh_array(type, sizes)

    def buffer(self, buffer: SSAValue, sizes: Sequence[Array] = ()) -> object:
        """Allocate a buffer, which is a result of an op, of given sizes where it is dynamic."""
        return self.fresh(buffer.type, sizes)

    def viewed(
        self, source: Array, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
    ) -> object:
        """View bytes as a buffer, as `view_of_bytes` does."""
        return view_of_bytes(source, shift, result, sizes)

    def is_dense(self, buffer: Array) -> bool:
        """Whether the elements of a buffer lie one after the other, in C order."""
        return buffer.flags.c_contiguous

    def filled(
        self, shape: Sequence[int], fill: Array | float, dtype: np.dtype[np.generic]
    ) -> Array:
        """Return an array of one number."""
        return np.full(shape, fill, dtype)

    def fractions(self, rows: Sequence[Sequence[Fraction]], dtype: np.dtype[np.generic]) -> Array:
        """Return a matrix of fractions."""
        return np.array([[float(each) for each in row] for row in rows]).astype(dtype)


_PLAIN = OtherFloats()


def floats_of(interpreter: Interpreter) -> OtherFloats:
    """Return what makes the arrays of an interpreter: itself, or NumPy."""
    return interpreter if isinstance(interpreter, OtherFloats) else _PLAIN


def evaluate_scalar(evaluate: Evaluate, op: Operation, operands: Sequence[Array]) -> Array:
    """Evaluate an op and round the result to its type."""
    return evaluate_to(dtype_of(op.results[0].type), evaluate, op, operands)


def evaluate_to(
    dtype: np.dtype[np.generic], evaluate: Evaluate, op: Operation, operands: Sequence[Array]
) -> Array:
    """Evaluate an op and round the result to a dtype."""
    for operand in operands:
        if isinstance(operand, OtherNumbers):
            return operand.evaluate(evaluate, op, operands).astype(dtype, copy=False)
    return evaluate(op, operands).astype(dtype, copy=False)


def _run(
    evaluate: Evaluate,
) -> Callable[[OpFunctions, Interpreter, Operation, PythonValues], PythonValues]:
    def run(
        functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        result = floats_of(interpreter).taken_up(evaluate_scalar(evaluate, op, args))
        # NumPy makes scalars of arrays of rank 0, in a tensor's place too.
        shaped = isinstance(op.results[0].type, TensorType)
        return (elements(result) if shaped else result,)

    return run


def scalar_functions(name: str, table: Mapping[type[Operation], Evaluate]) -> type[OpFunctions]:
    """Make the set of implementations that a table of scalar ops stands for."""
    members = {  # numbered: two classes may have one name
        f"{op_type.__name__}_{number}": impl(op_type)(_run(run))
        for number, (op_type, run) in enumerate(table.items())
    }
    return register_impls(type(name, (OpFunctions,), members))
