"""The errors of cost models: what is counted, and the page that says it."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import model_error
from benchmarks.model_error import Row, mean_error, page, read_rows
from gawee_dialect.model import Model
from gawee_dialect.tuning.search import Settings
from tests.passes.modules import parse
from tests.tuning.networks import network

pytestmark = pytest.mark.usefixtures("unoptimized")

CONV = "conv 1x3x5x7 over 2x3x3 f32"


def test_errors_are_parts_of_the_best_time_and_their_mean_is_geometric() -> None:
    rows = [
        Row("net", CONV, "schedule", 2e-4, 1e-4, "v"),
        Row("net", CONV, "schedule", 1e-4, 1e-4, ""),
        Row("net", CONV, "schedule", 4e-4, 1e-4, "v"),
    ]

    assert [row.error for row in rows] == pytest.approx([1, 0, 3])
    assert mean_error(rows) == pytest.approx(1)  # (2 * 1 * 4) ** (1 / 3) - 1
    assert mean_error([]) == 0


def test_the_page_groups_by_what_was_decided_and_tells_long_kernels_apart() -> None:
    rows = [
        Row("net", CONV, "algorithm", 2e-4, 1e-4, "algorithm winograd"),
        Row("net", CONV, "schedule", 1e-4, 1e-4, ""),
        Row("net", "matmul 5x7 over 11 f32", "schedule", 11e-6, 10e-6, "wider"),
        Row("other", "elementwise 5x7 f32, addf", "schedule", 3e-6, 2e-6, "narrower"),
    ]

    lines = page(rows, Settings(threads=2)).splitlines()

    assert any(line.endswith("2 threads.") for line in lines)
    assert "| net | algorithm | 1 | 0 | 100.0% | 100.0% |" in lines
    # The product that is chosen wrongly takes 11 us, less than what counts for the largest.
    assert f"| net | {model_error.PRODUCTS} | 2 | 1 | 4.9% | 0.0% |" in lines
    assert f"| all | {model_error.OTHERS} | 1 | 0 | 50.0% | 0.0% |" in lines
    worst = [line.split("|")[2].strip() for line in lines if line.endswith("` |")]
    assert worst == [CONV, "elementwise 5x7 f32, addf", "matmul 5x7 over 11 f32"]


def test_a_network_is_measured_once_and_read_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_error, "network", lambda _: network())
    written = tmp_path / "page.md"
    arguments = ["--model", "small", "--candidates", "2", "--page", str(written)]
    arguments += ["--results", str(tmp_path / "results"), "--shortest", "0", "--others"]

    model_error.main(arguments)
    first = written.read_text()
    said = capsys.readouterr().out
    model_error.main(arguments)

    file = tmp_path / "results" / "small.1.jsonl"
    assert "small: conv 1x32x10x9 over 16x3x3" in said
    assert capsys.readouterr().out == ""
    assert written.read_text() == first
    rows = list(read_rows("small", file))
    assert {row.decision for row in rows} == {"algorithm", "schedule"}
    assert all(row.chosen >= row.best > 0 for row in rows)
    for row, line in zip(rows, file.read_text().splitlines(), strict=True):
        assert row.chosen == json.loads(line)["default_seconds"]


PRODUCT = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %w: tensor<7x5xf32> {gawee.input = "w"})
    -> (tensor<3x7xf32> {gawee.output = "y"}) {
  %0 = gawee.matmul %x, %w : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  func.return %0 : tensor<3x7xf32>
}
"""


def test_short_kernels_are_left_out_and_a_run_whose_time_is_up_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = (
        Model(parse(PRODUCT)),
        {"x": np.ones((3, 5), np.float32), "w": np.ones((7, 5), np.float32)},
    )
    monkeypatch.setattr(model_error, "network", lambda _: small)
    arguments = ["--model", "small", "--page", str(tmp_path / "page.md")]
    arguments += ["--results", str(tmp_path / "results"), "--candidates", "2"]

    model_error.main([*arguments, "--shortest", "1e6"])
    of_long_ones = capsys.readouterr().out
    model_error.main([*arguments, "--shortest", "0", "--seconds", "0"])
    without_time = capsys.readouterr().out

    assert of_long_ones == ""
    assert without_time == "the time is up; a next run goes on\n"
    assert list(read_rows("small", tmp_path / "results" / "small.1.jsonl")) == []
