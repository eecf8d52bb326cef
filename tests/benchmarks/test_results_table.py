"""Results of the comparison as a table: one row for a network and a number of threads."""

import json
from pathlib import Path

import pytest

from benchmarks.results_table import main

ROWS = [
    {"model": "net", "threads": 2, "engine": "gawee", "median_ms": 2.04, "difference": 3e-7}
    | {"ratio_to_best_peer": 1.5, "percent_of_limit": 97.6},
    {"model": "net", "threads": 2, "engine": "torch", "median_ms": 3.06},
    {"model": "other", "threads": 1, "engine": "gawee", "median_ms": 7.25, "difference": 0.0}
    | {"ratio_to_best_peer": None, "percent_of_limit": None},
]


def test_each_engine_has_a_column_and_what_did_not_run_a_dash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")

    main([str(path)])

    head, _, *lines = capsys.readouterr().out.splitlines()
    assert head.split(" | ")[:4] == ["| model", "threads", "gawee", "torch"]
    assert lines == [
        "| net | 2 | 2.0 | 3.1 | 1.50 | 98 | 3e-07 |",
        "| other | 1 | 7.2 | - | - | - | 0e+00 |",
    ]


def test_an_engine_that_was_not_held_to_the_target_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    rows = [{**row, "is_held": row["engine"] != "torch"} for row in ROWS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    main([str(path)])

    head = capsys.readouterr().out.splitlines()[0]
    assert head.split(" | ")[:4] == ["| model", "threads", "gawee", "torch (not held)"]


def test_results_without_ours_have_dashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(ROWS[1]) + "\n", encoding="utf-8")

    main([str(path)])

    assert capsys.readouterr().out.splitlines()[-1] == "| net | 2 | 3.1 | - | - | - |"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot read '{path}': No such file or directory"),
        ("", "'{path}' is not what compare --json writes"),
        ("[1]\n", "'{path}' is not what compare --json writes"),
        ('{"load": 1}\n', "'{path}' is not what compare --json writes"),
        ("| model |\n", "'{path}' is not what compare --json writes: Expecting value"),
    ],
)
def test_another_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    path = tmp_path / "results.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    with pytest.raises(SystemExit) as ended:
        main([str(path)])

    assert ended.value.code == 2
    assert said.format(path=path) in capsys.readouterr().err
