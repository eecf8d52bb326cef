"""bf16 in native code and in the interpreter of loops, against ml_dtypes."""

import sys

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import dtype_name
from tests.loops_level import run_native

ml_dtypes = pytest.importorskip("ml_dtypes")

COUNT = 4096

ROUND = f"""
func.func @f(%x: memref<{COUNT}xf32> {{gawee.input = "x"}}, %y: memref<{COUNT}xbf16> {{gawee.output = "y"}},
             %z: memref<{COUNT}xf32> {{gawee.output = "z"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {COUNT} : index
  scf.for %i = %c0 to %n step %c1 {{
    %v = memref.load %x[%i] : memref<{COUNT}xf32>
    %h = arith.truncf %v : f32 to bf16
    memref.store %h, %y[%i] : memref<{COUNT}xbf16>
    %w = arith.extf %h : bf16 to f32
    memref.store %w, %z[%i] : memref<{COUNT}xf32>
  }}
  return
}}
"""


def floats() -> np.ndarray:
    """Return floats of all exponents and signs: ties, and what is close to them, included."""
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2**32, COUNT, dtype=np.uint32)
    bits[: COUNT // 2] = bits[: COUNT // 2] & 0xFFFF0000 | 0x8000
    bits[: COUNT // 4] += generator.integers(-1, 2, COUNT // 4).astype(np.uint32)
    values = bits.view(np.float32)
    values[-5:] = [np.nan, np.inf, -np.inf, 3.4e38, -0.0]
    return values


def test_native_code_rounds_to_the_nearest_even() -> None:
    x = floats()
    expected = x.astype(ml_dtypes.bfloat16)

    got = run_native(ROUND, "f", {"x": x})

    is_number = ~np.isnan(x)
    bits = got["y"].view(np.uint16)
    np.testing.assert_array_equal(bits[is_number], expected.view(np.uint16)[is_number])
    np.testing.assert_array_equal(got["z"], expected.astype(np.float32))


def test_what_is_missing_for_arrays_of_bf16_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)

    with pytest.raises(
        VerifyException,
        match="unsupported element type 'bf16': NumPy has it from ml_dtypes, which is not installed",
    ):
        dtype_name(bf16)
