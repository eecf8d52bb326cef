"""How long networks take until they are ready to run: cold, after a pass was edited, and again.

Each is a process of its own, from its start to a compiled network with its weights bound:

- `cold`: no cache; `kept`: the cache is empty, and everything is put there;
- `known`: the cache has each kernel, but not the network that they are from;
- `edited`: a comment was added to `assign-schedules`, and the code of one kernel is missing, as if
  the pass chose another schedule for it;
- `again`: the cache has the network; `torch`: `compile_torch` alone, in a process that has PyTorch
  and the network already, with a cache that has it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from compileall import compile_dir
from datetime import date
from pathlib import Path
from time import perf_counter

from benchmarks.growth import write_chain
from benchmarks.timing import console, processor

ROOT = Path(__file__).parent.parent
NETWORKS = ("resnet18", "mobilenetv2", "unet", "bert-small", "chain")
CHAIN = 2000
"""Nodes of `chain`: convolutions, normalisations and relus one after another."""

EDITED = "gawee_dialect/passes/tensors/assign_schedules/__init__.py"

COMPILE = """
import os, sys
from gawee_dialect import load
load(sys.argv[1]).compile(cache=sys.argv[2] == "cache")
os._exit(0)
"""
"""Ends where the network is compiled: Python's own end of a process is no part of that."""

COMPILE_TORCH = """
import sys, time
from benchmarks.models import build
model, x = build(sys.argv[1])
start, processor = time.perf_counter(), time.process_time()
from gawee_dialect.pytorch.compiled import compile_torch
compile_torch(model, (x,))
print(time.perf_counter() - start, time.process_time() - processor)
"""


class Place:
    """A copy of the package, and a cache of its own."""

    def __init__(self, folder: Path):
        self.folder, self.cache = folder, folder / "cache"
        shutil.copytree(ROOT / "gawee_dialect", folder / "gawee_dialect")
        shutil.copytree(ROOT / "benchmarks", folder / "benchmarks")
        shutil.copytree(ROOT / "examples", folder / "examples")
        compile_dir(folder / "gawee_dialect", quiet=2)  # as an installed package is

    def run(self, program: str, *arguments: str) -> tuple[float, float, str]:
        """Run Python; return seconds, processor seconds with its children's, and what it said."""
        settings = {
            "PYTHONPATH": str(self.folder),
            "GAWEE_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        command = [sys.executable, "-c", program, *arguments]
        before, start = os.times(), perf_counter()
        done = subprocess.run(
            command,
            env={**os.environ, **settings},
            cwd=self.folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        seconds, after = perf_counter() - start, os.times()
        worked = after.children_user + after.children_system
        return seconds, worked - before.children_user - before.children_system, done.stdout

    def forget_network(self) -> None:
        """Lose what was written last: the network as a whole, after all of its kernels."""
        entries = self.cache.rglob("*.gawee")
        max(entries, key=lambda path: path.stat().st_mtime_ns).unlink()

    def edit_pass(self) -> None:
        """Add a comment to a pass, and lose the code of the kernel that took most room."""
        with (self.folder / EDITED).open("a") as file:
            file.write(f"# {perf_counter()}\n")
        sizes: dict[int, list[Path]] = {}
        for path in self.cache.rglob("*.gawee"):
            sizes.setdefault(path.stat().st_size, []).append(path)
        # A kernel is there twice: by what it was before it was lowered, and by its LLVM IR.
        for path in sizes[max(size for size, paths in sizes.items() if len(paths) == 2)]:
            path.unlink()


def measured(name: str, folder: Path) -> list[float]:
    """Return the seconds of each step of a network, and the processor seconds when cold."""
    place = Place(folder)
    graph = _written(name, place)
    cold, worked, _ = place.run(COMPILE, str(graph), "no-cache")
    kept, *_ = place.run(COMPILE, str(graph), "cache")
    place.forget_network()
    known, *_ = place.run(COMPILE, str(graph), "cache")
    place.edit_pass()
    edited, *_ = place.run(COMPILE, str(graph), "cache")
    again, *_ = place.run(COMPILE, str(graph), "cache")
    if name == "chain":
        return [cold, worked, kept, known, edited, again]
    place.run(COMPILE_TORCH, name)
    _, _, said = place.run(COMPILE_TORCH, name)
    return [cold, worked, kept, known, edited, again, float(said.split()[0])]


def _written(name: str, place: Place) -> Path:
    if name == "chain":
        return write_chain(place.folder / "chain", CHAIN)
    prepare = "import sys, pathlib; from benchmarks.prepare import prepare; "
    place.run(f"{prepare} prepare(sys.argv[1], pathlib.Path('.'))", name)
    return place.folder / "model.onnx"


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=",".join(NETWORKS), help="names, separated by commas")
    arguments = parser.parse_args()
    console.print(f"{processor()}, {os.cpu_count()} processors, {date.today()}; seconds\n")
    console.print("| network | cold | processor time | kept | known | edited | again | torch |")
    console.print("|---|---|---|---|---|---|---|---|")
    for name in arguments.model.split(","):
        with tempfile.TemporaryDirectory() as folder:
            cells = [f"{seconds:.2f}" for seconds in measured(name, Path(folder, "place"))]
        console.print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
