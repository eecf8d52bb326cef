"""Fuzzing, conformance and the zoo by the workers of a real scheduler: as without one."""

import re
import time
from importlib.util import find_spec

import pytest

pytest.importorskip("distributed")

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers import Done
from gawee_dialect.workers.dask_workers import DaskWorkers
from tests.effort import FULL, full_run
from tests.workers.cluster import cluster
from tests.workers.tasks import process_id, square


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory):
    with cluster(tmp_path_factory.mktemp("cluster"), ["", ""]) as (address, _):
        yield address


def test_there_is_a_place_for_each_thread_of_the_workers(address: str) -> None:
    with DaskWorkers(address) as workers:
        assert workers.places == 2


def test_no_worker_with_the_resource_is_an_error_within_seconds(address: str) -> None:
    start = time.monotonic()
    with DaskWorkers(address) as workers:
        message = "expected a worker with the resource 'quiet', got none"
        with pytest.raises(GaweeError, match=message):
            list(workers.run(square, [1], quiet=True))
        with pytest.raises(GaweeError, match=message):
            workers.ask(process_id)
        assert time.monotonic() - start < 10
        assert list(workers.run(square, [3], quiet=False)) == [Done(0, 9)]


def test_fuzzing_finds_the_same(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.fuzz import __main__ as fuzz

    monkeypatch.setattr(fuzz, "BATCH", 100)
    count = 250 if FULL else 60  # both workers, then one of them again, on a part of a batch
    flags = ["gawee-json", "--inputs", f"{count}"]
    printed = []
    for more in ([], ["--scheduler", address]):
        assert fuzz.main([*flags, *more]) == 0
        printed.append(re.sub(r", \d+ s$", "", capsys.readouterr().out.strip()))

    assert printed[0] == printed[1] == f"gawee-json: {count} inputs, 0 findings"


def test_cases_of_onnx_have_the_same_verdicts(address: str) -> None:
    pytest.importorskip("onnx")
    from tests.conformance.onnx.__main__ import run, run_by, to_do
    from tests.conformance.onnx.cases import all_cases

    cases = [case for case in all_cases() if case.name.startswith("argmax_")]
    assert len(cases) > 5
    todo = to_do(cases, ["gawee", "llvm"], {("argmax_default_axis_example", "gawee")})
    with DaskWorkers(address) as workers:
        by_workers = {(each.case, each.level): each for each in run_by(workers, todo)}

    here = {(each.case, each.level): each for each in run(todo)}
    assert {key: each.status for key, each in by_workers.items()} == {
        key: each.status for key, each in here.items()
    }
    assert len(by_workers) == 2 * len(cases) - 1


@full_run
def test_networks_of_the_zoo_have_the_same_results(address: str) -> None:
    for library in ("torch", "torchvision", "timm", "transformers"):
        if find_spec(library) is None:
            pytest.skip(f"there is no {library}")
    from benchmarks.zoo.__main__ import run_by

    with DaskWorkers(address) as workers:
        (result,) = run_by(workers, ["bert"], timeout=300)

    assert (result.name, result.library) == ("bert", "transformers")
    assert result.verdict == "passed", result.reason
