"""Expressions of index notation as C: numbers, parameters, sizes and what is computed of them.

Integers are computed as `int64_t`; a float that is no element of a tensor as `real`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from gawee_dialect.equations.element_types import CONVERTS, Typing, Weak
from gawee_dialect.equations.functions import ELEMENT_TYPES
from gawee_dialect.equations.scalars import ScalarError
from gawee_dialect.equations.syntax import (
    COMPARISONS,
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

WHOLE = "int64_t"

STORED: Mapping[Attribute, tuple[str, str]] = {
    f64: ("double", "TL_DOUBLE"),
    f32: ("float", "TL_FLOAT"),
    i64: ("int", "TL_INT32"),
    i32: ("int", "TL_INT32"),
    i16: ("short", "TL_INT16"),
    i8: ("signed char", "TL_INT8"),
    i1: ("bool", "TL_BOOL"),
}
"""How elements are stored: the C type, and the format's name; it has no integers of 64 bits."""

_BINDS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5} | dict.fromkeys(COMPARISONS, 3)
_PREFIX, _ATOM = 6, 9

_CALLS: Mapping[str, str] = {
    **{name: name + "({})" for name in ("exp", "log", "log1p", "sqrt", "tanh", "erf")},
    **{name: name + "({})" for name in ("sin", "cos", "floor", "ceil")},
    "round": "nearbyint({})",
    "rsqrt": "(1 / sqrt({}))",
    "sigmoid": "(1 / (1 + exp(-({}))))",
    "relu": "ln_max({}, 0)",
}


def require_stored(offset: int, element: Attribute) -> None:
    """Refuse elements that the format cannot store; raises ScalarError."""
    if element not in STORED:
        message = f"expected elements that the format has, got '{element}'"
        raise ScalarError(
            offset, message, ", ".join(dict.fromkeys(name for _, name in STORED.values()))
        )


@dataclass(frozen=True)
class CValue:
    """C of an expression: how tightly it binds, and the type that it is computed in."""

    text: str
    binds: int
    type: str

    def inside(self, least: int) -> str:
        """Return the text, in brackets where it binds less than `least`."""
        return self.text if self.binds >= least else f"({self.text})"


@dataclass
class Numbers:
    """Prints numbers; `index` and `parameter` name what names stand for, `size` is of an index."""

    typing: Typing
    index: Callable[[str], str | None]
    parameter: Callable[[str], str]
    size: Callable[[Size], str]
    real: str = "double"

    def text(self, node: Expression, type: str | None = None) -> str:
        """Return an expression as C, of a type."""
        value = self.value(node)
        return value.text if type is None else self.as_type(value, type).text

    def type_of(self, node: Expression) -> str:
        """Return the C type that an expression is computed in; raises ScalarError for none."""
        return self.computed(node, self.typing.of(node))

    def computed(self, node: Expression, type: Weak | Attribute) -> str:
        """Return the C type that values of a type are computed in."""
        if isinstance(type, Weak):
            return WHOLE if type is Weak.INT else self.real
        require_stored(node.offset, type)
        stored = STORED[type][0]
        return stored if type in (f32, f64, i1) else WHOLE

    def value(self, node: Expression) -> CValue:
        """Return the C of an expression."""
        match node:
            case Number():
                return _number(node.value, self.type_of(node))
            case Name():
                return self.name(node)
            case Element():
                text = f"{self.parameter(node.parameter)}[{node.position}]"
                return CValue(f"({self.type_of(node)}){text}", _PREFIX, self.type_of(node))
            case Size():
                return CValue(self.size(node), _PREFIX, WHOLE)
            case Unary():
                operand = self.value(node.operand)
                text = f"{node.operator}{operand.inside(_PREFIX + 1)}"
                return CValue(text, _PREFIX, operand.type)
            case Conditional():
                type = self.type_of(node)
                yes, no = self.cast(node.yes, type), self.cast(node.no, type)
                condition = self.value(node.condition).inside(1)
                return CValue(f"{condition} ? {yes.inside(1)} : {no.inside(0)}", 0, type)
            case Call():
                return self.call(node)
            case Binary():
                return self.binary(node)
            case _:
                raise AssertionError(f"no number: {node}")

    def name(self, node: Name) -> CValue:
        """Return an index, a constant or a parameter."""
        index = self.index(node.name)
        if index is not None:
            return CValue(index, _ATOM, WHOLE)
        type = self.type_of(node)
        if node.name == "inf":
            return CValue(f"({type})INFINITY", _PREFIX, type)
        if node.name == "pi":
            return _number(3.141592653589793, type)
        return CValue(f"({type}){self.parameter(node.name)}", _PREFIX, type)

    def cast(self, node: Expression, type: str) -> CValue:
        """Return an expression converted to a type."""
        if isinstance(node, Number) and type != "bool":
            return _number(node.value, type)
        return self.as_type(self.value(node), type)

    def as_type(self, value: CValue, type: str) -> CValue:
        """Return a value converted to a type."""
        if value.type == type:
            return value
        return CValue(f"({type}){value.inside(_PREFIX)}", _PREFIX, type)

    def binary(self, node: Binary) -> CValue:
        """Return two operands and what is between them."""
        operator = node.operator
        if operator in ("&&", "||"):
            # The compiler asks for brackets of one in the other.
            lhs, rhs = (self.value(each).inside(3) for each in (node.lhs, node.rhs))
            return CValue(f"{lhs} {operator} {rhs}", _BINDS[operator], "bool")
        if operator in COMPARISONS:
            common = self.typing.common(node, node.lhs, node.rhs)
            type = self.computed(node, common)
        else:
            type = self.type_of(node)
        lhs, rhs = self.cast(node.lhs, type), self.cast(node.rhs, type)
        if operator == "**":
            power = "ln_power" if type == WHOLE else f"({type})pow"
            return CValue(f"{power}({lhs.text}, {rhs.text})", _PREFIX, type)
        if operator in ("//", "%"):
            function = "ln_floor_divide" if operator == "//" else "ln_remainder"
            return CValue(f"{function}({lhs.text}, {rhs.text})", _ATOM, WHOLE)
        binds = _BINDS[operator]
        result = "bool" if operator in COMPARISONS else type
        return CValue(f"{lhs.inside(binds)} {operator} {rhs.inside(binds + 1)}", binds, result)

    def call(self, node: Call) -> CValue:
        """Return a function of elements, or a conversion."""
        type = self.type_of(node)
        if node.function in CONVERTS:
            return self.conversion(node, type)
        arguments = [self.cast(each, type) for each in node.arguments]
        if node.function in ("max", "min", "abs", "sign"):
            function = f"ln_{node.function}" + ("_int" if type == WHOLE else "")
            text = f"{function}({', '.join(each.text for each in arguments)})"
        else:
            text = _CALLS[node.function].format(arguments[0].text)
        return CValue(text if type == WHOLE else f"({type}){text}", _PREFIX, type)

    def conversion(self, node: Call, type: str) -> CValue:
        """Return a value converted to the type that a function names."""
        value = self.value(node.arguments[0])
        if type == "bool":
            return CValue(f"{value.inside(4)} != 0", 3, type)
        element = ELEMENT_TYPES.get(node.function)
        if element in (i8, i32):
            narrow = "int8_t" if element == i8 else "int32_t"
            return CValue(f"({WHOLE})({narrow}){value.inside(_PREFIX)}", _PREFIX, type)
        return self.as_type(value, type)


def _number(value: float, type: str) -> CValue:
    """Return a literal of a type."""
    if type == WHOLE:
        return CValue(str(int(value)), _ATOM if value >= 0 else _PREFIX, type)
    if value in (float("inf"), float("-inf")):
        return CValue(f"{'-' if value < 0 else ''}INFINITY", _PREFIX, type)
    text = repr(float(value)) + ("f" if type == "float" else "")
    return CValue(text, _ATOM if value >= 0 else _PREFIX, type)
