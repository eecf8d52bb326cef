"""Scalars that an entry function takes and returns: at every level, in Python and by the tool."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect import load
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level
from gawee_dialect.tools.gawee_run import main

TEXT = """
#map = affine_map<(i) -> (i)>
func.func public @main(%x: tensor<5xf32>, %s: f32, %b: i1, %n: i32, %k: index, %d: f64)
    -> (f64 {gawee.output = "twice"}, tensor<5xf32> {gawee.output = "y"}, i1, index) {
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    %c = arith.select %b, %m, %a : f32
    %f = arith.sitofp %n : i32 to f32
    %i = arith.index_cast %k : index to i32
    %g = arith.sitofp %i : i32 to f32
    %h = arith.addf %c, %f : f32
    %r = arith.subf %h, %g : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %t = arith.addf %d, %d : f64
  %one = arith.constant 1 : index
  %l = arith.addi %k, %one : index
  func.return %t, %y, %b, %l : f64, tensor<5xf32>, i1, index
}
"""
"""y = (b ? x * s : x) + n - k."""

X = np.arange(5, dtype=np.float32) / 4
INPUTS = {
    **{"x": X, "s": np.float32(3), "b": np.True_, "n": np.int32(-7), "k": np.int64(20)},
    "d": np.float64(0.1),
}
EXPECTED = {"twice": 0.2, "y": X * 3 - 27, "output2": True, "output3": 21}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scalars.mlir"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("level", list(Level))
def test_scalars_are_taken_and_returned_at_each_level(path: Path, level: Level) -> None:
    got = load(path).run(INPUTS, level)

    assert [*got] == [*EXPECTED]
    for name, expected in EXPECTED.items():
        np.testing.assert_array_equal(got[name], expected)  # exact in f32


def test_a_compiled_model_takes_numbers_of_python(path: Path) -> None:
    compiled = load(path).compile()

    twice, y, truth, more = compiled(X, 3.0, True, -7, 20, 0.1)

    np.testing.assert_array_equal(y, EXPECTED["y"])
    assert (twice.item(), truth.item(), more.item()) == (0.2, True, 21)
    with pytest.raises(GaweeError, match="input 'n': expected a scalar of int32, got float"):
        compiled(X, 3.0, True, 0.5, 20, 0.1)


def test_the_tool_takes_scalars_from_files(path: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "given.npz", **INPUTS)
    files = ["--inputs", str(tmp_path / "given.npz"), "--output", str(tmp_path / "got.npz")]

    assert main([str(path), *files]) == 0

    got = np.load(tmp_path / "got.npz")
    assert {name: got[name].tolist() for name in got.files} == {
        name: np.asarray(expected).tolist() for name, expected in EXPECTED.items()
    }


def test_a_result_that_loops_return_is_refused_natively(tmp_path: Path) -> None:
    path = tmp_path / "returns.mlir"
    path.write_text("func.func @main(%x: f32) -> f32 {\n  func.return %x : f32\n}\n")

    # No tensor says that the function is not yet on buffers.
    with pytest.raises(GaweeError, match="to write its outputs to buffers, got a result 'f32'"):
        load(path).compile(cache=False)
