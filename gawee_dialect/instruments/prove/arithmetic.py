"""What functions of elements compute, exactly.

1. Sums, products and quotients are those of the rational numbers, modulo the primes. So every
   identity of them holds, such as x * (1 / y) = x / y, whatever the order of what is rounded.
2. Maxima and minima are one of their operands, the one that the values say. Of values that
   rounding may have turned round the residues say it.
3. What makes a whole number of a number goes by the value: floor, sign, comparisons.
4. Other functions are not interpreted: the same function of the same number is the same, and
   nothing else is known, but for what `functions.py` derives from another.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.instruments.prove.numbers import REDUCTIONS, UFUNCS, Numbers, broadcast, numbers
from gawee_dialect.instruments.prove.residues import (
    Floats,
    Function,
    current,
    of_whole_numbers,
)
from gawee_dialect.interpreter.arrays import Array

SPLIT = 2.0**27 + 1
"""What splits a float64 into 26 leading bits, and others that rounding may have turned."""

Bits: TypeAlias = NDArray[np.bool_]
Unary: TypeAlias = Callable[[Numbers], object]


def result_dtype(*operands: Numbers) -> np.dtype[np.generic]:
    """Return the widest of the operands' dtypes."""
    return max((each.dtype for each in operands), key=lambda dtype: dtype.itemsize)


def made(value: Floats, residues: Floats, dtype: np.dtype[np.generic]) -> Numbers:
    """Put values and residues together."""
    return Numbers(np.concatenate((value[np.newaxis], residues)), dtype)


def exactly(value: Floats, dtype: np.dtype[np.generic]) -> Numbers:
    """Return the whole numbers that values are."""
    return made(np.asarray(value), of_whole_numbers(np.asarray(value)), dtype)


def _dtype(lhs: object, rhs: object) -> np.dtype[np.generic]:
    exact = [each for each in (lhs, rhs) if isinstance(each, Numbers)]
    return result_dtype(*exact)


def _linear(function: Function) -> Callable[..., Numbers]:
    def compute(lhs: object, rhs: object) -> Numbers:
        data = current().linear(function, *broadcast(numbers(lhs), numbers(rhs)))
        return Numbers(data, _dtype(lhs, rhs))

    return compute


add = _linear(np.add)
subtract = _linear(np.subtract)
multiply = _linear(np.multiply)


MINUS_ONE = Numbers.constants(np.full((), -1.0), np.dtype(np.float16))
"""Of the narrowest type, so that a product has that of the other factor."""


def negative(input: Numbers) -> Numbers:
    """Compute -x."""
    return multiply(input, MINUS_ONE)


def reciprocal(input: Numbers) -> Numbers:
    """Compute 1 / x; that of what is not finite has residue 0, as it has itself."""
    with np.errstate(all="ignore"):
        value = 1 / _with_zeros(input)
    finite = np.where(np.isfinite(input.value), input.residues, 0.0)
    residues = current().reciprocals(finite)
    return made(value, residues, input.dtype)


def _with_zeros(input: Numbers) -> Floats:
    """Return values, 0 of the number 0: what roundings leave of a difference decides no NaN."""
    return np.where(input.is_zero(), 0.0, input.value)


def divide(lhs: object, rhs: object) -> Numbers:
    """Compute x / y."""
    left, right = numbers(lhs), numbers(rhs)
    result = multiply(left, reciprocal(right))
    with np.errstate(all="ignore"):
        value = np.divide(_with_zeros(left), _with_zeros(right))
    result.data[0] = value
    result.dtype = _dtype(lhs, rhs)
    return result


def chosen(condition: Array | Bits, lhs: object, rhs: object) -> Numbers:
    """Return numbers of one operand where a condition holds, of the other elsewhere."""
    left, right = numbers(lhs), numbers(rhs)
    rank = max(np.ndim(condition), left.ndim, right.ndim)
    data = [each.reshape(*(1,) * (rank - each.ndim), *each.shape).data for each in (left, right)]
    where = np.asarray(condition).astype(np.bool_)
    return Numbers(np.where(where, *data), _dtype(lhs, rhs))


def _in_order(left: Numbers, right: Numbers) -> tuple[Floats, Floats]:
    """Return values to compare.

    Where values are too near to each other for floats to order them, the residues decide: the
    answer does not depend on the order in which the numbers were added up.
    Values are that near whose leading bits are equal; then the order of three is one, too.
    """
    x, y = np.broadcast_arrays(left.settled(), right.settled())
    near = (_leading(x) == _leading(y)) | subtract(left, right).is_zero()
    near &= np.isfinite(x) & np.isfinite(y)
    if not near.any():
        return x, y
    ranks = (current().rank(each.data) for each in (left, right))
    first, second = (np.where(near, *each) for each in zip(ranks, (x, y), strict=True))
    return first, second


def ordinals(input: Numbers) -> Floats:
    """Return whole numbers in the order that comparisons say the numbers have; NaN of NaN."""
    words, places = np.unique(input.words(), return_inverse=True)
    values = np.full(words.size, np.nan)
    np.fmax.at(values, places.reshape(-1), input.settled().reshape(-1))  # equal ones have one value
    value = values[places].reshape(-1)
    leading = _leading(value)
    keys = (
        np.where(np.isfinite(leading), leading, value),
        np.where(np.isfinite(value), current().rank(input.data).reshape(-1), 0.0),
    )
    order = np.lexsort(keys[::-1])
    larger = np.zeros(input.size, np.bool_)
    for key in keys:
        larger[1:] |= key[order][1:] != key[order][:-1]
    result = np.empty(input.size)
    result[order] = np.cumsum(larger)
    return np.where(np.isnan(value), np.nan, result).reshape(input.shape)


def _leading(value: Floats) -> Floats:
    """Round to 26 bits, as Dekker splits a float; what is next to an infinity becomes NaN."""
    scaled = value * SPLIT
    return scaled - (scaled - value)


def _choice(is_left: Callable[[Floats, Floats], Bits]) -> Callable[..., Numbers]:
    def compute(lhs: object, rhs: object) -> Numbers:
        left, right = numbers(lhs), numbers(rhs)
        result = chosen(is_left(*_in_order(left, right)), left, right)
        result.dtype = _dtype(lhs, rhs)
        return result

    return compute


maximum = _choice(lambda lhs, rhs: (lhs >= rhs) | np.isnan(lhs))
minimum = _choice(lambda lhs, rhs: (lhs <= rhs) | np.isnan(lhs))
fmax = _choice(lambda lhs, rhs: (lhs >= rhs) | np.isnan(rhs))
fmin = _choice(lambda lhs, rhs: (lhs <= rhs) | np.isnan(rhs))


def absolute(input: Numbers) -> Numbers:
    """Compute |x|."""
    return chosen(input.value < 0, negative(input), input)


def copysign(lhs: object, rhs: object) -> Numbers:
    """Return |x| with the sign of another number."""
    size = absolute(numbers(lhs))
    result = chosen(np.signbit(numbers(rhs).value), negative(size), size)
    result.dtype = _dtype(lhs, rhs)
    return result


def _whole(function: np.ufunc) -> Unary:
    """Say that a function's results are whole numbers, which the values hold."""

    def compute(input: Numbers) -> Numbers:
        return exactly(np.asarray(function(input.settled()), np.float64), input.dtype)

    return compute


def _by_value(function: np.ufunc) -> Unary:
    """Say that a function's results are bits, which the values hold."""

    def compute(input: Numbers) -> object:
        return function(input.value)

    return compute


def floor_divide(lhs: object, rhs: object) -> Numbers:
    """Compute floor(x / y)."""
    return exactly(np.floor(divide(lhs, rhs).settled()), _dtype(lhs, rhs))


def remainder(lhs: object, rhs: object) -> Numbers:
    """Compute x - floor(x / y) * y."""
    return subtract(lhs, multiply(floor_divide(lhs, rhs), rhs))


def fmod(lhs: object, rhs: object) -> Numbers:
    """Compute x - trunc(x / y) * y."""
    quotient = exactly(np.trunc(divide(lhs, rhs).settled()), _dtype(lhs, rhs))
    return subtract(lhs, multiply(quotient, rhs))


def matmul(lhs: object, rhs: object) -> Numbers:
    """Multiply matrices."""
    left, right = numbers(lhs), numbers(rhs)
    if left.ndim == 1:
        product = matmul(left.reshape(1, -1), right)
        return product.squeeze(-2)
    rank = max(left.ndim, right.ndim)
    operands = [each.reshape(*(1,) * (rank - each.ndim), *each.shape) for each in (left, right)]
    a, b = (np.ascontiguousarray(each.data) for each in operands)
    return Numbers(current().matmul(a, b), _dtype(lhs, rhs))


def _axes(rank: int, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(each % rank for each in axes)


def total(
    input: Numbers,
    axis: int | tuple[int, ...] | None = 0,
    keepdims: bool = False,
    initial: object = None,
) -> Numbers:
    """Add up along axes."""
    axes = tuple(each + 1 for each in _axes(input.ndim, axis))
    summed = partial(np.sum, axis=axes, keepdims=keepdims)
    largest = partial(np.max, axis=axes, keepdims=keepdims, initial=0.0)
    result = Numbers(current().added(input.data, summed, largest), input.dtype)
    return result if initial is None else add(result, initial)


def _along(combine: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """Reduce by halves, along all axes at once, by a function of two numbers."""

    def compute(
        input: Numbers,
        axis: int | tuple[int, ...] | None = 0,
        keepdims: bool = False,
        initial: object = None,
    ) -> Numbers:
        axes = _axes(input.ndim, axis)
        others = [dim for dim in range(input.ndim) if dim not in axes]
        kept = [input.shape[dim] for dim in others]
        rest = input.transpose([*axes, *others]).reshape(-1, *kept)
        result = _halved(rest, combine, initial)
        if not keepdims:
            return result.reshape(kept)
        return result.reshape([1 if dim in axes else size for dim, size in enumerate(input.shape)])

    return compute


def _halved(rest: Numbers, combine: Callable[..., Numbers], initial: object) -> Numbers:
    while rest.shape[0] > 1:
        half = rest.shape[0] // 2
        joined = combine(rest[:half], rest[half : 2 * half])
        odd = rest[2 * half :]
        rest = Numbers(np.concatenate((joined.data, odd.data), axis=1), rest.dtype)
    if rest.shape[0] == 0:
        if initial is None:
            raise TypeError("no exact meaning of a reduction of nothing")
        shape = rest.shape[1:]
        return Numbers(np.zeros((4, *shape)), rest.dtype) + initial
    return rest[0] if initial is None else combine(rest[0], initial)


def _compared(function: np.ufunc) -> Callable[[object, object], object]:
    def compute(lhs: object, rhs: object) -> object:
        return function(*_in_order(numbers(lhs), numbers(rhs)))

    return compute


def _logical_not(input: Numbers) -> object:
    return np.logical_not(input.settled())


def _of_truth(function: np.ufunc) -> Callable[[object, object], object]:
    def compute(lhs: object, rhs: object) -> object:
        return function(numbers(lhs).settled(), numbers(rhs).settled())

    return compute


def square(input: Numbers) -> Numbers:
    """Compute x * x."""
    return multiply(input, input)


UFUNCS.update(
    {
        np.add: add,
        np.subtract: subtract,
        np.multiply: multiply,
        np.divide: divide,
        np.negative: negative,
        np.reciprocal: reciprocal,
        np.square: square,
        np.absolute: absolute,
        np.fabs: absolute,
        np.copysign: copysign,
        np.maximum: maximum,
        np.minimum: minimum,
        np.fmax: fmax,
        np.fmin: fmin,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.fmod: fmod,
        np.matmul: matmul,
        np.floor: _whole(np.floor),
        np.ceil: _whole(np.ceil),
        np.trunc: _whole(np.trunc),
        np.rint: _whole(np.rint),
        np.sign: _whole(np.sign),
        np.isnan: _by_value(np.isnan),
        np.isinf: _by_value(np.isinf),
        np.isfinite: _by_value(np.isfinite),
        np.signbit: _by_value(np.signbit),
        np.logical_not: _logical_not,
    }
)
UFUNCS.update(
    {
        each: _compared(each)
        for each in (
            *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
        )
    }
)
UFUNCS.update({each: _of_truth(each) for each in (np.logical_and, np.logical_or, np.logical_xor)})
REDUCTIONS.update(
    {
        np.add: total,
        np.multiply: _along(multiply),
        np.maximum: _along(maximum),
        np.minimum: _along(minimum),
        np.fmax: _along(fmax),
        np.fmin: _along(fmin),
    }
)
