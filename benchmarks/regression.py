"""Whether this tree is slower than an earlier version: exit code 1 if it is.

    python -m benchmarks.regression [--base v0.2.0]

Measured are the import, and of some networks and ops how long it takes to compile them (no cache)
and to run them, on one thread. In each round both versions have a process of their own, one right
after the other. What looks slower is measured once more, and counts only where it is again.
Eight rounds take a few minutes, and as much again where something looks slower.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from compileall import compile_dir
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.timing import console, processor
from examples.graph_writer import GraphWriter
from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import Ratio, noise_text, typical
from gawee_dialect.evaluation.turns import orders

ROOT = Path(__file__).parent.parent
ROUNDS = 8

MARGIN = 1.03
"""A ratio that is surely above it is slower: where code happens to lie changes times by less."""

WORKER = """
import json, sys, time
from pathlib import Path
start = time.perf_counter()
import gawee_dialect
from gawee_dialect.code_options import CodeOptions
found = {"import": time.perf_counter() - start}
import numpy as np
for graph in map(Path, sys.argv[1:]):
    inputs = dict(np.load(graph.parent / "inputs.npz"))
    start = time.perf_counter()
    model = gawee_dialect.load(graph).compile(CodeOptions(num_threads=1), cache=False)
    found[f"{graph.parent.name}, compile"] = time.perf_counter() - start
    times, end = [], time.perf_counter() + 0.3
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        model.run(inputs)
        times.append(time.perf_counter() - start)
    found[f"{graph.parent.name}, run"] = min(times)
print(json.dumps(found))
"""
"""What a version is asked in each round; it uses what versions have in common."""

OPS = {
    "convolution": (
        "%x: tensor<1x64x57x55xf32>, %w: tensor<96x64x3x3xf32>",
        "gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1",
        "tensor<1x96x57x55xf32>",
    ),
    "product": (
        "%x: tensor<250x510xf32>, %w: tensor<770x510xf32>",
        "gawee.matmul %x, %w",
        "tensor<250x770xf32>",
    ),
    "softmax": ("%x: tensor<500x1010xf32>", "gawee.softmax %x axis 1", "tensor<500x1010xf32>"),
    "relu": ("%x: tensor<1x64x113x111xf32>", "gawee.relu %x", "tensor<1x64x113x111xf32>"),
}
"""Arguments, the op, and the type of its result; sizes are odd, as in the tests."""

Seconds = Mapping[str, Sequence[float]]
"""By what was measured, one figure for each round."""


@dataclass(frozen=True)
class Comparison:
    """One thing in both versions: seconds now, and the ratio to what it took before."""

    name: str
    seconds: float
    ratio: Ratio

    @property
    def is_slower(self) -> bool:
        """Whether it takes longer now, by more than the noise and the margin."""
        return self.ratio.low > MARGIN


def compared(base: Seconds, now: Seconds) -> Sequence[Comparison]:
    """Compare what both versions have, round by round."""
    return [
        Comparison(name, typical(now[name]), Ratio.of_pairs(base[name], now[name]))
        for name in now
        if name in base
    ]


def slower(first: Sequence[Comparison], again: Sequence[Comparison]) -> Sequence[str]:
    """Return what is slower in two measurements."""
    twice = {each.name for each in again if each.is_slower}
    return [each.name for each in first if each.is_slower and each.name in twice]


def mlir_of_op(arguments: str, op: str, result: str) -> str:
    """Return a module of one op on arguments of a graph."""
    named = [each.strip().split(": ") for each in arguments.split(", ")]
    given = ", ".join(f'{name}: {kind} {{gawee.input = "{name[1:]}"}}' for name, kind in named)
    kinds = ", ".join(kind for _, kind in named)
    return (
        f'func.func @main({given}) -> ({result} {{gawee.output = "y"}}) {{\n'
        f"  %y = {op} : ({kinds}) -> {result}\n  func.return %y : {result}\n}}\n"
    )


def shapes_of_op(arguments: str) -> Mapping[str, Sequence[int]]:
    """Return the shapes of an op's arguments by name."""
    named = (each.strip().split(": ") for each in arguments.split(", "))
    return {
        name[1:]: [int(size) for size in kind.removeprefix("tensor<").split("x")[:-1]]
        for name, kind in named
    }


def write_graphs(folder: Path) -> Sequence[Path]:
    """Write what is measured, each in a folder of its name with its inputs."""
    graphs = [
        write_resnet18(folder / "resnet18", size=113),
        write_unet(folder / "unet", size=64, width=16),
    ]
    for graph, size in zip(graphs, (113, 64), strict=True):
        _write_inputs(graph.parent, {"x": (1, 3, size, size)})
    chain = GraphWriter(0)
    x = chain.input("x", (1, 4, 8, 8))
    for index in range(100):
        x = chain.relu(f"layer{index}.relu", chain.conv(f"layer{index}.conv", x, 4, 3))
    graphs.append(chain.write(folder / "chain", [x]))
    _write_inputs(folder / "chain", {"x": (1, 4, 8, 8)})
    for name, (arguments, op, result) in OPS.items():
        (folder / name).mkdir()
        graph = folder / name / "graph.mlir"
        graph.write_text(mlir_of_op(arguments, op, result))
        _write_inputs(graph.parent, shapes_of_op(arguments))
        graphs.append(graph)
    return graphs


def _write_inputs(folder: Path, shapes: Mapping[str, Sequence[int]]) -> None:
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    np.savez(folder / "inputs.npz", allow_pickle=False, **arrays)


def last_tag() -> str:
    """Return the tag before this version; raises GaweeError where there is none."""
    found = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        hint = "write --base with a commit, or a folder that holds another version"
        raise GaweeError(Diagnostic("expected a tag to compare with, found none", hint=hint))
    return found.stdout.strip()


def unpack(version: str, folder: Path) -> Path:
    """Unpack the package of a version of this repository; raises GaweeError for what is none."""
    command = ["git", "archive", "--format=tar", version, "gawee_dialect"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    if done.returncode:
        said = done.stderr.decode().strip().partition("\n")[0]
        raise GaweeError(Diagnostic(f"cannot read version '{version}': {said}"))
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    compile_dir(folder, quiet=2)  # as an installed package is
    return folder


def turn(version: Path, graphs: Sequence[Path]) -> Mapping[str, float]:
    """Return the seconds of everything in one process of a version."""
    command = [sys.executable, "-c", WORKER, *map(str, graphs)]
    environment = {**os.environ, "PYTHONPATH": str(version)}
    done = subprocess.run(
        command, env=environment, cwd=version, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def measure(versions: Sequence[Path], graphs: Sequence[Path], rounds: int) -> Sequence[Seconds]:
    """Return what each version took, in rounds in which all have a turn."""
    found: list[dict[str, list[float]]] = [{} for _ in versions]
    for order in orders(len(versions), rounds):
        for index in order:
            for name, seconds in turn(versions[index], graphs).items():
                found[index].setdefault(name, []).append(seconds)
    return found


def print_comparison(title: str, comparisons: Sequence[Comparison]) -> None:
    """Print a table, a line for each figure."""
    table = Table("what", "now, ms", "ratio", "", title=title, title_justify="left")
    for each in comparisons:
        verdict = "slower" if each.is_slower else "faster" if each.ratio.high < 1 / MARGIN else ""
        ratio = f"{each.ratio.value:.3f} {noise_text(each.ratio.noise)}"
        table.add_row(each.name, f"{1e3 * each.seconds:.2f}", ratio, verdict)
    console.print(table)


def compare(base: str, rounds: int, folder: Path) -> Sequence[str]:
    """Measure this tree against a version or a folder of one, print tables; return what is slower.

    Raises GaweeError for a version that is none.
    """
    earlier = Path(base).resolve() if Path(base).is_dir() else unpack(base, folder / "base")
    graphs = write_graphs(folder / "graphs")
    compile_dir(ROOT / "gawee_dialect", quiet=2)
    title = f"this tree against {base}; {processor()}, {date.today()}, {rounds} rounds"
    first = compared(*measure((earlier, ROOT), graphs, rounds))
    print_comparison(title, first)
    if not any(each.is_slower for each in first):
        return []
    again = compared(*measure((earlier, ROOT), graphs, rounds))
    print_comparison("measured again", again)
    return slower(first, again)


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = ArgumentParser(
        prog="python -m benchmarks.regression",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--base", help="a tag, a commit, or a folder with another version (default: last tag)")
    add("--rounds", type=int, default=ROUNDS, help=f"of both versions (default: {ROUNDS})")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            base = arguments.base or last_tag()
            found = compare(base, arguments.rounds, Path(folder))
    except GaweeError as error:
        print(error, file=sys.stderr)
        return 1
    if found:
        console.print(f"slower: {'; '.join(found)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
