"""The sub-command `gawee-translate opdesc`: descriptions of operators as definition code."""

from argparse import Namespace
from collections.abc import Callable

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.tools.command_line import DONE, CommandParser, write_text


def _python(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.python_file import python_file
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(arguments.input)
    return python_file(described.dialect, described.operators, described.text, arguments.input)


def _irdl(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.irdl import irdl_file
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(arguments.input)
    return irdl_file(described.dialect, described.operators)


def _c(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.c_file import c_file
    from gawee_dialect.opdesc.read import read_descriptions

    return c_file(read_descriptions(arguments.input).operators, arguments.input)


def _header(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.c_file import header_text

    return header_text()


def _docs(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.markdown_page import page
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(arguments.input)
    return page(described.dialect, described.operators)


def _onnx(arguments: Namespace) -> str:
    from gawee_dialect.opdesc.emit.onnx_file import onnx_file
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(arguments.input)
    return onnx_file(described.dialect, described.operators)


EMITTERS: dict[str, Callable[[Namespace], str]] = {
    "python": _python,
    "irdl": _irdl,
    "c": _c,
    "header": _header,
    "docs": _docs,
    "onnx": _onnx,
}
"""What `--emit` may name, and what writes it."""


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
    add("--emit", required=True, choices=tuple(EMITTERS), help="what to write")
    add("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def emit_operators(arguments: Namespace) -> int:
    """Do what the command line says; raises GaweeError and OSError, and then writes nothing."""
    if arguments.input == "-":
        raise GaweeError("expected a file of operator descriptions, got standard input")
    write_text(arguments.output, EMITTERS[arguments.emit](arguments))
    return DONE
