"""One described op while it is lowered: its operands and parameters, and the ops made for it."""

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.types import DTYPE_NAMES, AnyTensor, tensor_type
from gawee_dialect.opdesc.described_op import DescribedOp

MAX_ELEMENTS = 16_000_000
"""Of a constant in the module; larger tensors come from a file."""


class NoMeaning(Exception):
    """Why this use of an operator is no gawee op."""


class Site:
    """A described op and what is made in its place."""

    def __init__(self, op: DescribedOp) -> None:
        self.op = op
        self.params = op.checked().params
        self.made: list[Operation] = []

    def input(self, arg_name: str) -> SSAValue:
        """Return the operand of an argument."""
        return self.op.input(arg_name)

    def shape(self, arg_name: str) -> tuple[int, ...]:
        """Return the shape of an argument's operand."""
        return tensor_type(self.input(arg_name)).get_shape()

    def result_type(self, index: int = 0) -> AnyTensor:
        """Return the type of a result."""
        return tensor_type(self.op.results[index])

    def add(self, op: Operation) -> SSAValue:
        """Add an op; returns its first result."""
        self.made.append(op)
        return op.results[0]

    def constant(
        self, values: Sequence[float], shape: Sequence[int], element: Attribute
    ) -> SSAValue:
        """Add a constant; one value is that of every element."""
        # NumPy is imported only where data is made.
        import numpy as np

        count = prod(shape)
        if count > MAX_ELEMENTS:
            raise NoMeaning(f"expected a constant of at most {MAX_ELEMENTS} elements, got {count}")
        if element not in DTYPE_NAMES:
            raise NoMeaning(f"expected a supported element type, got '{element}'")
        array = np.array(values, np.float64)
        array = np.broadcast_to(array, shape) if len(values) == 1 else array.reshape(shape)
        return self.add(ConstantOp(dense_of(array, TensorType(element, shape))))

    def integer(self, name: str) -> int:
        """Return the value of a parameter that is an int."""
        value = self.params[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        """Return the value of a parameter that is a number."""
        value = self.params[name]
        assert isinstance(value, int | float)
        return float(value)

    def text(self, name: str) -> str:
        """Return the value of a parameter that is a string."""
        value = self.params[name]
        assert isinstance(value, str)
        return value

    def integers(self, name: str) -> list[int]:
        """Return the elements of a parameter that is an array of int."""
        return [int(each) for each in self.numbers(name)]

    def numbers(self, name: str) -> list[float]:
        """Return the elements of a parameter that is an array of numbers."""
        value = self.params[name]
        assert isinstance(value, tuple)
        return [each for each in value if isinstance(each, int | float)]


Meaning: TypeAlias = Callable[[Site], Sequence[SSAValue]]
