"""Workers of a real scheduler: three processes on this machine, one of which is killed."""

import os
import signal
import threading
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers import Done, ThisProcess, Workers
from gawee_dialect.workers.dask_workers import DaskWorkers
from tests.workers.cluster import cluster, wait_for
from tests.workers.tasks import process_id, refuse, square, wait_on_first_try


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory):
    with cluster(tmp_path_factory.mktemp("cluster"), ["quiet=1"] * 3) as (address, _):
        yield address


def results(workers: Workers, function, tasks) -> list[Done]:
    return sorted(workers.run(function, tasks, quiet=True), key=lambda done: done.number)


def test_workers_compute_what_this_process_does(address: str) -> None:
    tasks = [3, 5, 7, 11]
    with DaskWorkers(address) as workers:
        assert results(workers, square, tasks) == results(ThisProcess(), square, tasks)
        assert len(set(workers.ask(process_id))) == 3


def test_a_task_that_raises_is_an_error_and_the_others_go_on(address: str) -> None:
    with DaskWorkers(address) as workers:
        found = results(workers, refuse, [2, 3, 0])

    assert [done.result for done in found] == [50, None, None]
    assert found[1].error == "expected an even number, got 3"
    assert found[2].error == "ZeroDivisionError: integer division or modulo by zero"


def test_a_worker_that_is_killed_costs_its_task_a_second_try(address: str, tmp_path: Path) -> None:
    path = tmp_path / "task"

    def kill() -> None:
        wait_for(lambda: path.exists() and path.read_text())
        os.kill(int(path.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with DaskWorkers(address) as workers:
        found = results(workers, wait_on_first_try, [str(path)])
        assert found == [Done(0, "again task")]
        wait_for(lambda: len(workers.quiet_workers()) == 2)
        assert results(workers, square, [4]) == [Done(0, 16)]
    killer.join()


def test_the_last_quiet_worker_that_goes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "task"
    with cluster(tmp_path, ["quiet=1", ""]) as (address, processes):

        def kill() -> None:
            wait_for(path.exists)
            processes[0].kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with DaskWorkers(address, patience=1) as workers:
            message = "expected a worker with the resource 'quiet' to be left, got none for 1 s"
            with pytest.raises(GaweeError, match=message):
                list(workers.run(wait_on_first_try, [str(path)], quiet=True))
        killer.join()


def test_no_scheduler_at_an_address_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gawee_dialect.workers.dask_workers.CONNECT_SECONDS", 0.5)

    with pytest.raises(GaweeError, match=r"cannot reach a scheduler at 'tcp://127.0.0.1:9'"):
        DaskWorkers("tcp://127.0.0.1:9")


def test_what_workers_do_not_have_is_told(address: str) -> None:
    def raises() -> None:
        raise ModuleNotFoundError("No module named 'xdsl'")

    with DaskWorkers(address) as workers, pytest.raises(GaweeError) as error:
        workers.ask(raises)

    assert "cannot use the workers: ModuleNotFoundError: no module named" in str(error.value)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gawee_dialect.workers.dask_workers.find_spec", lambda _: None)

    with pytest.raises(
        GaweeError, match=r"a scheduler needs dask.distributed, which is not installed"
    ):
        DaskWorkers("tcp://127.0.0.1:9")
