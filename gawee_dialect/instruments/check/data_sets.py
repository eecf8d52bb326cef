"""On which data a check runs each function: one run after the other, in one memory."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.instruments.check.inputs import (
    MAGNITUDES,
    SPECIAL,
    TIES,
    DataSet,
    arguments_for,
    array_of_magnitudes,
    array_with_special_values,
    array_with_ties,
)
from gawee_dialect.interpreter.arrays import Array, Unwritten

Arguments = Mapping[str, Mapping[str, Array]]
"""What each function is run on, by its name and the argument's."""

LARGEST_REPEATED = 4_000_000
"""The most inputs and weights of a network that runs more than once, and in f64."""

DRAWS = (
    (TIES, array_with_ties, Unwritten.LARGEST),
    (MAGNITUDES, array_of_magnitudes, Unwritten.SIGNALLING),
    (SPECIAL, array_with_special_values, Unwritten.LARGEST),
)
"""Data beside the usual ones, and what memory holds when a run on them begins."""


def size_of(arguments: Arguments) -> int:
    """Return how many numbers the functions take, weights included."""
    return sum(array.size for each in arguments.values() for array in each.values())


def data_sets(
    module: ModuleOp, usual: Arguments, seed: int, given: Mapping[str, Array]
) -> dict[str, Sequence[DataSet]]:
    """Return what each function is run on: numbers as usual, and those of DRAWS.

    A large network runs on the usual numbers alone.
    """
    found = {name: [DataSet(each, Unwritten.SIGNALLING)] for name, each in usual.items()}
    if size_of(usual) <= LARGEST_REPEATED:
        for what, draw, unwritten in DRAWS:
            for name, arrays in arguments_for(module, usual, seed, given, draw).items():
                found[name].append(DataSet(arrays, unwritten, what))
    return {**found}
