"""gawee-opt: read MLIR, run passes, write MLIR; mlir-opt for the gawee dialect."""

import sys
from argparse import ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.frontends.mlir_text import SPLIT_MARKER, parse_mlir, print_mlir, split_chunks
from gawee_dialect.instruments.report import print_table
from gawee_dialect.instruments.timing import Timing
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import PassTable, parse_passes, run_passes
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    read_text,
    run_tool,
    write_text,
)
from gawee_dialect.tools.expected_errors import compare_errors, expected_errors
from gawee_dialect.tools.instrument_flags import FAMILIES, make_instruments
from gawee_dialect.tools.pass_flags import split_pass_flags
from gawee_dialect.tools.pass_list import pass_list
from gawee_dialect.tools.plugin_file import with_loaded_passes
from gawee_dialect.universe import OVERRIDES, PASSES, PIPELINES, all_passes, make_context

if TYPE_CHECKING:
    from rich.table import Table

PROG = "gawee-opt"


def argument_parser() -> CommandParser:
    """Describe the command line, apart from pass flags (see pass_flags.py)."""
    names = "\n".join(f"  --{name}" for name in (*PASSES, *PIPELINES, *OVERRIDES))
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog="Every pass is a flag, and passes run in the order given:\n"
        "  gawee-opt --canonicalize --lower-to-linalg in.mlir\n"
        "  gawee-opt in.mlir --some-pass='option=1 other=2'\n\n"
        f"passes of gawee:\n{names}\n"
        "--list-passes describes them, and those of xDSL and of other plugins.\n\n"
        "exit code: 0 done; 1 the input or the command line is wrong; 2 a bug in gawee-opt",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR file, - for standard input (the default)")
    add("-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)")
    add("-p", "--passes", metavar="PIPELINE", help="run passes: 'a,b{option=1}'")
    add("--pass-pipeline", metavar="PIPELINE", help="run passes: 'builtin.module(a,b)'")
    add("--load", metavar="FILE", help="add the passes that a Python file defines; repeatable")
    add("--list-passes", action="store_true", help="describe every pass and its options")
    add("--split-input-file", action="store_true", help=f"split at lines '{SPLIT_MARKER}'")
    add(
        "--verify-diagnostics",
        action="store_true",
        help="for tests of messages: compare errors with '// expected-error {{text}}' "
        "annotations; where there are none, print them to stdout and go on",
    )
    add(
        "--verify-each",
        type=_boolean,
        default=True,
        metavar="BOOL",
        help="verify the module after each pass (default: true)",
    )
    add("--mlir-print-op-generic", action="store_true", help="print the generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add(
        "--cost",
        action="store_true",
        help="print FLOPs and bytes of each node to stderr, as the graph is after the passes",
    )
    add("--allow-unregistered-dialect", action="store_true", help="parse unknown ops")
    add("--debug", action="store_true", help="show the traceback of an error")
    add("--version", action="store_true", help="show versions")
    for family in FAMILIES:
        family.add_flags(parser)
    return parser


def _boolean(text: str) -> bool:
    if text not in ("true", "1", "false", "0"):
        raise ArgumentTypeError(f"expected true or false, got '{text}'")
    return text in ("true", "1")


def parse_arguments(argv: Sequence[str], table: PassTable) -> tuple[Namespace, list[ModulePass]]:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one."""
    rest, specs = split_pass_flags(argv, table)
    parser = argument_parser()
    # LLVM's flags may stand alone for true; argparse would take the file name for the value.
    rest = ["--verify-each=true" if word == "--verify-each" else word for word in rest]
    arguments, unknown = parser.parse_known_args(rest)
    if unknown:
        flags = [*parser.flags(), *(f"--{name}" for name in table)]
        raise GaweeError(_unknown_argument(unknown[0], flags))
    return arguments, [made for spec in specs for made in parse_passes(spec, table)]


def _unknown_argument(word: str, flags: Sequence[str]) -> Diagnostic:
    if not word.startswith("-"):
        return Diagnostic(f"expected one input file, got another: '{word}'")
    flag = word.partition("=")[0]
    hint = did_you_mean(flag, flags, f"{PROG} --help lists the flags, --list-passes the passes")
    return Diagnostic(f"unknown flag or pass '{flag}'", hint=hint)


def phase(timing: Timing | None, name: str) -> AbstractContextManager[None]:
    """Return what times a phase of the tool, where times are asked for."""
    return nullcontext() if timing is None else timing.phase(name)


def cost_report(module: ModuleOp) -> "Table":
    """Return what the entry function costs; raises GaweeError where it is not at gawee level."""
    # Only this flag pays for the import.
    from gawee_dialect.analysis.cost import analyze_module_cost, cost_table

    return cost_table(analyze_module_cost(module))


class Chunks:
    """Takes the chunks of one input through the passes, one after another."""

    def __init__(self, arguments: Namespace, passes: Sequence[ModulePass], name: str):
        self.arguments = arguments
        self.passes = passes
        self.name = name
        self.instruments = make_instruments(arguments, name)
        timers = (each for each in self.instruments if isinstance(each, Timing))
        self.timing = next(timers, None)
        self.complaints: list[Diagnostic] = []

    def process(self, ctx: Context, chunk: str, line_offset: int) -> str:
        """Return the output for one chunk.

        Raises GaweeError, unless errors are part of the output or annotated in the chunk.
        """
        if not self.arguments.verify_diagnostics:
            return self._transform(ctx, chunk, line_offset)
        expected = expected_errors(chunk, line_offset)
        try:
            output, got = self._transform(ctx, chunk, line_offset), ()
        except GaweeError as error:
            output, got = f"{error}\n", error.diagnostics
        if not expected:
            return output
        self.complaints += compare_errors(expected, got, self.name)
        return ""

    def _transform(self, ctx: Context, chunk: str, line_offset: int) -> str:
        with phase(self.timing, "parse"):
            module = parse_mlir(ctx, chunk, self.name, line_offset)
        with instrumented(*self.instruments):
            for instrument in self.instruments:
                instrument.before_pipeline(ctx, module, self.passes)
            run_passes(ctx, module, self.passes, verify_each=self.arguments.verify_each)
            for instrument in self.instruments:
                instrument.after_pipeline(module)
        if self.arguments.cost:
            print_table(cost_report(module))
        with phase(self.timing, "print"):
            return self._print(module)

    def _print(self, module: ModuleOp) -> str:
        return print_mlir(
            module,
            generic=self.arguments.mlir_print_op_generic,
            locations=self.arguments.mlir_print_debuginfo,
        )


def transform(arguments: Namespace, passes: Sequence[ModulePass]) -> None:
    """Read, take through the passes, write; raises GaweeError, and then writes nothing."""
    text, name = read_text(arguments.input)
    chunks = Chunks(arguments, passes, name)
    parts = split_chunks(text) if arguments.split_input_file else [(text, 0)]
    # A context of its own for each chunk: passes load dialects, and chunks must not depend on it.
    try:
        outputs = [
            chunks.process(
                make_context(allow_unregistered=arguments.allow_unregistered_dialect), *part
            )
            for part in parts
        ]
    finally:
        for instrument in chunks.instruments:
            instrument.report()
    if chunks.complaints:
        raise GaweeError(chunks.complaints)
    printed = (output for output in outputs if output)
    write_text(arguments.output, f"{SPLIT_MARKER}\n".join(printed))


def version_text() -> str:
    """Return the versions that a bug report should name."""
    from importlib.metadata import PackageNotFoundError, version

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "(not installed)"

    python = ".".join(map(str, sys.version_info[:3]))
    return f"{PROG} {of('gawee-dialect')}, xdsl {of('xdsl')}, Python {python}"


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    words = tuple(argv)
    argv, table = with_loaded_passes(PROG, argv, all_passes())
    arguments, passes = parse_arguments(argv, table)
    arguments.command_line = words  # for reproducers
    if arguments.version:
        print(version_text())
    elif arguments.list_passes:
        write_text(arguments.output, pass_list(table))
    else:
        transform(arguments, passes)
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-opt; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
