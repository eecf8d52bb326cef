"""Calls with arrays that are checked by machine code: what fits runs, what does not is not touched."""

import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend import native_call
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.frame import MOST_KEPT
from gawee_dialect.diagnostics import GaweeError
from tests.loops_level import llvm_module

# y = -x, by rows that are not all alike
NEGATION = """
func.func @main(%x: memref<3x5xi64> {gawee.input = "x"}, %y: memref<3x5xi64> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %j] : memref<3x5xi64>
      %b = arith.subi %zero, %a : i64
      memref.store %b, %y[%i, %j] : memref<3x5xi64>
    }
  }
  return
}
"""

# y = w - x
DIFFERENCE = """
func.func @main(%x: memref<3x5xi64> {gawee.input = "x"},
                %w: memref<3x5xi64> {gawee.parameter = "w"},
                %y: memref<3x5xi64> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %j] : memref<3x5xi64>
      %b = memref.load %w[%i, %j] : memref<3x5xi64>
      %d = arith.subi %b, %a : i64
      memref.store %d, %y[%i, %j] : memref<3x5xi64>
    }
  }
  return
}
"""

X = np.arange(15, dtype=np.int64).reshape(3, 5)


def called(model: CompiledModel, x: np.ndarray) -> np.ndarray:
    """Return the only output."""
    result = model(x)
    assert isinstance(result, np.ndarray)
    return result


@pytest.fixture(params=["machine code", "ctypes"])
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CompiledModel:
    """Call either way: the second is for a Python whose arrays are laid out otherwise."""
    if request.param == "ctypes":
        monkeypatch.setattr(native_call, "builtin_call", lambda: None)
    return CompiledModel(llvm_module(NEGATION))


def test_arrays_of_this_numpy_are_laid_out_as_its_interface_says() -> None:
    assert native_call.has_known_layout()


def test_an_array_that_fits_is_read_where_it_is(model: CompiledModel) -> None:
    x = X.copy()
    read_only = X.copy()
    read_only.flags.writeable = False

    assert np.array_equal(model(x), -X)
    assert np.array_equal(model.run({"x": x})["y"], -X)
    assert np.array_equal(model(read_only), -X)


class Tagged(np.ndarray):
    """A class of arrays of a user's own."""


def memory_mapped(array: np.ndarray, path: Path) -> np.ndarray:
    np.save(path, array)
    return np.load(path, mmap_mode="r")


LAYOUTS: dict[str, Callable[[np.ndarray, Path], np.ndarray]] = {
    "in Fortran's order": lambda x, _: np.asfortranarray(x),
    "every second column": lambda x, _: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x, _: x[::-1].copy()[::-1],
    "not aligned": lambda x, _: np.frombuffer(b"-" + x.tobytes(), x.dtype, offset=1).reshape(3, 5),
    "of a class of its own": lambda x, _: x.view(Tagged),
    "in a file": memory_mapped,
    "of an equal type": lambda x, _: x.astype(np.dtype(np.int64, metadata={"unit": "m"})),
    "long long": lambda x, _: x.astype(np.longlong),
    "of halves": lambda x, _: x.astype(np.int32),
    "of the other byte order": lambda x, _: x.astype(">i8"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_of_another_layout_is_read_right(
    model: CompiledModel, layout: str, tmp_path: Path
) -> None:
    x = LAYOUTS[layout](X, tmp_path / "x.npy")

    assert np.array_equal(model(x), -X)
    assert type(model(x)) is np.ndarray


WRONG: dict[str, tuple[object, str]] = {
    "one row less": (X[1:], "expected shape 3x5, got 2x5"),
    "turned": (X.T.copy(), "expected shape 3x5, got 5x3"),
    "an axis more": (X[None], "expected shape 3x5, got 1x3x5"),
    "of floats": (X.astype(np.float64), "expected element type int64, got float64"),
    "nothing": (None, "expected an array of 3x5 int64, got none"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_told(model: CompiledModel, wrong: str) -> None:
    value, problem = WRONG[wrong]
    call: Callable[..., object] = model

    with pytest.raises(GaweeError, match=f"input 'x': {problem}"):
        call(value)
    with pytest.raises(GaweeError, match=f"input 'x': {problem}"):
        call(x=value)


def test_memory_of_an_output_is_used_again_once_nobody_holds_it(model: CompiledModel) -> None:
    places = {called(model, X).ctypes.data for _ in range(10)}

    assert len(places) == 1


def test_a_result_that_somebody_holds_stays_as_it_is(model: CompiledModel) -> None:
    result = model(X)
    row = model(X)[1]
    raw = called(model, X).data
    followed = model(X)
    weak = weakref.ref(followed)
    del followed

    later = [model(X + k) for k in range(1, 8)]

    assert np.array_equal(result, -X)
    assert np.array_equal(row, -X[1])
    assert np.array_equal(np.asarray(raw), -X)
    kept = weak()
    assert kept is None or np.array_equal(kept, -X)
    assert all(np.array_equal(each, -X - k) for k, each in enumerate(later, 1))


def test_a_result_that_was_changed_by_its_holder_is_not_used_again(model: CompiledModel) -> None:
    read_only, reshaped = called(model, X), called(model, X)
    read_only.flags.writeable = False
    reshaped.shape = (5, 3)
    del read_only, reshaped

    for k in range(3):
        result = called(model, X + k)
        assert np.array_equal(result, -X - k)
        assert result.flags.writeable


def test_memory_that_is_used_again_takes_parameters_that_were_bound_since() -> None:
    model = CompiledModel(llvm_module(DIFFERENCE), {"w": X})

    for number in (2, 3):
        model.rebind({"w": number * X})
        for _ in range(3):
            assert np.array_equal(model(X), (number - 1) * X)
            assert np.array_equal(model.run({"x": X})["y"], (number - 1) * X)


def test_a_loop_that_holds_its_last_result_needs_two() -> None:
    model = CompiledModel(llvm_module(NEGATION))
    places: set[int] = set()
    result = called(model, X)
    for _ in range(10):
        result = called(model, result)
        places.add(result.ctypes.data)

    assert len(places) == 2
    assert np.array_equal(result, -X)


def test_large_results_are_not_kept() -> None:
    rows = MOST_KEPT // 40 + 1
    text = NEGATION.replace("3x5", f"{rows}x5").replace("constant 3 ", f"constant {rows} ")
    model = CompiledModel(llvm_module(text))
    result = model(np.ones((rows, 5), np.int64))
    weak = weakref.ref(result)

    del result

    assert weak() is None
