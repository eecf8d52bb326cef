"""Where the size of every index comes from, known before any tensor is.

1. A limit: `h < 3`.
2. An axis that the index alone walks: n of `x[n, h*s + i]`. All such axes are as long.
3. A window, when all other indices have sizes: `h*s + i*d - p` goes on while it stays in the axis,
   which has p more elements before and behind it where p is positive.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.equations.parse import problem
from gawee_dialect.equations.program import indices_of, read_tensors
from gawee_dialect.equations.syntax import (
    Access,
    Definition,
    Expression,
    Linear,
    Range,
    Size,
    Wildcard,
    linear,
    walk,
)
from gawee_dialect.located_json import Code


@dataclass(frozen=True)
class Limit:
    """`h < limit`."""

    index: str
    limit: Expression
    offset: int


@dataclass(frozen=True)
class Axis:
    """An axis that an index alone walks; negative ones count from the last."""

    index: str
    access: Access
    axis: int


@dataclass(frozen=True)
class Window:
    """An axis that an index walks with others, whose sizes are known then."""

    index: str
    access: Access
    axis: int
    form: Linear


Origin = Limit | Axis | Window


@dataclass(frozen=True)
class Plan:
    """How the indices of a definition get their sizes, in an order in which they can.

    `wildcard` is the access whose axes `...` stands for, with the number of subscripts before and
    behind it; None where there is no wildcard. `subscripts` are those that say sizes.
    """

    definition: Definition
    origins: Sequence[Origin]
    subscripts: Sequence["Subscript"]
    wildcard: tuple[Access, int, int] | None = None

    def origin(self, index: str) -> Origin | None:
        """Return where an index has its size from; None for those of a wildcard."""
        return next((each for each in self.origins if each.index == index), None)


@dataclass(frozen=True)
class Subscript:
    """One subscript of an access: its axis, negative behind a wildcard; and its sum, if it is one.

    `form` is None for one that is no sum of multiples of indices: such a subscript says nothing of
    sizes.
    """

    access: Access
    axis: int
    expression: Expression
    form: Linear | None


def plan_sizes(
    code: Code, definition: Definition, group: Sequence[str], problems: list[Diagnostic]
) -> Plan:
    """Find where every index gets its size; reports those that get none.

    `group` are the tensors that are made together with the definition's: those before it say sizes
    by axes that an index alone walks, the others not yet.
    """
    made = group[group.index(definition.tensor) :]
    indices = indices_of(definition)
    subscripts = [
        each for access in read_tensors(definition) for each in subscripts_of(access, set(indices))
    ]
    known = [
        each
        for each in subscripts
        if each.access.tensor not in group
        or (each.access.tensor not in made and each.form is not None and each.form.is_index())
    ]
    origins: dict[str, Origin] = {}
    while True:
        found = list(_next_origins(indices, known, origins))
        if not found:
            break
        for origin in found:
            origins.setdefault(origin.index, origin)
    for name, each in indices.items():
        if name not in origins:
            problems.append(_unknown(code, each, known))
    return Plan(definition, list(origins.values()), known, _wildcard(definition, made))


def subscripts_of(access: Access, indices: AbstractSet[str]) -> Iterator[Subscript]:
    """Yield the subscripts of an access but for the wildcard."""
    wild = False
    for axis, each in enumerate(access.subscripts):
        if isinstance(each, Wildcard):
            wild = True
        else:
            place = axis - len(access.subscripts) if wild else axis
            yield Subscript(access, place, each, linear(each, indices))


def _next_origins(
    indices: Mapping[str, Range], known: Sequence[Subscript], origins: Mapping[str, Origin]
) -> Iterator[Origin]:
    """Yield origins that can be had now: of the first kind that there is, for each index."""
    unknown = [each for name, each in indices.items() if name not in origins]
    for each in unknown:
        if each.limit is not None and _sizes_in(each.limit) <= set(origins):
            yield Limit(each.index, each.limit, each.offset)
    alone = [each for each in unknown if each.limit is None]
    for each in alone:
        axes = [s for s in known if s.form is not None and s.form.is_index(each.index)]
        axes.sort(key=lambda s: s.access.otherwise is not None)
        if axes:
            yield Axis(each.index, axes[0].access, axes[0].axis)
        else:
            yield from _windows(each.index, known, origins)


def _windows(
    index: str, known: Sequence[Subscript], origins: Mapping[str, Origin]
) -> Iterator[Window]:
    for each in known:
        if each.form is None or index not in each.form.terms:
            continue
        others = set(each.form.terms) - {index}
        parts = (*each.form.terms.values(), each.form.constant)
        sizes = {name for part in parts for name in _sizes_in(part)}
        if others | sizes <= set(origins):
            yield Window(index, each.access, each.axis, each.form)


def _sizes_in(expression: Expression) -> set[str]:
    """Return the indices whose sizes an expression takes."""
    found = (each for each in walk(expression) if isinstance(each, Size) and each.axis is None)
    return {each.of for each in found if each.of is not None}


def _unknown(code: Code, index: Range, known: Sequence[Subscript]) -> Diagnostic:
    message = f"expected index '{index.index}' to have a size, got none"
    together = sorted(
        {
            name
            for each in known
            if each.form is not None and index.index in each.form.terms
            for name in each.form.terms
        }
        - {index.index}
    )
    hint = f"say how many values it has: {index.index} < 3"
    if together:
        names = ", ".join(f"'{name}'" for name in together)
        hint = f"it is only walked together with {names}; {hint}"
    return problem(code, index.offset, message, hint)


def _wildcard(definition: Definition, made: Sequence[str]) -> tuple[Access, int, int] | None:
    for access in read_tensors(definition):
        wild = [isinstance(each, Wildcard) for each in access.subscripts]
        if any(wild) and access.tensor not in made:
            before = wild.index(True)
            return access, before, len(wild) - before - 1
    return None
