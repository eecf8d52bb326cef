"""Networks of transformers under torch.compile, each at several batches and lengths by one code.

`python -m benchmarks.torch_compile.sizes [NAME...]` prints a table. Each network is called with one
batch and length, then with five others that are drawn by a seed, and compared with eager each time.
"""

import logging
import random
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import torch
from torch import Tensor, nn

from benchmarks.zoo import further
from benchmarks.zoo.check import relative_difference, tensors
from benchmarks.zoo.language import RECIPES, VOCABULARY, Recipe, build
from gawee_dialect.pytorch import dynamo
from gawee_dialect.pytorch.dynamo import gawee_backend

TOLERANCE = 1e-3
"""How far an output may be from eager's, relative to its range: two layers in float32."""

FIRST, POINTS = (3, 16), 5
BATCHES, LENGTHS = (2, 9), (4, 60)
"""From which the numbers are drawn; TorchDynamo takes sizes of 1 as another graph."""


@dataclass
class Sized:
    """What became of a network at several sizes."""

    name: str
    points: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    codes: list[int] = field(default_factory=list[int])
    """How many times code was made at each of them; of the first, for each graph."""
    difference: float = 0.0
    reasons: list[str] = field(default_factory=list[str])
    """Why a size cannot be open, as the backend logs it."""
    failure: str = ""

    @property
    def is_one_code(self) -> bool:
        """Whether no size after the first was compiled for."""
        return not self.failure and not any(self.codes[1:])

    @property
    def agrees(self) -> bool:
        """Whether it computes what eager does, at all sizes."""
        return not self.failure and self.difference <= TOLERANCE


class _Reasons(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("compiled for each set of sizes") or record.exc_info:
            self.found.append(text.partition(": ")[2] if record.exc_info is None else text)


@contextmanager
def _reasons() -> Iterator[list[str]]:
    logger, handler = logging.getLogger("gawee_dialect"), _Reasons()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler.found
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def recipes() -> dict[str, Recipe]:
    """Return the networks of the zoo, and those of the further one, whose inputs are tokens."""
    both = {**RECIPES, **further.recipes()}
    return {name: recipe for name, recipe in both.items() if _takes_tokens(recipe)}


def _takes_tokens(recipe: Recipe) -> bool:
    return {*recipe.inputs} <= {"input_ids", "attention_mask", "decoder_input_ids"}


def _inputs(recipe: Recipe, batch: int, length: int) -> tuple[Tensor, ...]:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[1:, length - length // 4 :] = 0
    return tuple(
        mask if name == "attention_mask" else torch.randint(3, VOCABULARY, (batch, length))
        for name in recipe.inputs
    )


def check(name: str, recipe: Recipe) -> Sized:
    """Compile a network and call it at several sizes."""
    found = Sized(name)
    torch.manual_seed(0)
    torch._dynamo.reset()
    net = build(recipe)[0].eval()
    draw = random.Random(name)
    drawn = [(draw.randint(*BATCHES), draw.randint(*LENGTHS)) for _ in range(POINTS)]
    with _reasons() as reasons, torch.no_grad():
        try:
            _call(net, recipe, [FIRST, *drawn], found)
        except Exception as error:  # whatever a network or a compiler raises is its row
            found.failure = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        found.reasons = list(dict.fromkeys(reasons))
    return found


def _call(net: nn.Module, recipe: Recipe, points: Sequence[tuple[int, int]], found: Sized) -> None:
    compiled = torch.compile(net, backend=gawee_backend, dynamic=True)
    for point in points:
        inputs = _inputs(recipe, *point)
        expected = tensors(net(*inputs))
        with mock.patch.object(dynamo, "program_of", wraps=dynamo.program_of) as made:
            got = tensors(compiled(*inputs))
        found.points.append(point)
        found.codes.append(made.call_count)
        apart = [relative_difference(*each) for each in zip(expected, got, strict=True)]
        found.difference = max([found.difference, *apart])


def rows(results: Sequence[Sized]) -> Iterator[str]:
    """Yield the lines of the table."""
    one = sum(each.is_one_code for each in results)
    right = sum(each.agrees for each in results)
    yield (
        f"{len(results)} networks at {POINTS} sizes after the first: {right} compute what eager "
        f"does, {one} by the code of the first call."
    )
    yield ""
    yield "| network | code made at the first size, then at five | from eager | why not one code |"
    yield "|---|---|---|---|"
    for each in results:
        first, *later = each.codes or [0]
        why = each.failure or "; ".join(each.reasons)
        yield f"| {each.name} | {first}, then {sum(later)} | {each.difference:.0e} | {why} |"


def main() -> None:
    """Check networks, and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*recipes()])
    arguments = parser.parse_args()
    results: list[Sized] = []
    for name in arguments.names:
        results.append(check(name, recipes()[name]))
        print([*rows(results[-1:])][-1], flush=True)
    print("\n".join(("", *rows(results))))


if __name__ == "__main__":
    main()
