"""A Dask scheduler and workers on this machine, as processes of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def cluster(
    folder: Path, resources: Sequence[str]
) -> Generator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and a worker for each entry, which is its resources; yield the address."""
    file = folder / "scheduler.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "30 s",
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file)]
        with (folder / f"log{len(started)}.txt").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
        started.append(process)
        return process

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_for(file.exists)
        flags = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        workers = [
            start("worker", *flags, *(("--resources", each) if each else ())) for each in resources
        ]
        from distributed import Client

        with Client(scheduler_file=str(file), timeout=120) as client:
            client.wait_for_workers(len(resources), timeout=180)
            assert client.scheduler is not None
            address = str(client.scheduler.address)
        yield address, workers
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def wait_for(condition, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)
