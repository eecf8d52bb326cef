"""gawee-experiment: measure a study of networks, pipelines and options, and show what came of it.

A study is a file in TOML; its folder keeps what was measured, and is all that tables need.
"""

import json
import os
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from rich.console import Console

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.experiments.cell import source_hash, this_machine
from gawee_dialect.experiments.study import processor_of
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import DONE, CommandParser, run_tool, write_text
from gawee_dialect.tools.report_flags import (
    add_report_flags,
    refuse_report,
    wants_report,
    write_report,
)
from gawee_dialect.workers import ThisProcess, Workers

if TYPE_CHECKING:
    from gawee_dialect.experiments.results import Results

PROG = "gawee-experiment"
SCHEDULER_HELP = (
    "measure on the workers of a Dask scheduler that have the resource 'quiet'; 'local' starts one "
    "on this machine"
)
FORMATS = ("markdown", "latex", "csv")
FAILED = 1
REPORTED = "what was measured as documented JSON: the table, and every round"


def argument_parser() -> CommandParser:
    """Describe the commands."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="A run that was stopped goes on where it was: what has a record is not measured "
        "again.\nexit code: 0 done; 1 the input is wrong; 2 a bug in gawee-experiment",
    )
    parser.add_argument("command", choices=tuple(COMMANDS), help="what to do; each has a --help")
    return parser


def run_parser() -> CommandParser:
    """Describe `gawee-experiment run`."""
    parser = CommandParser(
        prog=f"{PROG} run", allow_abbrev=False, description="Measure what a study says."
    )
    add = parser.add_argument
    add("study", help="the study's file, in TOML")
    add(
        "-o",
        "--output",
        metavar="FOLDER",
        help="the study's folder (default: the file's name with .results)",
    )
    add("--list", action="store_true", help="measure nothing; say what is to be measured")
    add("--scheduler", metavar="ADDRESS", help=SCHEDULER_HELP)
    add("--retry-failed", action="store_true", help="measure again what failed")
    add_report_flags(parser, REPORTED)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def table_parser() -> CommandParser:
    """Describe `gawee-experiment table`."""
    parser = CommandParser(
        prog=f"{PROG} table", allow_abbrev=False, description="Print what a study has measured."
    )
    add = parser.add_argument
    add("folder", help="the study's folder")
    add("--format", choices=FORMATS, default=FORMATS[0], help="(default: markdown)")
    add("-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)")
    add_report_flags(parser, REPORTED)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def plot_parser() -> CommandParser:
    """Describe `gawee-experiment plot`."""
    parser = CommandParser(
        prog=f"{PROG} plot",
        allow_abbrev=False,
        description="Draw a study; needs matplotlib.",
    )
    add = parser.add_argument
    add("folder", help="the study's folder")
    add("--kind", choices=tuple(PICTURES), default="speedups", help=PICTURES_HELP)
    add("-o", "--output", required=True, metavar="FILE", help="the picture, as .svg or .png")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def compare_parser() -> CommandParser:
    """Describe `gawee-experiment compare`."""
    parser = CommandParser(
        prog=f"{PROG} compare",
        allow_abbrev=False,
        description="Print the times of two studies side by side, and which of them differ.",
    )
    add = parser.add_argument
    add("before", help="a study's folder")
    add("after", help="another one's")
    add("-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def run_study(arguments: Namespace) -> int:
    """Measure what has no record yet; returns the exit code. Raises GaweeError and OSError."""
    from gawee_dialect.experiments.runner import start
    from gawee_dialect.experiments.study import study_of

    if arguments.list:
        refuse_report(arguments, "--list")
    wants_report(arguments)
    source = Source.read(arguments.study)
    study = study_of(source)
    folder = Path(arguments.output or f"{Path(arguments.study).stem}.results")
    console = Console(highlight=False, soft_wrap=True)
    running = start(study, source.text, folder, retry_failed=arguments.retry_failed)
    with workers_at(arguments.scheduler) as (workers, processors):
        progress = running.progress(processors)
        if arguments.list:
            for cell in progress.todo:
                console.print(", ".join(cell.names), markup=False)
            console.print(f"{len(progress.todo)} to measure, {progress.known} measured")
            return DONE
        if progress.known:
            console.print(f"{progress.known} are measured already")
        for number, record in enumerate(running.measure(progress.todo, workers), 1):
            console.print(f"{number}/{len(progress.todo)} {record_line(record)}", markup=False)
    write_study_report(arguments, folder)
    console.print(f"wrote {folder}", markup=False)
    return DONE


@contextmanager
def workers_at(address: str | None) -> Generator[tuple[Workers, Sequence[str]]]:
    """Yield the workers that measure, and their processors; raises GaweeError where none can."""
    if address is None:
        yield ThisProcess(), [processor_of({"machine": this_machine()})]
        return
    from gawee_dialect.workers.dask_workers import DaskWorkers

    with DaskWorkers(address) as workers:
        require_same_source(workers.ask(source_hash))
        machines = workers.ask(this_machine)
        yield workers, [processor_of({"machine": each}) for each in machines]


def require_same_source(hashes: Sequence[str]) -> None:
    """Raise GaweeError where a worker has another state of this package."""
    if any(each != source_hash() for each in hashes):
        raise GaweeError(
            Diagnostic(
                "expected workers to have this state of gawee, got another one",
                hint="install the same version where they run, and start them again",
            )
        )


def record_line(record: Mapping[str, object]) -> str:
    """Return what is printed of a record while a study runs."""
    names = ", ".join(str(record[name]) for name in ("network", "pipeline", "options"))
    if "error" in record:
        return f"{names}: failed: {record['error']}"
    from gawee_dialect.experiments.results import summary

    return f"{names}: {summary(record)}"


def print_table(arguments: Namespace) -> int:
    """Print the table of a study's folder; raises GaweeError and OSError."""
    from gawee_dialect.experiments.results import read_results, table_text

    write_study_report(arguments, Path(arguments.folder))
    write_text(arguments.output, table_text(read_results(arguments.folder), arguments.format))
    return DONE


def write_study_report(arguments: Namespace, folder: Path) -> None:
    """Write the page and the JSON of a study's folder, where they are asked for.

    Raises GaweeError and OSError.
    """
    if not wants_report(arguments):
        return
    from gawee_dialect.experiments.results import read_results
    from gawee_dialect.report.study import StudyReport

    words: Sequence[str] = arguments.command_line
    write_report(arguments, StudyReport(PROG, words, read_results(folder)))


def draw_plot(arguments: Namespace) -> int:
    """Draw a study's folder; raises GaweeError and OSError."""
    from gawee_dialect.experiments.results import read_results

    PICTURES[arguments.kind](read_results(arguments.folder), arguments.output)
    return DONE


def _draw_speedups(results: "Results", path: str) -> None:
    from gawee_dialect.plots import draw_speedups

    draw_speedups(results, path)


def _draw_scaling(results: "Results", path: str) -> None:
    from gawee_dialect.plots import draw_scaling

    draw_scaling(results, path)


def _draw_predictions(results: "Results", path: str) -> None:
    from gawee_dialect.plots import draw_predictions

    draw_predictions(results, path)


PICTURES: Mapping[str, Callable[["Results", str], None]] = {
    "speedups": _draw_speedups,
    "scaling": _draw_scaling,
    "predictions": _draw_predictions,
}
PICTURES_HELP = (
    "speedups: how much longer each pipeline takes than the baseline; scaling: how much faster "
    "more threads are; predictions: measured over predicted times (default: speedups)"
)


def print_comparison(arguments: Namespace) -> int:
    """Print two studies side by side; raises GaweeError and OSError."""
    from gawee_dialect.experiments.results import comparison_text, read_results

    before, after = map(read_results, (arguments.before, arguments.after))
    write_text(arguments.output, comparison_text(before, after))
    return DONE


def _watch_parent() -> None:
    """End this process when its parent has ended: its record has no reader then."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(0.5)
        os._exit(FAILED)

    threading.Thread(target=watch, daemon=True).start()


def measure_cell(argv: Sequence[str]) -> int:
    """Measure the cell of one file, and write its record into another."""
    from gawee_dialect.experiments.cell import measure
    from gawee_dialect.experiments.study import Cell
    from gawee_dialect.tools.plugin_file import loaded_files
    from gawee_dialect.whole_file import write_file

    asked, answer = map(Path, argv)
    _watch_parent()
    cell = Cell.of(json.loads(asked.read_text()))
    files = dict.fromkeys((*cell.baseline.load, *cell.pipeline.load))
    with loaded_files([str(cell.path(each)) for each in files]):
        record = measure(cell)
    write_file(answer, json.dumps(record))
    return DONE


PARSERS: Mapping[str, Callable[[], CommandParser]] = {
    "run": run_parser,
    "table": table_parser,
    "plot": plot_parser,
    "compare": compare_parser,
}
"""What describes each command."""


def _command(name: str, do: Callable[[Namespace], int]) -> Callable[[Sequence[str]], int]:
    def command(argv: Sequence[str]) -> int:
        arguments = PARSERS[name]().parse_all(argv)
        arguments.command_line = (name, *argv)
        return do(arguments)

    return command


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "run": _command("run", run_study),
    "table": _command("table", print_table),
    "plot": _command("plot", draw_plot),
    "compare": _command("compare", print_comparison),
}

HIDDEN: Mapping[str, Callable[[Sequence[str]], int]] = {"cell": measure_cell}
"""What the tool calls itself for."""


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    commands = {**COMMANDS, **HIDDEN}
    if argv and argv[0] in commands:
        return commands[argv[0]](argv[1:])
    if argv and not argv[0].startswith("-"):
        hint = did_you_mean(argv[0], COMMANDS, f"commands: {', '.join(COMMANDS)}")
        raise GaweeError(Diagnostic(f"unknown command '{argv[0]}'", hint=hint))
    argument_parser().parse_all(argv)
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-experiment; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
