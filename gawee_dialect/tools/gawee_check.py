"""gawee-check: run another tool's pipeline pass by pass, and name the pass that is wrong."""

import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.flag_values import not_negative, not_negative_number, positive_number
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    run_tool,
    write_text,
)

PROG = "gawee-check"


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog="The functions of the module run on seeded data before the first pass and after\n"
        "every pass, and have to compute what they did:\n"
        "  gawee-check in.mlir --pass-pipeline='builtin.module(func.func(sccp),cse)'\n"
        "  gawee-check in.mlir --tool ./my-opt --passes='my-pass{x=1}' --reproducer=found\n\n"
        "exit code: 0 no pass is wrong; 1 a pass is, or the input or the command line is; "
        "2 a bug in gawee-check; 3 nothing is wrong, but a pass could not be checked",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR file, - for standard input (the default)")
    add("--tool", default="mlir-opt", help="a program that takes --pass-pipeline, as mlir-opt does")
    add("-p", "--passes", metavar="PIPELINE", help="passes to run: 'a,func.func(b{x=1})'")
    add("--pass-pipeline", metavar="PIPELINE", help="passes to run: 'builtin.module(a)'")
    add("--seed", type=not_negative, default=0, help="seed of the data (default: 0)")
    add("--rtol", type=not_negative_number, help="what is allowed, as --check-rtol of gawee-opt")
    add("--atol", type=not_negative_number, help="what is allowed, as --check-atol of gawee-opt")
    add(
        "--reproducer",
        metavar="FOLDER",
        help="where a pass is wrong: reduce the module, and write a lit test and the text of a "
        "report there",
    )
    add(
        "--time-limit",
        type=positive_number,
        default=60.0,
        metavar="SECONDS",
        help="of the reduction (default: 60)",
    )
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    arguments = argument_parser().parse_all(argv)
    pipelines = [each for each in (arguments.passes, arguments.pass_pipeline) if each]
    if len(pipelines) != 1:
        raise GaweeError(
            "expected --passes or --pass-pipeline, got " + ("both" if pipelines else "neither")
        )
    return check_file(arguments, pipelines[0])


def check_file(arguments: Namespace, pipeline: str) -> int:
    """Check a pipeline on a file; raises GaweeError of the pass that is wrong."""
    # Imported here: --help needs none of it.
    from gawee_dialect.instruments.check.each_pass import CheckSettings, warn_of_unchecked
    from gawee_dialect.instruments.check.failure import summary_table
    from gawee_dialect.instruments.report import print_table
    from gawee_dialect.instruments.tool.check import check_pipeline
    from gawee_dialect.instruments.tool.pipeline import Tool
    from gawee_dialect.instruments.tool.reproducer import issue_text, lit_test, reduced

    source = Source.read(arguments.input)
    tool = Tool(arguments.tool)
    settings = CheckSettings(arguments.seed, arguments.rtol, arguments.atol)
    found = check_pipeline(source.text, pipeline, tool, settings, source.name)
    print_table(summary_table(found.steps))
    if found.failure is None:
        warn_of_unchecked(found.steps)
        return DONE
    if arguments.reproducer is not None:
        folder = Path(arguments.reproducer)
        small = reduced(found, tool, settings, arguments.time_limit)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(str(folder / "wrong.mlir"), lit_test(small, tool))
        write_text(str(folder / "issue.md"), issue_text(small, tool))
    raise found.failure


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-check; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
