"""Keys and values of the tokens that were computed, of one sequence or several.

They lie in groups of 16 tokens of one sequence. Each sequence takes the first free group as it
grows, so those that have begun lie side by side, and the graph reads them as one array.
"""

import mmap
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import prod

import numpy as np
from config import Config
from decoder import GROUP
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def _growing(shape: Sequence[int]) -> NDArray[np.float32]:
    """Return zeros that take memory as they are written, a small page at a time.

    NumPy asks for huge pages where an array has 4 MB: so much of each layer would be taken at once.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows
        return np.zeros(shape, np.float32)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    pages = mmap.mmap(-1, 4 * prod(shape), flags=flags)
    return np.frombuffer(pages, np.float32).reshape(shape)


class Cache:
    """Holds up to `capacity` tokens of each sequence.

    `arrays` are the keys and values of each layer. Of each place, `sequences` and `positions` say
    which token it holds; the sequence is -1 where there is none.
    """

    def __init__(self, config: Config, capacity: int, sequences: int) -> None:
        self.capacity = capacity
        self.groups = sequences * -(-capacity // GROUP)
        heads = config.shared_heads, config.head_width
        self.arrays = {
            f"{what}.{layer}": _growing(shape)
            for layer in range(config.layers)
            for what, shape in (
                ("keys", (self.groups, *heads, GROUP)),
                ("values", (self.groups, heads[0], GROUP, heads[1])),
            )
        }
        self.sequences = np.full((self.groups, GROUP), -1)
        self.positions = np.zeros((self.groups, GROUP), np.int64)
        self.lengths = [0] * sequences
        """How many tokens each sequence has."""
        self._own: Sequence[list[int]] = [[] for _ in range(sequences)]
        self._free = list(range(self.groups))

    @property
    def begun(self) -> int:
        """How many groups the graph reads: at least one."""
        return max([1, *(group + 1 for own in self._own for group in own)])

    @property
    def bytes_read(self) -> int:
        """How many bytes of keys and values each step reads."""
        return self.begun * sum(array[0].nbytes for array in self.arrays.values())

    @property
    def inputs(self) -> Mapping[str, NDArray[np.generic]]:
        """What the graph reads, where it lies."""
        known = {"cached_sequences": self.sequences, "cached_positions": self.positions}
        begun = self.begun
        return {name: array[:begun] for name, array in {**known, **self.arrays}.items()}

    def put(
        self, sequences: Integers, positions: Integers, made: Mapping[str, NDArray[np.generic]]
    ) -> None:
        """Put the keys and values of new tokens behind those of their sequences."""
        groups = list[int]()
        for sequence, position in zip(sequences.tolist(), positions.tolist(), strict=True):
            own = self._own[sequence]
            if position == len(own) * GROUP:
                own.append(heappop(self._free))
            groups.append(own[position // GROUP])
            self.lengths[sequence] = position + 1
        place = groups, positions % GROUP
        for name, array in self.arrays.items():
            axes = (0, 3, 1, 2) if name.startswith("keys") else (0, 2, 1, 3)
            array.transpose(axes)[place] = made[f"new_{name}"]
        self.sequences[place], self.positions[place] = sequences, positions

    def forget(self, sequence: int, length: int) -> None:
        """Go back to the first tokens of a sequence."""
        if length >= self.lengths[sequence]:
            return
        self.lengths[sequence] = length
        self.sequences[(self.sequences == sequence) & (self.positions >= length)] = -1
        own, kept = self._own[sequence], -(-length // GROUP)
        for group in own[kept:]:
            heappush(self._free, group)
        del own[kept:]
