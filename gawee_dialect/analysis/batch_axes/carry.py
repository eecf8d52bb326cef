"""How an op carries the places of images: by its rule, or as a view does, or a concatenation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from gawee_dialect.analysis.batch_axes import computation as computation
from gawee_dialect.analysis.batch_axes import movement as movement
from gawee_dialect.analysis.batch_axes.rules import Along, MixesImages, apart, rule_of
from gawee_dialect.dialect.graph.shape import CatOp, FlattenOp, ReshapeOp
from gawee_dialect.dialect.types import shape_text, tensor_shape

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
