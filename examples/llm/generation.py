"""A decoder that runs: compiled once, with its cache of keys and values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from config import Config, config_of
from decoder import GROUP, Decoder
from gguf_file import GgufFile, names_of_weights, options_of
from numpy.typing import NDArray
from sampling import Sampling, Scores
from weights import FLOATS, SCALES, STORED, VALUES

from gawee_dialect import CodeOptions, GaweeError, Model
from gawee_dialect.parameters.archives import SafetensorsFile
from gawee_dialect.parameters.store import ParameterStore, joined

MOST_ROWS = 64
"""Tokens of a prompt that are computed at a time: the workspace is for as many."""


def read_model(path: Path) -> tuple[Config, ParameterStore]:
    """Return what a .gguf file, or a folder as `read_folder` reads it, has; raises GaweeError."""
    if path.suffix != ".gguf":
        return read_folder(path)
    file = GgufFile(path)
    config = config_of(options_of(file))
    return config, file.renamed(names_of_weights(config.layers))


def read_folder(folder: Path) -> tuple[Config, ParameterStore]:
    """Return what a folder of config.json and .safetensors files has; raises GaweeError."""
    try:
        given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GaweeError(f"cannot read '{folder / 'config.json'}': {error}") from error
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise GaweeError(f"expected .safetensors files in '{folder}', got none")
    return config_of(given), joined(*map(SafetensorsFile, files))


class TextModel:
    """Makes tokens, one after the other; `capacity` is how many it can see.

    `weights` are named as transformers names them. Raises GaweeError.
    """

    def __init__(
        self,
        config: Config,
        weights: ParameterStore,
        capacity: int = 2048,
        options: CodeOptions | None = None,
    ) -> None:
        self.config, self.capacity = config, capacity

        def dtype_of(name: str) -> str:
            if name + VALUES in weights:
                values, scales = (weights.describe(name + part) for part in (VALUES, SCALES))
                found = values.dtype, values.shape[2], scales.dtype
                return next(
                    dtype
                    for dtype, each in STORED.items()
                    if found == (each.element, each.count, each.scale)
                )
            if name not in weights:
                raise GaweeError(f"expected weights to have '{name}', got none")
            dtype = weights.describe(name).dtype
            if dtype not in FLOATS:
                raise GaweeError(f"expected weight '{name}' of floats, got {dtype}")
            return dtype

        rows = min(MOST_ROWS, capacity)
        module = Decoder(config, dtype_of, capacity, rows).module()
        groups = -(-capacity // GROUP)
        sizes = {"rows": (1, rows), "groups": (1, groups)}
        self.code = Model(module, weights).compile(options or CodeOptions(), sizes=sizes)
        self._most_rows = rows
        heads = config.shared_heads, config.head_width
        self.cache = {
            f"{what}.{layer}": np.zeros(shape, np.float32)
            for layer in range(config.layers)
            for what, shape in (
                ("keys", (groups, *heads, GROUP)),
                ("values", (groups, heads[0], GROUP, heads[1])),
            )
        }
        self.length = 0
        """How many tokens the cache holds."""

    @property
    def bytes_of_a_token(self) -> int:
        """What one token reads: all packed weights, and what the cache holds."""
        group = sum(array[0].nbytes for array in self.cache.values())
        return self.code.memory.prepared + group * -(-self.length // GROUP)

    def read_rate(self, rounds: int = 5) -> float:
        """Return the bytes a second at which one thread reads the packed weights, at best.

        By NumPy's maximum of words, which takes as long as the reading.
        """
        arrays = [each.reshape(-1).view(np.uint8) for each in self.code.prepared_values().values()]
        words = [each[: each.size // 8 * 8].view(np.int64) for each in arrays]
        times = list[float]()
        for _ in range(rounds):
            start = perf_counter()
            for each in words:
                each.max()
            times.append(perf_counter() - start)
        return sum(each.nbytes for each in words) / min(times)

    def forget(self, length: int = 0) -> None:
        """Go back to the first tokens of the cache."""
        self.length = min(self.length, length)

    def scores(self, tokens: Sequence[int]) -> Scores:
        """Take tokens behind those of the cache; return the scores of the one that comes next.

        Raises GaweeError for none, for one that there is not, and where the cache is full.
        """
        if not tokens:
            raise GaweeError("expected at least one token, got none")
        if self.length + len(tokens) > self.capacity:
            raise GaweeError(
                f"expected at most {self.capacity} tokens, got {self.length + len(tokens)}"
            )
        for first in range(0, len(tokens), self._most_rows):
            scores = self._step(tokens[first : first + self._most_rows])
        return scores

    def _step(self, tokens: Sequence[int]) -> Scores:
        positions = np.arange(self.length, self.length + len(tokens))
        groups = max(1, -(-self.length // GROUP))
        given: Mapping[str, NDArray[np.generic]] = {
            "tokens": np.asarray(tokens, np.int64),
            "positions": positions,
            **{name: array[:groups] for name, array in self.cache.items()},
        }
        made = self.code.run(given)
        group, lane = positions // GROUP, positions % GROUP
        for name, array in self.cache.items():
            axes = (0, 3, 1, 2) if name.startswith("keys") else (0, 2, 1, 3)
            array.transpose(axes)[group, lane] = made[f"new_{name}"]
        self.length += len(tokens)
        return made["logits"][0].astype(np.float32)

    def generate(
        self, tokens: Sequence[int], count: int, sampling: Sampling | None = None, seed: int = 0
    ) -> Iterator[int]:
        """Yield up to `count` tokens that go on with some, each as soon as it is known.

        Ends with a token that ends a text, which is yielded too, and where the cache is full.
        """
        chosen, random = sampling or Sampling(), np.random.default_rng(seed)
        for _ in range(count):
            token = chosen.choose(self.scores(tokens), random)
            yield token
            if token in self.config.end or self.length == self.capacity:
                return
            tokens = [token]
