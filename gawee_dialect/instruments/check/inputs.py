"""The arrays that a check runs a function on: seeded, by name, and from a file."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.instruments.check.functions import (
    COUNT,
    INDEX,
    WHOLE,
    ArraySpec,
    Sizes,
    argument_specs,
    numbers_of_sizes,
)
from gawee_dialect.interpreter.arrays import Array, Unwritten
from gawee_dialect.parameters.given_inputs import fitted


def _numbers(spec: ArraySpec, generator: np.random.Generator) -> NDArray[np.float64]:
    return generator.standard_normal(spec.shape)


def _weight(spec: ArraySpec, generator: np.random.Generator) -> NDArray[np.float64]:
    # He's scale: what goes through a layer and a relu keeps its magnitude. Of one axis: a scale.
    if len(spec.shape) < 2:
        return _positive(spec, generator)
    return generator.standard_normal(spec.shape) * np.sqrt(2 / max(1, prod(spec.shape[1:])))


def _positive(spec: ArraySpec, generator: np.random.Generator) -> NDArray[np.float64]:
    return generator.uniform(0.5, 1.5, spec.shape)


def _divisor(spec: ArraySpec, generator: np.random.Generator) -> NDArray[np.float64]:
    signs = generator.choice((-1.0, 1.0), spec.shape)
    return signs * generator.uniform(0.5, 1.5, spec.shape)


Draw = Callable[[ArraySpec, np.random.Generator], NDArray[np.float64]]
DRAWS: Mapping[str, Draw] = {
    "number": _numbers,
    "weight": _weight,
    "positive": _positive,
    "divisor": _divisor,
}
"""Floats for each use: standard normal, or such that they keep what they touch near 1."""


@dataclass(frozen=True)
class DataSet:
    """The arrays of one run by name, and what memory holds that the run has not written."""

    arrays: Mapping[str, Array]
    unwritten: Unwritten = Unwritten.ONES
    name: str = ""
    """What is special about the data, for messages: `ties and negative halves`."""

    alone: bool = False
    """Whether it is of sizes of its own, which no run before it tells anything of."""


TIES = "ties and negative halves"
MAGNITUDES = "large and tiny magnitudes"
SPECIAL = "NaN and infinities"


def array_with_ties(spec: ArraySpec, seed: int) -> Array:
    """Draw an array whose numbers are multiples of 1/4 from -3/2 to 3/2, the second half negative.

    Maxima are not unique, and some windows hold nothing that is positive. Integers of 8 bits have
    their full range. What is no number but a weight, an index and the like is drawn as ever.
    """
    if spec.use == INDEX and spec.size:
        return _any_index(spec, seed)
    if spec.use not in ("number", WHOLE, COUNT) or spec.dtype.kind not in "fiu":
        return seeded_array(spec, seed)
    generator = np.random.default_rng((seed, 1, crc32(spec.name.encode())))
    if spec.dtype.kind != "f":
        if spec.dtype.itemsize > 1:
            return seeded_array(spec, seed + 1)
        limits = np.iinfo(spec.dtype.name)
        drawn = generator.integers(limits.min, limits.max + 1, spec.shape)
        return np.asarray(drawn).astype(spec.dtype)
    quarters = np.asarray(generator.integers(-6, 7, spec.shape) / 4)
    half = quarters[..., quarters.shape[-1] // 2 :] if quarters.ndim else quarters[...]
    half[...] = -np.abs(half) - 0.25
    return quarters.astype(spec.dtype)


def _any_index(spec: ArraySpec, seed: int) -> Array:
    """Draw indices from all of their axis, some of them from its end."""
    generator = np.random.default_rng((seed, 4, crc32(spec.name.encode())))
    low = 0 if spec.dtype.kind == "u" else -spec.size
    return np.asarray(generator.integers(low, spec.size, spec.shape)).astype(spec.dtype)


EXTREMES = "extreme integers"
LARGEST_COUNT = 1 << 10
"""Of integers that floats are computed of."""


def array_of_extremes(spec: ArraySpec, seed: int) -> Array:
    """Draw integers that only arithmetic is done with: the ends of their type, powers of two, their
    neighbours, and any others.

    Of what floats are computed of, the magnitude is at most LARGEST_COUNT. All else is as ever.
    """
    if spec.use == INDEX and spec.size:
        return _any_index(spec, seed)
    if spec.use not in (WHOLE, COUNT) and spec.is_of_bytes:
        return array_with_ties(spec, seed)
    if spec.use not in (WHOLE, COUNT) or spec.dtype.kind not in "iu":
        return seeded_array(spec, seed)
    generator = np.random.default_rng((seed, 5, crc32(spec.name.encode())))
    limits = np.iinfo(spec.dtype.name)
    low, high = int(limits.min), int(limits.max)
    if spec.use == COUNT:
        low, high = max(low, -LARGEST_COUNT), min(high, LARGEST_COUNT)
    powers = [sign << bit for bit in range(high.bit_length()) for sign in (1, -1)]
    special = {low, low + 1, high - 1, high, *(each + d for each in powers for d in (-1, 0, 1))}
    values = sorted(each for each in special if low <= each <= high)
    chosen = generator.choice(np.array(values, spec.dtype), spec.shape)
    others = generator.integers(low, high, spec.shape, spec.dtype.type, endpoint=True)
    return np.where(generator.random(spec.shape) < 0.75, chosen, others).astype(spec.dtype)


def has_extremes(specs: Iterable[ArraySpec]) -> bool:
    """Whether some integers may be extreme, or any index of an axis."""
    return any(
        spec.is_of_bytes
        or (spec.dtype.kind in "iu" and (spec.use in (WHOLE, COUNT) or bool(spec.size)))
        for spec in specs
    )


SCALES = (1e-4, 1e-2, 1.0, 30.0, 1e3)
"""Large enough for `exp` to overflow, and so small that an epsilon counts more than a variance."""


def array_of_magnitudes(
    spec: ArraySpec,
    seed: int,
    scales: Sequence[float] = SCALES,
    uses: Sequence[str] = ("number",),
) -> Array:
    """Draw floats for some uses, those of each row by one of some scales.

    A row is what the last axis spans; of one axis each element is a row. Scales of f16 end at 30.
    What is for another use, such as a divisor or an index, is drawn as ever.
    """
    array = seeded_array(spec, seed)
    if spec.use not in uses or spec.dtype.kind != "f":
        return array
    generator = np.random.default_rng((seed, 2, crc32(spec.name.encode())))
    most = 30.0 if spec.dtype.itemsize == 2 else np.inf
    rows = (*spec.shape[:-1], 1) if len(spec.shape) > 1 else spec.shape
    scale = np.asarray(generator.choice([min(each, most) for each in scales], rows))
    return np.asarray(array.astype(np.float64) * scale).astype(spec.dtype)


def array_with_special_values(spec: ArraySpec, seed: int) -> Array:
    """Draw numbers as ever, with NaN and both infinities in places of the first half."""
    array = seeded_array(spec, seed)
    if spec.use != "number" or spec.dtype.kind != "f" or array.size < 2:
        return array
    flat = array.reshape(-1)
    generator = np.random.default_rng((seed, 3, crc32(spec.name.encode())))
    places = generator.permutation(array.size // 2)[:3]
    flat[places] = np.asarray((np.nan, np.inf, -np.inf))[: len(places)]
    return array


def seeded_array(spec: ArraySpec, seed: int) -> Array:
    """Draw an array that depends on the seed and on the argument's name alone.

    Floats are as DRAWS says, signed integers from -4 to 9, unsigned ones from 0 to 9,
    indices the first or the last of their axis.
    """
    generator = np.random.default_rng((seed, crc32(spec.name.encode())))
    kind = spec.dtype.kind
    if kind == "f":
        return np.asarray(DRAWS[spec.use](spec, generator)).astype(spec.dtype)
    if kind == "b":
        return np.asarray(generator.integers(0, 2, spec.shape)).astype(spec.dtype)
    if spec.use == "index":
        return np.asarray(generator.integers(-1, 1, spec.shape)).astype(spec.dtype)
    low = 0 if kind == "u" else -4
    return np.asarray(generator.integers(low, 10, spec.shape)).astype(spec.dtype)


def arguments_for(
    module: ModuleOp,
    functions: Iterable[str],
    seed: int,
    given: Mapping[str, Array],
    draw: Callable[[ArraySpec, int], Array] = seeded_array,
    sizes: Sizes | None = None,
) -> dict[str, dict[str, Array]]:
    """Return the arguments of each function: given ones by name, others drawn, of some sizes.

    Raises GaweeError for a given name that no function has, and for a wrong shape or dtype.
    """
    specs = {function: argument_specs(module, function, sizes) for function in functions}
    known = {spec.name: None for each in specs.values() for spec in each}
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = f"arguments: {', '.join(known) or 'none'}"
        raise GaweeError(Diagnostic(f"unknown argument '{unknown[0]}'", hint=hint))
    return {
        function: {
            spec.name: fitted(f"'{spec.name}'", given[spec.name], spec.shape, spec.dtype)
            if spec.name in given
            else draw(spec, seed)
            for spec in each
        }
        for function, each in specs.items()
    }


MOST_OF_SIZES = 100_000
"""The most numbers that inputs of sizes of their own have."""


def sets_of_sizes(
    module: ModuleOp, function: str, usual: Mapping[str, Array], seed: int, given: Collection[str]
) -> Iterator[DataSet]:
    """Yield data for each number that leaves a tail of a tile, where sizes are open.

    What has the shape that it usually has is the same array. None where an input is given whose
    sizes are open: they are the caller's.
    """
    for sizes in numbers_of_sizes(module, function):
        specs = argument_specs(module, function, sizes)
        own = [each for each in specs if usual[each.name].shape != each.shape]
        if any(each.name in given for each in own):
            return
        if sum(prod(each.shape) for each in own) <= MOST_OF_SIZES:
            drawn = {each.name: seeded_array(each, seed) for each in own}
            text = ", ".join(f"{name} = {number}" for name, number in sizes.items())
            yield DataSet({**usual, **drawn}, Unwritten.SIGNALLING, text, alone=True)
