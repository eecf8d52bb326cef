"""The comparison of recurrent layers compares one network, whose gates each engine orders anew."""

import pytest
from rich.console import Console

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from benchmarks import recurrences


def test_all_engines_run_the_same_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurrences, "TURN_SECONDS", 0.001)
    case = recurrences.Case(layers=2, hidden=5, steps=7, batch=3, threads=1)

    row = recurrences.measure(case, rounds=1)

    # Seven steps of sums of five products, through functions that are computed otherwise.
    assert row.difference < 1e-5
    assert len(row.milliseconds) == 3
    assert min(row.milliseconds) > 0
    assert len(row.ready) == 3
    assert min(row.ready) > 0


def test_the_table_has_all_figures_in_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = recurrences.Case(layers=2, hidden=1024, steps=512, batch=1, threads=1)
    row = recurrences.Row(case, [29.75, 10.31, 19.56], [100.57, 213.24, 155.36], 2e-7)
    monkeypatch.setattr(recurrences, "measure", lambda *_: row)
    monkeypatch.setattr("sys.argv", ["recurrences", "--layers", "2", "--hidden", "1024"])
    monkeypatch.setattr(recurrences, "console", Console(width=80, highlight=False))

    recurrences.main()

    figures = capsys.readouterr().out.splitlines()[-1].split()
    assert figures == "2 1024 1 29.75 10.31 19.56 100.57 213.24 155.36 1.54 2e-07".split()
