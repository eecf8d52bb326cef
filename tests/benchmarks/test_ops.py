"""The benchmark of ops: every op has a case, a case computes what PyTorch does, rows add up."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks.ops import __main__ as benchmark
from benchmarks.ops.case import SIZES, Case, Times, measure
from benchmarks.ops.registry import WITHOUT_TWIN, all_cases
from benchmarks.ops.table import geometric_mean, page
from gawee_dialect.dialect import GRAPH_LEVEL

CASES = all_cases()


def graph(case: Case) -> set[str]:
    """The gawee ops of the graph of a case, which is verified."""
    return {op.name for op in case.model(case.arrays(0)).module.walk()}


def test_every_op_is_measured_or_has_a_reason_why_not() -> None:
    measured = {name for case in CASES.values() for name in graph(case)}
    ops = {op.name for op in GRAPH_LEVEL}

    assert ops - measured == set(WITHOUT_TWIN)


@pytest.mark.parametrize("name", ["elu", "matmul, one row", "conv_transpose 3x3 / 2", "top_k of 5"])
def test_a_small_case_computes_what_pytorch_does(name: str) -> None:
    times = measure(CASES[name], 0, seconds=0.001)

    assert (times.case, times.size) == (name, "small")
    assert times.ours > 0
    assert times.eager > 0


def test_a_case_that_computes_something_else_is_not_measured() -> None:
    relu, elu = CASES["relu"], CASES["elu"]

    with pytest.raises(ValueError, match="of their range apart"):
        measure(Case("wrong", relu.op, elu.eager, relu.sizes), 0, seconds=0.001)


def test_the_page_says_how_many_times_faster_an_op_is() -> None:
    times = [
        Times("relu", "small", "128x128", 2e-6, 3e-6),
        Times("relu", "large", "8x9", 4e-6, 1e-6),
    ]

    text = page({(each.case, each.size): each for each in times})

    assert "| relu | 2.0 | 1.50 | - | - | 4.0 | **0.25** | 8x9 |" in text
    assert "geometric mean is\n0.61; in 1 ours" in text


def test_the_geometric_mean_of_a_half_and_of_two_is_one() -> None:
    assert geometric_mean([0.5, 2]) == pytest.approx(1)


def test_only_what_is_named_and_missing_is_measured(tmp_path: Path) -> None:
    results, written = tmp_path / "build" / "ops.jsonl", tmp_path / "ops.md"
    options = ["--seconds", "0.001", "--results", str(results), "--page", str(written)]

    assert benchmark.main(["--only", "matmul, one row", *options]) == 0
    first = results.read_text()
    assert benchmark.main(["--only", "matmul, one row", "--missing", *options]) == 0

    assert results.read_text() == first
    assert [json.loads(line)["size"] for line in first.splitlines()] == list(SIZES)
    assert "| matmul, one row |" in written.read_text()


def test_some_ops_alone_leave_the_page_of_all_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "ops.md"
    monkeypatch.setattr(benchmark, "PAGE", published)
    options = ["--seconds", "0.001", "--results", str(tmp_path / "ops.jsonl")]

    assert benchmark.main(["--only", "matmul, one row", *options]) == 0

    assert not published.exists()
