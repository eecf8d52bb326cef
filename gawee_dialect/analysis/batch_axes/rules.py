"""How an op carries a batch: a rule for each class of ops, which says along which axes it stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.types import tensor_shape


class Along(NamedTuple):
    """Where images are: an axis of `outer` times as many rows as they have, images within each.

    Row `(o * images + i) * rows + r` is row r of image i: where `outer` is 1, images are side by
    side; an axis that joins 5 steps of 2 images of one row has an `outer` of 5.
    """

    axis: int
    outer: int = 1


Axes: TypeAlias = Sequence[int | None]
"""For each operand the axis that its images are along; None where all images share it."""

_Op = TypeVar("_Op", bound=Operation)


class MixesImages(Exception):
    """An op computes something from several images; the message says how."""


@dataclass(frozen=True)
class Carried:
    """How an op keeps images apart."""

    operands: Axes
    """What it requires of its operands: one that all images share may have to be repeated."""

    results: Sequence[int]
    """The axis of each result."""

    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Properties that hold the size of such an axis: their name, and which entry it is."""


Rule: TypeAlias = Callable[[Operation, Axes], Carried]
"""Takes an op, one operand of which at least has images; raises MixesImages."""

RULES: dict[type[Operation], Rule] = {}


def rule(*op_types: type[_Op]) -> Callable[[Callable[[_Op, Axes], Carried]], None]:
    """Register a function as the rule of some classes of ops."""

    def register(function: Callable[[_Op, Axes], Carried]) -> None:
        for op_type in op_types:
            RULES[op_type] = _checked(op_type, function)

    return register


@cache
def rule_of(kind: type[Operation]) -> Rule | None:
    """Return the rule of a class of ops, its own or that of a base; None where there is none."""
    return next((RULES[each] for each in kind.__mro__ if each in RULES), None)


def _checked(op_type: type[_Op], function: Callable[[_Op, Axes], Carried]) -> Rule:
    def checked(op: Operation, axes: Axes) -> Carried:
        assert isinstance(op, op_type)
        return function(op, axes)

    return checked


def apart(condition: bool, reason: str) -> None:
    """Raise MixesImages unless images are kept apart; `reason` is what the op does instead."""
    if not condition:
        raise MixesImages(reason)


def shared(what: str, axis: int | None) -> None:
    """Raise MixesImages unless an operand is the same for all images."""
    apart(axis is None, f"{what} that differs from image to image")


def one_axis(axes: Axes) -> int:
    """Return the axis of all operands with images; raises MixesImages where they differ."""
    found = sorted({axis for axis in axes if axis is not None})
    apart(len(found) == 1, f"images along axes {' and '.join(map(str, found))} of its operands")
    return found[0]


def broadcast(operands: Sequence[SSAValue], axes: Axes, shape: Sequence[int]) -> tuple[Axes, int]:
    """Return what operands that broadcast to a shape have to be, and the axis of the result.

    Raises MixesImages where an image is combined with another one.
    """
    shapes = [tensor_shape(each) for each in operands]
    starts = [len(shape) - len(each) for each in shapes]
    axis = one_axis(
        [None if own is None else own + start for own, start in zip(axes, starts, strict=True)]
    )
    wanted: list[int | None] = []
    for own, start, sizes in zip(axes, starts, shapes, strict=True):
        place = axis - start
        if own is not None:
            apart(sizes[own] == shape[axis], f"one image for all {shape[axis]} of another operand")
        whole = own is not None or (place >= 0 and sizes[place] == shape[axis] != 1)
        wanted.append(place if whole else None)
    return wanted, axis
