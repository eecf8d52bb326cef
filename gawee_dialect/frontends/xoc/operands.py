"""Operands that are weights without data: what the declared shapes of a node say they hold.

A target shape, axes, repeats, sizes of parts: all of them follow from what goes in and comes out.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.xoc.document import Role, XocDocument, XocNode

Shape = tuple[int, ...]
Ints = Sequence[int]


MOST_OF_RESIZE = 4
"""Operands of a Resize: the tensor, the region, scales and sizes."""

MAX_FIGURES = 16
"""Tensors of more axes than these are not looked at: there are too many ways to choose some."""


class Shapes:
    """The shapes that a node's operands and results are declared with."""

    def __init__(self, document: XocDocument, node: XocNode) -> None:
        self.attributes = node.attributes
        self.inputs: Sequence[Shape] = [document.tensors[each].shape for each in node.inputs]
        self.outputs: Sequence[Shape] = [document.tensors[each].shape for each in node.outputs]

    @property
    def result(self) -> Shape:
        """The shape of the only output; raises Refusal where there are several or none."""
        if len(self.outputs) != 1:
            raise Refusal(f"expected one output, got {len(self.outputs)}")
        return self.outputs[0]

    def number(self, name: str, otherwise: int) -> int:
        """Return an attribute that is an integer, or what it is where it is absent."""
        value = self.attributes.get(name, otherwise)
        return value if isinstance(value, int) else otherwise


def _unsayable(what: str, shapes: Shapes) -> Refusal:
    old, new = list(shapes.inputs[0]), [list(each) for each in shapes.outputs]
    return Refusal(
        f"expected shapes that say its {what}, got {old} to {', '.join(map(str, new))}",
        f"give the {what} as an attribute: tensors of a graph have no data",
    )


def _target(shapes: Shapes, count: int) -> Ints:
    return shapes.result


def _squeezed(shapes: Shapes, count: int) -> Ints:
    """Return which axes of size 1 are gone; which of several neighbours makes no difference."""
    return _removed(shapes.inputs[0], shapes.result, count, shapes, only_ones=True)


def _unsqueezed(shapes: Shapes, count: int) -> Ints:
    return _removed(shapes.result, shapes.inputs[0], count, shapes, only_ones=True)


def _reduced(shapes: Shapes, count: int) -> Ints:
    """Return which axes are reduced; those of size 1 may be chosen freely."""
    old, new = shapes.inputs[0], shapes.result
    if not shapes.number("keepdims", 1):
        return _removed(old, new, count, shapes, only_ones=False)
    changed = [axis for axis, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    free = [axis for axis, size in enumerate(new) if size == 1 and axis not in changed]
    axes = sorted([*changed, *free[: max(count - len(changed), 0)]])
    if len(old) != len(new) or len(axes) != count or any(new[axis] != 1 for axis in axes):
        raise _unsayable("axes", shapes)
    return axes


def _removed(whole: Shape, rest: Shape, count: int, shapes: Shapes, *, only_ones: bool) -> Ints:
    """Return the axes whose removal leaves a shape; raises Refusal where it may be others."""
    candidates = (
        [a for a, size in enumerate(whole) if size == 1] if only_ones else range(len(whole))
    )
    found: dict[Shape, Ints] = {}
    for axes in combinations(candidates, count):
        if tuple(size for axis, size in enumerate(whole) if axis not in axes) == rest:
            found.setdefault(tuple(axis for axis in axes if whole[axis] != 1), axes)
    if len(found) != 1:
        raise _unsayable("axes", shapes)
    return next(iter(found.values()))


def _repeats(shapes: Shapes, count: int) -> Ints:
    old, new = shapes.inputs[0], shapes.result
    whole = len(old) == len(new) and all(b % a == 0 if a else b == 0 for a, b in zip(old, new))
    if not whole or 0 in new:
        raise _unsayable("repeats", shapes)
    return [b // a for a, b in zip(old, new, strict=True)]


def _parts(shapes: Shapes, count: int) -> Ints:
    axis = shapes.number("axis", 0)
    rank = len(shapes.inputs[0])
    if not -rank <= axis < rank or any(len(each) != rank for each in shapes.outputs):
        raise _unsayable("split", shapes)
    return [each[axis] for each in shapes.outputs]


def _taken(shapes: Shapes, count: int) -> Ints:
    axis = shapes.number("axis", -1)
    new = shapes.outputs[0] if shapes.outputs else ()
    if not -len(new) <= axis < len(new):
        raise _unsayable("k", shapes)
    return [new[axis]]


REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")

Figures = Callable[[Shapes, int], Ints]

FIGURES: Mapping[tuple[str, int], Figures] = {
    **{("Reshape", 1): _target, ("Expand", 1): _target, ("ConstantOfShape", 0): _target},
    **{("Squeeze", 1): _squeezed, ("Unsqueeze", 1): _unsqueezed},
    **{("Tile", 1): _repeats, ("Split", 1): _parts, ("TopK", 1): _taken},
    **{(f"Reduce{how}", 1): _reduced for how in REDUCTIONS},
}
"""What says the elements of an operand, by the operator and which operand it is.

The functions take the shapes, and how many elements there are.
"""


def recovered(document: XocDocument, node: XocNode, index: int) -> Array | None:
    """Return the elements of an operand that is a weight; None where it is data that is given.

    Raises Refusal where they follow from shapes, but not from these.
    """
    tensor = document.tensors[node.inputs[index]]
    if tensor.role is not Role.WEIGHT:
        return None
    if node.name in ("Resize", "Upsample") and index < MOST_OF_RESIZE:
        return _resizing(Shapes(document, node), index)
    figures = FIGURES.get((node.name, index))
    if figures is None or tensor.dtype not in ("int64", "int32"):
        return None
    shapes, count = Shapes(document, node), prod(tensor.shape)
    if count > MAX_FIGURES or len(shapes.inputs[0]) > MAX_FIGURES:
        raise Refusal(f"expected '{tensor.id}' of at most {MAX_FIGURES} elements, as many axes")
    elements = np.array(figures(shapes, count), np.int64)
    if elements.size != count:
        raise Refusal(f"expected '{tensor.id}' of {elements.size} elements, got {count}")
    return elements


def _resizing(shapes: Shapes, index: int) -> Array | None:
    """Return sizes, whole factors, or the region: nothing."""
    declared = shapes.inputs[index]
    if 0 in declared:
        return np.zeros(declared, np.float32)
    if index == 3:
        return np.array(shapes.result, np.int64)
    old, new = shapes.inputs[0], shapes.result
    is_scales = index == (1 if len(shapes.inputs) == 2 else 2)
    if not is_scales or len(old) != len(new):
        return None
    # A factor of 2.1 may give the same size as 2, so only whole ones are taken for what is meant.
    if not all(a and b and (b % a == 0 or a % b == 0) for a, b in zip(old, new, strict=True)):
        raise _unsayable("scales", shapes)
    return np.array([b / a for a, b in zip(old, new, strict=True)], np.float32)
