"""gawee-fuzz: take random graphs and loops through random pipelines, and compare levels.

Every level has to compute what the graph does. What is wrong is made small, and written as an IR
test, one for each cause. With --tool, programs in MLIR's own dialects go through passes of that.
"""

import gc
import os
import signal
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.flag_values import not_negative, positive, positive_number
from gawee_dialect.fuzz.loop_nests import LoopNests
from gawee_dialect.fuzz.oracle import Finding, Oracle
from gawee_dialect.fuzz.quantized import QuantizedGraphs
from gawee_dialect.fuzz.random_graph import Graphs, Settings, TrialGenerator
from gawee_dialect.fuzz.random_pipeline import check_places
from gawee_dialect.fuzz.session import (
    SECONDS,
    Hunt,
    Session,
    Tried,
    files_of_test,
    finding_text,
    progress_lines,
    size_text,
    summary,
)
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.instruments.check.native_run import expendable_process
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    run_tool,
)
from gawee_dialect.tools.graph_arguments import add_insert
from gawee_dialect.tools.pass_flags import parse_with_passes
from gawee_dialect.tools.plugin_file import LOAD_HELP, LOAD_OPS_HELP, loaded_files, split_load_flags
from gawee_dialect.universe import all_passes
from gawee_dialect.whole_file import write_file
from gawee_dialect.workers import ForkedWorkers, Workers, run_forked

# Some graphs of gawee-fuzz, in the process that runs the task.


@dataclass(frozen=True)
class FuzzTask:
    """Some trials: where a command line was given, the command line, and until when."""

    folder: str
    argv: tuple[str, ...]
    numbers: range
    until: float
    marker: str | None = None
    """A file that has the number of the trial that runs. A process that has one is there for these
    trials alone, and may die of them."""

    def begin(self, number: int) -> None:
        """Say which trial runs, and end the process where it takes far too long.

        Machine code hears no signal but one that ends it.
        """
        if self.marker is not None:
            Path(self.marker).write_text(str(number))
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)

    @property
    def begun(self) -> int | None:
        """The number of the trial that began last, None where that is not known."""
        text = "" if self.marker is None else Path(self.marker).read_text()
        return int(text) if text else None


def try_alone(session: Session, task: FuzzTask) -> Tried:
    """Try some graphs in a process that is forked for them."""
    gc.freeze()  # what was there before is no garbage, and long to look through
    with expendable_process():
        return session.run(task.numbers, task.until, task.begin)


def try_numbers(task: FuzzTask) -> Tried:
    """Try some graphs in this process, as a command line says; raises GaweeError."""

    with chdir(task.folder):
        _, session = parse_arguments(task.argv, ())
        return session.run(task.numbers, task.until, task.begin)


PROG = "gawee-fuzz"
T = TypeVar("T")
WRONG = 1
GRAPHS, ENDLESS = 1000, 1 << 40
GENERATORS: Sequence[type[TrialGenerator]] = (Graphs, LoopNests, QuantizedGraphs)
SECONDS_OF_A_SPAN, SECONDS_OF_A_REDUCTION = 3600.0, 120.0
"""By the clock, where a process waits for nothing; what computes too long is stopped before."""

SECONDS_BETWEEN_LINES = 30.0


def argument_parser() -> CommandParser:
    """Describe the command line, apart from pass flags (see pass_flags.py)."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog="Passes are named as for gawee-opt, and take the place of random pipelines:\n"
        "  gawee-fuzz --graphs 1000 --output found\n"
        "  gawee-fuzz --load my_pass.py --my-pass --graphs 1000 --seed 1\n"
        "  gawee-fuzz --load my_pass.py --insert after=fold-conv-add:my-pass --minutes 10\n"
        "  gawee-fuzz --tool mlir-opt --minutes 10 --output found\n\n"
        "exit code: 0 nothing is wrong; 1 something is, or the command line is wrong; "
        f"2 a bug in {PROG}",
    )
    add = parser.add_argument
    add("--graphs", type=positive, metavar="N", help=f"how many to try (default: {GRAPHS})")
    add(
        "--minutes",
        type=positive_number,
        metavar="M",
        help="stop after this time (default: no limit)",
    )
    add("--seed", type=not_negative, default=0, metavar="N", help="what is drawn (default: 0)")
    add(
        "--first",
        type=not_negative,
        default=0,
        metavar="N",
        help="the number of the first graph: with --graphs 1, that graph again (default: 0)",
    )
    add("--jobs", type=positive, default=1, metavar="N", help="processes (default: 1)")
    add(
        "--tool",
        metavar="NAME",
        help="try the passes of mlir-opt, or of another program that takes --pass-pipeline, on "
        "random programs of arith, scf, affine, memref, tensor, linalg and vector",
    )
    add("--scheduler", metavar="ADDRESS", help="try graphs on the workers of a Dask scheduler")
    add(
        "-o",
        "--output",
        metavar="FOLDER",
        help="write an IR test for each cause, made small, there",
    )
    add(
        "--generators",
        metavar="NAMES",
        help=f"what to draw, of {', '.join(each.name for each in GENERATORS)} and what --load "
        "adds (default: all that is installed; graphs, where passes are given); with --tool, of "
        "numbers, loops, nests, views, tensors, vectors, blocks, integers and maps",
    )
    add(
        "--share",
        action="append",
        default=[],
        metavar="WHAT=SHARE",
        help="of how many it is done: loops, native, proved, checked, or an oracle's name; "
        "repeatable (default: "
        f"{' '.join(f'{name}={share}' for name, share in SHARES.items())})",
    )
    add("-p", "--passes", metavar="PIPELINE", help="run passes: 'a,b{option=1}'")
    add("--pass-pipeline", metavar="PIPELINE", help="run passes: 'builtin.module(a,b)'")
    add_insert(parser)
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


SHARES: Mapping[str, float] = {
    name: getattr(Settings(), name) for name in ("loops", "native", "proved", "checked")
}


def parse_arguments(
    argv: Sequence[str],
    oracles: Sequence[Oracle],
    generators: Sequence[type[TrialGenerator]] = (),
) -> tuple[Namespace, Session]:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one.

    `oracles` and `generators` are those of files that were loaded.
    """
    table = all_passes()
    arguments, passes, insertions = parse_with_passes(argument_parser(), argv, table)
    if passes and insertions:
        raise GaweeError("expected passes or --insert, got both")
    check_places(insertions)
    settings = _with_shares(
        Settings(passes=passes, insertions=insertions, oracles=oracles), arguments.share
    )
    known = {each.name: each for each in (*GENERATORS, *generators)}
    chosen = _generators(arguments.generators, known, graphs_alone=bool(passes))
    return arguments, Session(arguments.seed, chosen, settings)


def _generators(
    names: str | None, known: Mapping[str, type[TrialGenerator]], *, graphs_alone: bool
) -> Sequence[TrialGenerator]:
    installed = {name: each for name, each in known.items() if all(map(find_spec, each.needs))}
    if names is None:
        return [Graphs()] if graphs_alone else [each() for each in installed.values()]
    chosen: list[TrialGenerator] = []
    for name in names.split(","):
        generator = _chosen(name, known)
        if name not in installed:
            needs = " and ".join(generator.needs)
            raise GaweeError(f"generator '{name}' needs {needs}, which is not installed")
        chosen.append(generator())
    return chosen


def _chosen(name: str, known: Mapping[str, T]) -> T:
    """Return what a generator's name stands for; raises GaweeError."""
    if name not in known:
        hint = did_you_mean(name, known, f"known: {', '.join(known)}")
        raise GaweeError(Diagnostic(f"unknown generator '{name}'", hint=hint))
    return known[name]


def _with_shares(settings: Settings, words: Sequence[str]) -> Settings:
    """Return settings with the shares of `--share`; raises GaweeError."""
    oracles = {each.name: each for each in settings.oracles}
    known = (*SHARES, *oracles)
    shares = dict[str, float]()
    for word in words:
        name, equals, text = word.rpartition("=")
        share = _share(text)
        if not equals or share is None:
            raise GaweeError(f"expected WHAT=SHARE with a share from 0 to 1, got '{word}'")
        if name not in known:
            hint = did_you_mean(name, known, f"known: {', '.join(known)}")
            raise GaweeError(Diagnostic(f"unknown share '{name}'", hint=hint))
        shares[name] = share
    asked = {each.name: shares.pop(each.name, each.share) for each in settings.oracles}
    return replace(settings, **shares, oracle_shares=asked)


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def fuzz(arguments: Namespace, session: Session, argv: Sequence[str], paths: Sequence[str]) -> int:
    """Try graphs, and say what is wrong; returns the exit code. Raises GaweeError and OSError."""
    started = perf_counter()
    graphs = arguments.graphs or (GRAPHS if arguments.minutes is None else ENDLESS)
    until = float("inf") if arguments.minutes is None else time() + 60 * arguments.minutes
    folder = os.getcwd()
    with _workers(arguments) as workers, TemporaryDirectory(prefix="gawee-fuzz-") as markers:

        def task_of(numbers: range) -> FuzzTask:
            if arguments.scheduler is not None:
                return FuzzTask(folder, tuple(argv), numbers, until)
            marker = Path(markers, str(numbers.start))
            marker.touch()
            return FuzzTask(folder, tuple(argv), numbers, until, str(marker))

        report = progress_lines(SECONDS_BETWEEN_LINES)
        alone = partial(try_alone, session)
        function = alone if arguments.scheduler is None else try_numbers
        hunt = Hunt(workers, task_of, function, lambda task: task.begun, until, report)
        tried = hunt.run(range(arguments.first, arguments.first + graphs))
    print(summary(tried, perf_counter() - started), flush=True)
    causes: dict[tuple[str, str], int] = {}
    for number, finding in sorted(tried.found.values(), key=lambda found: found[0]):
        print(finding_text(tried, number, finding), flush=True)
        if arguments.output is not None:
            said = _written(session, number, finding, Path(arguments.output), paths, causes)
            print(f"  {said}", flush=True)
    return WRONG if tried.found else DONE


def fuzz_tool(arguments: Namespace) -> int:
    """Try the passes of another tool, and say what is wrong; returns the exit code.

    Raises GaweeError and OSError.
    """
    # Imported here: only this flag needs it.
    from gawee_dialect.fuzz.tool_session import KINDS, SPAN, ToolSession, ToolTask
    from gawee_dialect.instruments.tool.pipeline import Tool, find_tool

    kinds = [_chosen(each, KINDS) for each in (arguments.generators or ",".join(KINDS)).split(",")]
    find_tool(arguments.tool)
    started = perf_counter()
    count = arguments.graphs or (GRAPHS if arguments.minutes is None else ENDLESS)
    until = float("inf") if arguments.minutes is None else time() + 60 * arguments.minutes
    pipeline = arguments.passes or arguments.pass_pipeline
    session = ToolSession(Tool(arguments.tool), arguments.seed, pipeline, kinds)
    hunt = Hunt(
        ForkedWorkers(arguments.jobs, SECONDS_OF_A_SPAN),
        lambda numbers: ToolTask(numbers, until),
        session.run,
        lambda task: task.begun,
        until,
        progress_lines(SECONDS_BETWEEN_LINES),
        SPAN,
    )
    tried = hunt.run(range(arguments.first, arguments.first + count))
    print(summary(tried, perf_counter() - started), flush=True)
    for number, finding in sorted(tried.found.values(), key=lambda found: found[0]):
        print(finding_text(tried, number, finding), flush=True)
        if arguments.output is not None:
            files = session.write(number, finding, Path(arguments.output))
            print(f"  wrote {' and '.join(map(str, files))}", flush=True)
    session.require_taken(tried, arguments.first)
    return WRONG if tried.found else DONE


def _workers(arguments: Namespace) -> AbstractContextManager[Workers]:
    if arguments.scheduler is None:
        return nullcontext(ForkedWorkers(arguments.jobs, SECONDS_OF_A_SPAN))
    # Imported here: only this flag needs it.
    from gawee_dialect.workers.dask_workers import workers_of

    return workers_of(arguments.scheduler)


def _written(
    session: Session,
    number: int,
    finding: Finding,
    folder: Path,
    paths: Sequence[str],
    causes: dict[tuple[str, str], int],
) -> str:
    """Make a finding small, write it as a test, and say so.

    `causes` are those of small ones, with the first trial of each: one is written of a cause.
    """
    load = [f"%S/{os.path.relpath(path, folder)}" for path in paths]
    folder.mkdir(parents=True, exist_ok=True)

    def written(trial: Trial, finding: Finding) -> tuple[Finding, Mapping[str, bytes], str]:
        return finding, files_of_test(trial, finding, load), size_text(trial, finding)

    try:
        small, files, size = run_forked(
            lambda each: written(*session.reduced(each, finding)),
            number,
            seconds=SECONDS_OF_A_REDUCTION,
        )
    except GaweeError:  # what kills a process, or takes too long, does it here too
        small, files, size = written(session.trial(number)[1], finding)
    first = causes.setdefault(small.key, number)
    if first != number:
        return f"small, it is number {first}: {small.kind}: {small.cause}"
    wrote = [str(write_file(folder / name, data)) for name, data in files.items()]
    return f"wrote {' and '.join(wrote)} ({size})"


def _check_output(path: str | None) -> None:
    """Raise GaweeError where tests cannot be written, before the time to find one is spent."""
    if path is not None and Path(path).exists() and not Path(path).is_dir():
        raise GaweeError(f"expected a folder for --output, got the file '{path}'")


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    if any(word.partition("=")[0] == "--tool" for word in argv):
        arguments = argument_parser().parse_all(argv)
        _check_output(arguments.output)
        return fuzz_tool(arguments)
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths, flags=argument_parser().flags()) as loaded:
        arguments, session = parse_arguments(rest, loaded.oracles, loaded.generators)
        _check_output(arguments.output)
        if arguments.scheduler is not None and paths:
            raise GaweeError("expected --scheduler without --load, got both")
        return fuzz(arguments, session, argv, paths)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-fuzz; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
