"""One machine code for all sizes, by the plain route, against NumPy and PyTorch."""

import threading
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.analysis.open_sizes import with_ranges
from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model
from tests.closeness import assert_allclose
from tests.open_sizes.rows import ROWS

PLAIN = CodeOptions(algorithms="plain")


def rows_model() -> tuple[Model, np.ndarray]:
    """Return a model of two open sizes, and its weights."""
    weights = np.random.default_rng(0).standard_normal((5, 6), np.float32)
    return Model(module_of_text(ROWS), {"w": weights}), weights


def expected_rows(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return what the model computes, in float64."""
    powers = np.exp(x.astype(np.float64) @ weights.T.astype(np.float64))
    return powers / powers.sum(1, keepdims=True)


def random_rows(batch: int, length: int) -> np.ndarray:
    return np.random.default_rng(batch * length).standard_normal((batch, length, 6), np.float32)


SIZES = ((1, 1), (8, 64), (3, 7), (5, 33), (2, 64))


def test_one_code_is_for_all_sizes() -> None:
    model, weights = rows_model()

    compiled = model.compile(PLAIN, sizes={"batch": (1, 8), "length": (1, 64)}, cache=False)

    assert isinstance(compiled, OpenModel)
    for batch, length in SIZES:
        x = random_rows(batch, length)
        for _ in range(2):  # the second call has what it needs
            result = compiled(x)
            assert isinstance(result, np.ndarray)
            # Sums of six products, and of as many powers as the length, in float32.
            assert_allclose(result, expected_rows(x, weights), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("level", ["linalg", "buffers", "loops"])
def test_each_level_runs_at_any_size(level: str) -> None:
    from gawee_dialect.interpreter import run_module

    model, weights = rows_model()

    lowered = model.lowered(level, PLAIN)

    for batch, length in ((1, 1), (3, 7), (2, 5)):
        x = random_rows(batch, length)
        result = run_module(lowered, {"x": x, "w": weights})["y"]
        assert_allclose(result, expected_rows(x, weights), rtol=2e-5, atol=1e-6)


def test_a_range_that_is_narrower_is_that_of_the_code() -> None:
    model, _ = rows_model()
    compiled = model.compile(PLAIN, sizes={"length": (4, 16)}, cache=False)
    assert isinstance(compiled, OpenModel)

    assert compiled.sizes == {"batch": "1 to 8", "length": "4 to 16"}
    with pytest.raises(GaweeError, match=r"expected size 'length' of 4 to 16, got 17"):
        compiled(random_rows(2, 17))


def test_a_size_out_of_range_is_named() -> None:
    model, _ = rows_model()
    compiled = model.compile(PLAIN, cache=False)

    with pytest.raises(GaweeError, match=r"expected size 'batch' of 1 to 8, got 9"):
        compiled(random_rows(9, 2))


def test_ranges_that_a_graph_has_leave_it_as_it_is() -> None:
    module = rows_model()[0].module

    assert with_ranges(module, {"batch": (1, 8)}) is module
    assert with_ranges(module, {"batch": (1, 7)}) is not module


def test_a_range_beyond_that_of_the_graph_is_refused() -> None:
    model, _ = rows_model()

    with pytest.raises(GaweeError, match=r"expected size 'batch' of 1 to 8, got 9"):
        model.compile(PLAIN, sizes={"batch": (1, 9)})


def test_the_workspace_is_as_large_as_sizes_need() -> None:
    model, _ = rows_model()
    compiled = model.compile(PLAIN, cache=False)
    assert isinstance(compiled, OpenModel)

    small, large = ({"batch": batch, "length": length} for batch, length in ((1, 1), (8, 64)))

    # The products and the powers are alive at once: at least these.
    assert compiled.workspace_size(large) >= 2 * 8 * 64 * 5 * 4
    assert compiled.workspace_size(small) < 1024
    with pytest.raises(GaweeError, match=r"expected size 'length' of 1 to 64, got 65"):
        compiled.workspace_size({"batch": 1, "length": 65})


def test_threads_call_at_several_sizes_at_once() -> None:
    model, weights = rows_model()
    compiled = model.compile(PLAIN, cache=False)
    problems: list[object] = []

    def call(first: int) -> None:
        try:
            for turn in range(40):
                batch, length = SIZES[(first + turn) % len(SIZES)]
                x = random_rows(batch, length)
                result = compiled(x)
                assert_allclose(result, expected_rows(x, weights), rtol=2e-5, atol=1e-6)
        except AssertionError as error:
            problems.append(error)

    threads = [threading.Thread(target=call, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not problems


def test_a_run_makes_one_code_for_all_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))
    model, weights = rows_model()
    run = model.runner("llvm", options=PLAIN)

    for batch, length in SIZES[:3]:
        x = random_rows(batch, length)
        assert_allclose(run({"x": x})["y"], expected_rows(x, weights), rtol=2e-5, atol=1e-6)

    assert isinstance(getattr(run, "__self__", None), OpenModel)
    assert not vars(model)["_of_sizes"]


def test_what_the_cache_keeps_knows_its_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))
    model, weights = rows_model()
    model.compile(PLAIN)

    again = model.compile(PLAIN)

    assert isinstance(again, OpenModel)
    assert again.sizes == {"batch": "1 to 8", "length": "1 to 64"}
    x = random_rows(3, 7)
    result = again(x)
    assert isinstance(result, np.ndarray)
    assert_allclose(result, expected_rows(x, weights), rtol=2e-5, atol=1e-6)


DIGITS = """
func.func @main(%x: tensor<?x3xf32> {gawee.input = "x", gawee.sizes = ["4 * a + 2 * b + c + 4", "-"]})
    -> (tensor<?x3xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {a = "0 to 20", b = "0 to 1", c = "0 to 1"}} {
  %0 = gawee.slice %x offsets [0, 0] sizes ["2 * a + b + 2", 3] strides [2, 1] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = gawee.exp %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %1 : tensor<?x3xf32>
}
"""


def test_each_level_takes_a_size_that_is_made_of_digits() -> None:
    from gawee_dialect.interpreter import run_module

    model = Model(module_of_text(DIGITS), {})
    ranges = {"a": (0, 20), "b": (0, 1), "c": (0, 1)}
    compiled = [
        model.compile(CodeOptions(algorithms=each), cache=False, sizes=ranges)
        for each in ("fast", "plain")
    ]
    modules = [model.lowered(level, PLAIN) for level in ("gawee", "linalg", "buffers", "loops")]

    for rows in range(4, 24):
        x = np.random.default_rng(rows).standard_normal((rows, 3), np.float32)
        expected = np.exp(x.astype(np.float64)[: rows // 2 * 2 : 2])
        made = [*(each(x) for each in compiled), *(run_module(m, {"x": x})["y"] for m in modules)]
        for result in made:
            assert isinstance(result, np.ndarray)
            assert_allclose(result, expected, rtol=2e-6, atol=0)  # one rounding, and exp's own


def test_a_number_that_no_digits_make_is_out_of_range() -> None:
    compiled = Model(module_of_text(DIGITS), {}).compile(PLAIN, cache=False)

    with pytest.raises(GaweeError, match=r"expected size 'a' of 0 to 20, got 21"):
        compiled(np.zeros((88, 3), np.float32))
    with pytest.raises(GaweeError, match=r"expected size 'a' of 0 to 20, got -1"):
        compiled(np.zeros((3, 3), np.float32))
