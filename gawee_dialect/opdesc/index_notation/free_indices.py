"""Which indices an expression depends on."""

from gawee_dialect.opdesc.index_notation.syntax import (
    Expression,
    Name,
    Reduction,
    named_ranges,
    operands,
)


def names_in(node: Expression) -> set[str]:
    """Return the names that an expression takes the value of, those that it binds left out."""
    if isinstance(node, Name):
        return {node.name}
    found = {name for each in operands(node) for name in names_in(each)}
    if isinstance(node, Reduction):
        found -= {each.index for each in named_ranges(node.ranges)}
    return found
