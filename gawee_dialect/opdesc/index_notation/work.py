"""How much arithmetic equations are: two for a multiply-add, one for any other on an element.

Subscripts, comparisons, choices and conversions count none. A reduction is computed once for the
indices that it depends on, whatever it stands in.
"""

from math import prod

from gawee_dialect.opdesc.index_notation.element_types import CONVERTS, Weak
from gawee_dialect.opdesc.index_notation.free_indices import names_in
from gawee_dialect.opdesc.index_notation.instance import Equation, Instance
from gawee_dialect.opdesc.index_notation.syntax import (
    COMPARISONS,
    Binary,
    Call,
    Expression,
    Number,
    Reduction,
    Unary,
    named_ranges,
    operands,
)

STEPS = {"sigmoid": 4, "rsqrt": 2}
"""Functions that are more than one step."""


def flops(instance: Instance) -> int:
    """Return the arithmetic of all equations."""
    equations = (each for step in instance.steps for each in step.equations)
    return sum(_equation(instance, each) for each in equations)


def _equation(instance: Instance, equation: Equation) -> int:
    value = equation.definition.value
    own, reductions = _steps(instance, value)
    total = prod(equation.shape) * own
    while reductions:
        node = reductions.pop()
        steps, inner = _steps(instance, node.term)
        reduced = {each.index for each in named_ranges(node.ranges)}
        depends = (names_in(node) & set(equation.extents)) | reduced
        points = prod(equation.extents[each] for each in depends)
        total += points * (steps + 1)
        reductions += inner
    return total


def _steps(instance: Instance, node: Expression) -> tuple[int, list[Reduction]]:
    """Return the steps on an element outside of reductions, and these."""
    if isinstance(node, Reduction):
        return 0, [node]
    total, reductions = 0, list[Reduction]()
    if instance.typing.of(node) is not Weak.INT:
        total = _own(node)
        for each in operands(node):
            steps, inner = _steps(instance, each)
            total += steps
            reductions += inner
    return total, reductions


def _own(node: Expression) -> int:
    match node:
        case Call():
            return 0 if node.function in CONVERTS else STEPS.get(node.function, 1)
        case Binary(operator="**", rhs=Number(value=int(power))):
            return max(0, power - 1)
        case Binary():
            return 0 if node.operator in (*COMPARISONS, "&&", "||") else 1
        case Unary():
            return 1 if node.operator == "-" else 0
        case _:
            return 0
