"""One code for all sizes against code for the sizes at hand: time at points of a range, and bytes.

Both run by turns in one thread. The least time of each counts, of the processor: what others do at
the same time says less. Points are drawn so that a small size is as likely as a large one. *Bytes*
are those of machine code and packed weights together.
"""

import os
import tempfile
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import exp, log
from pathlib import Path
from random import Random
from statistics import geometric_mean
from time import perf_counter, thread_time

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.models import Bert, ResNet, basic_block
from benchmarks.timing import console, processor
from gawee_dialect import CodeOptions, load
from gawee_dialect.backend.compiled import Array, CompiledModel
from gawee_dialect.compilation import program_of
from gawee_dialect.evaluation.figures import text_bytes
from gawee_dialect.model import Model

ONE_THREAD = CodeOptions(num_threads=1)

MOST_ROWS = 2048
"""Of the points that are drawn, so that no one takes a second."""

LEAST_RUNS = 3


class Texts(Bert):
    """Cuts its positions from a table: an ONNX Range of an open size is not read."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__(layers, width, heads)
        self.positions = nn.Parameter(torch.arange(512), requires_grad=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the last states of all tokens."""
        position = self.position(self.positions[: ids.shape[1]])[None]
        x = self.word(ids) + position + self.segment(torch.zeros_like(ids))
        return self.layers(self.norm(x))


@dataclass(frozen=True)
class Network:
    """A network, the sizes that are open, and its input for numbers of them."""

    make: Callable[[], nn.Module]
    ranges: Mapping[str, tuple[int, int]]
    draw: Callable[..., Tensor]


TEXTS = {"batch": (1, 32), "length": (1, 512)}


def tokens(batch: int, length: int) -> Tensor:
    """Draw texts."""
    return torch.randint(0, 30522, (batch, length))


NETWORKS = {
    "bert-small": Network(lambda: Texts(4, 256, 4), TEXTS, tokens),
    "minilm": Network(lambda: Texts(6, 384, 12), TEXTS, tokens),
    "resnet18": Network(
        lambda: ResNet(basic_block, [2, 2, 2, 2], 1),
        {"batch": (1, 32)},
        lambda batch: torch.randn(batch, 3, 224, 224),
    ),
}


def open_model(network: Network, folder: Path) -> Model:
    """Return a network with seeded weights whose first axes have names, by way of ONNX."""
    path = folder / "net.onnx"
    torch.manual_seed(0)
    example = network.draw(*(2 for _ in network.ranges))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.make().eval(),
            (example,),
            str(path),
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": dict(enumerate(network.ranges))},
            dynamo=False,
        )
    return load(path, ranges=network.ranges)


def points(network: Network, count: int) -> list[tuple[int, ...]]:
    """Draw numbers for the sizes, each likely in proportion to its reciprocal; sorted."""
    random, found = Random(0), set[tuple[int, ...]]()
    ends = list(network.ranges.values())
    most = MOST_ROWS if len(ends) > 1 else ends[0][1]
    limit = 1
    for low, high in ends:
        limit *= high - low + 1
    while len(found) < min(count, limit):
        point = tuple(round(exp(random.uniform(log(low), log(high)))) for low, high in ends)
        if len(point) == 1 or point[0] * point[1] <= most:
            found.add(point)
    return sorted(found, key=lambda point: (len(point) > 1 and point[0] * point[1], point))


def milliseconds(
    models: Sequence[CompiledModel], x: Array, seconds: float
) -> tuple[Sequence[float], float]:
    """Return the least time of each model, run by turns, and by how much their results differ."""
    times: list[list[float]] = [[] for _ in models]
    first, second = (each.run({"x": x})["y"] for each in models)
    end = perf_counter() + seconds
    while perf_counter() < end or len(times[0]) < LEAST_RUNS:
        for model, own in zip(models, times, strict=True):
            start = thread_time()
            model.run({"x": x})
            own.append(thread_time() - start)
    return [1000 * min(own) for own in times], float(
        np.abs(np.subtract(first, second, dtype=np.float64)).max()
    )


def code_and_weights(model: Model, compiled: CompiledModel) -> tuple[int, int]:
    """Return the bytes of machine code, and of packed weights."""
    program = program_of(model.module, ONE_THREAD, cache=True)
    return sum(map(text_bytes, program.code.objects)), compiled.memory.prepared


def measure(name: str, count: int, seconds: float) -> None:
    """Print a row for each point, and the summary of a network."""
    network, ratios = NETWORKS[name], list[float]()
    with tempfile.TemporaryDirectory() as folder:
        model = open_model(network, Path(folder))
        start = perf_counter()
        one = model.compile(ONE_THREAD, sizes=network.ranges)
        ready = perf_counter() - start
        static = model
        own: CompiledModel = one
        for point in points(network, count):
            static = model.specialized(dict(zip(network.ranges, point, strict=True)))
            own = static.compile(ONE_THREAD)
            times, difference = milliseconds([one, own], network.draw(*point).numpy(), seconds)
            ratios.append(times[0] / times[1])
            where = "x".join(map(str, point))
            cells = (*(f"{each:.3f}" for each in times), f"{ratios[-1]:.2f}", f"{difference:.0e}")
            show(f"| {name} | {where} | {' | '.join(cells)} |")
        sizes = code_and_weights(with_ranges_of(model, network), one)
        others = code_and_weights(static, own)
    show(
        f"\n{name}: {geometric_mean(ratios):.2f} times as long in the geometric mean of "
        f"{len(ratios)} points, {max(ratios):.2f} at most; ready in {ready:.1f} s, 0 compilations "
        f"after the first; code {sizes[0] / 1e3:.0f} KB against {others[0] / 1e3:.0f}, with packed "
        f"weights {sum(sizes) / sum(others):.2f} times the bytes\n"
    )


def show(text: str) -> None:
    """Print a line as long as it is."""
    console.print(text, soft_wrap=True)


def with_ranges_of(model: Model, network: Network) -> Model:
    """Return a model of the ranges that a network is measured in."""
    from gawee_dialect.analysis.open_sizes import with_ranges

    return Model(with_ranges(model.module, network.ranges), model.parameters)


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--points", type=int, default=20, help="sizes of each network")
    parser.add_argument("--seconds", type=float, default=1.0, help="at least, for each point")
    arguments = parser.parse_args()
    load_average = os.getloadavg()[0]
    show(f"{processor()}, load {load_average:.1f}, one thread, {date.today()}\n")
    columns = ("network", "sizes", "one code, ms", "code of these sizes, ms", "ratio", "difference")
    show(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in arguments.networks:
        measure(name, arguments.points, arguments.seconds)


if __name__ == "__main__":
    main()
