"""Networks compiled for AArch64 and run by an emulator, against what PyTorch computed.

Debian's packages `gcc-aarch64-linux-gnu` and `qemu-user` have what it takes.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gawee_dialect
from gawee_dialect.code_options import CodeOptions
from tests.closeness import assert_allclose
from tests.effort import full_run

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
TRIPLE = "aarch64-unknown-linux-gnu"

pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"needs {COMPILER} and {EMULATOR}",
)


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def computed(
    model: gawee_dialect.Model, x: np.ndarray, target: str, threads: int, folder: Path
) -> np.ndarray:
    """Return a network's one output, computed by a program for AArch64."""
    options = CodeOptions(target=target, num_threads=threads)
    model.save(folder, ("example", "asm"), options, triple=TRIPLE, name="net")
    (folder / "x.bin").write_bytes(np.ascontiguousarray(x).tobytes())
    built = ("net_example/main.c", "net.o", "-I.", "-fopenmp", "-static", "-o", "net", "-lm")
    run(folder, COMPILER, *built)
    run(folder, EMULATOR, "net", "net.weights.bin", "x.bin", "y.bin")
    return np.fromfile(folder / "y.bin", np.float32)


@pytest.mark.parametrize(
    ("target", "threads"),
    [
        ("neoverse-n1", 1),
        pytest.param("graviton3", 2, id="graviton3"),
        pytest.param("apple-m1", 1, marks=full_run),
        pytest.param("cortex-a53", 1, marks=full_run),  # neither f16 nor dot products
    ],
)
def test_digits_are_what_pytorch_says_on_aarch64(target: str, threads: int, tmp_path: Path) -> None:
    data = np.load(DIGITS / "digits_test.npz")
    model = gawee_dialect.load(DIGITS / "graph.json")

    scores = computed(model, data["images"][:1], target, threads, tmp_path)

    # float32 sums in another order: five layers, each exact to about 1e-6 of its range.
    expected = data["scores"][0]
    assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.ptp(expected))
    assert "fmla" in (tmp_path / "net.s").read_text()


@full_run
@pytest.mark.parametrize("threads", [1, 2])
def test_a_resnet_is_what_pytorch_says_on_aarch64(threads: int, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from examples.resnet18.write_graph import write_resnet18
    from tests.torch_networks import ResNet18, run_torch

    model = gawee_dialect.load(write_resnet18(tmp_path, size=64, width=16))
    x = np.random.default_rng(1).standard_normal((1, 3, 64, 64), np.float32)

    found = computed(model, x, "neoverse-n1", threads, tmp_path)

    expected = run_torch(ResNet18(16), model.bound, x)
    # 1e-4 of the range of PyTorch's output is what the project promises.
    assert_allclose(found, expected.ravel(), rtol=0, atol=1e-4 * float(np.ptp(expected)))
