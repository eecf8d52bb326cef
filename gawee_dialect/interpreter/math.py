"""What the ops of the math dialect compute.

Functions that NumPy has are NumPy's, within a few units in the last place of the type.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import math
from xdsl.ir import Operation

from gawee_dialect.dialect.arrays import OtherNumbers
from gawee_dialect.dialect.special_functions import erf
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.scalars import Evaluate, plain, scalar_functions

# The least and the greatest of floats as IEEE 754-2019 has them: NaN is handed on, -0 is below 0.
#
# NumPy's functions hand on NaN too, and return either of two zeros.


class Extreme:
    """A function of two arrays, and of an array along axes, as NumPy's functions are."""

    def __init__(self, usual: np.ufunc, signs: np.ufunc) -> None:
        self._usual = usual
        self._signs: Final = signs
        """Whether a result of 0 is negative, by the signs of what it is the least or greatest of.

        Numbers beside the least, which is 0, have no sign; beside the greatest all have one.
        """

    def __call__(self, lhs: Array, rhs: Array) -> Array:
        result = self._usual(lhs, rhs)
        if not _has_zeros(result):
            return result
        return _signed(result, self._signs(np.signbit(lhs), np.signbit(rhs)))

    def reduce(
        self,
        array: Array,
        axis: Sequence[int],
        dtype: np.dtype[np.generic],
        keepdims: bool,
    ) -> Array:
        """Return the least or the greatest along axes."""
        axes = tuple(axis)
        result = self._usual.reduce(array, axis=axes, dtype=dtype, keepdims=keepdims)
        if not _has_zeros(result):
            return result
        signs = self._signs.reduce(np.signbit(array), axis=axes, keepdims=keepdims)
        return _signed(result, signs)


def _has_zeros(result: Array) -> bool:
    """Whether an array has zeros; what is not NumPy's says itself which zero is which."""
    return not isinstance(result, OtherNumbers) and not np.all(result)


def _signed(result: Array, is_negative: Array) -> Array:
    zeros = np.copysign(np.zeros_like(result), np.where(is_negative, -1, 1).astype(result.dtype))
    return np.where(result == 0, zeros, result)


minimum = Extreme(np.minimum, np.logical_or)
maximum = Extreme(np.maximum, np.logical_and)


def rsqrt(value: Array) -> Array:
    """Compute 1 / sqrt(x), rounded once for float32 and float16."""
    return np.divide(1.0, np.sqrt(value.astype(np.float64))).astype(value.dtype)


def fma(lhs: Array, rhs: Array, addend: Array) -> Array:
    """Compute lhs * rhs + addend, rounded once for float32 and float16.

    Their product is exact in double precision. The sum is made odd where it is inexact, which keeps
    the second rounding right. float64 is computed in NumPy's long double.
    """
    if lhs.dtype == np.float64:
        wide = np.multiply(lhs.astype(np.longdouble), rhs.astype(np.longdouble))
        return np.add(wide, addend.astype(np.longdouble)).astype(np.float64)
    product = np.multiply(lhs.astype(np.float64), rhs.astype(np.float64))
    return _sum_to_odd(product, addend.astype(np.float64)).astype(lhs.dtype)


def _sum_to_odd(lhs: NDArray[np.float64], rhs: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.add(lhs, rhs)
    part = np.subtract(total, lhs)
    error = np.add(np.subtract(lhs, np.subtract(total, part)), np.subtract(rhs, part))
    even = np.equal(np.bitwise_and(total.view(np.int64), 1), 0)
    nudged = np.nextafter(total, np.copysign(np.inf, error))
    inexact = np.logical_and(np.isfinite(total), np.not_equal(error, 0))
    return np.where(np.logical_and(inexact, even), nudged, total)


def round_half_away(value: Array) -> Array:
    """Round to the nearest integer, halves away from zero."""
    whole = np.trunc(value)
    half = np.greater_equal(np.abs(np.subtract(value, whole)), value.dtype.type(0.5))
    away = np.copysign(value.dtype.type(1), value)
    return np.where(half, np.add(whole, away), np.copysign(whole, value))


def integer_power(base: Array, power: Array) -> Array:
    """Raise a float to an integer power."""
    return np.power(base, power.astype(base.dtype))


MATH: dict[type[Operation], Evaluate] = {
    math.AbsFOp: plain(np.abs),
    math.AbsIOp: plain(np.abs),
    math.AcosOp: plain(np.arccos),
    math.AsinOp: plain(np.arcsin),
    math.AtanOp: plain(np.arctan),
    math.Atan2Op: plain(np.arctan2),
    math.CbrtOp: plain(np.cbrt),
    math.CeilOp: plain(np.ceil),
    math.CopySignOp: plain(np.copysign),
    math.CosOp: plain(np.cos),
    math.CoshOp: plain(np.cosh),
    math.ErfOp: plain(erf),
    math.ExpOp: plain(np.exp),
    math.Exp2Op: plain(np.exp2),
    math.ExpM1Op: plain(np.expm1),
    math.FloorOp: plain(np.floor),
    math.FmaOp: plain(fma),
    math.FPowIOp: plain(integer_power),
    math.LogOp: plain(np.log),
    math.Log10Op: plain(np.log10),
    math.Log1pOp: plain(np.log1p),
    math.Log2Op: plain(np.log2),
    math.PowFOp: plain(np.power),
    math.RoundOp: plain(round_half_away),
    math.RoundEvenOp: plain(np.rint),
    math.RsqrtOp: plain(rsqrt),
    math.SinOp: plain(np.sin),
    math.SinhOp: plain(np.sinh),
    math.SqrtOp: plain(np.sqrt),
    math.TanOp: plain(np.tan),
    math.TanhOp: plain(np.tanh),
    math.TruncOp: plain(np.trunc),
}
"""What every op computes; the results are rounded to the op's type."""

MathFunctions = scalar_functions("MathFunctions", MATH)
