"""The element types that a body takes its inputs to be of, where nobody says them."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute

from gawee_dialect.opdesc.index_notation.program import Program, expressions
from gawee_dialect.opdesc.index_notation.syntax import (
    Access,
    Binary,
    Conditional,
    Expression,
    Reduction,
    Unary,
    Wildcard,
    walk,
)


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
