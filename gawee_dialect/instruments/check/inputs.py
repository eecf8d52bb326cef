"""The arrays that a check runs a function on: seeded, by name, and from a file."""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.instruments.check.functions import ArraySpec, argument_specs
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.parameters.fitting import fitted


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
    module: ModuleOp, functions: Iterable[str], seed: int, given: Mapping[str, Array]
) -> dict[str, dict[str, Array]]:
    """Return the arguments of each function: given ones by name, others seeded.

    Raises GaweeError for a given name that no function has, and for a wrong shape or dtype.
    """
    specs = {function: argument_specs(module, function) for function in functions}
    known = {spec.name: None for each in specs.values() for spec in each}
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = f"arguments: {', '.join(known) or 'none'}"
        raise GaweeError(Diagnostic(f"unknown argument '{unknown[0]}'", hint=hint))
    return {
        function: {
            spec.name: fitted(f"'{spec.name}'", given[spec.name], spec.shape, spec.dtype)
            if spec.name in given
            else seeded_array(spec, seed)
            for spec in each
        }
        for function, each in specs.items()
    }
