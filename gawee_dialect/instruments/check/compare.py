"""How far the arrays of two runs are apart, and how far they may be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES, Numerics

DEFAULT_RTOL = {"float16": 2**-5, "float32": 2**-14, "float64": 2**-43}
"""How far reassociation may move an element, as a part of its array's largest magnitude.

A sum of n products in another order is off by some sqrt(n) roundings, 70 for the largest
convolutions, and every layer adds its own. Whole networks in float32 measure up to 80 roundings;
512 are allowed, also in float64, and 32 in float16, whose sums can't be as long. A wrong axis, bias
or stride is off by thousands and more.
"""


@dataclass(frozen=True)
class Tolerance:
    """What counts as equal: the declared numerics, and bounds that replace the defaults.

    `rtol` is a part of the largest finite magnitude of the expected array; by default DEFAULT_RTOL.
    `atol` is absolute; by default one rounding at 1, about where seeded data are.
    """

    allowed: tuple[Numerics, ...]
    """What an element may obey any of: several passes may lie between two runs."""

    rtol: float | None = None
    atol: float | None = None
    explained: float = 0.0
    """How far rounding at each op may have moved an element, where that is known."""

    finite: bool = False
    """Whether only what was finite counts: where an infinity comes up, order decides on NaN."""

    @property
    def text(self) -> str:
        """What is allowed, as text: `exact or reassociates`."""
        return " or ".join(map(str, self.allowed))

    @property
    def with_roundings(self) -> "Tolerance":
        """The tolerance where it is unknown how far approximations at each op add up.

        That is as much as roundings may; what a user allows stays as it is.
        """
        if self.rtol is not None or self.atol is not None or REASSOCIATES in self.allowed:
            return self
        return replace(self, allowed=(*self.allowed, REASSOCIATES))

    @property
    def of_digits_of_f32(self) -> "Tolerance":
        """What is allowed of outputs that were computed of numbers rounded to f32, f64 or not."""
        return self if self.rtol is not None else replace(self, rtol=DEFAULT_RTOL["float32"])

    def wrong(self, actual: Array, expected: Array) -> NDArray[np.bool_]:
        """Return where two arrays of one shape and dtype differ by more than is allowed.

        Integers and bits have no rounding: they are equal or wrong, whatever is declared.
        """
        different = ~same_values(actual, expected)
        if self.finite and expected.dtype.kind == "f":
            different &= np.isfinite(expected)
        if expected.dtype.kind != "f" or not different.any():
            return different
        for numerics in self.allowed:
            different &= ~self._near(actual, expected, numerics)
        return different

    def _near(self, actual: Array, expected: Array, numerics: Numerics) -> NDArray[np.bool_]:
        """Return where different floats are as near as one kind of numerics allows."""
        if numerics == EXACT:
            return np.zeros(expected.shape, np.bool_)
        distance = absolute_difference(actual, expected)
        with np.errstate(invalid="ignore"):
            if numerics.ulp is None:
                return distance <= max(self._bound(expected), self.explained)
            near = distance <= max(self.atol or 0.0, self.explained)
        finite = np.isfinite(actual) & np.isfinite(expected)
        return near | (finite & (ulp_distance(actual, expected) <= np.uint64(numerics.ulp)))

    def _bound(self, expected: Array) -> float:
        dtype = expected.dtype.name
        rtol = DEFAULT_RTOL[dtype] if self.rtol is None else self.rtol
        atol = float(np.finfo(dtype).eps) if self.atol is None else self.atol
        return atol + rtol * magnitude(expected)


def magnitude(array: Array) -> float:
    """Return the largest finite magnitude in an array, 0 where it has none."""
    finite = array[np.isfinite(array)].astype(np.float64)
    return float(np.abs(finite).max(initial=0))


def same_values(actual: Array, expected: Array) -> NDArray[np.bool_]:
    """Return where two arrays are equal: -0.0 equals 0.0, and any NaN any other."""
    equal = np.asarray(actual == expected)
    if expected.dtype.kind != "f":
        return equal
    return equal | (np.isnan(actual) & np.isnan(expected))


def absolute_difference(actual: Array, expected: Array) -> NDArray[np.float64]:
    """Return |actual - expected| in float64, 0 where equal, NaN where one of the two is."""
    with np.errstate(invalid="ignore"):  # a signalling NaN would warn
        left, right = actual.astype(np.float64), expected.astype(np.float64)
        distance = np.abs(left - right)
    return np.where(same_values(actual, expected), 0.0, distance)


def ulp_distance(actual: Array, expected: Array) -> NDArray[np.uint64]:
    """Return how many floats of the dtype lie between two numbers: 0 for equal, also 0 and -0.0.

    An infinity is the number after the largest; what a NaN is away from a number means nothing.
    """
    left, right = _rank(actual), _rank(expected)
    low, high = np.minimum(left, right), np.maximum(left, right)
    # Numbers of opposite signs may be further apart than int64 can say: uint64 wraps back.
    return high.view(np.uint64) - low.view(np.uint64)


def _rank(array: Array) -> NDArray[np.int64]:
    """Number the floats in order, from the most negative on, both zeros being 0."""
    width = array.dtype.itemsize
    bits = np.atleast_1d(array).view(f"i{width}").astype(np.int64)
    lowest = np.int64(-(2 ** (8 * width - 1)))
    return np.where(bits < 0, lowest - bits, bits).reshape(array.shape)


@dataclass(frozen=True)
class Difference:
    """Where an array is furthest from what was expected, both values, and how far.

    `ulp` is the largest distance in units in the last place, anywhere in the array; it is None for
    integers, and where a NaN or an infinity stands against a number.
    """

    index: tuple[int, ...]
    actual: np.generic
    expected: np.generic
    absolute: float
    magnitude: float
    """The largest finite magnitude of what was expected."""

    ulp: int | None
    is_wrong: bool

    @property
    def at(self) -> str:
        """The index as text, empty for a scalar."""
        return f" at [{', '.join(map(str, self.index))}]" if self.index else ""

    @property
    def relative(self) -> float:
        """The largest difference as a part of the largest magnitude."""
        return self.absolute / self.magnitude if self.magnitude > 0 else self.absolute

    @property
    def size(self) -> str:
        """The largest differences as text: `0.25 (4194304 ulp)`."""
        ulp = "" if self.ulp is None else f" ({self.ulp} ulp)"
        return f"{self.absolute:.3g}{ulp}"


def compare(actual: Array, expected: Array, tolerance: Tolerance) -> Difference | None:
    """Compare arrays of one shape and dtype; None where every element is the same."""
    if same_values(actual, expected).all():
        return None
    distance = absolute_difference(actual, expected)
    wrong = tolerance.wrong(actual, expected)
    # The worst of the wrong elements; NaN is worse than any number.
    ranked = np.where(np.isnan(distance), np.inf, distance)
    if wrong.any():
        ranked = np.where(wrong, ranked, -1.0)
    worst = np.unravel_index(int(np.argmax(ranked)), ranked.shape)
    index = tuple(int(axis) for axis in worst)
    return Difference(
        index,
        actual[index],
        expected[index],
        float(distance[index]),
        magnitude(expected),
        _largest_ulp(actual, expected),
        bool(wrong.any()),
    )


def _largest_ulp(actual: Array, expected: Array) -> int | None:
    if expected.dtype.kind != "f":
        return None
    finite = np.isfinite(actual) & np.isfinite(expected)
    if not (finite | same_values(actual, expected)).all():
        return None
    return int(ulp_distance(actual, expected)[finite].max(initial=0))


def type_text(array: Array) -> str:
    """Return an array's shape and dtype as one word: `2x3xfloat32`."""
    return "x".join((*map(str, array.shape), array.dtype.name))


def changed_signature(
    actual: Mapping[str, Array], expected: Mapping[str, Array]
) -> tuple[str, str] | None:
    """Return the outputs as text, expected and actual, where names, shapes or dtypes differ."""
    texts = [
        ", ".join(f"'{name}': {type_text(array)}" for name, array in outputs.items()) or "none"
        for outputs in (expected, actual)
    ]
    return (texts[0], texts[1]) if texts[0] != texts[1] else None
