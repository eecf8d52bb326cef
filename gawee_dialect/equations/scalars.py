"""Expressions that are one number: of parameters, sizes and constants, evaluated in Python."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.equations.functions import CONSTANTS
from gawee_dialect.equations.syntax import (
    Binary,
    Call,
    Conditional,
    Element,
    Expression,
    Name,
    Number,
    Size,
    Unary,
)
from gawee_dialect.located_json import Code

ParameterValue = bool | int | float | tuple[int | float, ...]

LARGEST = (1 << 63) - 1


class ScalarError(Exception):
    """A number that cannot be computed, with the offset of what it fails at."""

    def __init__(self, offset: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


@dataclass
class Numbers:
    """What names stand for: parameters, indices where they have a value, and sizes."""

    code: Code
    parameters: Mapping[str, ParameterValue]
    size: Callable[[Size], int]
    indices: Mapping[str, int] = field(default_factory=dict[str, int])

    def integer(self, expression: Expression) -> int:
        """Return the value of an expression that is to be an integer; raises ScalarError."""
        value = self.value(expression)
        if isinstance(value, float):
            message = f"expected an integer, got {value}"
            raise ScalarError(expression.offset, message, "a // b rounds down, int(v) to zero")
        return value if isinstance(value, OpenSize) else int(value)

    def value(self, node: Expression) -> bool | int | float:
        """Return the value of an expression; raises ScalarError."""
        value = self._value(node)
        if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
            raise ScalarError(node.offset, "expected an integer of at most 63 bits")
        return value

    def _value(self, node: Expression) -> bool | int | float:
        match node:
            case Number():
                return node.value
            case Name():
                return self._name(node)
            case Element():
                values = self.parameters[node.parameter]
                assert isinstance(values, tuple)  # what its declaration says
                return values[node.position]
            case Size():
                return self.size(node)
            case _:
                return self._computed(node)

    def _computed(self, node: Expression) -> bool | int | float:
        match node:
            case Unary(operator="-"):
                return -self.value(node.operand)
            case Unary():
                return not self.value(node.operand)
            case Conditional():
                return self.value(node.yes if self.value(node.condition) else node.no)
            case Call():
                return self._call(node)
            case Binary(operator="&&"):
                return bool(self.value(node.lhs)) and bool(self.value(node.rhs))
            case Binary(operator="||"):
                return bool(self.value(node.lhs)) or bool(self.value(node.rhs))
            case Binary():
                return self._binary(node)
            case _:
                raise ScalarError(node.offset, "expected a number that is known beforehand")

    def _name(self, node: Name) -> bool | int | float:
        if node.name in self.indices:
            return self.indices[node.name]
        if node.name in CONSTANTS:
            return CONSTANTS[node.name]
        if node.name not in self.parameters:
            raise ScalarError(node.offset, f"expected a known number, got index '{node.name}'")
        value = self.parameters[node.name]
        assert not isinstance(value, tuple)  # names are checked
        return value

    def _call(self, node: Call) -> bool | int | float:
        values = [self.value(each) for each in node.arguments]
        function = _CALLS.get(node.function)
        if function is None:
            message = f"unsupported function '{node.function}' in a size; supported: "
            raise ScalarError(node.offset, message + ", ".join(_CALLS))
        try:
            return function(values)
        except (OverflowError, ValueError, ZeroDivisionError) as error:
            text = ", ".join(map(str, values))
            raise ScalarError(node.offset, f"cannot compute {node.function}({text})") from error

    def _binary(self, node: Binary) -> bool | int | float:
        lhs, rhs = self.value(node.lhs), self.value(node.rhs)
        if node.operator in ("/", "//", "%") and rhs == 0:
            message = f"expected a divisor other than 0, got {lhs} {node.operator} 0"
            raise ScalarError(node.offset, message)
        if node.operator == "**":
            if isinstance(rhs, int) and not 0 <= rhs <= 64:
                raise ScalarError(node.offset, f"expected a power of 0 to 64, got {rhs}")
            return _power(node, lhs, rhs)
        return _BINARY[node.operator](lhs, rhs)


def _power(node: Binary, lhs: float, rhs: float) -> float:
    try:
        return lhs**rhs if isinstance(rhs, int) else math.pow(lhs, rhs)
    except (OverflowError, ValueError) as error:
        raise ScalarError(node.offset, f"cannot compute {lhs} ** {rhs}") from error


def _int(value: float) -> int:
    return int(value) if abs(value) < LARGEST else LARGEST + 1


_CALLS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "abs": lambda values: abs(values[0]),
    "int": lambda values: _int(values[0]),
    "i64": lambda values: _int(values[0]),
    "i32": lambda values: _int(values[0]),
    "float": lambda values: float(values[0]),
    "floor": lambda values: float(values[0] // 1),
    "exp": lambda values: math.exp(values[0]),
    "log": lambda values: math.log(values[0]),
    "sqrt": lambda values: math.sqrt(values[0]),
    "rsqrt": lambda values: 1 / math.sqrt(values[0]),
    "tanh": lambda values: math.tanh(values[0]),
    "ceil": lambda values: float(-(-values[0] // 1)),
}

_BINARY: Mapping[str, Callable[[float, float], bool | int | float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
