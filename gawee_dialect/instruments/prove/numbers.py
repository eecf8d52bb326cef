"""Arrays of numbers that are known twice: as a float64, and exactly, modulo three primes.

The float64 decides what depends on an order: comparisons, maxima, roundings to integers. The
residues are what is computed, and what two programs are compared by.

`Numbers` speaks NumPy's protocols of array functions (NEP 13 and 18), so that what the interpreter
says of an op on arrays is said of these arrays too. `arithmetic.py` and `functions.py` have the
functions; one that is in neither raises TypeError, as does every way to make a plain array of one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod
from types import EllipsisType
from typing import SupportsIndex, TypeAlias, TypeGuard

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.lib.stride_tricks import as_strided
from numpy.typing import DTypeLike, NDArray
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.arrays import OtherNumbers
from gawee_dialect.instruments.prove.residues import (
    Floats,
    Primes,
    Words,
    current,
    inverse,
    of_whole_numbers,
    primes,
    reduce_in_place,
)
from gawee_dialect.interpreter.arrays import (
    Array,
    attribute_value,
    dtype_of,
    fresh_array,
)
from gawee_dialect.interpreter.scalars import Evaluate

# Which number a float constant stands for.
#
# A compiler writes 1/49 as the nearest float, and divides by 49 elsewhere: both mean one fraction.

LARGEST_PRODUCT = 2.0**20
"""How large numerator times denominator may be: a float32 says about as much as 2^24."""

STEPS = 12
"""How many terms of a continued fraction are looked at."""


def fractions_of(values: Floats) -> tuple[Floats, Floats]:
    """Return numerators and denominators: of a simple fraction whose nearest float32 is the value.

    The first such convergent of the continued fraction counts, where numerator times denominator is
    at most LARGEST_PRODUCT. Any other number has denominator 0.
    """
    singles = values.astype(np.float32)
    rest = np.abs(singles.astype(np.float64))
    numerator, denominator = np.ones_like(rest), np.zeros_like(rest)
    numerator_before, denominator_before = np.zeros_like(rest), np.ones_like(rest)
    found_top, found_bottom = np.zeros_like(rest), np.zeros_like(rest)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            term = np.floor(rest)
            numerator, numerator_before = term * numerator + numerator_before, numerator
            denominator, denominator_before = term * denominator + denominator_before, denominator
            small = numerator * denominator <= LARGEST_PRODUCT
            equal = (numerator / denominator).astype(np.float32) == np.abs(singles)
            first = (found_bottom == 0) & small & equal
            found_top = np.where(first, numerator, found_top)
            found_bottom = np.where(first, denominator, found_bottom)
            rest = 1 / (rest - term)
    return np.copysign(found_top, singles), found_bottom


def numbers_of(array: NDArray[np.generic]) -> tuple[Floats, Floats]:
    """Return values and residues of constants; the residues have an axis before the others.

    1. Whole numbers are what they are.
    2. A float32 that is the nearest to a simple fraction is that fraction.
    3. Any other stands for itself, rounded to float32: what passes compute of constants in double
       precision is compared with what they store in single precision.

    What is no finite number has residue 0, and is distinguished by its value.
    """
    values = np.asarray(array).astype(np.float64)
    flat, places = np.unique(values.reshape(-1), return_inverse=True)
    whole = ~np.isfinite(flat) | (flat == np.rint(flat))
    residues = of_whole_numbers(np.where(whole, flat, 0.0))
    rest = np.flatnonzero(~whole)
    if rest.size:
        flat[rest], residues[:, rest] = _of_others(flat[rest])
    return flat[places].reshape(values.shape), residues[:, places].reshape(3, *values.shape)


@lru_cache(maxsize=4096)
def _data_of_one(bits: bytes, _: Primes) -> Floats:
    """Return value and residues of one double, by its bits: -0 is not 0.

    Most constants are single numbers, and few: each is worked out once for the primes of now.
    """
    value, residues = numbers_of(np.frombuffer(bits, np.float64))
    return np.concatenate((value[np.newaxis], residues))


def _of_others(values: Floats) -> tuple[Floats, Floats]:
    top, bottom = fractions_of(values)
    simple = bottom > 0
    with np.errstate(all="ignore"):
        singles = values.astype(np.float32).astype(np.float64)
        in_range = np.isfinite(singles) & (singles != 0)
        exact = np.where(in_range, singles, values)
        fraction = np.where(simple, top / bottom, exact)
    mantissa, exponent = np.frexp(exact)
    numerator = np.where(simple, top, mantissa * 2.0**53)
    divisor = inverse(of_whole_numbers(np.where(simple, bottom, 1.0)))
    scale = np.where(simple, 1.0, _powers_of_two(np.where(simple, 0, exponent - 53)))
    product = reduce_in_place(of_whole_numbers(numerator) * divisor)
    return fraction, reduce_in_place(product * scale)


def _powers_of_two(exponents: NDArray[np.generic]) -> Floats:
    """Return the residues of 2^e."""
    flat, places = np.unique(exponents, return_inverse=True)
    powers = [[pow(2, int(each), prime) for each in flat] for prime in primes()]
    residues = reduce_in_place(np.array(powers, np.float64))
    return residues[:, places].reshape(3, *exponents.shape)


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
        if plain.size == 1:
            data = _data_of_one(plain.astype(np.float64).tobytes(), primes())
            data = data.reshape(4, *plain.shape).copy()
        else:
            value, residues = numbers_of(plain)
            data = np.concatenate((value[np.newaxis], residues))
        floats = plain.dtype if plain.dtype.kind == "f" else np.dtype(np.float64)
        return Numbers(data, dtype or floats)

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
    def is_dense(self) -> bool:
        """Whether the numbers lie one after the other, in C order, as far apart as they may be."""
        sizes_and_strides = zip(self.shape, self.value.strides, strict=True)
        wide = [(size, stride) for size, stride in sizes_and_strides if size != 1]
        step = wide[-1][1] if wide else 0
        return all(
            stride == step * prod(size for size, _ in wide[axis + 1 :])
            for axis, (_, stride) in enumerate(wide)
        )

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
        return np.where(current().equals(self.data, nearest), nearest, self.value)

    def is_zero(self) -> NDArray[np.bool_]:
        """Return which numbers are 0: residues say it, whatever rounding did to the values."""
        return np.isfinite(self.value) & current().equals(self.data, np.zeros(()))

    def words(self) -> Words:
        """Return a word for each number; equal numbers have equal words."""
        return current().words(self.data)

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
        # No view, of one element either: what is loaded stays as it is when memory is written.
        return Numbers(np.take(self.data.reshape(4, -1), self._places(index), 1), self.dtype)

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
        found.extend(
            [int(each)] if isinstance(each, int | SupportsIndex) else [int(v) for v in each]
        )
    return found


def _is_basic(key: tuple[BasicIndex | Array, ...]) -> TypeGuard[tuple[BasicIndex, ...]]:
    """Whether an index is made of numbers, slices and new axes alone, so that it makes a view."""
    return all(
        each is None
        or each is Ellipsis
        or isinstance(each, slice)
        or isinstance(each, int)  # which most are: to look for a protocol takes longer
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


# Arrays that an interpreted op makes: exact numbers for floats, plain arrays for all else.


def is_float(dtype: np.dtype[np.generic]) -> bool:
    """Whether a dtype is one of floats, bfloat16 included."""
    return dtype.kind in "fV" or dtype.name == "bfloat16"


def filled(shape: Sequence[int], fill: Array | float, dtype: np.dtype[np.generic]) -> Array:
    """Return an array of one number."""
    plain = np.full(shape, fill, dtype)
    return as_array(Numbers.constants(plain, dtype)) if is_float(dtype) else plain


def unwritten(type: Attribute, sizes: Sequence[Array] = ()) -> Array:
    """Return an array of a type that nothing was written to, of given sizes where it is dynamic."""
    plain = fresh_array(type, sizes)
    dtype = dtype_of(type)
    return as_array(Numbers.unwritten(plain.shape, dtype)) if is_float(dtype) else plain


def constant(value: Attribute, type: Attribute) -> Array:
    """Return what a constant attribute stands for."""
    plain = attribute_value(value, type)
    dtype = dtype_of(type)
    return as_array(Numbers.constants(plain, dtype)) if is_float(dtype) else plain
