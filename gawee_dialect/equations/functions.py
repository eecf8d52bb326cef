"""The scalar functions of index notation: what they take, compute and cost.

Operators are functions too. Their meaning is defined here alone: the interpreter and the
proofs compute by `numpy`, counts go by `flops`; `lower-to-linalg` has a scalar op, or a few, for
each (`passes/graph/lower_to_linalg/scalar_functions.py`). Expressions that are one number, of
parameters, sizes and constants, are evaluated in Python.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    BOOLEANS,
    ELEMENTS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    ElementClass,
    ui8,
    ui16,
)
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


@dataclass(frozen=True)
class Function:
    """A function of elements of one type, those that it is defined on.

    `numpy` names what computes it on arrays: a function of `special_functions`, or else of NumPy.
    `flops` are its steps; comparing, choosing and converting count none. `result` is the type of
    what comes out where that is another one. What is `exact_f16` gives f16 the same bits whether it
    is computed in f16 or in f32 and rounded.
    """

    arity: int
    elements: ElementClass
    numpy: str
    flops: int = 1
    result: Attribute | None = None
    exact_f16: bool = False


def _test(elements: ElementClass, numpy: str, arity: int = 2) -> Function:
    return Function(arity, elements, numpy, flops=0, result=i1)


PREFIXES: Mapping[str, Function] = {
    "-": Function(1, NUMBERS, "negative", exact_f16=True),
    "!": Function(1, BOOLEANS, "logical_not"),
}
"""Operators before an operand."""

OPERATORS: Mapping[str, Function] = {
    "+": Function(2, NUMBERS, "add", exact_f16=True),
    "-": Function(2, NUMBERS, "subtract", exact_f16=True),
    "*": Function(2, NUMBERS, "multiply", exact_f16=True),
    "/": Function(2, FLOATS, "divide", exact_f16=True),
    "//": Function(2, NUMBERS, "floor_divide", flops=11),
    "%": Function(2, NUMBERS, "remainder", flops=4),
    "**": Function(2, NUMBERS, "power"),
    "==": _test(ELEMENTS, "equal"),
    "!=": _test(ELEMENTS, "not_equal"),
    "<": _test(ELEMENTS, "less"),
    "<=": _test(ELEMENTS, "less_equal"),
    ">": _test(ELEMENTS, "greater"),
    ">=": _test(ELEMENTS, "greater_equal"),
    "&&": _test(BOOLEANS, "logical_and"),
    "||": _test(BOOLEANS, "logical_or"),
}
"""Operators between two operands; those of integers by 0 give 0."""

FUNCTIONS: Mapping[str, Function] = {
    "exp": Function(1, FLOATS, "exp"),
    "log": Function(1, FLOATS, "log"),
    "log1p": Function(1, FLOATS, "log1p"),
    "sqrt": Function(1, FLOATS, "sqrt", exact_f16=True),
    "rsqrt": Function(1, FLOATS, "rsqrt"),
    "tanh": Function(1, FLOATS, "tanh"),
    "erf": Function(1, FLOATS, "erf"),
    "sin": Function(1, FLOATS, "sin"),
    "cos": Function(1, FLOATS, "cos"),
    "sigmoid": Function(1, FLOATS, "sigmoid", flops=4),
    "relu": Function(1, FLOATS, "relu"),
    "abs": Function(1, NUMBERS, "absolute", exact_f16=True),
    "sign": Function(1, NUMBERS, "sign", flops=0),
    "floor": Function(1, FLOATS, "floor", exact_f16=True),
    "ceil": Function(1, FLOATS, "ceil", exact_f16=True),
    "round": Function(1, FLOATS, "rint", exact_f16=True),
    "max": Function(2, NUMBERS, "maximum", exact_f16=True),
    "min": Function(2, NUMBERS, "minimum", exact_f16=True),
}
"""`relu(v)` is `max(v, 0)`; `round` rounds halves to even; `max` and `min` of NaN are NaN."""

OF_OPS: Mapping[str, Function] = {
    "expm1": Function(1, FLOATS, "expm1"),
    "atan2": Function(2, FLOATS, "arctan2"),
    "fmod": Function(2, NUMBERS, "fmod"),
    "isnan": _test(FLOATS, "isnan", arity=1),
    "bit_not": Function(1, INTEGERS, "invert"),
    "bit_and": Function(2, INTEGERS, "bitwise_and"),
    "bit_or": Function(2, INTEGERS, "bitwise_or"),
    "bit_xor": Function(2, INTEGERS, "bitwise_xor"),
}
"""Functions that only ops of the dialect may call: descriptions are written as C as well."""

ELEMENT_TYPES: Mapping[str, Attribute] = {
    **{str(each): each for each in (f16, f32, f64, bf16, i8, i16, i32, i64, ui8, ui16)},
    "bool": i1,
}
"""Element types by the names of the functions that convert to them."""

CONVERSIONS = ("f16", "f32", "f64", "i8", "i32", "i64", "bool", "int", "float")
"""Functions that convert: to a type by its name, `int` to i64, rounding towards zero, and `float`
to the float type of the inputs."""

CONSTANTS: Mapping[str, float] = {"inf": float("inf"), "pi": 3.141592653589793}

PARAMETER_KINDS = ("int", "float", "bool")

WORDS = frozenset((*PARAMETER_KINDS, "inputs", "return", "require", "if", "else", "size"))
"""Names that have a meaning where no name of a tensor may stand."""


def function_of(name: str) -> Function:
    """Return the function that a call names: one that is known."""
    return FUNCTIONS[name] if name in FUNCTIONS else OF_OPS[name]


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
