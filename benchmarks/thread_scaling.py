"""Each node of a network on one thread and on several: where a second core helps, and where not.

`python -m benchmarks.thread_scaling resnet18 --threads 2` runs the same kernels on one thread and
on several, in turns, and prints the best time of each node on either. A network takes
about half a minute.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from benchmarks.models import MODELS, build
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.flag_values import positive
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.levels import Level
from gawee_dialect.pytorch import ir_model
from gawee_dialect.tuning.network import TunedNetwork

Arrays = Mapping[str, NDArray[np.generic]]
ROUNDS, RUNS = 4, 8
SHORTEST = 20e-6
"""Seconds: nodes that take less have no row."""


@dataclass(frozen=True)
class Row:
    """The best seconds of a node on one thread, and on several."""

    node: str
    alone: float
    together: float


def measured(kernels: ModuleOp, weights: Arrays, inputs: Arrays, threads: int) -> Sequence[Row]:
    """Run kernels on one thread and on several, in turns."""
    networks = [TunedNetwork(kernels, weights, inputs, each) for each in (1, threads)]
    best = [np.full(len(network.calls), np.inf) for network in networks]
    for _ in range(ROUNDS):
        for network, so_far in zip(networks, best, strict=True):
            np.minimum(so_far, network.times(RUNS), out=so_far)
    nodes = [call.node for call in networks[0].calls]
    return [Row(node, float(a), float(b)) for node, a, b in zip(nodes, *best, strict=True)]


def lines(rows: Sequence[Row], threads: int) -> Iterator[str]:
    """Yield the table: milliseconds, how much faster, and what is lost to the ideal."""
    width = max(len(row.node) for row in rows)
    yield f"{'node':{width}} {'1 thread':>9} {threads} threads  speed  lost ms"
    total = Row("total", sum(row.alone for row in rows), sum(row.together for row in rows))
    for row in (*rows, total):
        if row.alone >= SHORTEST:
            lost = row.together - row.alone / threads
            times = f"{row.alone * 1e3:9.3f} {row.together * 1e3:9.3f}"
            yield f"{row.node:{width}} {times} {row.alone / row.together:6.2f} {lost * 1e3:8.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one network and print its table."""
    parser = ArgumentParser(
        prog="python -m benchmarks.thread_scaling",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", choices=tuple(MODELS))
    parser.add_argument("--threads", type=positive, default=2, help="(default: 2)")
    options = parser.parse_args(arguments)
    network, x = build(options.model)
    ir = extract_ir(network, (x,), strict=False)
    model = ir_model(ir, dict(network.state_dict()))
    kernels = model.lowered(Level.KERNELS, CodeOptions(num_threads=options.threads))
    inputs = {ir.graph_inputs[0].name: x.numpy()}
    for line in lines(measured(kernels, model.bound, inputs, options.threads), options.threads):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
