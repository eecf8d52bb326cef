"""What rounds of measurements allow to say: a typical value, its noise, and what differs.

A round is one figure, such as the shortest run of one turn. Rounds are compared by their
logarithms, so that a difference is a ratio, and by Yuen's test: a fifth of the rounds is trimmed at
either end, since a disturbed round is far away (Yuen, The two-sample trimmed t for unequal
population variances, Biometrika 61, 1974).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.99
"""How often a stated interval holds what it should: of 20 repetitions one may fail at 0.95."""

TRIMMED = 0.2
"""The part of the rounds that does not count, at either end."""

FLOOR = 0.005
"""The least noise that is stated: where code and data happen to lie changes times by as much."""

QUANTILES = {
    1: 63.66,
    2: 9.925,
    3: 5.841,
    4: 4.604,
    5: 4.032,
    6: 3.707,
    7: 3.499,
    8: 3.355,
    9: 3.250,
    10: 3.169,
    12: 3.055,
    15: 2.947,
    20: 2.845,
    30: 2.750,
    60: 2.660,
}
"""Student's t at CONFIDENCE on both sides, by degrees of freedom."""

NORMAL_QUANTILE = 2.576
PERMUTATIONS = 20_000


def quantile(freedom: float) -> float:
    """Return Student's t for so many degrees of freedom, rounded up where the table has none."""
    known = [degrees for degrees in QUANTILES if degrees <= freedom]
    if not known:
        return QUANTILES[1]
    return NORMAL_QUANTILE if freedom > 1000 else QUANTILES[max(known)]


@dataclass(frozen=True)
class Typical:
    """The trimmed mean of logarithms, its standard error, and the degrees of freedom."""

    mean: float
    error: float
    freedom: int

    @staticmethod
    def of(logarithms: Sequence[float]) -> "Typical":
        """Summarise at least one number."""
        ordered = np.sort(np.asarray(logarithms, np.float64))
        count = len(ordered)
        cut = int(TRIMMED * count)
        kept = ordered[cut : count - cut]
        if count < 2:
            return Typical(float(kept.mean()), float("inf"), 0)
        winsorized = np.clip(ordered, kept[0], kept[-1])
        spread = float(winsorized.std(ddof=1))
        error = spread / ((1 - 2 * cut / count) * sqrt(count))
        return Typical(float(kept.mean()), error, len(kept) - 1)


@dataclass(frozen=True)
class Ratio:
    """How much larger one thing is than another: the ratio, and how far it may be off.

    `noise` is a part: the true ratio lies within `low` and `high` at CONFIDENCE.
    """

    value: float
    noise: float

    @property
    def low(self) -> float:
        """The least that the ratio may be."""
        return self.value / (1 + self.noise)

    @property
    def high(self) -> float:
        """The most that the ratio may be."""
        return self.value * (1 + self.noise)

    @property
    def is_different(self) -> bool:
        """Whether the difference is significant: 1 is not within the noise."""
        return not self.low <= 1 <= self.high

    @staticmethod
    def of_pairs(base: Sequence[float], other: Sequence[float]) -> "Ratio":
        """Return other / base of figures that were measured in the same rounds.

        What disturbed a round, or slows the machine for a while, has disturbed both.
        """
        pairs = zip(base, other, strict=True)
        found = Typical.of([log(b / a) for a, b in pairs])
        return Ratio(exp(found.mean), _noise(found.error, found.freedom))

    @staticmethod
    def of_samples(base: Sequence[float], other: Sequence[float]) -> "Ratio":
        """Return other / base of figures that were measured at different times."""
        first, second = (Typical.of([log(each) for each in values]) for values in (base, other))
        variances = first.error**2, second.error**2
        error = sqrt(sum(variances))
        return Ratio(exp(second.mean - first.mean), _noise(error, _welch(first, second)))


def _welch(first: Typical, second: Typical) -> float:
    """Return the degrees of freedom of a difference of means with unequal variances."""
    if min(first.freedom, second.freedom) == 0:
        return 0
    variances = [each.error**2 for each in (first, second)]
    if sum(variances) == 0:
        return min(first.freedom, second.freedom)
    parts = zip(variances, (first, second), strict=True)
    return sum(variances) ** 2 / sum(v**2 / each.freedom for v, each in parts)


def _noise(error: float, freedom: float) -> float:
    """Return the noise of a ratio, as a part; infinite for a single round."""
    if error == float("inf"):
        return error
    return max(FLOOR, exp(min(quantile(freedom) * error, 700.0)) - 1)


def noise_text(noise: float) -> str:
    """Return the noise of a figure, a part of it, as it stands behind the figure.

    From 100 % on, rounds are too few or too far apart: the figure is unknown.
    """
    return f"± {100 * noise:.1f} %" if noise < 1 else "± more than 100 %"


def noise_of(rounds: Sequence[float]) -> float:
    """Return by which part two measurements like this one may differ, of one and the same thing."""
    found = Typical.of([log(each) for each in rounds])
    return _noise(sqrt(2) * found.error, found.freedom)


def typical(rounds: Sequence[float]) -> float:
    """Return the value to quote of rounds: the trimmed mean of their logarithms, as a number."""
    return exp(Typical.of([log(each) for each in rounds]).mean)


def permutation_p(base: Sequence[float], other: Sequence[float], seed: int = 0) -> float:
    """Return how likely such a difference is where there is none: a test by permutations.

    The rounds of both are dealt out anew, PERMUTATIONS times; counted is how often their typical
    values are as far apart as they were measured.
    """
    logs = np.log(np.asarray([*base, *other], np.float64))
    count = len(base)
    generator = np.random.default_rng(seed)
    dealt = generator.permuted(np.tile(logs, (PERMUTATIONS, 1)), axis=1)
    found = abs(float(_apart(logs[None, :], count)[0]))
    as_far = np.abs(_apart(dealt, count)) >= found - 1e-12
    return float((as_far.sum() + 1) / (PERMUTATIONS + 1))


def _apart(rows: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return _trimmed_means(rows[:, count:]) - _trimmed_means(rows[:, :count])


def _trimmed_means(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    count = rows.shape[1]
    cut = int(TRIMMED * count)
    return np.sort(rows, axis=1)[:, cut : count - cut].mean(axis=1)


def holm(p_values: Sequence[float], level: float = 1 - CONFIDENCE) -> list[bool]:
    """Return which of several tests are significant together (Holm 1979): one in many is chance."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    significant = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > level / (len(p_values) - rank):
            break
        significant[index] = True
    return significant


def spread_of(values: Sequence[float]) -> float:
    """Return the distance of the quartiles: the middle half of the values lies within."""
    if len(values) < 2:
        return 0.0
    low, high = np.quantile(np.asarray(values, np.float64), (0.25, 0.75))
    return float(high - low)
