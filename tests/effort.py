"""How much of the slow tests runs: a part by default, all where `HYPOTHESIS_PROFILE=full`."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

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
