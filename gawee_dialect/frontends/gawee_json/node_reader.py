"""One node as an op builder sees it: operands, attributes and weights of the right kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.dialect.graph.python_value import PythonValueType
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.frontends.gawee_json.graph import Node
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.located_json import JsonObject

WeightSource = Callable[[Node, str, JsonObject], SSAValue]
"""Makes the entry argument of a node's weight object under a key."""


def _float(key: str, value: float) -> float:
    """Convert a JSON number, which may be an integer of any length; raises Refusal."""
    try:
        return float(value)
    except OverflowError as error:
        raise Refusal(f"expected {key} to fit a float, got an integer beyond it") from error


@dataclass(frozen=True)
class NodeReader:
    """Typed access to a node whose attributes follow the schema.

    `declared` is the type that `values` gives to the output, None where it says nothing.
    """

    node: Node
    operands: Sequence[SSAValue]
    declared: AnyTensor | None
    weight_source: WeightSource

    def tensor(self, index: int) -> SSAValue:
        """Return an operand; raises Refusal where it is a Python value."""
        value = self.operands[index]
        if isinstance(value.type, PythonValueType):
            raise Refusal(
                f"expected input '{self.node.inputs[index]}' to be a tensor, got a Python value",
                "getattr and getitem may feed each other and the size of an interpolate",
            )
        return value

    def has(self, key: str) -> bool:
        """Whether the node has an attribute."""
        return key in self.node.attributes

    def axes(self, key: str, default: Sequence[int]) -> tuple[int, ...]:
        """Return an attribute given as one integer or a list of two, always as two."""
        value = self.node.attributes.get(key)
        if value is None:
            return tuple(default)
        if isinstance(value, int):
            return (value, value)
        assert isa(value, list[int])
        return tuple(value)

    def optional_axes(self, key: str) -> list[int | None]:
        """Return an attribute given as one integer or a list of two whose entries may be null."""
        value = self.node.attributes[key]
        if isinstance(value, int):
            return [value, value]
        assert isa(value, list[int | None])
        return value

    def numbers(self, key: str) -> tuple[float, float]:
        """Return an attribute given as one number or a list of two, always as two."""
        value = self.node.attributes[key]
        if isinstance(value, int | float):
            return (_float(key, value), _float(key, value))
        assert isa(value, list[int | float])
        first, second = value
        return (_float(key, first), _float(key, second))

    def integer(self, key: str, default: int) -> int:
        """Return an integer attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, int)
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, int | float)
        return _float(key, value)

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, bool)
        return value

    def text(self, key: str, default: str) -> str:
        """Return a string attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, str)
        return value

    def weight(self, key: str) -> SSAValue:
        """Return the argument of a weight that the node must have; raises Refusal otherwise."""
        value = self.optional_weight(key)
        if value is None:
            raise Refusal(f"expected weight '{key}', got none")
        return value

    def optional_weight(self, key: str) -> SSAValue | None:
        """Return the argument of a weight, None where the node has none."""
        value = self.node.attributes.get(key)
        if value is None:
            return None
        assert isinstance(value, JsonObject)
        return self.weight_source(self.node, key, value)

    def expect(self, key: str, actual: int, meaning: str) -> None:
        """Check an attribute that repeats what a shape says; raises Refusal where it differs."""
        stated = self.integer(key, actual)
        if stated != actual:
            raise Refusal(f"expected {key} ({stated}) to equal {meaning} ({actual})")
