"""What checking run-time indices costs: BERT's word embedding, and all of BERT-small.

`python -m benchmarks.index_checks` runs code with and without the check in turns, on one thread,
and prints the best microseconds of a call of either. Every round looks up other words.
It takes about half a minute.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import build
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.turns import orders
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.model import Model
from gawee_dialect.pytorch import ir_model
from gawee_dialect.universe import make_context

WORDS, WIDTH = 30522, 256
ROUNDS = 400

EMBEDDING = """
func.func @main(%ids: tensor<{count}xi64> {{gawee.input = "ids"}},
                %table: tensor<{words}x{width}xf32> {{gawee.parameter = "table"}})
    -> (tensor<{count}x{width}xf32> {{gawee.output = "rows"}}) {{
  %rows = gawee.gather %table, %ids axis 0
    : (tensor<{words}x{width}xf32>, tensor<{count}xi64>) -> tensor<{count}x{width}xf32>
  func.return %rows : tensor<{count}x{width}xf32>
}}
"""

Arrays = Mapping[str, NDArray[np.generic]]


def embedding(count: int, words: int = WORDS, width: int = WIDTH) -> Model:
    """Make the lookup of so many words in a random table."""
    text = EMBEDDING.format(count=count, words=words, width=width)
    table = np.random.default_rng(0).standard_normal((words, width), np.float32)
    return Model(parse_mlir(make_context(), text, "embedding.mlir"), {"table": table})


def bert() -> Model:
    """Make BERT-small from its PyTorch module."""
    model, x = build("bert-small")
    return ir_model(extract_ir(model, (x,), strict=False), model.state_dict())


def best_seconds(models: Sequence[CompiledModel], words: int, rounds: int) -> Sequence[float]:
    """Call models in turns on the same random words; returns the least seconds of each."""
    random = np.random.default_rng(1)
    best = [float("inf")] * len(models)
    (ids,) = models[0].inputs
    for order in orders(len(models), rounds):
        array = random.integers(0, words, ids.shape)
        for index in order:
            start = perf_counter()
            models[index].run({ids.name: array})
            best[index] = min(best[index], perf_counter() - start)
    return best


def row(name: str, model: Model, *, words: int = WORDS, rounds: int = ROUNDS) -> str:
    """Return a line of the table: microseconds with the check and without, and the difference."""
    compiled = [
        model.compile(CodeOptions(num_threads=1, trust_indices=trust), cache=False)
        for trust in (False, True)
    ]
    checked, trusted = (seconds * 1e6 for seconds in best_seconds(compiled, words, rounds))
    return f"{name:28} {checked:10.1f} {trusted:10.1f} {checked / trusted - 1:+8.1%}"


def main() -> int:
    """Print the table; returns the exit code."""
    ArgumentParser(
        prog="python -m benchmarks.index_checks",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    ).parse_args()
    print(f"{'us a call':28} {'checked':>10} {'trusted':>10} {'cost':>8}")
    for count in (128, 512):
        print(row(f"embedding of {count} words", embedding(count)))
    print(row("bert-small, 128 words", bert(), rounds=60))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
