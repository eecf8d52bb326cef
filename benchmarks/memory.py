"""How much memory a process takes that loads a network and runs it a few times, by engine.

Each engine is a process of its own that reads the ONNX file of PyTorch's exporter: the megabytes
resident at most (`peak`), and after ten runs. `gawee` compiles without the cache, `gawee again`
finds the network there.
"""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from datetime import date
from pathlib import Path

from benchmarks.timing import console, processor

ROOT = Path(__file__).parent.parent
NETWORKS = ("resnet18", "resnet50", "mobilenetv2", "unet", "bert-small")

GAWEE = """
from gawee_dialect.model import load
model = load("model.onnx").compile(cache=CACHE)
run = lambda: model(x)
"""

ENGINES = {
    "gawee": GAWEE.replace("CACHE", "False"),
    "gawee again": GAWEE.replace("CACHE", "True"),
    "onnxruntime": """
import onnxruntime
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
run = lambda: session.run(None, {name: x})
""",
    "openvino": """
import openvino
compiled = openvino.Core().compile_model("model.onnx", "CPU")
run = lambda: compiled([x])
""",
}
"""What makes a network ready, by the engine's name."""

PROGRAM = """
import pathlib, re
import numpy as np
x = np.load("x.npy")
{ready}
for _ in range(10):
    run()
status = pathlib.Path("/proc/self/status").read_text()
peak, resident = (re.search(name + r":\\s+(\\d+)", status)[1] for name in ("VmHWM", "VmRSS"))
print(int(peak) / 1024, int(resident) / 1024)
"""


def megabytes(ready: str, folder: Path) -> tuple[float, float] | None:
    """Return the peak and what stays, in MB; None where the engine is absent."""
    settings = {"PYTHONPATH": str(ROOT), "GAWEE_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ready=ready)],
        env={**os.environ, **settings},
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    if "ModuleNotFoundError" in done.stderr:
        return None
    done.check_returncode()
    peak, resident = map(float, done.stdout.split())
    return peak, resident


def prepared(name: str, folder: Path) -> None:
    """Write the files of a network into a folder, from a process of its own."""
    program = "import sys, pathlib; from benchmarks.prepare import prepare; "
    program += "prepare(sys.argv[1], pathlib.Path(sys.argv[2]))"
    command = [sys.executable, "-c", program, name, str(folder)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=",".join(NETWORKS), help="names, separated by commas")
    arguments = parser.parse_args()
    console.print(f"{processor()}, {date.today()}; MB at most / after ten runs\n")
    console.print(f"| network | {' | '.join(ENGINES)} |")
    console.print("|---" * (len(ENGINES) + 1) + "|")
    for name in arguments.model.split(","):
        with tempfile.TemporaryDirectory() as folder:
            prepared(name, Path(folder))
            megabytes(ENGINES["gawee again"], Path(folder))  # puts it into the cache
            found = [megabytes(ready, Path(folder)) for ready in ENGINES.values()]
        cells = ["absent" if each is None else "{:.0f} / {:.0f}".format(*each) for each in found]
        console.print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
