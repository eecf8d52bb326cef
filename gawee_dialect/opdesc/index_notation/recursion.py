"""Equations that read earlier elements of what they define: `h[t] = f(h[t - 1], x[t])`."""

from collections.abc import Sequence
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.opdesc.description import Code
from gawee_dialect.opdesc.index_notation.lexer import problem
from gawee_dialect.opdesc.index_notation.subscripts import linear
from gawee_dialect.opdesc.index_notation.syntax import (
    Access,
    Definition,
    Number,
    Wildcard,
    accesses,
    named_ranges,
)


@dataclass(frozen=True)
class Group:
    """Equations that are computed together: one alone, or some along an index, step by step.

    `along` is that index, None where nothing is read that comes later; `backward` where steps read
    `t + 1`, and go from the last.
    """

    definitions: Sequence[Definition]
    along: str | None = None
    backward: bool = False


def groups_of(
    code: Code, definitions: Sequence[Definition], problems: list[Diagnostic]
) -> Sequence[Group]:
    """Return equations in groups; reports those that have no order to compute them in."""
    position = {each.tensor: index for index, each in enumerate(definitions)}
    groups: list[Group] = []
    start = 0
    while start < len(definitions):
        end = start + 1
        index = start
        while index < end:
            read = [position.get(each.tensor, -1) for each in accesses(definitions[index].value)]
            end = max(end, *(each + 1 for each in read if each >= start), index + 1)
            index += 1
        part = definitions[start:end]
        if not _is_recursive(part):
            groups.append(Group(part))
        else:
            groups.append(_group(code, part, problems))
        start = end
    return groups


def _is_recursive(part: Sequence[Definition]) -> bool:
    names = {each.tensor for each in part}
    return any(access.tensor in names for each in part for access in accesses(each.value))


def _group(code: Code, part: Sequence[Definition], problems: list[Diagnostic]) -> Group:
    """Return a group along the index by which all that is read comes earlier."""
    common = [
        each.index
        for each in named_ranges(part[0].ranges)
        if all(any(each.index == r.index for r in named_ranges(d.ranges)) for d in part)
    ]
    wrong = _first_access(part)
    for index in common:
        steps: set[int] = set()
        found = _steps(part, index, steps)
        if found is None and (max(steps) < 0 or min(steps) > 0):
            return Group(part, index, backward=min(steps) > 0)
        wrong = found or wrong
    name = wrong.tensor
    message = f"expected '{name}' to be read one step earlier, as in {name}[t - 1]"
    hint = "an equation may read what it defines along one index, all of it from the same side"
    problems.append(problem(code, wrong.offset, message, hint))
    return Group(part)


def _first_access(part: Sequence[Definition]) -> Access:
    names = {each.tensor for each in part}
    found = (access for each in part for access in accesses(each.value) if access.tensor in names)
    return next(found)


def _steps(part: Sequence[Definition], index: str, steps: set[int]) -> Access | None:
    """Collect how far from `index` a group reads itself; returns an access that is no step."""
    order = {each.tensor: number for number, each in enumerate(part)}
    for number, definition in enumerate(part):
        for access in accesses(definition.value):
            if access.tensor not in order:
                continue
            other = part[order[access.tensor]]
            step = _step(access, other, index)
            if step is None or (step == 0 and order[access.tensor] >= number):
                return access
            if step != 0:
                steps.add(step)
    return None


def _step(access: Access, of: Definition, index: str) -> int | None:
    """Return the number that an access adds to an index of what it reads, None for no number."""
    position = _position(of, index, len(access.subscripts))
    subscript = access.subscripts[position]
    if isinstance(subscript, Wildcard):
        return None
    form = linear(subscript, {index})
    if form is None or not isinstance(form.constant, Number):
        return None
    value = form.constant.value
    steps = set(form.terms) == {index} and _is_one(form.terms[index])
    return value if steps and isinstance(value, int) else None


def _position(of: Definition, index: str, count: int) -> int:
    """Return which subscript stands for an index of a definition."""
    names = [None if isinstance(each, Wildcard) else each.index for each in of.ranges]
    found = names.index(index)
    return found if None not in names[:found] else found - len(names) + count


def _is_one(coefficient: object) -> bool:
    return isinstance(coefficient, Number) and coefficient.value == 1
