"""Which token comes next: the likeliest one, or one drawn from what some filters leave.

Filters are applied in the order of transformers: temperature, top-k, top-p, min-p.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen; a temperature of 0 takes the likeliest one."""

    temperature: float = 0.0
    top_k: int = 0
    """How many of the likeliest tokens stay; 0 is all of them."""
    top_p: float = 1.0
    """The likeliest tokens stay until their probabilities add up to this."""
    min_p: float = 0.0
    """Tokens stay that are at least this many times as likely as the likeliest one."""

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Return the probability of each token; scores are those of the next one, in any order."""
        kept = scores.astype(np.float64) / self.temperature
        if 0 < self.top_k < kept.size:
            kept[kept < np.partition(kept, -self.top_k)[-self.top_k]] = -np.inf
        if self.top_p < 1:
            order = np.argsort(-kept, kind="stable")
            before = np.cumsum(_softmax(kept[order])) - _softmax(kept[order])
            kept[order[1:][before[1:] >= self.top_p]] = -np.inf
        if self.min_p > 0:
            shares = _softmax(kept)
            kept[shares < self.min_p * shares.max()] = -np.inf
        return _softmax(kept)

    def choose(self, scores: Scores, random: np.random.Generator) -> int:
        """Return a token."""
        if self.temperature == 0:
            return int(scores.argmax())
        shares = self.probabilities(scores)
        return int(random.choice(shares.size, p=shares))


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
