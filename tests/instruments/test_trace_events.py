"""gawee-run --trace: what ran when, in the form that Perfetto opens."""

import json
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_run

GRAPH = Path(__file__).parents[2] / "examples/digits/graph.json"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("trace")
    trace, report = folder / "trace.json", folder / "report.json"
    words = [str(GRAPH), "--level", "loops", "--profile", "--trace", str(trace)]
    assert gawee_run.main([*words, "--report-json", str(report)]) == 0
    document = json.loads(trace.read_text())
    document["report"] = json.loads(report.read_text())
    return document


def of_kind(document: dict, kind: str) -> list[dict]:
    return [each for each in document["traceEvents"] if each.get("cat") == kind]


def test_every_event_is_complete(document: dict) -> None:
    for each in document["traceEvents"]:
        assert {"name", "ph", "pid", "tid"} <= each.keys()
        if each["ph"] == "X":
            assert each["ts"] >= 0
            assert each["dur"] >= 0
        else:
            assert (each["ph"], each["name"]) == ("M", "thread_name")


def test_every_pass_is_there_within_the_phase_that_runs_it(document: dict) -> None:
    passes = of_kind(document, "pass")
    specs = [each["spec"] for each in document["report"]["passes"]]
    assert [each["name"] for each in passes if each["name"] in specs] == specs
    (phase,) = (each for each in of_kind(document, "phase") if each["name"].startswith("prepare"))
    for each in passes:
        assert phase["ts"] <= each["ts"]
        assert each["ts"] + each["dur"] <= phase["ts"] + phase["dur"] + 1  # rounding


def test_nodes_of_a_run_follow_each_other(document: dict) -> None:
    nodes = of_kind(document, "node")
    rows = document["report"]["times"]["profile"]
    assert [each["name"] for each in nodes] == [each["node"] for each in rows]
    assert [each["dur"] / 1e3 for each in nodes] == pytest.approx(
        [each["milliseconds"] for each in rows]
    )
    ends = [each["ts"] + each["dur"] for each in nodes]
    assert [each["ts"] for each in nodes[1:]] == pytest.approx(ends[:-1])


def test_a_trace_that_cannot_be_written_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_run.main([str(GRAPH), "--trace", str(tmp_path / "none" / "t.json")]) == 1
    assert "t.json" in capsys.readouterr().err
