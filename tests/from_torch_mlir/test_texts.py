"""Texts that torch-mlir wrote of modules of ours, against the outputs that PyTorch stored.

`run_models.py` writes such texts, and runs all 35 where torch-mlir is installed.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect import load
from gawee_dialect.levels import Level
from tests.closeness import assert_allclose

HERE = Path(__file__).parent
TEXTS = sorted((HERE / "texts").glob("*.mlir"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_text_of_torch_mlir_computes_what_pytorch_does(path: Path) -> None:
    stored = np.load(path.with_suffix(".npz"))
    expected = stored["expected"]
    inputs = {name: stored[name] for name in stored.files if name != "expected"}
    model = load(path)

    for level in (Level.GAWEE, Level.LINALG, Level.LLVM):
        (got,) = model.run(inputs, level).values()
        # f32 in another order, and functions by other polynomials.
        assert_allclose(got, expected, rtol=1e-4, atol=1e-5, err_msg=level)


def test_the_script_runs_models_or_says_what_is_not_installed() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tests.from_torch_mlir.run_models", "perceptron"],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    said = "1 of 1 models" if "perceptron" in result.stdout else "not installed"
    assert said in result.stdout
