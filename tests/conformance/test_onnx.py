"""A part of ONNX's cases in the interpreter, against the baseline; all by the command."""

from dataclasses import replace

import pytest

from tests.conformance.onnx import __main__ as command
from tests.conformance.onnx.__main__ import read_baseline, regressions, run

pytest.importorskip("onnx", minversion="1.22")

from tests.conformance.onnx.cases import all_cases
from tests.conformance.onnx.page import counts_of, page
from tests.conformance.onnx.verdict import Verdict

EVERY = 5


def test_cases_of_the_baseline_pass() -> None:
    kept = set(read_baseline()["gawee"])
    cases = [case for case in all_cases() if case.name in kept and case.kind != "real"][::EVERY]

    assert len(cases) > 300
    assert regressions(list(run([(case, ["gawee"]) for case in cases]))) == []


def test_the_baseline_is_of_cases_that_there_are() -> None:
    names = {case.name for case in all_cases()}

    assert len(names) == 1914
    assert all(set(passed) <= names for passed in read_baseline().values())


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(command, "VERDICTS", tmp_path / "verdicts.jsonl")
    arguments = ["acosh", "--levels", "gawee"]

    assert command.main(arguments) == 0
    first = (tmp_path / "verdicts.jsonl").read_text()
    monkeypatch.setattr(command, "judge", lambda *_: pytest.fail("judged again"))
    assert command.main([*arguments, "--missing"]) == 0
    assert (tmp_path / "verdicts.jsonl").read_text() == first
    assert capsys.readouterr().out.count("2 cases, 2 passed; 2 wholly at this level") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--all", "acosh"], "--all writes the page of every case: without words and --levels"),
        (["--all", "--levels", "gawee"], "--all writes the page of every case"),
        (["acosh", "--levels", "native"], "unknown level 'native'; known: gawee, loops, llvm"),
    ],
)
def test_a_part_does_not_become_the_page_of_all(arguments, said, capsys) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)

    assert said in capsys.readouterr().err


def test_random_cases_are_skipped_and_told_why() -> None:
    (case,) = [case for case in all_cases() if case.name == "bernoulli_seed"]

    (verdict,) = run([(case, ["gawee"])])

    assert (verdict.status, verdict.reason) == ("skipped", case.skip_reason)


def test_the_page_counts_cases_by_where_nodes_ran() -> None:
    passed = Verdict("a", "Add", 7, "gawee", "passed", "", ["Add"])
    verdicts = [
        passed,
        replace(passed, case="b", host=["NonZero"], op_type="NonZero", opset=9),
        replace(passed, case="c", compiled=[], host=["StringConcat"], specialised=["x"]),
        replace(passed, case="d", status="refused", reason="unsupported | op"),
    ]

    counts = "1 wholly at this level, 1 in part, 1 on the host; 1 by values"
    assert counts_of(verdicts) == f"4 cases, 3 passed, 1 refused; {counts}"
    text = page(verdicts, ["gawee"])
    assert "| interpreter | 4 | 3 | 0 | 1 | 0 | 0 | 1 | 1 | 1 | 1 |" in text
    assert "| d | interpreter | refused | unsupported \\| op |" in text
    assert "| 7 | 3 | 2 |" in text
    assert "| Add | 3 | 2 | StringConcat | x |" in text
