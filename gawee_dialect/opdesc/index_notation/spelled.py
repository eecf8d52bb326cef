"""Index notation as text again, for messages and documentation."""

from gawee_dialect.opdesc.index_notation.syntax import (
    ARITHMETIC,
    Access,
    Binary,
    Call,
    Conditional,
    Definition,
    Element,
    Expression,
    Name,
    Number,
    Range,
    Reduction,
    Size,
    Unary,
    Wildcard,
)

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
