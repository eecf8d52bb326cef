"""The scalar functions that index notation knows, and how many arguments each takes."""

from collections.abc import Mapping

FUNCTIONS: Mapping[str, int] = {
    **dict.fromkeys(
        ("exp", "log", "log1p", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "sigmoid", "relu"), 1
    ),
    **dict.fromkeys(("abs", "sign", "floor", "ceil", "round"), 1),
    **dict.fromkeys(("max", "min"), 2),
}
"""`relu(v)` is `max(v, 0)`; `round` rounds halves to even; `max` and `min` of NaN are NaN."""

CONVERSIONS = ("f16", "f32", "f64", "i8", "i32", "i64", "bool", "int", "float")
"""Functions that convert: to a type by its name, `int` to i64, rounding towards zero, and `float`
to the float type of the inputs."""

CONSTANTS: Mapping[str, float] = {"inf": float("inf"), "pi": 3.141592653589793}

PARAMETER_KINDS = ("int", "float", "bool")

WORDS = frozenset((*PARAMETER_KINDS, "inputs", "return", "require", "if", "else", "size"))
"""Names that have a meaning where no name of a tensor may stand."""
