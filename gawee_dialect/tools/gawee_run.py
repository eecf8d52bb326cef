"""gawee-run: run a graph on data, at any level of the IR, or export it for C."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.flag_values import not_negative_number, number, positive
from gawee_dialect.identifiers import c_name
from gawee_dialect.levels import Level
from gawee_dialect.passes.insertion import declared
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.tools.code_flags import FLAGS, add_code_flags, spelling
from gawee_dialect.tools.command_line import DONE, WRONG_INPUT, CommandParser, run_tool
from gawee_dialect.tools.compare_oracle import compare_parser, is_compare, run_compare
from gawee_dialect.tools.graph_arguments import add_graph, add_inputs
from gawee_dialect.tools.plugin_file import (
    LOAD_HELP,
    LOAD_OPS_HELP,
    NATIVE_CODE_HELP,
    loaded_files,
    split_load_flags,
)
from gawee_dialect.tools.report_flags import add_report_flags, recorded, reported
from gawee_dialect.tools.run_session import Session, add_proof, make_session, phase
from gawee_dialect.whole_file import check_writable, whole_file, write_file

if TYPE_CHECKING:
    from gawee_dialect.instruments.trace_events import TraceEvents
    from gawee_dialect.report.document import Report

# Which options of gawee-run go together: what would be ignored silently is refused.

NEEDS: Mapping[str, Sequence[str]] = {
    "--emit-dir": ("--emit",),
    "--name": ("--emit",),
    "--target": ("--emit",),
    "--triple": ("--emit",),
    "--tolerance": ("--compare", "--verify"),
    "--mean": ("--input",),
    "--std": ("--input",),
}
"""Options that say something about another one: one of these."""

RUNNING = (
    *("--level", "--compare", "--tolerance", "--verify", "--repeat", "--profile", "--roofline"),
    *("--measure", "--input", "--inputs", "--output", "--json", "--report-json", "--html"),
    "--trace",
)
"""Options of a run, and with --emit nothing runs."""

NATIVE = tuple(spelling(name) for name in FLAGS if name != "target")
"""Options of the code that is made for level llvm."""


def check_options(arguments: Namespace, defaults: Namespace) -> None:
    """Raise GaweeError for options that do not go together."""
    values: Mapping[str, object] = vars(arguments)
    given = [spelling(name) for name in values if values[name] != getattr(defaults, name)]
    for flag, others in NEEDS.items():
        if flag in given and not set(others) & set(given):
            raise GaweeError(f"expected {flag} to go with {' or '.join(others)}")
    if "--emit" in given:
        running = [flag for flag in given if flag in RUNNING]
        if running:
            hint = "--emit writes files and runs nothing"
            raise GaweeError(
                Diagnostic(f"expected --emit without {running[0]}, got both", hint=hint)
            )
        return
    native = [flag for flag in given if flag in NATIVE]
    if native and "llvm" not in (arguments.level, arguments.compare):
        hint = f"level {arguments.level} runs in NumPy"
        raise GaweeError(Diagnostic(f"expected {native[0]} to go with --level llvm", hint=hint))


PROG = "gawee-run"
DEFAULT_TOLERANCE = 1e-4
"""Part of an output's range: float32 networks of any usual depth stay far below it."""

SCHEDULE = "schedule"
"""What is chosen for kernels: no code for C."""
EMIT_KINDS = ("ll", "asm", "obj", "shared", "header", "example")

AnyArray = NDArray[np.generic]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(number(part) for part in text.split(","))


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="exit code: 0 all that was asked for succeeded; 1 it did not, or outputs differ; "
        "2 a bug in gawee-run; 3 it did, but a pass that was to be proved could not be checked",
    )
    add = parser.add_argument
    levels = tuple(level.value for level in Level)
    add_graph(parser)
    add("--constants", metavar="NPZ", help="data of constants that the graph has none for")
    add_inputs(parser)
    add("--mean", type=_numbers, default=(0.0,), metavar="R,G,B", help="for pictures (default: 0)")
    add("--std", type=_numbers, default=(1.0,), metavar="R,G,B", help="for pictures (default: 1)")
    add("--output", metavar="NPZ", help="write the outputs, by name, to a .npz file")
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add(
        "-p",
        "--passes",
        default="",
        metavar="PIPELINE",
        help="run these passes on the graph before those of the level: 'a,b{option=1}'",
    )
    add("--level", choices=levels, default="llvm", help="what executes (default: llvm)")
    add("--compare", choices=levels, metavar="LEVEL", help="run this level too and compare")
    _add_results(parser)
    _add_emit(parser)
    add_code_flags(parser)
    add("--allow-native-code", action="store_true", help=NATIVE_CODE_HELP)
    add("--no-cache", action="store_true", help="compile even what an earlier run compiled")
    add_proof(parser)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _add_results(parser: CommandParser) -> None:
    """Add what a run compares, times and writes."""
    add = parser.add_argument
    add(
        "--tolerance",
        type=not_negative_number,
        default=DEFAULT_TOLERANCE,
        help="largest difference that --compare accepts, as a part of the output's range "
        f"(default: {DEFAULT_TOLERANCE:g})",
    )
    add(
        "--verify",
        action="store_true",
        help="run the graph by PyTorch too (NPU_IR), compare every output to --tolerance, and name "
        "the first node that differs; needs PyTorch",
    )
    add("--repeat", type=positive, default=1, metavar="N", help="run N times, report the best")
    add(
        "--profile",
        action="store_true",
        help="print the time of each node, its rates, and the least time this machine can take",
    )
    add(
        "--write-profile",
        metavar="FILE",
        help="write the graph as XOC with the time of each node, in ms, as its metadata "
        "performance.time.cpu",
    )
    add(
        "--roofline",
        metavar="FILE",
        help="draw the profile under this machine's limits, as .svg or .png; needs matplotlib",
    )
    add(
        "--measure",
        action="store_true",
        help="measure this machine's limits, keep them, and print a profile; takes a second",
    )
    add("--cost", action="store_true", help="print FLOPs and bytes of each node")
    add("--json", metavar="FILE", help="write times, differences, cost and profile as JSON")
    add_report_flags(parser)
    add(
        "--trace",
        metavar="FILE",
        help="write when each pass ran, and with --profile each node, as JSON that Perfetto opens",
    )


def _add_emit(parser: CommandParser) -> None:
    """Add what is written for C."""
    add = parser.add_argument
    add(
        "--emit",
        action="append",
        default=[],
        choices=(*EMIT_KINDS, SCHEDULE),
        help="write code for C instead of running (obj and shared bring the header, example the "
        "object and a program that calls it), or the schedule of each kernel as a program in "
        "Python, NAME_schedule.py, which --schedules takes",
    )
    add("--emit-dir", default=".", metavar="DIR", help="where --emit writes (default: .)")
    add("--name", help="prefix of emitted files and functions (default: the graph's name)")
    add(
        "--triple",
        default="",
        help="the system that --emit writes code for, by LLVM's name such as "
        "aarch64-unknown-linux-gnu (default: this one, where it can have such a processor)",
    )


def parse_arguments(argv: Sequence[str]) -> Namespace:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one.

    Options that do not go together are refused, and files that cannot be written.
    """
    parser = argument_parser()
    arguments = parser.parse_all(argv)
    check_options(arguments, parser.parse_args([arguments.graph]))
    for path in (arguments.output, arguments.json, arguments.roofline, arguments.trace):
        if path is not None:
            check_writable(Path(path))
    return arguments


def emit(session: Session) -> int:
    """Write code for C, and schedules; raises GaweeError."""
    arguments, model = session.arguments, session.model
    folder, kinds = Path(arguments.emit_dir), [each for each in arguments.emit if each != SCHEDULE]
    paths: list[Path] = []
    with session.progress.status("compiling"):
        if kinds:
            paths += model.save(
                folder, kinds, session.options, name=arguments.name, triple=arguments.triple
            )
        if SCHEDULE in arguments.emit:
            from gawee_dialect.scheduling import schedule

            name = arguments.name or c_name(model.name)
            chosen = schedule(model, session.options).assign()
            folder.mkdir(parents=True, exist_ok=True)
            paths.append(chosen.save(folder / f"{name}_{SCHEDULE}.py"))
    for path in paths:
        session.console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    return DONE


def execute(session: Session) -> int:
    """Run, compare, profile and report as flags say; return the exit code."""
    from gawee_dialect.tools import run_report as report

    arguments, console = session.arguments, session.console
    level = Level(arguments.level)
    result = session.result
    result["level"] = level.value
    with recorded(session.report, session.trace):
        outputs, result["seconds"] = session.run_level(level, session.options)
    report.print_outputs(console, outputs)
    code = DONE
    if arguments.compare is not None:
        other = Level(arguments.compare)
        with declared(()):  # a user's own passes are what is compared
            reference, _ = session.run_level(other, replace(session.options, passes=()))
        differences = [report.compare(n, outputs[n], reference[n]) for n in outputs]
        report.print_differences(console, differences, level, other, arguments.tolerance)
        result["differences"] = {d.output: [d.largest, d.relative] for d in differences}
        if not all(each.relative <= arguments.tolerance for each in differences):
            code = WRONG_INPUT
    if arguments.verify and not verified(session, outputs, result):
        code = WRONG_INPUT
    drawn = (arguments.roofline, arguments.write_profile)
    if arguments.profile or arguments.measure or any(each is not None for each in drawn):
        from gawee_dialect.tools.run_report import profile

        result.update(profile(session, level))
    if arguments.output is not None:
        write_archive(arguments.output, outputs)
    if arguments.json is not None:
        write_file(Path(arguments.json), json.dumps(result, indent=1) + "\n")
    if session.trace is not None:
        write_file(Path(arguments.trace), session.trace.text())
    return code


def verified(session: Session, outputs: Mapping[str, AnyArray], result: dict[str, object]) -> bool:
    """Hold outputs against PyTorch's, and print how they compare; raises GaweeError."""
    from gawee_dialect.tools.verify_graph import verify_outputs

    arguments = session.arguments
    engine = "native" if arguments.level == Level.LLVM else "interpreter"
    report = verify_outputs(
        session.graph,
        session.model.bound,
        session.inputs,
        list(outputs.values()),
        tolerance=arguments.tolerance,
        engine=engine,
    )
    session.console.print(str(report), highlight=False, soft_wrap=True, markup=False)
    result["verification"] = {
        "passed": report.is_valid,
        "outputs": [asdict(each) for each in report.output_details],
    }
    return report.is_valid


def write_archive(path: str, outputs: Mapping[str, AnyArray]) -> None:
    """Write a .npz file that is whole or not there."""
    # np.savez takes no output named `file`.
    with whole_file(Path(path)) as draft, ZipFile(draft, "w") as archive:
        for name, array in outputs.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, array, allow_pickle=False)


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    if is_compare(argv):
        return run_compare(compare_parser().parse_all(argv[1:]))
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths) as loaded, instrumented(*loaded.instruments):
        try:
            arguments = parse_arguments(rest)
            with reported(arguments, PROG, argv, arguments.graph) as report:
                return run_session(arguments, report)
        finally:
            for instrument in loaded.instruments:
                instrument.report()


def run_session(arguments: Namespace, report: "Report | None") -> int:
    """Read the graph and do all that flags say; raises GaweeError and OSError."""
    if arguments.roofline is not None:
        from gawee_dialect.plots import check_picture

        check_picture(arguments.roofline)
    trace = trace_events(arguments)
    with recorded(report, trace), phase(trace, "read the graph"):
        session = make_session(arguments)
    session.report, session.trace = report, trace
    if arguments.cost:
        print_cost(session)
    if arguments.emit:
        return emit(session)
    return execute(session)


def trace_events(arguments: Namespace) -> "TraceEvents | None":
    """Return what notes when things run, where --trace asks for it."""
    if arguments.trace is None:
        return None
    from gawee_dialect.instruments.trace_events import TraceEvents

    return TraceEvents()


def print_cost(session: Session) -> None:
    """Print what each node costs, and keep it for the JSON; raises GaweeError."""
    from gawee_dialect.analysis.cost import cost_table
    from gawee_dialect.tools.run_report import print_of_nodes

    cost = session.model.cost()
    if cost is None:
        raise GaweeError("cannot count the cost of a module that is not at the gawee level")
    print_of_nodes(session.console, cost_table(cost))
    session.result["cost"] = cost.to_json()


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-run; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
