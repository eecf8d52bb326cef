"""The tour that `make demo` takes: a trained network, then ResNet-18 on a photo.

Each command is printed before it runs; paste it into a shell to run it again.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import skimage
from rich.console import Console

import gawee_dialect

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "demo"
DIGITS = Path("examples/digits")
REQUIRED_ACCURACY = 0.97

console = Console(highlight=False)


def shortened(line: str, width: int) -> str:
    """Return a line that fits, cut between two words."""
    if len(line) <= width:
        return line
    return line[: width - 3].rpartition(" ")[0] + " ..."


def shell(*command: str, first: int | None = None, last: int = 0) -> None:
    """Run a command of this package in the root; print it, and the ends of its output."""
    console.print(f"[bold]$ {shlex.join(command)}[/bold]", soft_wrap=True)
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [tool, *command[1:]], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=False
    )
    lines = done.stdout.splitlines()
    left_out = 0 if first is None else max(0, len(lines) - first - last)
    for index, line in enumerate(lines):
        if first is None or index < first or index >= len(lines) - last:
            console.print(shortened(line, console.width), markup=False)
        elif index == first:
            console.print(f"... ({left_out} more lines)", style="dim")
    console.print()
    if done.returncode:
        sys.exit(done.returncode)


def python(*command: str) -> None:
    """Run a Python script of the repository."""
    console.print(f"[bold]$ {shlex.join(('python', *command))}[/bold]", soft_wrap=True)
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)


def classify_digits() -> None:
    """Compile the digits network and classify the images held back from its training."""
    held_back = np.load(ROOT / DIGITS / "digits_test.npz")
    images, labels = held_back["images"], held_back["labels"]

    start = perf_counter()
    run = gawee_dialect.load(ROOT / DIGITS / "graph.json").compile()
    compiled = perf_counter() - start

    start = perf_counter()
    scores = np.concatenate([run(image[None]) for image in images])
    seconds = perf_counter() - start

    accuracy = float(np.mean(scores.argmax(axis=1) == labels))
    console.print(f"compiled in {compiled:.2f} s")
    console.print(
        f"accuracy on {len(labels)} held-back digits: [bold]{accuracy:.2%}[/bold], "
        f"{seconds / len(labels) * 1e6:.0f} us an image"
    )
    difference = np.abs(scores - held_back["scores"]).max()
    console.print(f"largest difference to what PyTorch computed: {difference:.1e}\n")
    if accuracy <= REQUIRED_ACCURACY:
        sys.exit(f"expected an accuracy above {REQUIRED_ACCURACY:.0%}")


def run_resnet18() -> None:
    """Run ResNet-18 on a photo at three levels of the IR, and compare them."""
    photo = BUILD / "astronaut.png"
    shutil.copy(Path(skimage.__file__).parent / "data" / photo.name, photo)
    folder = BUILD / "resnet18"
    graph = folder / "graph.json"
    python("examples/resnet18/write_graph.py", str(folder.relative_to(ROOT)))
    shell("gawee-run", str(graph.relative_to(ROOT)), "--cost", "--level", "gawee", first=0, last=14)
    common = (
        str(graph.relative_to(ROOT)),
        "--input",
        f"x={photo.relative_to(ROOT)}",
        "--mean",
        "0.485,0.456,0.406",
        "--std",
        "0.229,0.224,0.225",
    )
    shell("gawee-run", *common, "--level", "llvm", "--compare", "gawee", "--repeat", "3")
    shell("gawee-run", *common, "--level", "linalg", "--compare", "gawee")


def main() -> None:
    """Run the whole tour."""
    BUILD.mkdir(parents=True, exist_ok=True)
    graph, mlir = str(DIGITS / "graph.json"), "build/demo/digits.mlir"
    console.rule("A trained network: digits of 8x8 pixels")
    shell("gawee-translate", graph, "-o", mlir)
    shell("gawee-opt", mlir, "--gawee-optimize", first=9)
    shell("gawee-opt", mlir, "--gawee-to-linalg", first=9)
    classify_digits()
    console.rule("ResNet-18, seeded weights, on a photo")
    run_resnet18()


if __name__ == "__main__":
    main()
