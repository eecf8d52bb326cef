"""A part of ONNX's node cases in the interpreter, against the baseline; all by the command."""

import pytest

from tests.conformance.onnx import __main__ as command
from tests.conformance.onnx.__main__ import read_baseline, regressions, run

pytest.importorskip("onnx", minversion="1.22")

EVERY = 5


def test_cases_of_the_baseline_pass() -> None:
    from tests.conformance.onnx.cases import SETS

    kept = set(read_baseline()["gawee"])
    cases = [case for case in SETS["target"]() if case.name in kept][::EVERY]

    assert len(cases) > 100
    assert regressions(list(run([(case, ["gawee"]) for case in cases]))) == []


def test_the_baseline_is_of_cases_that_there_are() -> None:
    from tests.conformance.onnx.cases import SETS

    names = {name: {case.name for case in cases()} for name, cases in SETS.items()}

    assert len(names["target"]) == 931
    every = set[str]().union(*names.values())
    assert all(set(passed) <= every for passed in read_baseline().values())


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(command, "VERDICTS", tmp_path / "verdicts.jsonl")
    arguments = ["acos", "--levels", "gawee", "--sets", "target"]

    assert command.main(arguments) == 0
    first = (tmp_path / "verdicts.jsonl").read_text()
    monkeypatch.setattr(command, "judge", lambda *_: pytest.fail("judged again"))
    assert command.main([*arguments, "--missing"]) == 0
    assert (tmp_path / "verdicts.jsonl").read_text() == first
    assert capsys.readouterr().out.count("4 passed; 4 of the 4 of float32 alone") == 2
