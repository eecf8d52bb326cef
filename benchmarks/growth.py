"""How the time to translate and lower a graph grows with its number of nodes.

Each size is a chain of convolution, batch normalization and relu; both commands run as a user
runs them, as processes of their own. The three sizes together take about half a minute.
"""

import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from time import perf_counter

from rich.table import Table

from benchmarks.timing import console, processor
from examples.graph_writer import GraphWriter
from gawee_dialect.flag_values import positive

NODES_A_LAYER = 3


def write_chain(folder: Path, nodes: int) -> Path:
    """Write a chain of about `nodes` nodes on small tensors; return its graph.json."""
    graph = GraphWriter(0)
    x = graph.input("x", (1, 4, 8, 8))
    for index in range(nodes // NODES_A_LAYER):
        x = graph.conv(f"layer{index}.conv", x, 4, 3)
        x = graph.relu(f"layer{index}.relu", graph.batch_norm(f"layer{index}.bn", x))
    return graph.write(folder, [x])


def seconds_of(tool: str, *arguments: str) -> float:
    """Run one of our tools; return how long the process took."""
    start = perf_counter()
    subprocess.run([sys.executable, "-m", f"gawee_dialect.tools.{tool}", *arguments], check=True)
    return perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(
        prog="python -m benchmarks.growth",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    help = "sizes of graphs (default: 300 1000 3000)"
    parser.add_argument("nodes", type=positive, nargs="*", default=[300, 1000, 3000], help=help)
    arguments = parser.parse_args()
    console.print(f"processor: {processor()}")
    table = Table("nodes", "translate s", "lower to linalg s", "together s", "ms a node")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for nodes in arguments.nodes:
            graph = write_chain(folder / str(nodes), nodes)
            mlir, linalg = folder / f"{nodes}.mlir", folder / f"{nodes}.linalg.mlir"
            translate = seconds_of("gawee_translate", str(graph), "-o", str(mlir))
            lower = seconds_of("gawee_opt", "--gawee-to-linalg", str(mlir), "-o", str(linalg))
            both = translate + lower
            row = (nodes, f"{translate:.2f}", f"{lower:.2f}", f"{both:.2f}", 1e3 * both / nodes)
            table.add_row(
                *(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row)
            )
    console.print(table)


if __name__ == "__main__":
    main()
