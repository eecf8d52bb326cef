"""How far two arrays are apart, and what each kind of numerics allows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.instruments.check.compare import (
    DEFAULT_RTOL,
    Difference,
    Tolerance,
    compare,
    ulp_distance,
)
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES, Numerics, approximates


def is_wrong(
    actual: NDArray[np.generic], expected: NDArray[np.generic], *allowed: Numerics
) -> bool:
    found = differ(actual, expected, *allowed)
    assert found is not None
    return found.is_wrong


def f32(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def differ(
    actual: NDArray[np.generic], expected: NDArray[np.generic], *allowed: Numerics
) -> Difference | None:
    return compare(actual, expected, Tolerance(allowed))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ulp_distance_counts_the_numbers_between(dtype: type[np.floating]) -> None:
    one = np.array([1, -1, 0, 0, np.finfo(dtype).max], dtype)
    with np.errstate(over="ignore"):
        upward = np.nextafter(one, np.array(np.inf, dtype))
    smallest = np.nextafter(np.array(0, dtype), np.array(1, dtype))

    assert ulp_distance(upward, one).tolist() == [1] * 5
    assert ulp_distance(np.array([smallest]), np.array([-smallest])).tolist() == [2]
    assert ulp_distance(np.array([-0.0], dtype), np.array([0.0], dtype)).tolist() == [0]


def test_ulp_distance_of_opposite_signs_does_not_overflow() -> None:
    largest = np.finfo(np.float64).max

    (distance,) = ulp_distance(np.array([largest]), np.array([-largest])).tolist()

    # The bits of the largest number are 0x7fef_ffff_ffff_ffff, counted from zero on each side.
    assert distance == 2 * 0x7FEF_FFFF_FFFF_FFFF


def test_exact_takes_zeros_and_nans_for_equal() -> None:
    other_nan = np.array([0x7FC00001, 0], np.uint32).view(np.float32)

    assert differ(f32(-0.0, np.nan, np.inf), f32(0.0, np.nan, np.inf), EXACT) is None
    assert differ(other_nan, f32(np.nan, 0), EXACT) is None


def test_exact_refuses_the_next_number() -> None:
    found = differ(np.nextafter(f32(1, 2), f32(9, 2)), f32(1, 2), EXACT)

    assert found is not None
    assert found.is_wrong
    assert (found.index, found.ulp) == ((0,), 1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_reassociation_is_measured_against_the_largest_magnitude(dtype: str) -> None:
    expected = np.array([0.001, 100.0, np.inf], dtype)
    bound = 100 * DEFAULT_RTOL[dtype]

    inside = differ(expected + np.array([0.9 * bound, 0, 0], dtype), expected, REASSOCIATES)
    outside = differ(expected + np.array([1.5 * bound, 0, 0], dtype), expected, REASSOCIATES)

    assert inside is not None
    assert not inside.is_wrong
    assert outside is not None
    assert outside.is_wrong


def test_approximation_is_measured_element_by_element() -> None:
    expected = f32(0.001, 100)
    nearby = np.nextafter(np.nextafter(expected, f32(1, 1)), f32(1, 1))

    assert not is_wrong(nearby, expected, approximates(2))
    assert is_wrong(nearby, expected, approximates(1))
    # 1e-6 is nothing beside 100, and thousands of numbers away from 0.001.
    assert is_wrong(f32(0.001001, 100), expected, approximates(2))


@pytest.mark.parametrize("numerics", [REASSOCIATES, approximates(1000)], ids=str)
@pytest.mark.parametrize(
    ("actual", "expected"), [(np.nan, 1), (1, np.nan), (np.inf, 1), (1, -np.inf)]
)
def test_nan_or_infinity_against_a_number_is_wrong(
    numerics: Numerics, actual: float, expected: float
) -> None:
    found = differ(f32(2, actual), f32(2, expected), numerics)

    assert found is not None
    assert found.is_wrong
    assert found.index == (1,)
    assert found.ulp is None


@pytest.mark.parametrize("numerics", [EXACT, REASSOCIATES, approximates(5)], ids=str)
def test_integers_and_bits_are_equal_or_wrong(numerics: Numerics) -> None:
    integers = np.array([1000, 1001], np.int32)

    found = differ(integers + np.array([0, 1], np.int32), integers, numerics)

    assert found is not None
    assert found.is_wrong
    assert found.size == "1"
    assert is_wrong(np.array([True]), np.array([False]), numerics)


def test_any_of_several_kinds_will_do() -> None:
    expected, actual = f32(0.001, 100), f32(0.001001, 100)

    assert not is_wrong(actual, expected, EXACT, REASSOCIATES)
    assert Tolerance((EXACT, REASSOCIATES)).text == "exact or reassociates"


def test_bounds_of_the_user_take_the_place_of_the_defaults() -> None:
    expected, actual = f32(1, 100), f32(1.5, 100)

    def wrong(numerics: Numerics, *, rtol: float | None = None, atol: float | None = None) -> bool:
        return bool(Tolerance((numerics,), rtol, atol).wrong(actual, expected).any())

    assert not wrong(REASSOCIATES, rtol=0.01)
    assert wrong(REASSOCIATES, rtol=0.001)
    assert not wrong(REASSOCIATES, rtol=0, atol=0.5)
    assert not wrong(approximates(1), atol=0.5)
    assert wrong(EXACT, rtol=1, atol=1)
