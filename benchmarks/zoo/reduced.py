"""Graphs of the zoo at reduced sizes: the ops are the same, their tensors are small."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.entry import MAIN, ArgumentKind, entry_arguments, find_function
from gawee_dialect.dialect.types import is_tensor, tensor_shape
from gawee_dialect.reduce.sizes import SizeClass, Sizes, Slot, axis

LEAST = 16
"""So many channels fill a vector: blocks, tiles and Winograd's products occur as in large."""

LARGEST_IMAGE = 64


def least_alike(size: int) -> int:
    """Return the least size that fills a vector and leaves as many elements: 96 -> 16, 1000 -> 24.

    So layers of several widths have one, and kernels that were different are the same.
    """
    return min(size, LEAST + size % LEAST)


def halved(size: int) -> int:
    """Return a size halved as often as it stays whole and fills a vector: 768 -> 24."""
    while size % 2 == 0 and size // 2 >= LEAST:
        size //= 2
    return size


def reduced(module: ModuleOp) -> ModuleOp:
    """Return a graph with channels, features and tables of other sizes, as far as these may be.

    1. Axes that are always of one size are a class; kernels and images up to LARGEST_IMAGE stay.
    2. All classes get the least size that is alike.
    3. Where shapes then do not fit, as behind a reshape to heads, half of the classes are tried,
       and so on, down to single ones.
    4. What is left is halved, as often as it fits.
    """
    function = find_function(module)
    if function is None or not Sizes.known(function):
        return module
    sizes = Sizes(module, function)
    images = set(_images(sizes))
    choices = [
        choice
        for choice in sizes.choices()
        if not choice.kernel and not (choice.slot in images and choice.size <= LARGEST_IMAGE)
    ]
    found: Mapping[Slot, int] = {}
    for rule in (least_alike, halved):
        left = [choice for choice in choices if choice.slot not in found]
        wanted = [(choice, rule(choice.size)) for choice in left]
        found = _accepted(sizes, [each for each in wanted if each[1] < each[0].size], found)
    return (sizes.resized(found) if found else None) or module


def _accepted(
    sizes: Sizes, wanted: Sequence[tuple[SizeClass, int]], kept: Mapping[Slot, int]
) -> Mapping[Slot, int]:
    """Return what is kept, and of what is wanted as much as fits."""
    if not wanted:
        return kept
    together = {**kept, **{choice.slot: size for choice, size in wanted}}
    if sizes.resized(together) is not None:
        return together
    if len(wanted) == 1:
        return kept
    half = len(wanted) // 2
    return _accepted(sizes, wanted[half:], _accepted(sizes, wanted[:half], kept))


def _images(sizes: Sizes) -> Iterator[Slot]:
    """Yield the classes of the heights and widths of what goes in."""
    for argument in entry_arguments(sizes.function):
        value = sizes.function.body.block.args[argument.index]
        if argument.kind is ArgumentKind.INPUT and is_tensor(value.type):
            for index in range(2, len(tensor_shape(value))):
                yield sizes.classes.find(axis(value, index))


def numbers_of(module: ModuleOp) -> int:
    """Return how many numbers the inputs and parameters of a graph have."""
    function = find_function(module, MAIN)
    if function is None:
        return 0
    values = (value for value in function.body.block.args if is_tensor(value.type))
    return sum(prod(tensor_shape(value)) for value in values)
