"""Memory between guards, in which a write beside an array shows."""

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.interpreter.arrays import fill_unwritten

Bytes = NDArray[np.uint8]

Fill = Callable[[Bytes], None]
"""Writes the bytes of memory that nobody has written."""


class GuardedMemory:
    """So many bytes between guards; the guards, and the bytes at first, are as if never written.

    The bytes lie at a multiple of 64 and `shift` after it, and so much before the next guard.
    Guards of other memory have other bytes: a row that is copied from guard to guard shows.
    """

    _numbers = count()

    def __init__(self, size: int, guard: int, fill: Fill = fill_unwritten, shift: int = 0) -> None:
        from gawee_dialect.backend.memory import aligned_bytes

        assert guard % 64 == 0
        start = guard + shift
        all_bytes = aligned_bytes(start + size + guard)[: start + size + guard]
        self.bytes = all_bytes[start : start + size]
        self._guards = all_bytes[:start], all_bytes[start + size :]
        self._fill = fill
        self._number = np.uint8(next(self._numbers) % 255 + 1)
        fill(self.bytes)
        for each in self._guards:
            self._mark(each)

    def _mark(self, guard: Bytes) -> None:
        """Fill a guard; the lowest byte of every fourth is one of this memory's own."""
        self._fill(guard)
        guard[::4] ^= self._number

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written around the bytes."""
        for guard in self._guards:
            expected = np.empty_like(guard)
            self._mark(expected)
            if not np.array_equal(guard, expected):
                return False
        return True
