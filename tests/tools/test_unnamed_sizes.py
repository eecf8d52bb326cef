"""gawee-run on text of upstream whose types say `?`: sizes come with the inputs.

Tolerance: sums of five products in float32, in another order.
"""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.tools.gawee_run import main
from tests.archives import savez
from tests.closeness import Tolerances

TOLERANCE = Tolerances(rtol=1e-5, atol=1e-5)

LAYER = """
#rows = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %z = arith.constant 0.0 : f32
    %m = tensor.dim %x, %c0 : tensor<?x?xf32>
    %n = tensor.dim %w, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    %r = linalg.generic {indexing_maps = [#rows, affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    %h = arith.divui %m, %c2 : index
    %q = tensor.extract_slice %r[1, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    return %q : tensor<?x?xf32>
  }
}
"""

STATE = """
func.func @main(%x: memref<?xf32> {gawee.updated = "state"}) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%c0] : memref<?xf32>
  return
}
"""


def layer(tmp_path: Path) -> str:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    return str(path)


@pytest.mark.parametrize("level", ["linalg", "loops", "llvm"])
def test_sizes_are_those_of_the_arrays(level: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    arrays = {n: rng.standard_normal(s, np.float32) for n, s in (("x", (7, 5)), ("w", (5, 3)))}
    arrays["b"] = np.array([1, -2, 3], np.float32)
    savez(tmp_path / "in.npz", **arrays)
    options = ["--inputs", str(tmp_path / "in.npz"), "--output", str(tmp_path / "out.npz")]

    assert main([layer(tmp_path), "--level", level, *options]) == 0

    expected = (arrays["x"] @ arrays["w"] + arrays["b"])[1:4]
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_allclose(out["output0"], expected, **TOLERANCE)


def test_sizes_may_be_said_for_random_arrays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = ("--shape", "x=7,5", "--shape", "w=5,3", "--shape", "b=3")

    assert main([layer(tmp_path), *shapes]) == 0
    assert "3x3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([], "error: expected the shape of input 'x' (?x?), got none\nhint: --shape x=2,2, or "),
        (["--shape", "bias=3"], "error: unknown input or size 'bias'\nhint: names: b, w, x\n"),
        (["--shape", "x=7"], "error: expected input 'x' of shape ?x?, got 7"),
        (["--shape", "x=7,5", "--shape", "w=4,3"], "'linalg.matmul' op"),
    ],
)
def test_sizes_that_are_missing_or_do_not_fit_are_refused(
    shapes: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([layer(tmp_path), *shapes]) == 1
    assert message in capsys.readouterr().err


def test_a_buffer_that_is_updated_needs_its_size_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "state.mlir"
    path.write_text(STATE)

    assert main([str(path)]) == 1
    assert "expected the shape of input 'state' (?), got none" in capsys.readouterr().err
    assert main([str(path), "--shape", "state=3"]) == 0
