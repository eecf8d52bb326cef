"""Where the arguments of a graph have images, of which there may be any number."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, Tensor, is_tensor, torch


@dataclass(frozen=True)
class ImagePlaces:
    """Which arguments have images along which axis, and which say how many there are."""

    axes: Mapping[int, int]
    numbers: frozenset[int] = frozenset()

    def images(self, args: Sequence[object]) -> object:
        """Return how many images there are; None where arguments do not agree."""
        sizes = {self._size(args[index], axis) for index, axis in self.axes.items()}
        return sizes.pop() if len(sizes) == 1 else None

    def _size(self, value: object, axis: int) -> object:
        assert is_tensor(value)
        return value.shape[axis] if 0 <= axis < len(value.shape) else None

    def resized(self, args: Sequence[object], images: int) -> list[object]:
        """Return arguments of the same kind with a number of images, all of zeros."""
        return [self._resized(index, each, images) for index, each in enumerate(args)]

    def _resized(self, index: int, value: object, images: int) -> object:
        if index in self.numbers:
            return images
        if index not in self.axes:
            return value
        assert is_tensor(value)
        shape = list(value.shape)
        shape[self.axes[index]] = images
        made: Tensor = getattr(value, "new_zeros")(shape)
        return made

    def key(self, args: Sequence[object]) -> object:
        """Return what is equal for arguments that differ in the number of images alone."""
        return tuple(
            None if index in self.numbers else shape_key(each, self.axes.get(index))
            for index, each in enumerate(args)
        )


def shape_key(value: object, images: int | None = None) -> object:
    """Return the shape and dtype of a tensor, the size of an axis aside; a number as it is."""
    if not is_tensor(value):
        return value
    shape = [None if axis == images else size for axis, size in enumerate(value.shape)]
    return tuple(shape), value.dtype


def image_places(graph: GraphModule, static: frozenset[int]) -> ImagePlaces | None:
    """Return where the number of images is a symbol: the first that an axis 0 has.

    None where there is none, or another size is computed of it.
    """
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    values = {i: node.meta.get("val") for i, node in enumerate(placeholders) if i not in static}
    shapes = {i: list(map(_symbol, each.shape)) for i, each in values.items() if is_tensor(each)}
    first = next((shape[0] for shape in shapes.values() if shape and shape[0]), None)
    if first is None or not first.isidentifier():
        return None
    axes = {i: shape.index(first) for i, shape in shapes.items() if first in shape}
    numbers = frozenset(i for i, each in values.items() if _symbol(each) == first)
    sizes = [size for shape in shapes.values() for size in shape] + [
        _symbol(each) for i, each in values.items() if i not in shapes
    ]
    told = len(axes) + len(numbers)
    return (
        ImagePlaces(axes, numbers) if sum(first in _names(each) for each in sizes) == told else None
    )


def _symbol(size: object) -> str:
    """Return how a size is computed, nothing where it is a number."""
    return str(size) if isinstance(size, torch().SymInt) else ""


def _names(expression: str) -> Sequence[str]:
    return re.findall(r"\w+", expression)
