"""gawee-opt: read MLIR, run passes, write MLIR; mlir-opt for the gawee dialect."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.locations import LocatedParser
from gawee_dialect.passes.pass_manager import PassTable, parse_passes, run_passes
from gawee_dialect.tools.pass_flags import split_pass_flags
from gawee_dialect.universe import PASSES, all_passes, make_context

SPLIT_MARKER = "// -----"


def argument_parser() -> ArgumentParser:
    """Describe the command line, apart from pass flags (see pass_flags.py)."""
    parser = ArgumentParser(
        prog="gawee-opt",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        epilog="Every pass is a flag: gawee-opt --canonicalize --lower-to-linalg in.mlir\n"
        f"passes of gawee: {', '.join(PASSES)}\n"
        "--list-passes describes them, and names those of xDSL and of other plugins.",
    )
    parser.add_argument("input", nargs="?", default="-", help="MLIR file, - for standard input")
    parser.add_argument("-o", "--output", default="-", help="output file (default: stdout)")
    parser.add_argument("-p", "--passes", metavar="PIPELINE", help="passes: 'a,b{option=1}'")
    parser.add_argument("--pass-pipeline", metavar="PIPELINE", help="passes: 'builtin.module(a,b)'")
    parser.add_argument("--split-input-file", action="store_true", help="split at '// -----'")
    parser.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="print errors to stdout and exit with 0: for tests of error messages",
    )
    parser.add_argument(
        "--verify-each",
        type=lambda text: text not in ("0", "false"),
        default=True,
        metavar="BOOL",
        help="verify after each pass (default: true)",
    )
    parser.add_argument(
        "--mlir-print-op-generic", action="store_true", help="print the generic form"
    )
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument(
        "--allow-unregistered-dialect", action="store_true", help="parse unknown ops"
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parse_mlir(text: str, name: str, line_offset: int, allow_unregistered: bool) -> ModuleOp:
    """Parse and verify MLIR text; raises GaweeError located in it."""
    ctx = make_context(allow_unregistered=allow_unregistered)
    try:
        module = LocatedParser(ctx, text, name, line_offset).parse_module()
    except ParseError as error:
        where = error.span.get_location()
        place = f"{name}:{where.line + line_offset}:{where.col}"
        raise GaweeError(Diagnostic(error.msg.strip(), place)) from error
    verify_module(module)
    return module


def print_mlir(module: ModuleOp, arguments: Namespace) -> str:
    """Return a module's text in the form that the flags ask for."""
    stream = StringIO()
    printer = Printer(
        stream,
        print_generic_format=arguments.mlir_print_op_generic,
        print_debuginfo=arguments.mlir_print_debuginfo,
    )
    printer.print_op(module)
    return stream.getvalue() + "\n"


def process(text: str, line_offset: int, passes: list[ModulePass], arguments: Namespace) -> str:
    """Take one chunk of input through the passes; raises GaweeError."""
    name = "<stdin>" if arguments.input == "-" else arguments.input
    module = parse_mlir(text, name, line_offset, arguments.allow_unregistered_dialect)
    ctx = make_context(allow_unregistered=arguments.allow_unregistered_dialect)
    run_passes(ctx, module, passes, verify_each=arguments.verify_each)
    return print_mlir(module, arguments)


def run(arguments: Namespace, specs: Sequence[str], table: PassTable) -> None:
    """Do what the command line says; raises GaweeError."""
    passes = [made for spec in specs for made in parse_passes(spec, table)]
    text = sys.stdin.read() if arguments.input == "-" else Path(arguments.input).read_text()
    chunks = text.split(SPLIT_MARKER) if arguments.split_input_file else [text]
    outputs: list[str] = []
    line_offset = 0
    for chunk in chunks:
        try:
            outputs.append(process(chunk, line_offset, passes, arguments))
        except GaweeError as error:
            if not arguments.verify_diagnostics:
                raise
            outputs.append(f"{error}\n")
        line_offset += chunk.count("\n")
    result = f"{SPLIT_MARKER}\n".join(outputs)
    if arguments.output == "-":
        sys.stdout.write(result)
    else:
        Path(arguments.output).write_text(result)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-opt; return the exit code."""
    table = all_passes()
    rest, specs = split_pass_flags(sys.argv[1:] if argv is None else argv, table)
    arguments = argument_parser().parse_args(rest)
    try:
        run(arguments, specs, table)
    except (GaweeError, OSError) as error:
        if arguments.debug:
            raise
        print(error if isinstance(error, GaweeError) else f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
