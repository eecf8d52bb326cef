"""The element types of expressions, by what is read and how it is combined.

Numbers, parameters, sizes and indices are of any type that they meet; alone, integers are i64, and
floats of the type of the first input that is of floats (f32 where there is none).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute

from gawee_dialect.dialect.types import FLOATS, is_float, is_integer, is_unsigned
from gawee_dialect.equations.functions import ELEMENT_TYPES, ScalarError, function_of
from gawee_dialect.equations.program import Program, expressions
from gawee_dialect.equations.syntax import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Conditional,
    Definition,
    Element,
    Expression,
    Name,
    Number,
    Reduction,
    Size,
    Unary,
    Wildcard,
    named_ranges,
    spelled,
    walk,
)
from gawee_dialect.located_json import Code


class Weak(Enum):
    """The type of a number that is no element of a tensor: it adapts."""

    INT = "an integer"
    FLOAT = "a float"


ExpressionType = Weak | Attribute

CONVERTS = (*ELEMENT_TYPES, "int", "float")
"""Functions that convert."""


@dataclass
class Typing:
    """Finds the types of expressions; `elements` are those of the tensors known so far.

    Where they are `of_op`, it has said which element types it is defined on: unsigned integers are
    numbers then, and truth values have an order.
    """

    code: Code
    parameters: dict[str, str]
    elements: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    known: dict[int, tuple[Expression, ExpressionType]] = field(
        default_factory=dict[int, tuple[Expression, ExpressionType]]
    )
    """What was found already, by identity."""

    of_op: bool = False

    single: Attribute = f32
    """What `f32(v)` is."""

    def __post_init__(self) -> None:
        floats = (each for each in self.elements.values() if is_float(each))
        self.float_type: Attribute = next(floats, self.single)

    def stored(self, definition: Definition) -> Attribute:
        """Return the element type of what is defined; raises ScalarError where there is none."""
        for each in named_ranges(definition.ranges):
            if each.limit is not None:
                self.require_integer(each.limit)
        return self.strong(self.of(definition.value))

    def strong(self, type: ExpressionType) -> Attribute:
        """Return the element type that a number alone is stored in."""
        if isinstance(type, Weak):
            return i64 if type is Weak.INT else self.float_type
        return type

    def of(self, node: Expression) -> ExpressionType:
        """Return the type of an expression; raises ScalarError where operands do not fit."""
        if id(node) not in self.known:
            self.known[id(node)] = node, self._found(node)
        return self.known[id(node)][1]

    def _found(self, node: Expression) -> ExpressionType:
        match node:
            case Number():
                return Weak.INT if isinstance(node.value, int) else Weak.FLOAT
            case Name():
                return self._named(node.name)
            case Element():
                return self._named(node.parameter)
            case Size():
                return Weak.INT
            case _:
                return self._combined(node)

    def _combined(self, node: Expression) -> ExpressionType:
        match node:
            case Access():
                return self._access(node)
            case Unary(operator="!"):
                self.require_bool(node.operand)
                return i1
            case Unary():
                return self.require_number(node.operand)
            case Binary():
                return self._binary(node)
            case Conditional():
                self.require_bool(node.condition)
                return self.common(node, node.yes, node.no)
            case Call():
                return self._call(node)
            case Reduction():
                return self._reduction(node)
            case _:
                raise AssertionError(f"a number: {node}")

    def _named(self, name: str) -> ExpressionType:
        kind = self.parameters.get(name, "float" if name in ("inf", "pi") else "int")
        return i1 if kind == "bool" else Weak[kind.upper()]

    def _access(self, node: Access) -> ExpressionType:
        for each in node.subscripts:
            if not isinstance(each, Wildcard):
                self.require_integer(each)
        if node.tensor not in self.elements:
            return Weak.INT  # of the same group: it has the type of what it is combined with
        element = self.elements[node.tensor]
        if node.otherwise is not None:
            self._join(node, element, self.of(node.otherwise))
        return element

    def require_integer(self, node: Expression) -> None:
        """Refuse an expression that is no integer."""
        type = self.of(node)
        if type is Weak.INT or (not isinstance(type, Weak) and is_integer(type) and type != i1):
            return
        message = f"expected '{spelled(node)}' to be an integer, got {_text(type)}"
        raise ScalarError(node.offset, message, "a // b rounds down, int(v) to zero")

    def require_bool(self, node: Expression) -> None:
        """Refuse an expression that is no truth value."""
        type = self.of(node)
        if type != i1:
            message = f"expected '{spelled(node)}' to be a condition, got {_text(type)}"
            raise ScalarError(node.offset, message, "compare: v != 0")

    def require_number(self, node: Expression) -> ExpressionType:
        """Refuse an expression that arithmetic has no meaning for."""
        type = self.of(node)
        refused = type == i1 or (not isinstance(type, Weak) and is_unsigned(type))
        if refused and not self.of_op:
            message = f"expected '{spelled(node)}' to be a number, got {_text(type)}"
            raise ScalarError(node.offset, message, "convert it: i32(v), f32(v)")
        return type

    def common(self, node: Expression, lhs: Expression, rhs: Expression) -> ExpressionType:
        """Return the type that two operands have in common."""
        return self._join(node, self.of(lhs), self.of(rhs))

    def _join(self, node: Expression, one: ExpressionType, other: ExpressionType) -> ExpressionType:
        if one == other:
            return one
        if isinstance(one, Weak) and isinstance(other, Weak):
            return Weak.FLOAT
        for weak, strong in ((one, other), (other, one)):
            if isinstance(weak, Weak) and not isinstance(strong, Weak) and strong != i1:
                if weak is Weak.INT or is_float(strong):
                    return strong
        message = f"expected operands of one type, got {_text(one)} and {_text(other)}"
        raise ScalarError(node.offset, f"{message} in '{spelled(node)}'", "convert one: f32(v)")

    def _binary(self, node: Binary) -> ExpressionType:
        if node.operator in ("&&", "||"):
            self.require_bool(node.lhs)
            self.require_bool(node.rhs)
            return i1
        if node.operator in ("==", "!=") and self.of(node.lhs) == i1 == self.of(node.rhs):
            return i1
        self.require_number(node.lhs)
        self.require_number(node.rhs)
        type = self.common(node, node.lhs, node.rhs)
        if node.operator in COMPARISONS:
            return i1
        if node.operator == "/":
            return Weak.FLOAT if type is Weak.INT else self._require_float(node, type)
        if (
            node.operator in ("//", "%")
            and not self.of_op
            and (type is Weak.FLOAT or (not isinstance(type, Weak) and not is_integer(type)))
        ):
            message = f"expected integers beside '{node.operator}', got {_text(type)}"
            raise ScalarError(node.offset, message, "floor(a / b)")
        return type

    def _require_float(self, node: Expression, type: ExpressionType) -> ExpressionType:
        if type is Weak.FLOAT or (not isinstance(type, Weak) and is_float(type)):
            return type
        message = f"expected floats in '{spelled(node)}', got {_text(type)}"
        raise ScalarError(node.offset, message, "convert: f32(v); a // b rounds down")

    def _call(self, node: Call) -> ExpressionType:
        if node.function in CONVERTS:
            self.of(node.arguments[0])
            return self._conversion(node)
        for each in node.arguments:
            self.require_number(each)
        type = self.of(node.arguments[0])
        if len(node.arguments) == 2:
            type = self.common(node, *node.arguments)
        function = function_of(node.function)
        if function.elements is FLOATS:
            type = Weak.FLOAT if isinstance(type, Weak) else self._require_float(node, type)
        return function.result or type

    def computed(self, node: Binary | Call) -> ExpressionType:
        """Return the type that operands are brought to: where the result has another, their own."""
        parts = (node.lhs, node.rhs) if isinstance(node, Binary) else node.arguments
        type = self.of(node)
        if type != i1 or self.of(parts[0]) == i1:
            return type
        return self.common(node, *parts) if len(parts) == 2 else self.of(parts[0])

    def _conversion(self, node: Call) -> ExpressionType:
        if node.function == "int":
            weak = isinstance(self.of(node.arguments[0]), Weak)
            return Weak.INT if weak else i64
        own = {"float": self.float_type, "f32": self.single}
        return own.get(node.function) or ELEMENT_TYPES[node.function]

    def _reduction(self, node: Reduction) -> ExpressionType:
        if node.condition is not None:
            self.require_bool(node.condition)
        if node.kind in ("any", "all"):
            self.require_bool(node.term)
            return i1
        return self.require_number(node.term)


def _text(type: ExpressionType) -> str:
    if isinstance(type, Weak):
        return type.value
    return "a condition" if type == i1 else str(type)


def input_types(program: Program) -> dict[str, Attribute]:
    """Return f32 for each input, i64 for those in subscripts, i1 for those that are conditions."""
    found: dict[str, Attribute] = dict.fromkeys(program.inputs, f32)
    for node in _nodes(program):
        if isinstance(node, Access):
            for name in _in_subscripts(node.subscripts):
                found[name] = i64
    for node in _nodes(program):
        found.update(dict.fromkeys(_conditions(node), i1))
    return {name: each for name, each in found.items() if name in program.inputs}


def _nodes(program: Program) -> Iterator[Expression]:
    for definition in program.definitions:
        for part in expressions(definition):
            yield from walk(part)


def _in_subscripts(subscripts: Sequence[Expression | Wildcard]) -> Iterator[str]:
    for each in subscripts:
        if not isinstance(each, Wildcard):
            yield from (node.tensor for node in walk(each) if isinstance(node, Access))


def _conditions(node: Expression) -> Iterator[str]:
    """Yield the tensors whose elements are conditions."""
    found: list[Expression | None] = []
    match node:
        case Conditional():
            found = [node.condition]
        case Binary(operator="&&" | "||"):
            found = [node.lhs, node.rhs]
        case Unary(operator="!"):
            found = [node.operand]
        case Reduction():
            found = [node.condition, node.term if node.kind in ("any", "all") else None]
        case _:
            pass
    yield from (each.tensor for each in found if isinstance(each, Access))
