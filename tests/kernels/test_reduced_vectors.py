"""Reductions whose tile has several vectors, each with an accumulator, against NumPy in f64."""

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.effort import crossed

COMBINERS = {
    "addf": (np.sum, "0.0", 2e-6),
    "maximumf": (np.max, "0xFF800000", 0),
    "minimumf": (np.min, "0x7F800000", 0),
}
"""What NumPy says of a row, what is neutral, and the part of the sum of magnitudes that is lost."""


def kernel(combiner: str, rows: int, length: int, schedule: str, initial: str = "") -> Model:
    """Return a reduction of rows by a schedule."""
    x, y = f"tensor<{rows}x{length}xf32>", f"tensor<{rows}xf32>"
    start = initial or COMBINERS[combiner][1]
    text = f"""
func.func @main(%x: {x} {{gawee.input = "x"}}) -> ({y} {{gawee.output = "y"}}) {{
  %y = gawee.kernel parallel [{rows}] reduce [{length}] ins(%x : {x})
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial {start} : f32 accumulate {{
  ^bb0(%e: f32, %s: f32):
    %0 = arith.{combiner} %s, %e : f32
    gawee.yield %0 : f32
  }} finish {{
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  }} schedule #gawee.schedule<{schedule}> : {y}
  func.return %y : {y}
}}
"""
    return Model(parse_mlir(make_context(), text, "test.mlir"))


def run(model: Model, x: np.ndarray) -> np.ndarray:
    return model.compile(CodeOptions(num_threads=1), cache=False).run({"x": x})["y"]


# A whole number of steps; vectors left, and lanes of one; less than a step; less than a vector.
LENGTHS = (128, 64 + 40 + 3, 64 + 7, 60, 33, 5)


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize(
    ("length", "schedule"),
    crossed(LENGTHS, ["[d0, d1 by 64]", "[d0 by 3, d1 by 32]", "[d0 by 2, d1 by 24]"]),
)
def test_every_number_counts_once(combiner: str, length: int, schedule: str) -> None:
    steps = [*map(int, schedule.replace("]", "").split("by ")[-1:])]
    loops = schedule if length > steps[0] else schedule.rpartition(",")[0] + "]"
    x = np.random.default_rng(length).standard_normal((7, length)).astype(np.float32)

    found = run(kernel(combiner, 7, length, f"loops = {loops}, vector = d1 by 8"), x)

    reduce, _, lost = COMBINERS[combiner]
    allowed = lost * np.abs(x).sum(axis=1, dtype=np.float64)
    assert np.all(np.abs(found - reduce(x.astype(np.float64), axis=1)) <= allowed)


@pytest.mark.parametrize("place", [0, 17, 66])
def test_a_number_that_is_none_is_seen_in_every_vector(place: int) -> None:
    x = np.ones((2, 67), np.float32)
    x[1, place] = np.nan

    found = run(kernel("maximumf", 2, 67, "loops = [d0, d1 by 32], vector = d1 by 8"), x)

    np.testing.assert_array_equal(found, [1, np.nan])


def test_an_initial_value_counts_once() -> None:
    x = np.ones((3, 75), np.float32)

    found = run(kernel("addf", 3, 75, "loops = [d0, d1 by 32], vector = d1 by 8", "2.5"), x)

    np.testing.assert_array_equal(found, [77.5, 77.5, 77.5])


@pytest.mark.parametrize("schedule", ["[d0, d1 by 128]", "[d0 by 2, d1 by 32]"])
def test_a_long_sum_has_its_totals_in_f64(schedule: str) -> None:
    # 0.1 two hundred thousand times: in f32 alone the sum is off in its fourth digit.
    length = 200_003
    x = np.full((2, length), 0.1, np.float32)

    found = run(kernel("addf", 2, length, f"loops = {schedule}, vector = d1 by 16"), x)

    np.testing.assert_allclose(found, x.sum(axis=1, dtype=np.float64), rtol=2e-7)


def test_rows_of_any_length_are_reduced_as_by_numpy() -> None:
    from gawee_dialect.dialect.graph.reduction import ReduceSumOp
    from tests.kernels.compiled import WIDE, module_of

    random = np.random.default_rng(7)
    for rows, length in ((5, 511), (3, 512), (2, 1024), (4, 1031), (1, 9001)):
        x = random.standard_normal((rows, length)).astype(np.float32)
        module = module_of(lambda v: ReduceSumOp(v, axes=[1]).result, [x])
        (found,) = WIDE.run(module, [x], 0)
        allowed = 2e-6 * np.abs(x).sum(axis=1, dtype=np.float64)
        assert np.all(np.abs(found - x.sum(axis=1, dtype=np.float64)) <= allowed)
