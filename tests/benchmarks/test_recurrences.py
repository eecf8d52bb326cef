"""The comparison of recurrent layers compares one network, whose gates each engine orders anew."""

import pytest

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
