"""gawee-reduce: make a failing module small, ops and tensors, as long as it fails the same way."""

import os
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import which
from time import monotonic

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.flag_values import not_negative, not_negative_number, positive_number
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.passes.insertion import with_insertions
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import PassTable, run_pipeline
from gawee_dialect.reduce.draft import reducible_function
from gawee_dialect.reduce.failure import Failure, PipelineError, ScriptFailure
from gawee_dialect.reduce.reducer import Reducer, count_ops, largest_tensor
from gawee_dialect.report.document import Report
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    run_tool,
    write_text,
)
from gawee_dialect.tools.graph_arguments import add_format, add_insert
from gawee_dialect.tools.pass_flags import parse_with_passes
from gawee_dialect.tools.plugin_file import LOAD_HELP, LOAD_OPS_HELP, loaded_files, split_load_flags
from gawee_dialect.tools.report_flags import add_report_flags, wants_report, write_report
from gawee_dialect.universe import all_passes, make_context

# The report of gawee-reduce: the reduced module, and how the passes fail on it.


PROG = "gawee-reduce"


def write_reduced_report(
    arguments: Namespace,
    words: Sequence[str],
    source: str,
    module: ModuleOp,
    passes: Sequence[ModulePass],
) -> None:
    """Run the passes on the reduced module once more, and write what they did until one failed."""
    report = Report(PROG, words, source)
    settings = CheckSettings(arguments.seed, arguments.rtol, arguments.atol)
    check = CheckEach(settings) if arguments.numeric else None
    copy = module.clone()
    report.recording.start(copy)
    try:
        with instrumented(report.recording, *([] if check is None else [check])):
            run_pipeline(make_context(), copy, passes)
    except Exception:  # the failure that the module was reduced for: the report shows it
        _write(arguments, report, check)
    else:
        _write(arguments, report, check)


def _write(arguments: Namespace, report: Report, check: CheckEach | None) -> None:
    report.checks = None if check is None else check.steps
    write_report(arguments, report)


def argument_parser() -> CommandParser:
    """Describe the command line, apart from pass flags (see pass_flags.py)."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog="Passes are named as for gawee-opt, and a module fails where they raise:\n"
        "  gawee-reduce in.mlir --load my_pass.py --my-pass -o small.mlir\n"
        "  gawee-reduce in.mlir --my-pass --error='expected rank 4'\n"
        "  gawee-reduce in.mlir --my-pass --numeric\n"
        "  gawee-reduce in.mlir --test=./still_fails.sh\n\n"
        "With -o, the file holds the smallest module so far at any time.\n"
        "exit code: 0 reduced; 1 the input or the command line is wrong, or nothing fails; "
        "2 a bug in gawee-reduce",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR file or graph, - for standard input")
    add("-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)")
    add("-p", "--passes", metavar="PIPELINE", help="run passes: 'a,b{option=1}'")
    add("--pass-pipeline", metavar="PIPELINE", help="run passes: 'builtin.module(a,b)'")
    add_format(parser)
    add_insert(parser)
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--error",
        metavar="TEXT",
        help="fails: an error with this text in it (default: the error of the input, without "
        "what its sizes are)",
    )
    kinds.add_argument(
        "--numeric",
        action="store_true",
        help="fails: outputs before and after the passes differ, on seeded data for inputs and "
        "weights, that of --check-each of gawee-opt",
    )
    kinds.add_argument(
        "--test",
        metavar="SCRIPT",
        help="fails: this program exits with 0, given the path of a module",
    )
    add("--seed", type=not_negative, default=0, help="seed of --numeric's data (default: 0)")
    add(
        "--rtol",
        type=not_negative_number,
        help="what --numeric allows, as --check-rtol of gawee-opt",
    )
    add(
        "--atol",
        type=not_negative_number,
        help="what --numeric allows, as --check-atol of gawee-opt",
    )
    add(
        "--time-limit",
        type=positive_number,
        default=float("inf"),
        metavar="SECONDS",
        help="stop after this time with the smallest module so far (default: none)",
    )
    add(
        "--test-time-limit",
        type=positive_number,
        default=60.0,
        metavar="SECONDS",
        help="a module that takes longer to test does not fail (default: 60)",
    )
    add_report_flags(
        parser,
        "what the passes did to the reduced module, and how it fails, as documented JSON",
    )
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parse_arguments(argv: Sequence[str], table: PassTable) -> tuple[Namespace, list[ModulePass]]:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one."""
    arguments, named, insertions = parse_with_passes(argument_parser(), argv, table)
    passes = [*with_insertions(named, insertions)]
    if arguments.test is None and not passes:
        raise GaweeError("expected passes, or --test=SCRIPT, got neither")
    if arguments.test is not None and passes:
        raise GaweeError("expected passes or --test=SCRIPT, got both")
    return arguments, passes


def make_failure(arguments: Namespace, passes: Sequence[ModulePass]) -> Failure:
    """Return what failing is; raises GaweeError for a script that is not there."""
    script: str | None = arguments.test
    if script is not None:
        program = which(script) or which(os.path.abspath(script))
        if program is None:
            raise GaweeError(f"cannot run '{script}': it is no program")
        return ScriptFailure(Path(program), arguments.test_time_limit)
    if arguments.numeric:
        # Imported here: only this flag needs it.
        from gawee_dialect.reduce.failure import NumericDifference

        return NumericDifference(passes, arguments.seed, arguments.rtol, arguments.atol)
    return PipelineError(passes, arguments.error)


def check_fails(failure: Failure, module: ModuleOp, name: str) -> None:
    """Raise GaweeError where the module does not fail to begin with."""
    if reducible_function(module) is None:
        raise GaweeError(f"expected a function that ends with func.return in '{name}', got none")
    if failure.holds(module):
        return
    hint = "--error=TEXT, --numeric and --test=SCRIPT say what failing is"
    got = failure.why_not(module)
    raise GaweeError(Diagnostic(f"expected '{name}' to fail, got {got}", hint=hint))


def reporter(started: float, output: str) -> Callable[[str, Reducer], None]:
    """Return what reports each step to standard error, and keeps the output file up to date."""

    def report(step: str, reducer: Reducer) -> None:
        if output != "-":
            write_text(output, print_mlir(reducer.module))
        ops, elements = count_ops(reducer.module), largest_tensor(reducer.module)
        print(
            f"{step + ':':<16} {ops:>4} ops, largest tensor {elements:>8} elements"
            f"  ({reducer.tests} tests, {monotonic() - started:.1f} s)",
            file=sys.stderr,
            flush=True,
        )

    return report


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths, flags=argument_parser().flags()):
        return reduce_file(*parse_arguments(rest, all_passes()), argv)


def reduce_file(arguments: Namespace, passes: Sequence[ModulePass], words: Sequence[str]) -> int:
    """Read a module and make it small; raises GaweeError and OSError."""
    reported = wants_report(arguments)
    source = Source.read(arguments.input)
    module = open_graph(source, name=arguments.source).module()
    failure = make_failure(arguments, passes)
    started = monotonic()
    check_fails(failure, module, source.name)
    report = reporter(started, arguments.output)
    reducer = Reducer(
        module,
        failure,
        report,
        arguments.test_time_limit,
        started + arguments.time_limit,
    )
    print(f"failure: {failure.describe()}", file=sys.stderr)
    report("input", reducer)
    try:
        reducer.reduce()
    finally:
        report("result", reducer)
        if arguments.output == "-":
            write_text("-", print_mlir(reducer.module))
        if reported:
            # Only these flags pay for the import.

            write_reduced_report(arguments, words, source.name, reducer.module, passes)
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-reduce; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
