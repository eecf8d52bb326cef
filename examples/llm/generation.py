"""A decoder that runs: compiled once, with its cache of keys and values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from time import perf_counter

import numpy as np
from cache import Cache
from config import Config, config_of
from decoder import Decoder
from drafts import PromptLookup
from gguf_file import GgufFile, names_of_weights, options_of
from sampling import Sampling, Scores
from weights import stored_dtype

from gawee_dialect import CodeOptions, GaweeError, Model
from gawee_dialect.parameters.archives import SafetensorsFile
from gawee_dialect.parameters.store import ParameterStore, joined

MOST_ROWS = 64
"""Tokens of prompts that are computed at a time: the workspace is for as many."""

Row = tuple[int, int, int]
"""A token, its sequence, its position there."""


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


@dataclass
class Text:
    """A text that is made: tokens that the cache does not have yet, and guesses behind them."""

    tokens: Sequence[int]
    left: int
    """Tokens to make, at most."""
    random: np.random.Generator
    lookup: PromptLookup
    guesses: Sequence[int] = ()

    def chosen(self, scores: Scores, sampling: Sampling, end: Sequence[int]) -> Sequence[int]:
        """Return the tokens that come next: as many as were guessed right, and one more.

        `scores` are those behind the tokens, and behind each guess.
        """
        made = list[int]()
        for row, guess in zip_longest(scores, self.guesses):
            made.append(sampling.choose(row, self.random))
            if made[-1] != guess or guess in end:
                break
        return made


class TextModel:
    """Makes tokens, one after the other, of `sequences` texts at the same time.

    `capacity` is how many tokens each of them can see; `weights` are named as transformers names
    them. So many `guesses` are computed with each token, which do not change what comes out. With
    `rounds`, weights of bf16 multiply what is rounded to bf16: twice as fast with many rows, where
    the processor multiplies pairs of them. Raises GaweeError.
    """

    def __init__(
        self,
        config: Config,
        weights: ParameterStore,
        capacity: int = 2048,
        options: CodeOptions | None = None,
        sequences: int = 1,
        guesses: int = 0,
        *,
        rounds: bool = False,
    ) -> None:
        self.config, self.cache = config, Cache(config, capacity, sequences)
        self.guesses = guesses
        self._most_rows = rows = min(MOST_ROWS, sequences * capacity)
        outputs = min(rows, sequences * (1 + guesses))
        dtypes = partial(stored_dtype, weights)
        sizes = self.cache.groups, rows, outputs
        module = Decoder(config, dtypes, *sizes, rounds=rounds).module()
        ranges = {"rows": (1, rows)}  # other names have the ranges that the graph says
        self.code = Model(module, weights).compile(options or CodeOptions(), sizes=ranges)
        self.steps = 0
        """How often the code ran."""

    @property
    def bytes_of_a_step(self) -> int:
        """What a step reads: all packed weights, and what the cache holds."""
        return self.code.memory.prepared + self.cache.bytes_read

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
        """Go back to the first tokens of each sequence."""
        for sequence in range(len(self.cache.lengths)):
            self.cache.forget(sequence, length)

    def scores(self, tokens: Sequence[int]) -> Scores:
        """Take tokens behind those of the first sequence; return the scores of the next one.

        Raises GaweeError for none, for one that there is not, and where the cache is full.
        """
        return self.scores_of({0: tokens}, {0: 1})[0][0]

    def scores_of(
        self, tokens: Mapping[int, Sequence[int]], counts: Mapping[int, int]
    ) -> Mapping[int, Scores]:
        """Take tokens behind those of some sequences, in the same steps.

        Returns the scores of what comes behind each of the last `counts` tokens of a sequence.
        Raises GaweeError as `scores` does.
        """
        rows, wanted = list[Row](), list[int]()
        for sequence, own in tokens.items():
            before, capacity = self.cache.lengths[sequence], self.cache.capacity
            if not own:
                raise GaweeError("expected at least one token, got none")
            if before + len(own) > capacity:
                raise GaweeError(f"expected at most {capacity} tokens, got {before + len(own)}")
            rows += [(token, sequence, before + at) for at, token in enumerate(own)]
            wanted += range(len(rows) - counts[sequence], len(rows))
        made = list[Scores]()
        for first in range(0, len(rows), self._most_rows):
            step = range(first, first + self._most_rows)
            here = [row - first for row in wanted if row in step]
            made.append(self._step(rows[first : step.stop], here or [0])[: len(here)])
        ends = np.cumsum([counts[sequence] for sequence in tokens])
        return dict(zip(tokens, np.split(np.concatenate(made), ends[:-1]), strict=True))

    def _step(self, rows: Sequence[Row], wanted: Sequence[int]) -> Scores:
        """Run the code on some rows; return the scores behind those of the numbers `wanted`."""
        columns = (np.array(each, np.int64) for each in zip(*rows, strict=True))
        tokens, sequences, positions = columns
        given = {
            **{"tokens": tokens, "sequences": sequences, "positions": positions},
            **{"wanted": np.array(wanted, np.int64), **self.cache.inputs},
        }
        made = self.code.run(given)
        self.cache.put(sequences, positions, made)
        self.steps += 1
        return made["logits"].astype(np.float32)

    def generate(
        self,
        tokens: Sequence[int],
        count: int,
        sampling: Sampling | None = None,
        seed: int = 0,
    ) -> Iterator[int]:
        """Yield up to `count` tokens that go on with some, each as soon as it is known.

        Ends with a token that ends a text, which is yielded too, and where the cache is full.
        """
        return (token for _, token in self.generate_batch([tokens], count, sampling, seed))

    def generate_batch(
        self,
        prompts: Sequence[Sequence[int]],
        count: int,
        sampling: Sampling | None = None,
        seed: int = 0,
    ) -> Iterator[tuple[int, int]]:
        """Yield tokens as `generate` does, of several texts: the number of a prompt, and a token.

        Each step reads the weights once, for all texts that have not ended.
        """
        chosen, lengths = sampling or Sampling(), self.cache.lengths
        if len(prompts) > len(lengths):
            raise GaweeError(f"expected at most {len(lengths)} prompts, got {len(prompts)}")
        texts = {
            number: Text(prompt, count, np.random.default_rng(seed), PromptLookup(prompt))
            for number, prompt in enumerate(prompts if count else ())
        }
        while texts:
            given = {number: [*text.tokens, *text.guesses] for number, text in texts.items()}
            counts = {number: 1 + len(text.guesses) for number, text in texts.items()}
            made = list[tuple[int, int]]()
            for number, scores in self.scores_of(given, counts).items():
                text = texts[number]
                new = text.chosen(scores, chosen, self.config.end)
                made += [(number, token) for token in new]
                self.cache.forget(number, lengths[number] - counts[number] + len(new))
                room, text.left = self.cache.capacity - lengths[number], text.left - len(new)
                if text.left == 0 or room == 0 or new[-1] in self.config.end:
                    del texts[number]
                text.tokens = new[-1:]
                text.lookup.add(new)
                text.guesses = text.lookup.guess(min(self.guesses, text.left - 1, room - 1))
            yield from made
