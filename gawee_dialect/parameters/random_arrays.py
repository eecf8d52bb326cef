"""Seeded arrays for inputs and parameters that are not given."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from gawee_dialect.parameters.store import Array


def random_array(
    shape: Sequence[int], dtype: np.dtype[np.generic], generator: np.random.Generator
) -> Array:
    """Return standard normal floats, bits for bool, or integers from 0 to 9."""
    if dtype.kind == "f":
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    high = 2 if dtype.kind == "b" else 10
    return np.asarray(generator.integers(0, high, shape)).astype(dtype)


class Described(Protocol):
    """What an array is to be like."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> Sequence[int]: ...

    @property
    def dtype(self) -> np.dtype[np.generic]: ...


def random_inputs(inputs: Iterable[Described], seed: int = 0) -> dict[str, Array]:
    """Return an array for each input by name, the same ones for the same seed."""
    generator = np.random.default_rng(seed)
    return {each.name: random_array(each.shape, each.dtype, generator) for each in inputs}


def random_parameters(weights: Iterable[Described], seed: int = 0) -> dict[str, Array]:
    """Return a seeded array for each weight by name: small normal numbers, positive variances."""
    generator = np.random.default_rng(seed)
    arrays: dict[str, Array] = {}
    for each in weights:
        array = random_array(each.shape, each.dtype, generator)
        if each.dtype.kind == "f":
            fan_in = max(1, int(np.prod(each.shape[1:])))
            array = (array / np.sqrt(fan_in)).astype(each.dtype)
        arrays[each.name] = np.abs(array) + 1 if each.name.endswith("running_var") else array
    return arrays
