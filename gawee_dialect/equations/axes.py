"""Which axes of tensors one index walks: they have one size, and elements along them stay apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from gawee_dialect.equations.instance import Equation, Instance
from gawee_dialect.equations.syntax import (
    Access,
    Expression,
    Name,
    Reduction,
    Wildcard,
    accesses,
    named_ranges,
    names_in,
    operands,
    spelled,
)

Slot: TypeAlias = tuple[str, int]
"""A tensor, and an axis of it."""

Index: TypeAlias = tuple[str, str]
"""The tensor that an equation defines, and an index of that equation."""


@dataclass
class Walks:
    """Axes that are walked together, each as a whole; see `walks_of`."""

    parents: dict[Slot | Index, Slot | Index] = field(
        default_factory=dict[Slot | Index, Slot | Index]
    )
    together: dict[Slot | Index, str] = field(default_factory=dict[Slot | Index, str])
    """What is done with several elements along an axis, or with their positions."""

    def first(self, each: Slot | Index) -> Slot | Index:
        """Return what stands for all that are walked together."""
        while each in self.parents:
            each = self.parents[each]
        return each

    def join(self, one: Slot | Index, other: Slot | Index) -> None:
        """Say that two are walked together."""
        one, other = self.first(one), self.first(other)
        if one != other:
            self.parents[one] = other

    def mixed(self, slot: Slot) -> str | None:
        """Return what mixes elements along an axis; None where all stay apart."""
        first = self.first(slot)
        found = (what for each, what in self.together.items() if self.first(each) == first)
        return next(found, None)


@lru_cache(maxsize=1024)
def walks_of(instance: Instance) -> Walks:
    """Find which axes are walked together, of all tensors of some equations."""
    walks = Walks()
    shapes = {name: each.shape for name, each in instance.tensors.items()}
    for step in instance.steps:
        for equation in step.equations:
            tensor = equation.definition.tensor
            for axis, index in enumerate(equation.indices):
                walks.join((tensor, index), (tensor, axis))
            if step.along is not None:
                walks.together[tensor, step.along] = "one step after the other along"
            _Visit(walks, equation, shapes).visit(equation.definition.value)
    return walks


@dataclass
class _Visit:
    """Goes through the expressions of one equation."""

    walks: Walks
    equation: Equation
    shapes: Mapping[str, tuple[int, ...]]

    def mix(self, index: str, what: str) -> None:
        self.walks.together[self.equation.definition.tensor, index] = what

    def visit(self, node: Expression) -> None:
        match node:
            case Name() if node.name in self.equation.extents:
                self.mix(node.name, "positions along")
            case Access():
                self.access(node)
                return
            case Reduction():
                for each in named_ranges(node.ranges):
                    self.mix(each.index, "a reduction of")
            case _:
                pass
        for each in operands(node):
            self.visit(each)

    def access(self, node: Access) -> None:
        extents, tensor = self.equation.extents, self.equation.definition.tensor
        for axis, each in enumerate(node.subscripts):
            if isinstance(each, Wildcard):
                continue
            size = self.shapes[node.tensor][axis]
            if isinstance(each, Name) and extents.get(each.name) == size:
                self.walks.join((tensor, each.name), (node.tensor, axis))
                continue
            what = f"elements at '{spelled(each)}' of"
            self.walks.together[node.tensor, axis] = what
            for found in accesses(each):
                self.access(found)
            for name in names_in(each) & set(extents):
                self.mix(name, what)
        if node.otherwise is not None:
            self.visit(node.otherwise)
