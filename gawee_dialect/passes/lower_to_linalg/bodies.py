"""How tables of scalar bodies are written: one function of scalars an op class."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.ir import SSAValue

from gawee_dialect.dialect.elementwise import ElementwiseOp
from gawee_dialect.passes.lower_to_linalg.scalars import FloatFunction, Scalars

OpT = TypeVar("OpT", bound=ElementwiseOp)

ScalarBody = Callable[[Scalars, Sequence[SSAValue], ElementwiseOp], SSAValue]
"""Computes an element of an op's result from the elements of its operands."""


def function(apply: type[FloatFunction]) -> ScalarBody:
    """Make the body that is one function of the math dialect."""
    return lambda scalars, args, op: scalars.apply(apply, args[0])


def unary(compute: Callable[[Scalars, SSAValue], SSAValue]) -> ScalarBody:
    """Make a body of a function of one scalar."""
    return lambda scalars, args, op: compute(scalars, args[0])


def binary(compute: Callable[[Scalars, SSAValue, SSAValue], SSAValue]) -> ScalarBody:
    """Make a body of a function of two scalars."""
    return lambda scalars, args, op: compute(scalars, args[0], args[1])


def body_of(
    op_type: type[OpT], compute: Callable[[Scalars, Sequence[SSAValue], OpT], SSAValue]
) -> ScalarBody:
    """Make a body that reads the op's properties."""

    def checked(scalars: Scalars, args: Sequence[SSAValue], op: ElementwiseOp) -> SSAValue:
        assert isinstance(op, op_type)
        return compute(scalars, args, op)

    return checked
