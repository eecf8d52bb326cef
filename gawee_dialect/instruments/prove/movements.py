"""What NumPy's functions of whole arrays do with exact numbers."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gawee_dialect.instruments.prove.arithmetic import maximum, minimum, ordinals
from gawee_dialect.instruments.prove.functions import select
from gawee_dialect.instruments.prove.numbers import FUNCTIONS, REDUCTIONS, Numbers, numbers
from gawee_dialect.instruments.prove.residues import Floats, current
from gawee_dialect.interpreter.arrays import Array


def _moves(function: Callable[..., Array]) -> Callable[..., Numbers]:
    """Say that a function moves the elements of its first argument, and fills in zeros at most."""

    def move(input: Numbers, *arguments: object, **options: object) -> Numbers:
        def of_part(part: Floats) -> Floats:
            return np.asarray(function(part, *arguments, **options), np.float64)

        return input.moved(of_part)

    return move


def _by_order(function: Callable[..., Array]) -> Callable[..., Array]:
    """Say that a function's result depends on the order of elements alone."""

    def compute(input: Numbers, *arguments: object, **options: object) -> Array:
        return function(ordinals(input), *arguments, **options)

    return compute


def _by_truth(function: Callable[..., Array]) -> Callable[..., Array]:
    """Say that a function's result depends alone on which elements are zero."""

    def compute(input: Numbers, *arguments: object, **options: object) -> Array:
        return function(input.settled(), *arguments, **options)

    return compute


def concatenate(arrays: Sequence[object], axis: int = 0) -> Numbers:
    """Put arrays one after the other along an axis."""
    exact = [numbers(each) for each in arrays]
    data = np.concatenate([each.data for each in exact], axis % exact[0].ndim + 1)
    return Numbers(data, exact[0].dtype)


def pad(input: Numbers, widths: Sequence[tuple[int, int]], constant_values: object = 0) -> Numbers:
    """Surround numbers by one number."""
    fill = numbers(constant_values).data
    parts = zip(input.data, fill, strict=True)
    data = [np.pad(part, widths, constant_values=each) for part, each in parts]
    return Numbers(np.stack(data), input.dtype)


def clip(input: object, low: object, high: object) -> Numbers:
    """Keep numbers between two bounds."""
    return minimum(maximum(input, low), high)


def _like(made: Callable[[Sequence[int]], Array]) -> Callable[..., Numbers]:
    def make(input: Numbers, *_: object, **__: object) -> Numbers:
        return Numbers.constants(made(input.shape), input.dtype)

    return make


def _unwritten(input: Numbers, *_: object, **__: object) -> Numbers:
    return Numbers.unwritten(input.shape, input.dtype)


def _shape(input: Numbers) -> tuple[int, ...]:
    return input.shape


def _rank(input: Numbers) -> int:
    return input.ndim


def _share_memory(first: object, second: object) -> bool:
    return np.may_share_memory(numbers(first).data, numbers(second).data)


def _reduction(ufunc: np.ufunc) -> Callable[..., object]:
    def compute(
        input: Numbers, axis: object = None, keepdims: bool = False, **rest: object
    ) -> object:
        rest.pop("dtype", None)
        return REDUCTIONS[ufunc](input, axis=axis, keepdims=keepdims, **rest)

    return compute


def cumulated(input: Numbers, axis: int, dtype: object = None) -> Numbers:
    """Add up along an axis, every sum being kept."""
    place = axis % input.ndim + 1
    summed, largest = partial(np.cumsum, axis=place), partial(np.maximum.accumulate, axis=place)
    return Numbers(current().added(input.data, summed, largest), input.dtype)


FUNCTIONS.update(
    {
        np.where: select,
        np.clip: clip,
        np.copy: Numbers.copy,
        np.pad: pad,
        np.concatenate: concatenate,
        np.cumsum: cumulated,
        np.empty_like: _unwritten,
        np.zeros_like: _like(np.zeros),
        np.ones_like: _like(np.ones),
        np.shape: _shape,
        np.ndim: _rank,
        np.reshape: Numbers.reshape,
        np.transpose: Numbers.transpose,
        np.swapaxes: Numbers.swapaxes,
        np.squeeze: Numbers.squeeze,
        np.take: Numbers.take,
        np.may_share_memory: _share_memory,
        np.sum: _reduction(np.add),
        np.prod: _reduction(np.multiply),
        np.max: _reduction(np.maximum),
        np.min: _reduction(np.minimum),
    }
)
FUNCTIONS.update(
    {
        each: _moves(each)
        for each in (
            *(np.broadcast_to, np.tile, np.flip, np.repeat, np.roll, np.moveaxis, np.expand_dims),
            *(np.tril, np.triu, np.take_along_axis),
        )
    }
)
FUNCTIONS.update({each: _by_order(each) for each in (np.argsort, np.argmax, np.argmin)})
FUNCTIONS.update({each: _by_truth(each) for each in (np.any, np.all)})
