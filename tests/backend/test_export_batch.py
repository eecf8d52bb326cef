"""In C, parts of a batch are computed by the threads of the OpenMP runtime that is linked."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.compiled import export
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.passes.insertion import before
from gawee_dialect.passes.tensors.tile_batch import TileBatch
from gawee_dialect.universe import make_context

TEXT = """
func.func @main(%x: tensor<5x7xf32> {gawee.input = "x"},
                %w: tensor<6x7xf32> {gawee.parameter = "w"},
                %v: tensor<6x6xf32> {gawee.parameter = "v"})
    -> (tensor<5x6xf32> {gawee.output = "y"}) {
  %0 = gawee.matmul %x, %w : (tensor<5x7xf32>, tensor<6x7xf32>) -> tensor<5x6xf32>
  %1 = gawee.softmax %0 axis -1 : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %2 = gawee.matmul %1, %v : (tensor<5x6xf32>, tensor<6x6xf32>) -> tensor<5x6xf32>
  func.return %2 : tensor<5x6xf32>
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc and its OpenMP runtime")
@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_parts_at_the_same_time_are_computed_in_c(tmp_path: Path, threads: str) -> None:
    random = np.random.default_rng(5)
    x, w, v = (random.standard_normal(shape, np.float32) for shape in ((5, 7), (6, 7), (6, 6)))
    (tmp_path / "input.bin").write_bytes(x.tobytes())
    options = CodeOptions(num_threads=2, passes=(before("tile-batch", TileBatch(1, 2)),))
    module = lower_to(parse_mlir(make_context(), TEXT, "net.mlir"), Level.LLVM, options)
    assert "GOMP_parallel" in str(module)

    export(module, "net", tmp_path, ["obj", "example"], parameters={"v": v, "w": w})
    build = ["gcc", "-I.", "net_example/main.c", "net.o", "-fopenmp", "-lm", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    run = ["./main", "net.weights.bin", "input.bin", "y"]
    subprocess.run(run, cwd=tmp_path, check=True, env={**os.environ, "OMP_NUM_THREADS": threads})

    found = np.fromfile(tmp_path / "y", np.float32).reshape(5, 6)
    powers = np.exp((x @ w.T).astype(np.float64))
    expected = powers / powers.sum(axis=1, keepdims=True) @ v.T.astype(np.float64)
    # A few f32 products in another order than NumPy's, and exp of f32.
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
