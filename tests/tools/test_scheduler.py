"""Tools on the workers of a real scheduler: three processes, of which one is killed."""

import json
import re
import threading
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from typing import Self

from gawee_dialect.experiments.study import read_records
from gawee_dialect.fuzz.session import Hunt
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.tools import gawee_experiment, gawee_fuzz, gawee_tune
from tests.effort import full_run
from tests.experiments.studies import write_study
from tests.tuning.networks import CONVOLUTION
from tests.workers.cluster import Cluster, wait_for


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture
def three_workers(started: Cluster) -> Cluster:
    """Three workers, of which a test kills one: the others are those of the next."""
    started.have(["quiet=1"] * 3)
    return started


def measured(folder: Path, study: Path, *flags: str) -> dict[str, dict[str, object]]:
    assert gawee_experiment.main(["run", str(study), "-o", str(folder), *flags]) == 0
    return {
        str(record["pipeline"]): dict(record) for record in read_records(folder / "records.jsonl")
    }


def facts(record: dict[str, object]) -> tuple[object, ...]:
    """What does not depend on time or place."""
    figures = record.get("figures")
    assert figures is None or isinstance(figures, dict)
    known = ("code_bytes", "instructions", "workspace_bytes", "valid", "difference")
    return record["key"], record.get("error"), *((figures or {}).get(name) for name in known)


@full_run
def test_a_study_by_three_workers_one_of_them_killed_is_the_local_one(
    tmp_path: Path, three_workers: Cluster
) -> None:
    study = write_study(tmp_path)
    remote = tmp_path / "remote"

    def kill() -> None:
        wait_for(lambda: read_records(remote / "records.jsonl"), 150)
        three_workers.workers[0].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    by_workers = measured(remote, study, "--scheduler", three_workers.address)
    killer.join()
    here = measured(tmp_path / "here", study)

    assert {name: facts(record) for name, record in by_workers.items()} == {
        name: facts(record) for name, record in here.items()
    }
    assert len(here) == 3
    assert all(record["machine"] == here["all passes"]["machine"] for record in by_workers.values())


@full_run
def test_a_tuning_by_workers_chooses_for_the_kernels_of_the_local_one(
    tmp_path: Path, three_workers: Cluster
) -> None:
    graph = tmp_path / "conv.mlir"
    graph.write_text(CONVOLUTION)
    common = [str(graph), "--weights", "random", "--threads", "1", "--candidates", "2"]
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    remote = [*common, "--database", str(there), "--scheduler", three_workers.address]

    def kill() -> None:
        wait_for(lambda: there.exists() and there.read_text(), 150)
        three_workers.workers[1].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    assert gawee_tune.main(remote) == 0
    killer.join()
    again = there.read_text()
    assert gawee_tune.main(remote) == 0
    assert there.read_text() == again  # nothing is measured twice
    assert gawee_tune.main([*common, "--database", str(here)]) == 0

    local, by_workers = (
        [json.loads(line) for line in path.read_text().splitlines()] for path in (here, there)
    )
    assert {line["kernel"] for line in local} == {line["kernel"] for line in by_workers}
    assert {line["target"] for line in local} == {line["target"] for line in by_workers}
    assert read_schedules(there)


def findings(folder: Path, flags: list[str], capsys) -> tuple[str, dict[str, bytes]]:
    """What gawee-fuzz prints of loops that no buffers are there for, and the tests that it writes."""
    words = "--graphs 75 --share proved=0 -p lower-to-linalg,lower-linalg-to-loops".split()
    assert gawee_fuzz.main([*words, "-o", str(folder), *flags]) == 1
    printed = re.sub(r" in \d+ s, [\d.]+ a second", "", capsys.readouterr().out)
    return printed.replace(str(folder), ""), {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


@full_run
def test_findings_of_three_workers_one_of_them_killed_are_the_local_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, three_workers: Cluster
) -> None:
    # More spans than workers: none is idle when the first is done.
    monkeypatch.setattr(gawee_fuzz, "Hunt", partial(Hunt, span=15))
    first = three_workers.workers[0]
    with monkeypatch.context() as patch:
        # What is tried is reported whenever some of it is done: the others are under way.
        patch.setattr(gawee_fuzz, "progress_lines", lambda _: lambda tried: first.kill())
        by_workers = findings(tmp_path / "remote", ["--scheduler", three_workers.address], capsys)
    here = findings(tmp_path / "here", [], capsys)

    assert by_workers == here
    assert here[0].startswith("75 graphs: ")
    assert "refused: " in here[0]
    assert here[1]


def test_plugins_do_not_go_to_workers(tmp_path: Path, capsys) -> None:
    (tmp_path / "mine.py").write_text(
        "from gawee_dialect.passes.graph.canonicalize import CanonicalizePass\n"
        "class Mine(CanonicalizePass):\n    name = 'mine'\n"
    )
    flags = ["--load", str(tmp_path / "mine.py"), "--scheduler", "tcp://127.0.0.1:9"]

    assert gawee_tune.main(["a.json", *flags]) == 1
    assert "error: expected --scheduler without --load, got both" in capsys.readouterr().err


@pytest.mark.parametrize("error", ["another processor", "another source", "a kernel that fails"])
def test_workers_that_will_not_do(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    class Strange:
        def __init__(self, address: str) -> None:
            self.address = address

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def ask(self, function) -> list[object]:
            return [function()] if error == "a kernel that fails" else ["something else"]

        def run(self, function, tasks, *, quiet: bool):
            from gawee_dialect.workers import Done

            assert quiet
            yield Done(0, None, "it broke")

    monkeypatch.setattr("gawee_dialect.workers.dask_workers.DaskWorkers", Strange)
    graph = tmp_path / "conv.mlir"
    graph.write_text(CONVOLUTION)
    flags = ["--weights", "random", "--scheduler", "x", "--database", str(tmp_path / "a.jsonl")]
    if error == "another source":
        study = write_study(tmp_path)
        code = gawee_experiment.main(
            ["run", str(study), "-o", str(tmp_path / "o"), "--scheduler", "x"]
        )
        message = "error: expected workers to have this state of gawee, got another one"
    else:
        code = gawee_tune.main([str(graph), *flags])
        message = (
            "error: expected workers with this machine's processor, "
            if error == "another processor"
            else "error: cannot tune 'conv 1x32x10x9 over 16x3x3 f32"
        )

    assert code == 1
    assert message in capsys.readouterr().err
