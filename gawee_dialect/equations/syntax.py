"""The syntax of index notation: expressions over elements of tensors, and statements."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True)
class _Located:
    offset: int = field(repr=False, compare=False)
    """Of the first character, in the text of the body."""


@dataclass(frozen=True)
class Number(_Located):
    """`2`, `0.5`, `inf`: an integer has no point and no exponent."""

    value: int | float


@dataclass(frozen=True)
class Name(_Located):
    """An index or a parameter."""

    name: str


@dataclass(frozen=True)
class Wildcard(_Located):
    """`...`: as many indices as the tensors of the statement have axes left."""


@dataclass(frozen=True)
class Access(_Located):
    """`x[n, h*s - p else 0]`: an element of a tensor, or of a parameter that is an array.

    `otherwise` is what is read outside of the tensor; None where such points do not count.
    """

    tensor: str
    subscripts: Sequence["Expression | Wildcard"]
    otherwise: "Expression | None" = None


@dataclass(frozen=True)
class Element(_Located):
    """`pads[2]`: an element of a parameter that is an array, made of an access to it."""

    parameter: str
    position: int


@dataclass(frozen=True)
class Size(_Located):
    """`size(c)`: how many values an index has; `size(x, 1)`: how long an axis of a tensor is.

    `of` is the index or the tensor, None for `size(...)`, the product over the wildcard.
    """

    of: str | None
    axis: int | None = None


@dataclass(frozen=True)
class Unary(_Located):
    """`-` or `!` before an operand."""

    operator: str
    operand: "Expression"


@dataclass(frozen=True)
class Binary(_Located):
    """Two operands and what is between them: one of `BINARY_OPERATORS`."""

    operator: str
    lhs: "Expression"
    rhs: "Expression"


@dataclass(frozen=True)
class Conditional(_Located):
    """`condition ? yes : no`."""

    condition: "Expression"
    yes: "Expression"
    no: "Expression"


@dataclass(frozen=True)
class Call(_Located):
    """A scalar function of `functions.py`: `exp(v)`, `max(a, b)`, `f32(i)`."""

    function: str
    arguments: Sequence["Expression"]


@dataclass(frozen=True)
class Range(_Located):
    """An index, and how many values it has where that is said: `h < size(x, 2) * s`."""

    index: str
    limit: "Expression | None" = None


@dataclass(frozen=True)
class Reduction(_Located):
    """`sum(c, i < 3 if i <= c) term`: `kind` is one of `REDUCTIONS`.

    Points at which `condition` does not hold, or at which the term reads outside of a tensor,
    don't count.
    """

    kind: str
    ranges: Sequence[Range | Wildcard]
    condition: "Expression | None"
    term: "Expression"


Expression: TypeAlias = (
    Number | Name | Access | Element | Size | Unary | Binary | Conditional | Call | Reduction
)

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
BINARY_OPERATORS = (*ARITHMETIC, *COMPARISONS, "&&", "||")


@dataclass(frozen=True)
class Definition(_Located):
    """`y[n, h < 3] = value`: every element of a tensor."""

    tensor: str
    ranges: Sequence[Range | Wildcard]
    value: Expression


@dataclass(frozen=True)
class Parameter(_Located):
    """`int s = 1`, `int pads[4] = [0, 0, 0, 0]`: `kind` is int, float or bool.

    `length` is that of an array, None of a number; without a `default` every use gives the value.
    """

    kind: str
    name: str
    length: int | None = None
    default: "bool | int | float | tuple[int | float, ...] | None" = None


@dataclass(frozen=True)
class Inputs(_Located):
    """`inputs x, w`: the tensors that are read, in the order of operands."""

    names: Sequence[Name]


@dataclass(frozen=True)
class Return(_Located):
    """`return h, c`: the tensors that are results, in their order."""

    names: Sequence[Name]


@dataclass(frozen=True)
class Requirement(_Located):
    """`require size(x, 1) % g == 0, "message"`: what must hold of sizes and parameters.

    `text` is the condition as it is written.
    """

    condition: Expression
    text: str
    message: str | None = None


Statement: TypeAlias = Definition | Parameter | Inputs | Return | Requirement


def operands(node: Expression) -> Sequence[Expression]:
    """Return the expressions that one is made of, those of ranges and subscripts included."""
    match node:
        case Access():
            parts = [each for each in node.subscripts if not isinstance(each, Wildcard)]
            return parts if node.otherwise is None else [*parts, node.otherwise]
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.lhs, node.rhs)
        case Conditional():
            return (node.condition, node.yes, node.no)
        case Call():
            return node.arguments
        case Reduction():
            limits = [each.limit for each in named_ranges(node.ranges) if each.limit is not None]
            conditions = () if node.condition is None else (node.condition,)
            return (*limits, *conditions, node.term)
        case _:
            return ()


def mapped(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression in which every part is changed, inner ones first."""

    def inner(part: Expression) -> Expression:
        return mapped(part, change)

    match node:
        case Access():
            subscripts = [
                each if isinstance(each, Wildcard) else inner(each) for each in node.subscripts
            ]
            otherwise = None if node.otherwise is None else inner(node.otherwise)
            node = replace(node, subscripts=subscripts, otherwise=otherwise)
        case Unary():
            node = replace(node, operand=inner(node.operand))
        case Binary():
            node = replace(node, lhs=inner(node.lhs), rhs=inner(node.rhs))
        case Conditional():
            node = replace(
                node, condition=inner(node.condition), yes=inner(node.yes), no=inner(node.no)
            )
        case Call():
            node = replace(node, arguments=[inner(each) for each in node.arguments])
        case Reduction():
            condition = None if node.condition is None else inner(node.condition)
            ranges = mapped_ranges(node.ranges, change)
            node = replace(node, ranges=ranges, condition=condition, term=inner(node.term))
        case _:
            pass
    return change(node)


def mapped_ranges(
    ranges: "Sequence[Range | Wildcard]", change: Callable[[Expression], Expression]
) -> "Sequence[Range | Wildcard]":
    """Return ranges in whose limits every part is changed."""
    return [
        each
        if isinstance(each, Wildcard) or each.limit is None
        else replace(each, limit=mapped(each.limit, change))
        for each in ranges
    ]


SMALL_POWER = 8
"""Up to here a power is a product."""


def small_power(node: Binary) -> int | None:
    """Return the exponent of a power that is computed as a product; None for all else."""
    power = node.rhs.value if node.operator == "**" and isinstance(node.rhs, Number) else None
    return power if isinstance(power, int) and 1 <= power <= SMALL_POWER else None


def named_ranges(ranges: Sequence[Range | Wildcard]) -> list[Range]:
    """Return the ranges that have a name: all but the wildcard."""
    return [each for each in ranges if isinstance(each, Range)]


def walk(node: Expression) -> Iterator[Expression]:
    """Yield an expression and all inside of it, outer ones first."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(operands(found)))


def accesses(node: Expression) -> list[Access]:
    """Return every access of an expression, in the order of the text."""
    return [found for found in walk(node) if isinstance(found, Access)]


@dataclass(frozen=True)
class Linear:
    """A sum: of each index times its coefficient, and of a constant, both free of indices."""

    terms: Mapping[str, Expression]
    constant: Expression

    def is_moved(self, index: str) -> bool:
        """Whether the subscript is one index plus a constant."""
        return Linear(self.terms, Number(0, 0)).is_index(index)

    def is_index(self, index: str | None = None) -> bool:
        """Whether the subscript is one index, or a given one, and nothing else."""
        one = all(isinstance(each, Number) and each.value == 1 for each in self.terms.values())
        zero = isinstance(self.constant, Number) and self.constant.value == 0
        found = len(self.terms) == 1 and one and zero
        return found and (index is None or index in self.terms)


def linear(expression: Expression, indices: AbstractSet[str]) -> Linear | None:
    """Return a subscript as a sum of multiples of indices; None where it is none."""
    offset = expression.offset
    zero, one = Number(offset, 0), Number(offset, 1)
    if isinstance(expression, Name) and expression.name in indices:
        return Linear({expression.name: one}, zero)
    if is_free(expression, indices):
        return Linear({}, expression)
    match expression:
        case Unary(operator="-", operand=operand):
            inner = linear(operand, indices)
            return None if inner is None else _scaled(inner, Number(offset, -1))
        case Binary(operator="+" | "-", lhs=lhs, rhs=rhs):
            left, right = linear(lhs, indices), linear(rhs, indices)
            if left is None or right is None:
                return None
            return _sum(left, right if expression.operator == "+" else _negated(right))
        case Binary(operator="*", lhs=lhs, rhs=rhs) if is_free(rhs, indices):
            inner = linear(lhs, indices)
            return None if inner is None else _scaled(inner, rhs)
        case Binary(operator="*", lhs=lhs, rhs=rhs) if is_free(lhs, indices):
            inner = linear(rhs, indices)
            return None if inner is None else _scaled(inner, lhs)
        case _:
            return None


def is_free(expression: Expression, indices: AbstractSet[str]) -> bool:
    """Whether an expression depends on no index and on no element: it is one number."""
    return not any(
        isinstance(each, Access | Reduction) or (isinstance(each, Name) and each.name in indices)
        for each in walk(expression)
    )


def _product(lhs: Expression, rhs: Expression) -> Expression:
    if isinstance(lhs, Number) and isinstance(rhs, Number):
        return Number(lhs.offset, lhs.value * rhs.value)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(one, Number) and one.value in (0, 1):
            return other if one.value == 1 else one
    return Binary(lhs.offset, "*", lhs, rhs)


def _total(lhs: Expression, rhs: Expression) -> Expression:
    if isinstance(lhs, Number) and isinstance(rhs, Number):
        return Number(lhs.offset, lhs.value + rhs.value)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(one, Number) and one.value == 0:
            return other
    return Binary(lhs.offset, "+", lhs, rhs)


def _scaled(form: Linear, by: Expression) -> Linear:
    terms = {index: _product(each, by) for index, each in form.terms.items()}
    return Linear(terms, _product(form.constant, by))


def _negated(form: Linear) -> Linear:
    return _scaled(form, Number(form.constant.offset, -1))


def _sum(lhs: Linear, rhs: Linear) -> Linear:
    terms = dict(lhs.terms)
    for index, each in rhs.terms.items():
        terms[index] = _total(terms[index], each) if index in terms else each
    return Linear(terms, _total(lhs.constant, rhs.constant))


def names_in(node: Expression) -> set[str]:
    """Return the names that an expression takes the value of, those that it binds left out."""
    if isinstance(node, Name):
        return {node.name}
    found = {name for each in operands(node) for name in names_in(each)}
    if isinstance(node, Reduction):
        found -= {each.index for each in named_ranges(node.ranges)}
    return found


_BINDS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "//": 5, "%": 5, "**": 7}
_COMPARES = 3
_PREFIX = 6
_CONDITIONAL = 0
_REDUCTION = 5


def spelled(node: Expression | Definition, least: int = 0) -> str:
    """Return the text of an expression, in brackets where it binds less than `least`."""
    text, binds = _spelled(node)
    return f"({text})" if binds < least else text


def _spelled(node: Expression | Definition) -> tuple[str, int]:
    match node:
        case Number():
            return str(node.value), 9
        case Name():
            return node.name, 9
        case Element():
            return f"{node.parameter}[{node.position}]", 9
        case Size():
            axis = "" if node.axis is None else f", {node.axis}"
            return f"size({node.of or '...'}{axis})", 9
        case Access():
            return _access(node), 9
        case _:
            return _compound(node)


def _compound(node: Expression | Definition) -> tuple[str, int]:
    match node:
        case Unary():
            return f"{node.operator}{spelled(node.operand, _PREFIX)}", _PREFIX
        case Binary():
            binds = _BINDS.get(node.operator, _COMPARES)
            lhs, rhs = spelled(node.lhs, binds), spelled(node.rhs, binds + 1)
            tight = node.operator in ("*", "**") and node.operator in ARITHMETIC
            between = node.operator if tight else f" {node.operator} "
            return f"{lhs}{between}{rhs}", binds
        case Conditional():
            parts = spelled(node.condition, 1), spelled(node.yes, 1), spelled(node.no)
            return "{} ? {} : {}".format(*parts), _CONDITIONAL
        case Call():
            return f"{node.function}({', '.join(map(spelled, node.arguments))})", 9
        case Reduction():
            condition = "" if node.condition is None else f" if {spelled(node.condition)}"
            ranges = ", ".join(map(_range, node.ranges))
            return f"{node.kind}({ranges}{condition}) {spelled(node.term, 5)}", _REDUCTION
        case Definition():
            ranges = ", ".join(map(_range, node.ranges))
            return f"{node.tensor}[{ranges}] = {spelled(node.value)}", 0
        case _:
            raise AssertionError(f"no compound: {node}")


def _access(node: Access) -> str:
    parts = ("..." if isinstance(each, Wildcard) else spelled(each) for each in node.subscripts)
    otherwise = "" if node.otherwise is None else f" else {spelled(node.otherwise)}"
    return f"{node.tensor}[{', '.join(parts)}{otherwise}]"


def _range(node: Range | Wildcard) -> str:
    if isinstance(node, Wildcard):
        return "..."
    return node.index if node.limit is None else f"{node.index} < {spelled(node.limit, 4)}"
