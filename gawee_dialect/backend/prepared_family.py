"""What programs for several shapes of one network make of its weights, kept once."""

from collections import defaultdict
from collections.abc import Mapping
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.backend.memory import arena
from gawee_dialect.backend.signature import Buffer

Array = NDArray[np.generic]


class PreparedFamily:
    """The prepared values of some models, as long as one of these has them.

    They are compared as bytes: whether two programs pack a weight alike depends on the schedules
    that were chosen for their shapes, and comparing takes less time than packing did.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._known: dict[object, list[ref[Array]]] = defaultdict(list)

    def shared(self, buffers: tuple[Buffer, ...], made: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return values by name, those of another model where they are the same.

        What no other model has moves to memory of its own, so that that of the rest is given back.
        """
        same: dict[str, Array] = {}
        for name, array in made.items():
            found = self._find(array)
            if found is not None:
                same[name] = found
        own = made
        if same:
            own = arena(tuple(buffer for buffer in buffers if buffer.name not in same))
            for name, array in own.items():
                np.copyto(array, made[name])
        for array in own.values():
            self._known[_form(array)].append(ref(array))
        return {**own, **same}

    def _find(self, array: Array) -> Array | None:
        alive = [
            (each, other) for each in self._known[_form(array)] if (other := each()) is not None
        ]
        self._known[_form(array)] = [each for each, _ in alive]
        return next((other for _, other in alive if _has_bytes_of(other, array)), None)


def _form(array: Array) -> object:
    return array.shape, array.dtype


def _has_bytes_of(other: Array, array: Array) -> bool:
    """Whether arrays of one form are the same, NaN and signs of zero included."""
    return np.array_equal(_bytes(other), _bytes(array))


def _bytes(array: Array) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
