"""The sub-command `gawee-translate opdesc`: descriptions of operators as definition code."""

from argparse import Namespace

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.tools.command_line import DONE, CommandParser, write_text

EMITTED = ("python", "irdl", "c", "header", "docs", "onnx")
"""What `--emit` may name."""


def _emitted(kind: str, path: str) -> str:
    """Return the descriptions of a file as code of a kind; each pays for its own imports."""
    if kind == "header":
        from gawee_dialect.opdesc.emit.c_file import header_text

        return header_text()
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(path)
    dialect, operators = described.dialect, described.operators
    match kind:
        case "python":
            from gawee_dialect.opdesc.emit.python_file import python_file

            return python_file(dialect, operators, described.text, path)
        case "irdl":
            from gawee_dialect.opdesc.emit.irdl import irdl_file

            return irdl_file(dialect, operators)
        case "c":
            from gawee_dialect.opdesc.emit.c_file import c_file

            return c_file(operators, path)
        case "docs":
            from gawee_dialect.opdesc.emit.markdown_page import page

            return page(dialect, operators)
        case _:
            from gawee_dialect.opdesc.emit.onnx_file import onnx_file

            return onnx_file(dialect, operators)


def opdesc_parser() -> CommandParser:
    """Describe the command line of `gawee-translate opdesc`."""
    parser = CommandParser(
        prog="gawee-translate opdesc",
        description="Write descriptions of operators as definition code: op classes in Python, "
        "IRDL for mlir-opt, C functions and their header gawee_op.h, a page in Markdown, or "
        "functions of ONNX.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", help="file of operator descriptions (.json, .op)")
    add("--emit", required=True, choices=EMITTED, help="what to write")
    add("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def emit_operators(arguments: Namespace) -> int:
    """Do what the command line says; raises GaweeError and OSError, and then writes nothing."""
    if arguments.input == "-":
        raise GaweeError("expected a file of operator descriptions, got standard input")
    write_text(arguments.output, _emitted(arguments.emit, arguments.input))
    return DONE
