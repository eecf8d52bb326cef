"""How an op carries the places of images: by its rule, or as a view does, or a concatenation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import NamedTuple, TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation

from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, MovedOp, ReshapeOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ArgMinOp, ArgOp, CumSumOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp
from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.equations.axes import walks_of

# How an op carries a batch: a rule for each class of ops, which says along which axes it stays.


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


# Rules of ops that compute: all that are defined by equations, and those that are not.


def _first(op: IRDLOperation, axes: Axes) -> int:
    """Return the axis of the first operand's images, which no other operand has."""
    axis, *others = axes
    for index, other in enumerate(others, 1):
        shared(f"operand #{index}", other)
    assert axis is not None
    return axis


@rule(EquationOp)
def _equation(op: EquationOp, axes: Axes) -> Carried:
    """Follow the index that walks images: nothing but it walks their axes, each as a whole."""
    (_, split), meaning = op.split_axes(), op.meaning()
    names, walks = meaning.program.inputs, walks_of(meaning)
    found: dict[object, int] = {}
    for index, axis in enumerate(axes):
        if axis is None:
            continue
        of = "" if len(axes) == 1 else f" of operand #{index}"
        apart(
            axis != split[index] or isinstance(op, AttentionOp),
            f"groups of axis {axis}{of}, which counts images",
        )
        slot = names[index], seen(axis, split[index])
        mixed = walks.mixed(slot)
        apart(mixed is None, f"{mixed} axis {axis}{of}, which counts images")
        found[walks.first(slot)] = axis
    apart(len(found) == 1, f"images along axes {' and '.join(map(str, found.values()))}, apart")
    (first,) = found

    def walked(name: str, split: int | None, rank: int) -> int | None:
        all = (axis for axis in range(rank) if walks.first((name, seen(axis, split))) == first)
        return next(all, None)

    wanted: list[int | None] = []
    for index, (name, value) in enumerate(zip(names, op.operands, strict=True)):
        shape = tensor_shape(value)
        place = walked(name, split[index], len(shape))
        repeats = place is not None and shape[place] == 1 and axes[index] is None
        wanted.append(None if repeats and _broadcasts(op, value) else place)
    results = [
        walked(name, split[0] if split else None, len(tensor_shape(value)))
        for name, value in zip(meaning.program.outputs, op.results, strict=True)
    ]
    kept = [axis for axis in results if axis is not None]
    apart(len(kept) == len(results), "a result that has none of them")
    sizes = {op.SIZES: kept[0]} if isinstance(op, MovedOp) and op.SIZES else {}
    return Carried(wanted, kept, sizes)


def seen(axis: int, split: int | None) -> int:
    """Return which axis of the equations' view an axis is: the groups where it is split."""
    return axis if split is None or axis <= split else axis + 1


def _broadcasts(op: EquationOp, operand: SSAValue) -> bool:
    """Whether an op repeats an operand along an axis of size 1."""
    return isinstance(op, BatchMatMulOp) or (isinstance(op, AttentionOp) and operand is op.mask)


@rule(ElementwiseOp)
def _elementwise(op: ElementwiseOp, axes: Axes) -> Carried:
    wanted, axis = broadcast(op.operands, axes, tensor_shape(op.output))
    return Carried(wanted, [axis])


@rule(CumSumOp, SortOp, TopKOp)
def _lines(op: CumSumOp | SortOp | TopKOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    along = op.axis.value.data % len(tensor_shape(op.input))
    apart(along != axis, f"lines along axis {axis}, which counts images")
    return Carried(axes, [axis] * len(op.results))


@rule(ArgMaxOp, ArgMinOp)
def _search(op: ArgOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    apart(axis != op.searched_axis, f"a reduction of axis {axis}, which counts images")
    return Carried(axes, [axis - (op.keep_dims is None and op.searched_axis < axis)])


@rule(ConvTransposeOp)
def _convolution(op: ConvTransposeOp, axes: Axes) -> Carried:
    shared("weight", axes[1])
    if op.bias is not None:
        shared("bias", axes[2])
    axis = _first(op, axes)
    apart(axis == 0, f"images along axis {axis} of its input, which it adds up")
    return Carried(axes, [0])


@rule(InterpolateOp)
def _interpolate(op: InterpolateOp, axes: Axes) -> Carried:
    axis = _first(op, axes)
    apart(axis < 2, f"samples along axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(GridSampleOp)
def _grid_sample(op: GridSampleOp, axes: Axes) -> Carried:
    apart(one_axis(axes) == 0, f"samples along axis {one_axis(axes)}, which counts images")
    return Carried([0, 0], [0])


@rule(NonMaxSuppressionOp)
def _suppression(op: NonMaxSuppressionOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    last = len(tensor_shape(op.candidates)) - 1
    apart(axis < last, f"candidates along axis {axis}, which counts images")
    return Carried([axis, axis], [axis])


# Rules of ops that move elements: views, boxes, gathers and scatters.


@rule(CatOp)
def _cat(op: CatOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    along = op.dim.value.data % len(tensor_shape(op.result))
    apart(along != axis, f"concatenation along axis {axis}, which counts images")
    return Carried([axis] * len(axes), [axis])


@rule(InsertSliceOp)
def _insert_slice(op: InsertSliceOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.update)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis], [axis])


@rule(GatherOp)
def _gather(op: GatherOp, axes: Axes) -> Carried:
    of_input, of_indices = axes
    (named,) = op.named_axes
    if of_input is None:
        assert of_indices is not None
        return Carried(axes, [named + of_indices])
    shared("indices of images", of_indices)
    apart(of_input != named, f"images chosen along axis {named}")
    rank = len(tensor_shape(op.indices))
    return Carried(axes, [of_input if of_input < named else of_input + rank - 1])


@rule(GatherElementsOp)
def _gather_elements(op: GatherElementsOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    (named,) = op.named_axes
    apart(axis != named, f"images chosen along axis {axis}")
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.indices)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis], [axis])


@rule(GatherNdOp)
def _gather_nd(op: GatherNdOp, axes: Axes) -> Carried:
    of_input, of_indices = axes
    together = op.batch_dims.value.data
    last = len(tensor_shape(op.indices)) - 1
    if of_input is None and of_indices is not None and together <= of_indices < last:
        return Carried(axes, [of_indices])
    axis = one_axis(axes)
    if axis < together:
        return Carried([axis, axis], [axis])
    shared("indices of images", of_indices)
    apart(axis not in op.named_axes, f"images chosen along axis {axis}")
    return Carried(axes, [axis - len(op.named_axes) + last - together])


@rule(ScatterElementsOp)
def _scatter_elements(op: ScatterElementsOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    apart(axis not in op.named_axes, f"images chosen along axis {axis}")
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.indices)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis, axis], [axis])


@rule(ScatterNdOp)
def _scatter_nd(op: ScatterNdOp, axes: Axes) -> Carried:
    shared("indices of images", axes[1])
    rows = len(tensor_shape(op.indices)) - 1 - len(op.named_axes)
    axis = one_axis([axes[0], None if axes[2] is None else axes[2] - rows])
    apart(axis not in op.named_axes and axis >= 0, f"images chosen along axis {axis}")
    return Carried([axis, None, axis + rows], [axis])


# Where images are behind a view: where the same elements have another shape.


def through_view(
    before: Sequence[int], along: Along, after: Sequence[int], images: int
) -> Along | None:
    """Return where images are in a tensor of another shape with the same elements, if anywhere.

    They are as many rows apart as before. Where the graph is for one image, several axes may be
    theirs: then one that leaves the features of an image their own axis, has them side by side, and
    has as few rows of theirs as can be. So 5x1x6 as 5x6 joins steps and images, as 5x2x3 not.
    """
    found = candidates(before, along, after, images)
    return Along(found[0][3], found[0][1]) if found else None


def is_guessed(before: Sequence[int], along: Along, after: Sequence[int], images: int) -> bool:
    """Whether another axis may as well be that of the images: 1x5 as 1x1x5."""
    found = candidates(before, along, after, images)
    return len(found) > 1 and found[0][:3] == found[1][:3]


def candidates(
    before: Sequence[int], along: Along, after: Sequence[int], images: int
) -> Sequence[tuple[bool, int, int, int]]:
    """Return where images may be, the likeliest first: the last entries are their axes.

    Before these, whether an axis is all that there is of an image, how many rows are before the
    images, and how many each has.
    """
    first = prod(before[: along.axis]) * along.outer
    found: list[tuple[bool, int, int, int]] = []
    for axis, size in enumerate(after):
        outside = prod(after[:axis])
        outer = first // outside if outside and first % outside == 0 else 0
        if outer and size and size % (outer * images) == 0:
            rows = size // (outer * images)
            is_all = rows > 1 and prod(after[axis + 1 :]) == 1
            found.append((is_all, outer, rows, axis))
    return sorted(found)


@dataclass(frozen=True)
class Placed:
    """How an op keeps images apart: `Carried`, with the places that images have in axes."""

    operands: Sequence[Along | None]
    results: Sequence[Along]
    sizes: Mapping[str, int]
    guessed: bool = False
    """Whether other axes of a graph for one image may as well be that of images."""


def carried(op: Operation, places: Sequence[Along | None], images: int) -> Placed:
    """Return how an op keeps images apart; raises MixesImages where it does not."""
    if isinstance(op, FlattenOp | ReshapeOp):
        return _carried_by_view(op, places, images)
    if isinstance(op, CatOp) and not _keeps_axes(op, places):
        return _put_after_each_other(op, places, images)
    found = rule_of(type(op))
    if found is None:
        raise MixesImages("an op that has no rule for batches")
    how = found(op, [None if each is None else each.axis for each in places])
    outers = {each.outer for each in places if each is not None}
    if len(outers) != 1:
        raise MixesImages("operands whose images are in another order each")
    (outer,) = outers
    wanted = [None if axis is None else Along(axis, outer) for axis in how.operands]
    return Placed(wanted, [Along(axis, outer) for axis in how.results], how.sizes)


def _carried_by_view(
    op: FlattenOp | ReshapeOp, places: Sequence[Along | None], images: int
) -> Placed:
    (place,) = places
    assert place is not None
    after = tensor_shape(op.result)
    found = through_view(tensor_shape(op.input), place, after, images)
    if found is None:
        raise MixesImages(f"shape {shape_text(after)}, which has no axis of images")
    sizes = {"shape": found.axis} if isinstance(op, ReshapeOp) else {}
    guessed = is_guessed(tensor_shape(op.input), place, after, images)
    return Placed(places, [found], sizes, guessed)


def _keeps_axes(op: CatOp, places: Sequence[Along | None]) -> bool:
    """Whether a concatenation is along another axis than that of images."""
    dim = op.dim.value.data % len(tensor_shape(op.result))
    return all(each is None or each.axis != dim for each in places)


def _put_after_each_other(op: CatOp, places: Sequence[Along | None], images: int) -> Placed:
    """Return the place of images of several tensors along their axis: all of the first, then on."""
    dim = op.dim.value.data % len(tensor_shape(op.result))
    sizes = [tensor_shape(value)[dim] for value in op.inputs]
    rows = {
        size // (each.outer * images)
        for size, each in zip(sizes, places, strict=True)
        if each is not None and each.axis == dim
    }
    whole = len(rows) == 1 and all(size % (images * min(rows)) == 0 for size in sizes)
    apart(whole, f"images of different sizes one after the other along axis {dim}")
    outers = [size // (images * min(rows)) for size in sizes]
    wanted = [Along(dim, outer) for outer in outers]
    same = all(each in (None, place) for each, place in zip(places, wanted, strict=True))
    apart(same, "operands whose images are along different axes")
    return Placed(wanted, [Along(dim, sum(outers))], {})
