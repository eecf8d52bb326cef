"""What is claimed of measurements, on samples whose truth is known: seeded noise, as machines have it."""

import numpy as np
import pytest

from gawee_dialect.evaluation.statistics import (
    FLOOR,
    Ratio,
    holm,
    noise_of,
    permutation_p,
    typical,
)

ROUNDS = 9


def machine(generator: np.random.Generator, rounds: int = ROUNDS) -> np.ndarray:
    """How much slower each round is: a slow drift of 3 %, and now and then a burst of 20 %."""
    drift = 0.03 * np.sin(np.linspace(0, 2, rounds) + generator.uniform(0, 6))
    bursts = 0.2 * (generator.random(rounds) < 0.05)
    return 1 + drift + bursts


def measured(generator: np.random.Generator, seconds: float, shared: np.ndarray) -> np.ndarray:
    """A round is the median of its runs, whose own noise is 1 % of a lognormal."""
    return seconds * shared * np.exp(0.01 * generator.standard_normal(len(shared)))


def pair(generator: np.random.Generator, slower: float) -> Ratio:
    shared = machine(generator)
    return Ratio.of_pairs(
        measured(generator, 0.01, shared).tolist(),
        measured(generator, 0.01 * slower, shared).tolist(),
    )


def test_the_same_build_differs_by_less_than_the_noise_in_19_of_20_repetitions() -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):  # twenty times twenty repetitions
        within = [
            abs(each.value - 1) <= each.noise for each in (pair(generator, 1) for _ in range(20))
        ]
        assert sum(within) >= 19


def test_what_is_5_percent_slower_is_told_apart_and_what_changes_nothing_is_not() -> None:
    generator = np.random.default_rng(2)
    slower = [pair(generator, 1.05) for _ in range(200)]
    same = [pair(generator, 1.0) for _ in range(200)]

    assert sum(each.is_different and each.value > 1 for each in slower) >= 190
    assert sum(each.is_different for each in same) <= 6  # 1 % are expected
    assert np.median([each.value for each in slower]) == pytest.approx(1.05, abs=0.002)


def test_the_noise_of_one_measurement_covers_another_one_on_a_steady_machine() -> None:
    generator = np.random.default_rng(3)
    steady = np.ones(ROUNDS)
    within = 0
    for _ in range(400):
        first, second = (measured(generator, 0.02, steady).tolist() for _ in range(2))
        within += abs(typical(second) / typical(first) - 1) <= noise_of(first)

    assert within / 400 >= 0.95


def test_noise_is_never_less_than_the_floor_and_unknown_of_one_round() -> None:
    assert noise_of([1.0, 1.0, 1.0]) == FLOOR
    assert noise_of([1.0]) == float("inf")
    assert not Ratio.of_pairs([1.0], [2.0]).is_different
    assert Ratio.of_pairs([1.0] * 5, [2.0] * 5).is_different
    assert not Ratio.of_pairs([1.0] * 5, [1.004] * 5).is_different


def test_one_disturbed_round_does_not_move_the_value() -> None:
    assert typical([2.0, 2.0, 2.0, 2.0, 9.0]) == pytest.approx(2.0)


def test_the_trimmed_interval_is_the_one_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(4).lognormal(0, 0.02, 11)
    cut = int(0.2 * len(values))
    logs = np.log(values)

    expected = stats.trim_mean(logs, 0.2)
    winsorized = np.asarray(stats.mstats.winsorize(logs, limits=(0.2, 0.2)))
    error = winsorized.std(ddof=1) / ((1 - 2 * cut / 11) * np.sqrt(11))
    ratio = Ratio.of_pairs([1.0] * 11, values.tolist())

    # Our table has Student's t with four digits.
    assert ratio.value == pytest.approx(np.exp(expected), rel=1e-9)
    assert np.log1p(ratio.noise) == pytest.approx(stats.t.ppf(0.995, 6) * error, rel=1e-3)


def test_samples_of_different_times_are_compared_with_both_noises() -> None:
    generator = np.random.default_rng(5)
    steady = np.ones(ROUNDS)
    first, same = (measured(generator, 0.01, steady).tolist() for _ in range(2))
    slower = measured(generator, 0.0105, steady).tolist()

    assert not Ratio.of_samples(first, same).is_different
    assert Ratio.of_samples(first, slower).is_different
    assert not Ratio.of_samples([1.0], slower).is_different
    assert Ratio.of_samples([1.0] * 5, [1.1] * 5).value == pytest.approx(1.1)


def test_permutations_tell_a_difference_from_chance() -> None:
    generator = np.random.default_rng(6)
    steady = np.ones(ROUNDS)
    first, same = (measured(generator, 0.01, steady).tolist() for _ in range(2))
    slower = measured(generator, 0.0105, steady).tolist()

    assert permutation_p(first, slower) < 0.001
    assert permutation_p(first, same) > 0.05
    assert permutation_p(first, slower) == permutation_p(first, slower)  # seeded


def test_of_many_tests_one_that_is_significant_alone_is_not_enough() -> None:
    assert holm([0.0001, 0.009, 0.5], 0.01) == [True, False, False]
    assert holm([0.5, 0.004, 0.0001], 0.01) == [False, True, True]
    assert holm([], 0.01) == []
