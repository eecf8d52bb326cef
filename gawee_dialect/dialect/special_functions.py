"""Functions of arrays that NumPy lacks, as NumPy would have them.

Where a scalar function is not said to be otherwise, it is elementwise, keeps the dtype, and hands
NaN on. Nothing here warns: callers decide what overflow means.
"""

from typing import TypeAlias

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from gawee_dialect.dialect.arrays import sum_along

Array: TypeAlias = NDArray[np.generic]

ERF_SATURATES = 6.0
"""From here on erf is 1 in double precision."""

ERF_NEAR_ZERO = (
    *(0.97547693938265409598, -0.14226120510371364238, 0.010035582187599795576),
    *(-5.7687646997674847651e-4, 2.7419931252196061034e-5, -1.1043175507344507604e-6),
    *(3.848875542034503695e-8, -1.180858253387546697e-9, 3.2334215826050909646e-11),
    *(-7.9910159470045487582e-13, 1.7990725113961455612e-14, -3.7186354878186926382e-16),
)
"""Chebyshev series of erf(x) / x in the square of x, from 0 to 1."""

ERFCX = (
    *(0.24078150322816145472, 0.16603573437134461385, 0.01937548512710410963),
    *(1.3725838866457217045e-3, 2.3301617872657464271e-5, -4.8424394560153620961e-6),
    *(-2.1925049177302585214e-7, 2.8603646284729238296e-8, 1.2581149611360461066e-9),
    *(-2.4685801467325005437e-10, -2.4941448378884750046e-12, 2.3295004504759955509e-12),
    *(-9.6802017756041023512e-14, -1.7796924050450159347e-14, 2.2446258610059347217e-15),
    *(2.9106217488718164982e-17, -2.844418377130669822e-17),
)
"""Chebyshev series of exp(x * x) * (1 - erf(x)) in 1 / (x + 2), for x from 1 to 6."""


def erf(input: Array) -> Array:
    """Compute the error function in double precision, within 2 units in the last place."""
    value = input.astype(np.float64)
    magnitude = np.minimum(np.abs(value), ERF_SATURATES)
    square = np.square(magnitude)
    near = magnitude * _series(ERF_NEAR_ZERO, np.minimum(square, 1.0), 0.0, 1.0)
    position = 1 / (np.maximum(magnitude, 1.0) + 2)
    far = 1 - np.exp(-square) * _series(ERFCX, position, 1 / 8, 1 / 3)
    return np.copysign(np.where(magnitude < 1, near, far), value).astype(input.dtype)


def _series(
    coefficients: tuple[float, ...], value: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    scaled = (2 * value - (low + high)) / (high - low)
    return np.asarray(chebval(scaled, coefficients), np.float64)


def sign(input: Array) -> Array:
    """Compute -1, 0 or 1; NaN gives 0."""
    above, below = np.greater(input, 0), np.less(input, 0)
    return np.subtract(above.astype(np.int8), below.astype(np.int8)).astype(input.dtype)


def power(lhs: Array, rhs: Array) -> Array:
    """Raise to a power; integers wrap around, and a negative power is 0 except of 1 and -1."""
    if np.issubdtype(lhs.dtype, np.floating):
        return np.power(lhs, rhs)
    result = np.power(lhs, np.maximum(rhs, 0).astype(rhs.dtype))
    odd = np.equal(np.bitwise_and(rhs, rhs.dtype.type(1)), 1)
    minus = np.where(odd, np.negative(np.ones_like(lhs)), lhs.dtype.type(1))
    inverse = np.where(np.equal(lhs, 1), lhs, np.where(np.equal(lhs, -1), minus, 0))
    return np.where(np.less(rhs, 0), inverse, result).astype(lhs.dtype)


def converted(input: Array, dtype: str) -> Array:
    """Convert to a dtype by its name; to bool "is not zero", float to a small integer by int32."""
    if dtype == "bool":
        return np.not_equal(input, 0)
    if (
        np.dtype(dtype).itemsize < 4
        and np.dtype(dtype).kind in "iu"
        and np.issubdtype(input.dtype, np.floating)
    ):
        return input.astype(np.int32).astype(dtype)
    return input.astype(dtype)


def sigmoid(input: Array) -> Array:
    """Compute 1 / (1 + exp(-x))."""
    return np.divide(1, np.add(1, np.exp(np.negative(input))))


def rsqrt(input: Array) -> Array:
    """Compute 1 / sqrt(x)."""
    return np.divide(1, np.sqrt(input))


def relu(input: Array) -> Array:
    """Compute max(x, 0)."""
    return np.maximum(input, 0)


def softmax(input: Array, axis: int) -> Array:
    """Compute exp(x) over its sum along an axis, the greatest element subtracted first."""
    raised = np.exp(np.subtract(input, np.max(input, axis=axis, keepdims=True, initial=-np.inf)))
    return np.divide(raised, sum_along(raised, axis))


def remainder(lhs: Array, rhs: Array) -> Array:
    """Return what a division rounded down leaves; a zero has the dividend's sign, as PyTorch's."""
    rest = np.remainder(lhs, rhs)
    if rest.dtype.kind != "f":
        return rest
    return np.where(np.equal(rest, 0), np.copysign(rest, lhs), rest)
