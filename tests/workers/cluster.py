"""A Dask scheduler and workers on this machine, as processes of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class Cluster:
    """A scheduler, and the workers that were started for it."""

    def __init__(self, folder: Path) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self.address = ""
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(self._file)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "30 s",
        }
        with (self._folder / f"log{len(self._started)}.txt").open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, cwd=self._folder
            )
        self._started.append(process)
        return process

    def have(self, resources: Sequence[str]) -> None:
        """Have a worker for each entry, which is its resources: those that live, and new ones."""
        wait_for(self._file.exists)
        self.workers = [each for each in self.workers if each.poll() is None]
        flags = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        for each in resources[len(self.workers) :]:
            resource = ("--resources", each) if each else ()
            self.workers.append(self._start("worker", *flags, *resource))
        from distributed import Client

        with Client(scheduler_file=str(self._file), timeout=120) as client:
            client.wait_for_workers(len(resources), timeout=180)
            assert client.scheduler is not None
            self.address = str(client.scheduler.address)

    def stop(self) -> None:
        """Stop all processes."""
        for process in reversed(self._started):
            process.kill()
            process.wait()


@contextmanager
def cluster(
    folder: Path, resources: Sequence[str]
) -> Generator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and a worker for each entry, which is its resources; yield the address."""
    started = Cluster(folder)
    try:
        started.have(resources)
        yield started.address, started.workers
    finally:
        started.stop()


def wait_for(condition, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)
