"""gawee-tune from the command line: the file, the report, and what is refused."""

import json
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_run, gawee_tune

GRAPH = str(Path(__file__).parents[2] / "examples" / "digits" / "graph.json")


def test_a_tuned_file_is_for_gawee_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "choices.jsonl")
    common = [GRAPH, "--threads", "1", "--database", path]

    assert gawee_tune.main([*common, "--kernels", "pool *", "--candidates", "2"]) == 0

    said = capsys.readouterr().out
    assert "pool 1x16x4x4 over 2x2 f32" in said
    assert f"wrote {path}" in said.replace("\n", "")
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert [line["nodes"] for line in lines] in ([["pool"], ["avgpool"]], [["avgpool"], ["pool"]])
    run = [GRAPH, "--schedules", path, "--num-threads", "1", "--compare", "gawee"]
    assert gawee_run.main(run) == 0


def test_a_strategy_by_name_decides_what_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = [GRAPH, "--threads", "1", "--database", str(tmp_path / "choices.jsonl")]
    flags = ["--kernels", "pool *", "--candidates", "3", "--strategy", "hill-climbing"]

    assert gawee_tune.main([*common, *flags]) == 0

    assert "of 3 versions" in capsys.readouterr().out


def test_no_kernel_is_begun_when_the_budget_is_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "choices.jsonl"

    assert gawee_tune.main([GRAPH, "--budget", "0", "--database", str(path)]) == 0

    assert path.read_text() == ""
    assert "the budget is spent" in capsys.readouterr().out


def test_the_listing_is_such_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "choices.jsonl"

    assert gawee_tune.main([GRAPH, "--list", "--database", str(path)]) == 0

    assert not path.exists()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kinds = {"algorithm" if "algorithm" in line["choice"] else "schedule" for line in lines}
    assert kinds == {"algorithm", "schedule"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert gawee_tune.main([GRAPH, "--list", "--database", str(path)]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == lines


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--kernels", "layer9.*"],
            "kernels to match 'layer9.*', got none\nhint: a kernel is known by ",
        ),
        (["--kernels", "matmul 1x10 over 127 f32"], "hint: did you mean 'matmul 1x10 over 128 f32"),
        (
            ["--candidates", "0"],
            "error: argument --candidates: expected a whole number of at least 1, got '0'",
        ),
        (
            ["--threads", "0"],
            "error: argument --threads: expected a whole number of at least 1, got '0'",
        ),
        (["--kernel", "conv"], "hint: did you mean '--kernels'?"),
    ],
)
def test_a_mistake_is_one_message(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "choices.jsonl"

    assert gawee_tune.main([GRAPH, "--database", str(path), *flags]) == 1

    assert message in capsys.readouterr().err
