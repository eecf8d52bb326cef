"""A part of ONNX's node cases in the interpreter, against the baseline; all by the command."""

import pytest

from tests.conformance.onnx.__main__ import read_baseline, regressions, run

pytest.importorskip("onnx", minversion="1.22")

EVERY = 5


def test_cases_of_the_baseline_pass() -> None:
    from tests.conformance.onnx.cases import target_cases

    kept = set(read_baseline()["gawee"])
    cases = [case for case in target_cases() if case.name in kept][::EVERY]

    assert len(cases) > 100
    assert regressions(run(cases, ["gawee"], 1)) == []


def test_the_baseline_is_of_cases_that_there_are() -> None:
    from tests.conformance.onnx.cases import target_cases

    names = {case.name for case in target_cases()}

    assert len(names) == 931
    assert all(set(passed) <= names for passed in read_baseline().values())
