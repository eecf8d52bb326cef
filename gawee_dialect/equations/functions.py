"""The scalar functions of index notation: what they take, compute and cost.

Operators are functions too. Their meaning is defined here alone: the interpreter and the
proofs compute by `numpy`, counts go by `flops`; `lower-to-linalg` has a scalar op, or a few, for
each (`passes/graph/lower_to_linalg/scalar_functions.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

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
