"""Choices made at random: what every generator of this folder draws from."""

import math
import struct
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

LARGEST_SIZE = 6
MOST_AXES = 4

ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-5, 1 / 3, 100.0)
EXTREMES = (math.inf, -math.inf, math.nan)

_WORDS = {16: "e", 32: "f", 64: "d"}


class Draw:
    """Draws from a generator of random numbers: the same seed draws the same."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return self.random.randint(low, high)

    def integers(self, count: int, low: int, high: int) -> list[int]:
        """Return so many whole numbers."""
        return [self.integer(low, high) for _ in range(count)]

    def chance(self, share: float = 0.5) -> bool:
        """Return True in a share of all cases."""
        return self.random.random() < share

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of some things."""
        return options[self.integer(0, len(options) - 1)]

    def permuted(self, options: Sequence[T]) -> list[T]:
        """Return things in any order."""
        found = list(options)
        self.random.shuffle(found)
        return found

    def size(self) -> int:
        """Return the size of an axis."""
        return self.integer(1, LARGEST_SIZE)

    def shape(self, rank: int | None = None, *, least: int = 0) -> list[int]:
        """Return sizes: of so many axes, or of `least` to four."""
        count = self.integer(least, MOST_AXES) if rank is None else rank
        return [self.size() for _ in range(count)]

    def axis(self, dims: Sequence[int]) -> int:
        """Return an axis of a shape, counted from either end."""
        return self.integer(-len(dims), len(dims) - 1)

    def real(self, low: float, high: float) -> float:
        """Return a real number from low to high."""
        return self.random.uniform(low, high)

    def number(self, width: int = 64, *, finite: bool = False) -> float:
        """Return a float of so many bits: a usual one, an odd one, or any word that there is."""
        choice = self.integer(0, 5)
        if choice < 3:
            return _rounded(self.random.uniform(-2.0, 2.0), width)
        if choice == 3:
            return _rounded(self.one_of(ODD_NUMBERS), width)
        if choice == 4 and not finite:
            return self.one_of(EXTREMES)
        word = self.random.getrandbits(width).to_bytes(width // 8, "little")
        (found,) = struct.unpack(f"<{_WORDS[width]}", word)
        return 0.0 if finite and not math.isfinite(found) else found


def _rounded(number: float, width: int) -> float:
    form = f"<{_WORDS[width]}"
    return struct.unpack(form, struct.pack(form, number))[0]
