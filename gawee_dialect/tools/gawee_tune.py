"""gawee-tune: measure versions of each kernel inside the running network, and keep the fastest.

They are kept in a file, which `gawee-run --schedules` and `CodeOptions(schedules=...)` take.
"""

import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gawee_dialect.backend.openmp import check_threads, cores
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.search import STRATEGIES
from gawee_dialect.flag_values import not_negative_number, positive
from gawee_dialect.passes.insertion import Insertion, parse_insertion
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.schedules.database import NO_CHOICES
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.schedules.keys import Decision
from gawee_dialect.target.host import llvm_host, model_name
from gawee_dialect.tools.command_line import DONE, CommandParser, run_tool
from gawee_dialect.tools.graph_arguments import add_graph, add_inputs, add_insert
from gawee_dialect.tools.plugin_file import LOAD_HELP, LOAD_OPS_HELP, loaded_files, split_load_flags
from gawee_dialect.tools.run_session import PictureScale, input_specs, read_inputs, read_model
from gawee_dialect.tuning.search import Outcome, Phase, Settings, Tuner, choices_of, shown
from gawee_dialect.universe import all_passes
from gawee_dialect.workers import Workers

# One kernel of gawee-tune's search, in the process that runs the task.


@dataclass(frozen=True)
class KernelTask:
    """A kernel to tune: where a command line was given, and what was chosen before."""

    folder: str
    argv: tuple[str, ...]
    decision: Decision
    database: str
    """The text of the file of choices."""
    key: str


def tune_kernel(task: KernelTask) -> Outcome:
    """Tune one kernel in this process; raises GaweeError and OSError."""
    phase = _phase(task.folder, task.argv, task.decision, task.database)
    kernel = next(each for each in phase.kernels if each.key == task.key)
    return phase.tune(kernel, lambda _: None)


@lru_cache(maxsize=1)
def _phase(folder: str, argv: tuple[str, ...], decision: Decision, database: str) -> Phase:
    """Return the search that a kernel is part of; kernels of one network share it."""

    arguments = argument_parser().parse_all(argv)
    with tempfile.TemporaryDirectory() as temporary, chdir(folder):
        path = Path(temporary, "schedules.jsonl")
        path.write_text(database)
        tuner = make_tuner(arguments, str(path))
    tuner.path = Path(os.devnull)  # the caller keeps what is found
    return Phase(tuner, decision)


PROG = "gawee-tune"
DATABASE = "schedules.jsonl"
SCHEDULER_HELP = (
    "measure on the workers of a Dask scheduler that have the resource 'quiet' and this machine's "
    "processor; they read the same files, and there is no --budget"
)


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="A run that was stopped goes on where it was: what the file has is not measured "
        "again.\nexit code: 0 done, or the budget is spent; 1 the input is wrong; 2 a bug in "
        "gawee-tune",
    )
    add = parser.add_argument
    add_graph(parser)
    add_inputs(parser)
    add("--threads", type=positive, metavar="N", help="to tune for (default: one a core)")
    add(
        "--database",
        default=DATABASE,
        metavar="FILE",
        help=f"where choices are kept; lines are added to it (default: {DATABASE})",
    )
    add(
        "--budget",
        type=not_negative_number,
        default=float("inf"),
        metavar="SECONDS",
        help="begin with no further kernel after this time; those that take longest come first "
        "(default: no limit)",
    )
    add(
        "--kernels",
        default="*",
        metavar="PATTERN",
        help="tune only those whose node or description matches, such as 'layer1.*' or 'conv *'",
    )
    add(
        "--candidates",
        type=positive,
        default=Settings().most,
        metavar="N",
        help=f"versions of each kernel to measure (default: {Settings().most})",
    )
    add(
        "--strategy",
        choices=list(STRATEGIES),
        default="ranked",
        help="what decides which versions are measured (default: those that the cost models rank "
        "highest)",
    )
    add("--scheduler", metavar="ADDRESS", help=SCHEDULER_HELP)
    add(
        "--list",
        action="store_true",
        help="measure nothing; print what is chosen for each kernel as lines of such a file",
    )
    add_insert(parser)
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


@dataclass
class Report:
    """What the user sees of a search: the progress, and a line for each kernel."""

    console: Console
    progress: Progress
    start: float
    budget: float

    def remaining(self) -> bool:
        """Whether there is time for another kernel."""
        return perf_counter() - self.start < self.budget

    def search(self, phase: Phase) -> bool:
        """Tune the kernels of a phase; return whether there was time for all of them."""
        name = phase.decision.name.lower()
        todo = phase.todo
        if phase.known:
            self._print(f"{name}: {len(phase.known)} kernels are in the file already")
        task = self.progress.add_task(name, total=len(todo), what="")
        for kernel in todo:
            if not self.remaining():
                return False
            what = kernel.description

            def tell(text: str, what: str = what) -> None:
                self.progress.update(task, what=f"{what}: {text}")

            tell("compiling")
            self._print(outcome_text(phase.tune(kernel, tell)))
            self.progress.update(task, advance=1, what="")
        return True

    def search_by_workers(self, phase: Phase, workers: Workers, argv: Sequence[str]) -> None:
        """Have workers tune the kernels of a phase, in any order; raises GaweeError."""
        todo = phase.chosen
        if phase.known:
            name = phase.decision.name.lower()
            self._print(f"{name}: {len(phase.known)} kernels are in the file already")
        text = phase.tuner.path.read_text()
        folder = str(Path.cwd())
        tasks = [KernelTask(folder, tuple(argv), phase.decision, text, each.key) for each in todo]
        shown_task = self.progress.add_task(
            phase.decision.name.lower(), total=len(todo), what="by workers"
        )
        for done in workers.run(tune_kernel, tasks, quiet=True):
            if done.result is None:
                raise GaweeError(f"cannot tune '{todo[done.number].description}': {done.error}")
            phase.tuner.add(done.result.entry)
            self._print(outcome_text(done.result))
            self.progress.update(shown_task, advance=1)

    def _print(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


def outcome_text(outcome: Outcome) -> str:
    """Return what is printed of a kernel: the times of one call, and what was chosen."""
    before, after = outcome.default_seconds * 1e6, outcome.seconds * 1e6
    kernel = outcome.kernel
    gain = f"{before:.1f} -> {after:.1f} us" if after < before else f"{before:.1f} us"
    calls = f" x{len(kernel.nodes)}" if len(kernel.nodes) > 1 else ""
    wrong = f"; {outcome.wrong} computed something else" if outcome.wrong else ""
    choice = shown(outcome.entry.choice)
    return f"{kernel.description}{calls}: {gain} of {outcome.candidates} versions{wrong}: {choice}"


def make_tuner(arguments: Namespace, database: str) -> Tuner:
    """Read the network, and what a file of choices has already; raises GaweeError and OSError."""
    model = read_model(arguments)
    specs = input_specs(model.entry.main.inputs)
    inputs = read_inputs(specs, arguments.input, arguments.inputs, arguments.seed, PictureScale())
    threads = arguments.threads or cores()
    passes = passes_of(arguments)
    strategy = STRATEGIES[arguments.strategy]
    settings = Settings(threads, arguments.candidates, arguments.kernels, passes, strategy)
    return Tuner(model.module, model.bound, inputs, database, settings)


def passes_of(arguments: Namespace) -> tuple[Insertion, ...]:
    """Return the passes that a command line puts into the pipeline; raises GaweeError."""
    return tuple(parse_insertion(text, all_passes()) for text in arguments.insert)


def list_choices(arguments: Namespace) -> int:
    """Print what is chosen now; raises GaweeError and OSError."""
    path = Path(arguments.database)
    known = read_schedules(path) if path.exists() else NO_CHOICES
    for entry in choices_of(
        read_model(arguments, weights=False).module, known, passes_of(arguments)
    ):
        sys.stdout.write(entry.line())
    return DONE


def tune(arguments: Namespace, argv: Sequence[str]) -> int:
    """Search, and say what was found; raises GaweeError and OSError."""
    check_threads(arguments.threads)
    start = perf_counter()
    if arguments.list:
        return list_choices(arguments)
    tuner = make_tuner(arguments, arguments.database)
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown_on = Console(stderr=True)
    complete = True
    with (
        Progress(*columns, TextColumn("{task.fields[what]}"), console=shown_on) as progress,
        measuring_workers(arguments.scheduler) as workers,
    ):
        report = Report(console, progress, start, arguments.budget)
        for phase in tuner.phases():
            if workers is not None:
                report.search_by_workers(phase, workers, argv)
                continue
            complete = report.search(phase)
            if not complete:
                break
    if not complete:
        console.print("the budget is spent; the same command goes on", highlight=False)
    console.print(f"wrote {arguments.database}", highlight=False, soft_wrap=True, markup=False)
    return DONE


@contextmanager
def measuring_workers(address: str | None) -> Generator[Workers | None]:
    """Yield the workers of a scheduler, None without one; raises GaweeError for unlike machines."""
    if address is None:
        yield None
        return
    from gawee_dialect.workers.dask_workers import DaskWorkers

    with DaskWorkers(address) as workers:
        own, theirs = this_processor(), workers.ask(this_processor)
        other = next((each for each in theirs if each != own), None)
        if other is not None:
            raise GaweeError(
                f"expected workers with this machine's processor, {own}, got one with {other}"
            )
        yield workers


def this_processor() -> str:
    """Return the name of this machine's processor, by its maker and by LLVM."""
    return f"{model_name()} ({llvm_host()[0]})"


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths) as loaded, instrumented(*loaded.instruments):
        arguments = argument_parser().parse_all(rest)
        if arguments.scheduler is not None and paths:
            raise GaweeError("expected --scheduler without --load, got both")
        return tune(arguments, rest)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-tune; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
