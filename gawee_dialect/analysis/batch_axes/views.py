"""Where images are behind a view: where the same elements have another shape."""

from collections.abc import Sequence
from math import prod

from gawee_dialect.analysis.batch_axes.rules import Along


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
