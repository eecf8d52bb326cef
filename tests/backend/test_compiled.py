"""CompiledModel: arrays in and out, parameters bound and prepared, threads, overhead."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gawee_dialect
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.diagnostics import GaweeError
from tests.loops_level import llvm_module

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "graph.json"

NETWORK = """
func.func @main(%x: memref<3x4xf32> {gawee.input = "x"}, %z: memref<3x4xf32> {gawee.input = "z"},
                %w: memref<4xf32> {gawee.parameter = "layer.scale"}, %p: memref<4xf32> {gawee.prepared = "0"},
                %y: memref<3x4xf32> {gawee.output = "y"}, %s: memref<3x4xf32> {gawee.output = "sum"},
                %work: memref<192xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %t = memref.view %work[%c64][] : memref<192xi8> to memref<3x4xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %x[%i, %j] : memref<3x4xf32>
      %b = memref.load %w[%j] : memref<4xf32>
      %c = memref.load %p[%j] : memref<4xf32>
      %d = arith.mulf %a, %b : f32
      %e = arith.addf %d, %c : f32
      memref.store %e, %t[%i, %j] : memref<3x4xf32>
    }
  }
  "memref.copy"(%t, %y) : (memref<3x4xf32>, memref<3x4xf32>) -> ()
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %t[%i, %j] : memref<3x4xf32>
      %b = memref.load %z[%i, %j] : memref<3x4xf32>
      %d = arith.addf %a, %b : f32
      memref.store %d, %s[%i, %j] : memref<3x4xf32>
    }
  }
  return
}
func.func @prepare(%w: memref<4xf32> {gawee.parameter = "layer.scale"},
                   %v: memref<4xf32> {gawee.parameter = "layer.shift"}, %p: memref<4xf32> {gawee.output = "0"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %a = memref.load %w[%j] : memref<4xf32>
    %b = memref.load %v[%j] : memref<4xf32>
    %d = arith.mulf %a, %b : f32
    memref.store %d, %p[%j] : memref<4xf32>
  }
  return
}
"""

# small integers: every sum and product is exact in f32
SCALE = np.array([1, 2, 3, 4], np.float32)
SHIFT = np.array([5, 6, 7, 8], np.float32)
X = np.arange(12, dtype=np.float32).reshape(3, 4)
Z = np.full((3, 4), 100, np.float32)


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return CompiledModel(llvm_module(NETWORK), {"layer.scale": SCALE, "layer.shift": SHIFT})


def test_several_outputs_are_a_tuple_or_a_dict(model: CompiledModel) -> None:
    expected = X * SCALE + SCALE * SHIFT

    y, total = model(X, Z)
    by_name = model.run({"z": Z, "x": X})

    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(total, expected + Z)
    assert list(by_name) == ["y", "sum"]
    np.testing.assert_array_equal(by_name["sum"], total)


def test_inputs_by_position_and_by_name_mix(model: CompiledModel) -> None:
    np.testing.assert_array_equal(model(X, z=Z)[1], model(z=Z, x=X)[1])


@pytest.mark.parametrize(
    "view", [X.T.copy().T, np.repeat(X, 2, axis=1)[:, ::2], np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 4)],
    ids=["fortran", "strided", "unaligned"],
)  # fmt: skip
def test_arrays_of_any_layout_are_read_right(model: CompiledModel, view: np.ndarray) -> None:
    np.testing.assert_array_equal(model(view, Z)[0], model(X, Z)[0])


def test_wrong_inputs_are_all_listed(model: CompiledModel) -> None:
    with pytest.raises(GaweeError) as caught:
        model.run({"x": X.astype(np.int64), "z": Z[:2], "q": X})

    assert str(caught.value).splitlines() == [
        "error: unknown input 'q'; expected: x, z",
        "error: input 'x': expected element type float32, got int64",
        "hint: array.astype('float32') makes it one",
        "error: input 'z': expected shape 3x4, got 2x4",
        "hint: the code is for a batch of 3; model.compile(dynamic_batch=True) makes code for any "
        "number of images",
    ]


def test_missing_and_surplus_inputs_are_refused(model: CompiledModel) -> None:
    with pytest.raises(GaweeError, match="input 'z': expected an array of 3x4 float32, got none"):
        model(X)
    with pytest.raises(GaweeError, match="expected at most 2 inputs, got 3"):
        model(X, Z, Z)
    with pytest.raises(GaweeError, match="expected input 'x' once"):
        model(X, x=X)
    with pytest.raises(GaweeError, match="expected an array of 3x4 float32, got list"):
        model(X.tolist(), Z)


@pytest.mark.parametrize(
    "given", [[X, Z], (X, Z), {"x": X, "z": Z}, [X.astype(np.float64), Z]],
    ids=["list", "tuple", "mapping", "doubles"],
)  # fmt: skip
def test_inputs_are_given_alike_to_a_call_and_to_run(model: CompiledModel, given: object) -> None:
    expected = model(X, Z)
    np.testing.assert_array_equal(model(given)[0], expected[0])
    for name, array in zip(model.run({"x": X, "z": Z}), expected, strict=True):
        np.testing.assert_array_equal(model.run(given)[name], array)


def test_a_number_that_its_input_cannot_hold_is_refused(model: CompiledModel) -> None:
    with pytest.raises(GaweeError, match=r"expected input 'x' of dtype float32, got 1e\+300 in it"):
        model(np.full((3, 4), 1e300), Z)


def test_parameters_are_checked_and_can_be_rebound() -> None:
    model = CompiledModel(llvm_module(NETWORK))

    with pytest.raises(GaweeError, match="expected 2 parameters to be bound, got none"):
        model(X, Z)
    with pytest.raises(GaweeError, match=r"parameter 'layer\.shift': expected an array of 4"):
        model.rebind({"layer.scale": SCALE})
    model.rebind({"layer.scale": SCALE, "layer.shift": SHIFT})
    before = model(X, Z)[0]
    model.rebind({"layer.scale": SCALE + 1, "layer.shift": SHIFT})

    np.testing.assert_array_equal(before, X * SCALE + SCALE * SHIFT)
    np.testing.assert_array_equal(model(X, Z)[0], X * (SCALE + 1) + (SCALE + 1) * SHIFT)
    np.testing.assert_array_equal(model.prepared_values()["0"], (SCALE + 1) * SHIFT)


def test_a_missing_function_is_named() -> None:
    with pytest.raises(GaweeError, match="expected a function '@forward' in the module, got none"):
        CompiledModel(llvm_module(NETWORK), function="forward")


def test_threads_do_not_share_a_workspace(model: CompiledModel) -> None:
    def work(seed: int) -> bool:
        x = np.full((3, 4), seed, np.float32)
        return all(
            np.array_equal(model(x, Z)[1], x * SCALE + SCALE * SHIFT + Z) for _ in range(300)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_a_call_costs_below_50_microseconds(model: CompiledModel) -> None:
    def one_call() -> float:
        start = time.perf_counter()
        for _ in range(40):
            model(X, Z)
        return (time.perf_counter() - start) / 40

    # Short rounds: some fall between two turns of other processes.
    assert min(one_call() for _ in range(50)) < 50e-6


def test_a_prepared_value_that_nothing_makes_is_named() -> None:
    text = NETWORK.replace('gawee.output = "0"', 'gawee.output = "1"')

    with pytest.raises(GaweeError, match="expected '@prepare' to make prepared value '0', got 1"):
        CompiledModel(llvm_module(text), {"layer.scale": SCALE, "layer.shift": SHIFT})


def test_compiled_model_is_saved_with_its_bound_weights(tmp_path: Path) -> None:
    model = gawee_dialect.load(DIGITS).compile()

    paths = model.save(tmp_path, ("obj", "header"), name="digits")

    names = {path.name for path in paths}
    assert names == {"digits.o", "digits.h", "digits.json", "digits.weights.bin"}
    manifest = json.loads((tmp_path / "digits.json").read_text())
    assert manifest["weights"]
    size = (tmp_path / "digits.weights.bin").stat().st_size
    assert size == manifest["weights_start"] + manifest["weights_size"]
