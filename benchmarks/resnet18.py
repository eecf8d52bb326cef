"""ResNet-18, 1x3x224x224: from the graph to a ready callable, and one image at every level.

Native code runs in one thread; the NumPy levels use as many as NumPy's BLAS takes.
"""

import tempfile
from argparse import ArgumentParser
from pathlib import Path

import numpy as np

import gawee_dialect
from benchmarks.timing import Measurement, console, measure, print_measurements, processor
from examples.resnet18.write_graph import write_resnet18

FLOPS = 3_628_899_328
"""Two for each multiply-add of the convolutions and the last layer, and one for each addition."""


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs that count (default: 5)")
    arguments = parser.parse_args()
    console.print(f"processor: {processor()}")
    with tempfile.TemporaryDirectory() as folder:
        graph = write_resnet18(Path(folder))
        compile_time = measure(
            "graph to ready callable",
            lambda: gawee_dialect.load(graph).compile(),
            runs=min(3, arguments.runs),
            warmup=0,
        )
        model = gawee_dialect.load(graph)
        lowering = measure(
            "graph to linalg", lambda: gawee_dialect.load(graph).lowered("linalg"), arguments.runs
        )
        measurements: list[Measurement] = []
        x = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
        for level in ("gawee", "linalg", "llvm"):
            run = model.runner(level)
            measurements.append(
                measure(f"one image, level {level}", lambda run=run: run({"x": x}), arguments.runs)
            )
    print_measurements("ResNet-18", [lowering, compile_time, *measurements])
    best = min(measurements[-1].seconds)
    console.print(f"native code: {FLOPS / best / 1e9:.1f} GFLOP/s")


if __name__ == "__main__":
    main()
