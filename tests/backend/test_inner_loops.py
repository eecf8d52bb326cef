"""Inner loops of products in assembly for AArch64, judged by LLVM's models of processors."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

ANALYZER, KNOWN_SINCE = "llvm-mca", 17
"""LLVM 17 was the first with a model of Neoverse V1."""

NETWORK = """
func.func @main(%x: tensor<1x64x28x28xf32> {gawee.input = "x"},
                %rows: tensor<96x256xf32> {gawee.input = "rows"},
                %narrow: tensor<96x64x1x1xf32> {gawee.parameter = "narrow"},
                %strided: tensor<128x96x3x3xf32> {gawee.parameter = "strided"},
                %weights: tensor<512x256xf32> {gawee.parameter = "weights"})
    -> (tensor<1x128x14x14xf32> {gawee.output = "y"}, tensor<96x512xf32> {gawee.output = "z"}) {
  %a = gawee.conv %x, %narrow strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<1x64x28x28xf32>, tensor<96x64x1x1xf32>) -> tensor<1x96x28x28xf32>
  %y = gawee.conv %a, %strided strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] groups 1
    : (tensor<1x96x28x28xf32>, tensor<128x96x3x3xf32>) -> tensor<1x128x14x14xf32>
  %z = gawee.matmul %rows, %weights : (tensor<96x256xf32>, tensor<512x256xf32>) -> tensor<96x512xf32>
  func.return %y, %z : tensor<1x128x14x14xf32>, tensor<96x512xf32>
}
"""


def analyzer() -> str:
    """Return the newest analyzer that there is, or skip."""
    names = (
        ANALYZER,
        *(f"{ANALYZER}-{version}" for version in range(KNOWN_SINCE, KNOWN_SINCE + 9)),
    )
    for path in filter(None, map(shutil.which, reversed(names))):
        told = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        version = re.search(r"version (\d+)", told.stdout)
        if version is not None and int(version[1]) >= KNOWN_SINCE:
            return path
    pytest.skip(f"needs {ANALYZER} of LLVM {KNOWN_SINCE}")


def inner_loops(text: str) -> Mapping[str, str]:
    """Return of each function the loop of one block that multiplies and adds most."""
    found: dict[str, str] = {}
    for name, function in re.findall(r"(?ms)^(\w+):\n(.*?)^\.Lfunc_end", text):
        blocks = re.findall(r"(?ms)^(\.LBB\w+):[^\n]*\n(.*?)(?=^\.|\Z)", function)
        loops = [
            body[: end.start()]
            for label, body in blocks
            if (end := re.search(rf"(?m)^\tb\.\w+\t{re.escape(label)}$", body))
        ]
        found[name] = max(loops, key=products, default="")
    return found


def products(body: str) -> int:
    return len(re.findall(r"\bfmla\b", body))


def cycles(path: str, body: str, cpu: str) -> float:
    """Return what the model says that a repetition of some instructions takes by its resources."""
    command = [path, "-mtriple=aarch64-linux-gnu", f"-mcpu={cpu}"]
    told = subprocess.run(command, input=body, capture_output=True, text=True, check=True)
    found = re.search(r"Block RThroughput: +([\d.]+)", told.stdout)
    assert found is not None
    return float(found[1])


# Of Apple's processors LLVM has the model of the A7, which has three vector units, not four.
@pytest.mark.parametrize(
    ("cpu", "units"), [("neoverse-v1", 4), ("neoverse-n1", 2), ("apple-m1", 3)]
)
def test_inner_loops_of_products_multiply_and_add_nine_cycles_of_ten(
    cpu: str, units: int, tmp_path: Path
) -> None:
    path, options = analyzer(), CodeOptions(target=cpu, num_threads=1)
    shapes = {"narrow": (96, 64, 1, 1), "strided": (128, 96, 3, 3), "weights": (512, 256)}
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    model = Model(module_of_text(NETWORK), weights)

    model.save(tmp_path, ("asm",), options, triple="aarch64-unknown-linux-gnu", name="net")

    loops = inner_loops((tmp_path / "net.s").read_text())
    busy = {
        name: products(body) / units / cycles(path, body, cpu)
        for name, body in loops.items()
        if name.startswith(("conv_", "matmul_"))
    }
    assert len(busy) == 3
    assert min(busy.values()) >= 0.9, busy
