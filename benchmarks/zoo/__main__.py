"""Check the networks of the zoo, a few at a time, and write the table of docs/zoo.md."""

import json
import multiprocessing
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic
from typing import Generic, Protocol, TypeVar

from benchmarks.targets import add_target, held_target, hold
from benchmarks.zoo.check import Result, check
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.peers import PEERS
from benchmarks.zoo.table import page
from gawee_dialect.workers import Workers, run_forked
from gawee_dialect.workers.dask_workers import DaskWorkers

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "build" / "zoo.jsonl"
PAGE = ROOT / "docs" / "zoo.md"
LIBRARIES = ("torchvision", "timm", "transformers")


class Checked(Protocol):
    """What is checked: networks of PyTorch, files of other formats."""

    @property
    def name(self) -> str: ...

    @property
    def library(self) -> str: ...


class Verdict(Protocol):
    """What became of a network; `reason` says why it failed."""

    reason: str


AnyNetwork = TypeVar("AnyNetwork", bound=Checked)
AnyResult = TypeVar("AnyResult", bound=Verdict)


class Running(Generic[AnyNetwork, AnyResult]):
    """A process that checks one network."""

    def __init__(
        self,
        network: AnyNetwork,
        timeout: float,
        check: Callable[[AnyNetwork], AnyResult],
        failed: Callable[[str, str, str], AnyResult],
    ) -> None:
        """Start it: forked, so that libraries need not be imported again."""
        self.network, self.deadline, self.timeout = network, monotonic() + timeout, timeout
        self.failed = failed(network.name, network.library, "run")
        self.connection, theirs = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=lambda: theirs.send(check(network)))
        self.process.start()
        theirs.close()

    def result(self) -> AnyResult:
        """Return what it found; a crash and a timeout are results too."""
        failed = self.failed
        try:
            if self.connection.poll():
                return self.connection.recv()
            self.process.kill()
            failed.reason = f"took more than {self.timeout:.0f} s"
        except EOFError:
            self.process.join()
            failed.reason = f"crashed: exit code {self.process.exitcode}"
        finally:
            self.process.join()
        return failed


def run_zoo(
    networks: Iterable[AnyNetwork],
    jobs: int,
    timeout: float,
    check: Callable[[AnyNetwork], AnyResult],
    failed: Callable[[str, str, str], AnyResult],
) -> Iterator[AnyResult]:
    """Yield the results of networks as they come, some networks at a time.

    `failed` makes the result of one that ends without any: of its name, library and stage.
    """
    waiting, running = list(networks), list[Running[AnyNetwork, AnyResult]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Running(waiting.pop(0), timeout, check, failed))
        left = max(0.0, min(each.deadline for each in running) - monotonic())
        ready = wait([each.connection for each in running], left)
        ended = [e for e in running if e.connection in ready or e.deadline <= monotonic()]
        for each in ended:
            running.remove(each)
            yield each.result()


def run_by(workers: Workers, names: Sequence[str], timeout: float) -> Iterator[Result]:
    """Yield the results of networks as workers check them, each in a process of its own."""
    tasks = [(name, timeout) for name in names]
    for done in workers.run(check_alone, tasks, quiet=False):
        if done.result is not None:
            yield done.result
        else:
            name = names[done.number]
            yield Result(name, zoo()[name].library, "run", reason=done.error or "")


def check_alone(task: tuple[str, float]) -> Result:
    """Check the network of a name in a process of its own; raises GaweeError for a crash."""
    name, timeout = task
    for library in LIBRARIES:
        import_library(library)
    return run_forked(check, zoo()[name], seconds=timeout)


def kept_in(path: Path) -> Path:
    """Return the file for this machine, or another one in build/ where we are held to less."""
    target = held_target()
    return RESULTS.with_name(f"{path.stem}-{target}{path.suffix}") if target else path


def read_results(path: Path = RESULTS) -> dict[str, Result]:
    """Return the latest result of every network that was checked."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    results = (Result(**json.loads(line)) for line in lines)
    return {each.name: each for each in results}


def choose(networks: Mapping[str, AnyNetwork], names: Sequence[str]) -> list[AnyNetwork]:
    """Return networks by their names, or by parts of them; all where none is given."""
    return [
        each
        for name, each in networks.items()
        if not names or name in names or any(p in name for p in names if p not in networks)
    ]


def checked(networks: Sequence[Network], options: Namespace) -> Iterator[Result]:
    """Yield the results of networks, checked here or by workers."""
    if options.scheduler is not None:
        with DaskWorkers(options.scheduler) as workers:
            yield from run_by(workers, [each.name for each in networks], options.timeout)
        return
    for library in LIBRARIES if networks else ():
        import_library(library)
    check_one = partial(check, peers=options.peers)
    yield from run_zoo(networks, options.jobs, options.timeout, check_one, Result)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, keep the results, write the page; return 1 where a network computes something else."""
    parser = ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; all networks without them")
    parser.add_argument("--jobs", type=int, default=1, help="how many networks at a time")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each")
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask: its workers check")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=(), help="engines to time too")
    add_target(parser)
    options = parser.parse_args(arguments)
    hold(options.target)
    if options.peers and options.scheduler:
        parser.error("--peers measure in this process: without --scheduler")
    kept, written = kept_in(RESULTS), kept_in(PAGE)
    known = read_results(kept) if options.missing else {}
    chosen = [each for each in choose(zoo(), options.names) if each.name not in known]
    RESULTS.parent.mkdir(exist_ok=True)
    for result in checked(chosen, options):
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        figures = f"{result.difference:.1e}, compiled in {result.compile_seconds:.0f} s"
        print(f"{result.name}: {result.verdict}: {result.reason or figures}", flush=True)
    results = read_results(kept)
    known_ones = [results[name] for name in zoo() if name in results]
    if not options.names or len(known_ones) == len(zoo()):  # some alone leave the page as it is
        written.write_text(page(known_ones), encoding="utf-8")
    return int(any(each.verdict == "wrong" for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())
