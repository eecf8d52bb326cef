"""Arrays of numbers that are known twice: as a float64, and exactly, modulo three primes.

The float64 decides what depends on an order: comparisons, maxima, roundings to integers. The
residues are what is computed, and what two programs are compared by.

`Numbers` speaks NumPy's protocols of array functions (NEP 13 and 18), so that what the interpreter
says of an op on arrays is said of these arrays too. `arithmetic.py` and `movements.py` have the
functions; one that is in neither raises TypeError, as does every way to make a plain array of one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import SupportsIndex, TypeAlias, TypeGuard

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.lib.stride_tricks import as_strided
from numpy.typing import DTypeLike, NDArray
from xdsl.interpreter import PythonValues
from xdsl.ir import Operation

from gawee_dialect.instruments.prove.constants import numbers_of
from gawee_dialect.instruments.prove.residues import (
    LARGEST_EXACT,
    Floats,
    Words,
    packed,
    reduce_in_place,
)
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.scalars import Evaluate, OtherNumbers

BasicIndex: TypeAlias = SupportsIndex | slice | EllipsisType | None
"""What makes a view between the brackets of an array."""

Index: TypeAlias = BasicIndex | Array | tuple[BasicIndex | Array, ...]
"""What stands between the brackets of an array."""

UFUNCS: dict[np.ufunc, Callable[..., object]] = {}
"""What NumPy's functions of elements compute of Numbers."""

REDUCTIONS: dict[np.ufunc, Callable[..., object]] = {}
"""What `ufunc.reduce` computes: of Numbers, of axes, and whether these are kept."""

FUNCTIONS: dict[Callable[..., object], Callable[..., object]] = {}
"""What NumPy's other functions do with Numbers."""


MEANINGS: dict[type[Operation], Callable[..., object]] = {}
"""What scalar ops compute that are no functions of NumPy."""


class Numbers(NDArrayOperatorsMixin, OtherNumbers):
    """An array of numbers; `data` has the values, then the three residues, along its first axis.

    `dtype` is the float type that the program computes in. Nothing is rounded to it.
    """

    def __init__(self, data: Floats, dtype: np.dtype[np.generic]) -> None:
        self.data = data
        self.dtype = dtype

    @staticmethod
    def constants(array: Array, dtype: np.dtype[np.generic] | None = None) -> "Numbers":
        """Return the numbers that constants stand for (`constants.py`)."""
        plain = np.asarray(array)
        value, residues = numbers_of(plain)
        floats = plain.dtype if plain.dtype.kind == "f" else np.dtype(np.float64)
        return Numbers(np.concatenate((value[np.newaxis], residues)), dtype or floats)

    @staticmethod
    def unwritten(shape: Sequence[int], dtype: np.dtype[np.generic]) -> "Numbers":
        """Return numbers that were never written: every part of them is NaN."""
        return Numbers(np.full((4, *shape), np.nan), dtype)

    @property
    def value(self) -> Floats:
        """The float64 of every number."""
        return self.data[0]

    @property
    def residues(self) -> Floats:
        """The residues of every number, the prime along the first axis."""
        return self.data[1:]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.data.shape[1:]

    @property
    def ndim(self) -> int:
        """The rank of the array."""
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        """How many numbers the array has."""
        return self.data.size // 4

    @property
    def T(self) -> "Numbers":
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def strides(self) -> tuple[int, ...]:
        return self.data.strides[1:]

    def strided(self, shape: Sequence[int], strides: Sequence[int]) -> Array:
        data = as_strided(self.data, (4, *shape), (self.data.strides[0], *strides))
        return as_array(Numbers(data, self.dtype))

    def settled(self) -> Floats:
        """Return the values; that of a whole number is the number, without what rounding did to it.

        Equal numbers may have values that differ by roundings: zero as a difference of them, say.
        """
        nearest = np.rint(self.value)
        small = np.abs(nearest) < LARGEST_EXACT
        rest = reduce_in_place(self.residues - np.where(small, nearest, 0.0))
        return np.where(small & (rest == 0).all(axis=0), nearest, self.value)

    def is_zero(self) -> NDArray[np.bool_]:
        """Return which numbers are 0: residues say it, whatever rounding did to the values."""
        return np.isfinite(self.value) & (self.residues == 0).all(axis=0)

    def words(self) -> Words:
        """Return a word for each number; equal numbers have equal words.

        An infinity is one word each, and all NaN are one: they are told by the value.
        """
        words = packed(self.residues)
        finite = np.isfinite(self.value)
        if finite.all():
            return words
        special = np.where(np.isnan(self.value), 1, np.where(self.value > 0, 2, 3))
        return np.where(finite, words, ~special.astype(np.uint64))

    # What moves elements.

    def moved(self, move: Callable[[Floats], NDArray[np.float64]]) -> "Numbers":
        """Apply a function that moves the elements of an array to each part."""
        return Numbers(np.stack([move(part) for part in self.data]), self.dtype)

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> "Numbers":
        """Return the numbers in another shape, as a view where that needs no copy."""
        sizes = _sequence(shape)
        if -1 in sizes:
            known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
            sizes = [self.size // max(1, known) if size == -1 else size for size in sizes]
        return Numbers(self.data.reshape(4, *sizes), self.dtype)

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> "Numbers":
        """View the numbers with their axes in another order, reversed where none is given."""
        given = [each for each in axes if each is not None]
        order = _sequence(given) if given else list(reversed(range(self.ndim)))
        return Numbers(
            self.data.transpose(0, *(axis % self.ndim + 1 for axis in order)), self.dtype
        )

    def swapaxes(self, first: int, second: int) -> "Numbers":
        """View the numbers with two axes exchanged."""
        axes = first % self.ndim + 1, second % self.ndim + 1
        return Numbers(self.data.swapaxes(*axes), self.dtype)

    def squeeze(self, axis: Sequence[int] | int | None = None) -> "Numbers":
        """View the numbers without axes of size 1."""
        if axis is None:
            axis = [dim for dim, size in enumerate(self.shape) if size == 1]
        axes = [axis] if isinstance(axis, int) else axis
        return Numbers(self.data.squeeze(tuple(each % self.ndim + 1 for each in axes)), self.dtype)

    def take(self, indices: Sequence[int] | NDArray[np.int64], axis: int) -> "Numbers":
        """Return the numbers at indices along an axis."""
        places = np.asarray(indices, np.int64)
        return Numbers(np.take(self.data, places, axis % self.ndim + 1), self.dtype)

    def copy(self) -> "Numbers":
        """Return the numbers in memory of their own."""
        return Numbers(self.data.copy(), self.dtype)

    def astype(self, dtype: DTypeLike, copy: bool = True) -> "Numbers | Array":
        """Convert; floats stay what they are, as nothing is rounded, integers are plain arrays."""
        wanted: np.dtype[np.generic] = np.dtype(dtype)
        if wanted.kind in "fV" or wanted.name == "bfloat16":
            return Numbers(self.data.copy() if copy else self.data, wanted)
        with np.errstate(invalid="ignore"):
            return self.settled().astype(wanted)[()]

    def __getitem__(self, index: Index) -> "Numbers":
        key = index if isinstance(index, tuple) else (index,)
        if _is_basic(key):
            return Numbers(self.data[(slice(None), *key)], self.dtype)
        return Numbers(self.data.reshape(4, -1)[:, self._places(index)], self.dtype)

    def _places(self, index: Index) -> NDArray[np.int64]:
        """Return where in the flat array the elements are that an index names."""
        given: PythonValues = (index,)
        places: NDArray[np.int64] = np.arange(self.size).reshape(self.shape)[given[0]]
        return places

    def __setitem__(self, index: Index, new: object) -> None:
        key = index if isinstance(index, tuple) else (index,)
        source = numbers(new).data
        if _is_basic(key):
            target = self.data[(slice(None), *key)]
            target[...] = _with_rank(source, target.ndim)
            return
        places = self._places(index)
        flat = self.data.reshape(4, -1)
        if not np.shares_memory(flat, self.data):
            raise TypeError("expected an array that lies side by side in memory")
        flat[:, places] = _with_rank(source, places.ndim + 1)

    def evaluate(self, evaluate: Evaluate, op: Operation, operands: Sequence[Array]) -> Array:
        """Compute an op of a body: as NumPy's functions say, or as MEANINGS do."""
        results: PythonValues = (
            MEANINGS[type(op)](*operands) if type(op) in MEANINGS else evaluate(op, operands),
        )
        return results[0]

    # NumPy's protocols.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> object:
        """Compute a function of elements, or a reduction by one."""
        out = options.pop("out", None)
        options.pop("dtype", None)  # nothing is rounded
        table = {"__call__": UFUNCS, "reduce": REDUCTIONS}.get(method, {})
        if ufunc not in table:
            raise TypeError(f"no exact meaning of '{ufunc.__name__}'")
        result = table[ufunc](*inputs, **options)
        if out is None:
            return result
        targets: PythonValues = (out,)
        target = targets[0][0]
        if not isinstance(target, Numbers):
            raise TypeError("expected to write into exact numbers")
        target[...] = result
        return target

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Iterable[type],
        arguments: Sequence[object],
        options: Mapping[str, object],
    ) -> object:
        """Call what a function of NumPy is for Numbers."""
        if function not in FUNCTIONS:
            raise TypeError(f"no exact meaning of '{function.__name__}'")
        return FUNCTIONS[function](*arguments, **options)

    def __array__(self, *_: object, **__: object) -> Array:
        raise TypeError("exact numbers are no plain array")


def _with_rank(data: Floats, rank: int) -> Floats:
    """Give an array of parts so many axes, by axes of size 1 after that of the parts."""
    return data.reshape(4, *(1 for _ in range(rank - data.ndim)), *data.shape[1:])


def _sequence(values: Iterable[SupportsIndex | Sequence[SupportsIndex]]) -> list[int]:
    """Return integers that are arguments of their own, or in one argument."""
    found: list[int] = []
    for each in values:
        found.extend([int(each)] if isinstance(each, SupportsIndex) else [int(v) for v in each])
    return found


def _is_basic(key: tuple[BasicIndex | Array, ...]) -> TypeGuard[tuple[BasicIndex, ...]]:
    """Whether an index is made of numbers, slices and new axes alone, so that it makes a view."""
    return all(
        each is None
        or each is Ellipsis
        or isinstance(each, slice)
        or (isinstance(each, SupportsIndex) and not isinstance(each, np.ndarray))
        for each in key
    )


def numbers(value: object) -> Numbers:
    """Return Numbers as they are, and what else there is as constants."""
    return value if isinstance(value, Numbers) else Numbers.constants(np.asarray(value))


def broadcast(*operands: Numbers) -> list[Floats]:
    """Return the data of operands with as many axes as the one that has most."""
    rank = max(each.data.ndim for each in operands)
    return [_with_rank(each.data, rank) for each in operands]


def as_array(value: Numbers) -> Array:
    """Return Numbers as what the interpreter calls an array: by NumPy's protocols they are one."""
    values: PythonValues = (value,)
    return values[0]
