"""Measured times in XOC graphs, in the place and the unit where viewers of the format look."""

import json
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.xoc.export import with_times
from gawee_dialect.tools import gawee_run
from tests.archives import savez
from tests.frontends.xoc.documents import chain, read
from tests.frontends.xoc.test_importing import WEIGHTS, conv_graph

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "graph.json"


def test_times_are_milliseconds_beside_other_metadata() -> None:
    graph = chain()
    graph["nodes"][0]["metadata"] = {"level": 0, "performance": {"time": {"cpu": 9, "gpu": 1.5}}}
    graph["nodes"][1]["metadata"] = {"performance": {"time": {"cpu": 7}}}

    first, second = with_times(read(graph), {"relu": 0.00125}).nodes

    assert first.metadata == {"level": 0, "performance": {"time": {"gpu": 1.5, "cpu": 1.25}}}
    assert second.metadata == {}  # what was measured once is no time of this run


def test_metadata_that_leaves_no_place_is_refused() -> None:
    graph = chain()
    graph["nodes"][0]["metadata"] = {"performance": "good"}

    with pytest.raises(
        GaweeError, match="cannot write the time of node 'relu': expected 'performance'"
    ):
        with_times(read(graph), {"relu": 1.0})


@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_a_profile_is_written_into_the_graph_that_ran(level: str, tmp_path: Path) -> None:
    graph = conv_graph()
    graph["nodes"][2]["metadata"] = {"level": 1}
    path, out = tmp_path / "net.xoc.json", tmp_path / "timed.xoc.json"
    path.write_text(json.dumps(graph))
    savez(tmp_path / "w.npz", **WEIGHTS)
    report = tmp_path / "report.json"
    weights = ("--weights", str(tmp_path / "w.npz"), "--level", level, "--json", str(report))

    assert gawee_run.main([str(path), *weights, "--write-profile", str(out)]) == 0

    nodes = {each["id"]: each for each in json.loads(out.read_text())["nodes"]}
    profile = {each["node"]: each["seconds"] for each in json.loads(report.read_text())["profile"]}
    assert {"fc", "conv"} <= set(profile)
    for node in ("fc", "conv"):
        got = nodes[node]["metadata"]["performance"]["time"]["cpu"]
        assert got == pytest.approx(profile[node] * 1e3, abs=1e-6)
    assert nodes["view"]["metadata"]["level"] == 1
    assert nodes["fc"]["attributes"] == graph["nodes"][0]["attributes"]


def test_graphs_of_other_formats_are_written_as_xoc(tmp_path: Path) -> None:
    out = tmp_path / "timed.xoc.json"

    assert gawee_run.main([str(DIGITS), "--level", "gawee", "--write-profile", str(out)]) == 0

    nodes = {each["id"]: each for each in json.loads(out.read_text())["nodes"]}
    assert nodes["conv1"]["metadata"]["performance"]["time"]["cpu"] > 0
    relus = [each for id, each in nodes.items() if id.startswith("relu")]
    assert len(relus) == 3
    assert all(each["metadata"]["performance"]["time"]["cpu"] > 0 for each in relus)
