"""How small integers lie side by side in words of 32 bits."""

from enum import Enum

WORD = 32
"""Bits of a word."""


class PackedProduct(Enum):
    """How many integers lie in a word: two with signs, or four bytes, those of the first without."""

    PAIRS = 2
    BYTES = 4

    @property
    def bits(self) -> int:
        """How wide each of the integers is."""
        return WORD // self.value
