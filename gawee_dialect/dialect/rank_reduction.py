"""Slices that leave out axes of one element."""

from collections.abc import Sequence


def kept_axes(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Return the axes of a box that are axes of a slice of it, whose shape may leave out ones.

    `sizes` and `shape` have DYNAMIC_INDEX where a size is not known. From the left, an axis is left
    out where its size is another than the next one of the shape, as in upstream's verifier.
    """
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(axis)
    return list(range(len(sizes))) if len(sizes) == len(shape) else kept
