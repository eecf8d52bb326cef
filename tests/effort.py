"""How much of the slow tests runs: a part by default, all where `HYPOTHESIS_PROFILE=full`."""

import os
from collections.abc import Collection, Sequence
from itertools import product
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

T = TypeVar("T")
U = TypeVar("U")

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
FULL = PROFILE == "full"
PART = 4
"""The quick run does one of so many."""

SLOW = "slow; runs where HYPOTHESIS_PROFILE=full"

full_run = pytest.mark.skipif(not FULL, reason=SLOW)


def examples(count: int) -> settings:
    """Return settings under which a property is tried on `count` examples, or on a part."""
    return settings(max_examples=count if FULL else max(2, count // PART))


def part_of(cases: Sequence[T]) -> Sequence[T]:
    """Return all cases, or a part from everywhere in them, the first included."""
    return cases if FULL else cases[::PART]


def mostly_full(cases: Sequence[object]) -> list[ParameterSet]:
    """Return cases of a test of which the quick run does the first, and one of every `PART`.

    The others are skipped, so that they are counted.
    """
    return [
        pytest.param(case, marks=full_run if number % PART else ())
        for number, case in enumerate(cases)
    ]


def two_of_each(first: Collection[T], second: Sequence[U]) -> list[tuple[T, U]]:
    """Return everything with two of `second`, whose members take turns."""
    count = len(second)
    return [(one, second[(i + j) % count]) for i, one in enumerate(first) for j in range(2)]


def taking_turns(first: Collection[T], second: Sequence[U]) -> list[tuple[T, U]]:
    """Return everything with one of `second`, whose members take turns."""
    return [(one, second[i % len(second)]) for i, one in enumerate(first)]


def crossed(first: Collection[object], second: Collection[object]) -> list[ParameterSet]:
    """Return all pairs, of which the quick run does as many as have everything in one of them."""
    count = min(len(first), len(second))
    pairs = product(enumerate(first), enumerate(second))
    return [
        pytest.param(one, other, marks=full_run if (i - j) % count else ())
        for (i, one), (j, other) in pairs
    ]
