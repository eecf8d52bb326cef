"""What every place of weights offers: names, shapes and dtypes at once, the data on demand."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import bf16
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import dtype_name

Array = NDArray[np.generic]


class ParameterProblem(Exception):
    """What is wrong with one parameter's data, in one line; `place` where its file has lines."""

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(message)
        self.place = place


class MissingParameter(ParameterProblem):
    """The file of one parameter is not there."""


@dataclass(frozen=True)
class ArrayDescription:
    """Shape of an array, and NumPy's name of its dtype."""

    shape: tuple[int, ...]
    dtype: str


class ParameterStore(Mapping[str, Array], ABC):
    """Arrays by parameter name: read-only, C-ordered, memory-mapped where the format allows it."""

    names: Collection[str]
    """The names of all, in order."""

    @abstractmethod
    def describe(self, name: str) -> ArrayDescription:
        """Return what the store has under a name, without reading the data.

        Raises KeyError for a name that it does not have, ParameterProblem for data that is not
        as the store says.
        """

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class MemoryStore(ParameterStore):
    """Arrays that are already in memory."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = self.names = arrays

    def describe(self, name: str) -> ArrayDescription:
        array = self._arrays[name]
        return ArrayDescription(array.shape, array.dtype.name)

    def __getitem__(self, name: str) -> Array:
        return read_only(self._arrays[name])


def read_only(array: Array) -> Array:
    """Return a C-ordered view, or copy where it must be, of an array; it cannot be written to."""
    view = np.ascontiguousarray(array).reshape(array.shape).view()
    view.flags.writeable = False
    return view


def array_dtype(name: str) -> np.dtype[np.generic]:
    """Return the dtype of arrays by its name; raises ParameterProblem where NumPy has none."""
    try:
        if name == "bfloat16":
            return np.dtype(dtype_name(bf16))
        dtype = np.dtype(name)
    except VerifyException as error:
        raise ParameterProblem(
            "NumPy has bfloat16 from ml_dtypes, which is not installed"
        ) from error
    except TypeError as error:
        raise ParameterProblem(f"NumPy has no {name}") from error
    if dtype.isbuiltin != 1:  # of a package that some other import registered with NumPy
        raise ParameterProblem(f"NumPy has no {name}")
    return dtype


def described_arrays(store: ParameterStore) -> dict[str, Array]:
    """Return arrays of the shapes and types that a store describes, without data or memory.

    Raises ParameterProblem for data that is not as the store says.
    """
    described = {name: store.describe(name) for name in store}
    return {
        name: np.broadcast_to(np.zeros((), array_dtype(each.dtype)), each.shape)
        for name, each in described.items()
    }


# Several places of weights as one.


def joined(*places: Mapping[str, Array]) -> ParameterStore:
    """Return one store of several mappings; an earlier one comes before a later one."""
    return JoinedStore(
        [each if isinstance(each, ParameterStore) else MemoryStore(each) for each in places]
    )


class JoinedStore(ParameterStore):
    """The first store that has a name is the one that counts."""

    def __init__(self, stores: list[ParameterStore]) -> None:
        self._stores = stores

    def _of(self, name: str) -> ParameterStore:
        for store in self._stores:
            if name in store:
                return store
        raise KeyError(name)

    def describe(self, name: str) -> ArrayDescription:
        return self._of(name).describe(name)

    def __getitem__(self, name: str) -> Array:
        return self._of(name)[name]

    def __contains__(self, name: object) -> bool:
        return any(name in store for store in self._stores)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for store in self._stores for name in store))

    def __len__(self) -> int:
        return sum(1 for _ in self)
