"""MLIR text in and out, for the tools and for Python."""

import re
import struct
from collections.abc import Callable, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, VerifyException

from gawee_dialect.analysis.open_sizes import read_open_sizes
from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line, verify_module
from gawee_dialect.dialect.static_bounds import verify_static_bounds
from gawee_dialect.upstream.located_parser import LocatedParser
from gawee_dialect.upstream.printing import TextOptions, module_text

SPLIT_MARKER = "// -----"
_SPLIT_LINE = re.compile(rf"^{SPLIT_MARKER}[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"//.*")


NUMBERS = (OverflowError, MemoryError, struct.error)
"""What xDSL's constructors raise for numbers that they cannot store."""


def module_of_text(text: str) -> ModuleOp:
    """Return the module of MLIR text, of all dialects that are known; raises GaweeError."""
    from gawee_dialect.universe import make_context

    return parse_mlir(make_context(), text, "<text>")


def split_chunks(text: str) -> Iterator[tuple[str, int]]:
    """Yield the parts between lines `// -----`, each with the number of lines before it."""
    line = 0
    for chunk in _SPLIT_LINE.split(text):
        yield chunk, line
        line += chunk.count("\n")


def parse_mlir(
    ctx: Context,
    text: str,
    name: str,
    line_offset: int = 0,
    make_parser: Callable[[Context, str, str, int], LocatedParser] = LocatedParser,
) -> ModuleOp:
    """Parse and verify MLIR text; raises GaweeError located in it.

    Text without an op is an empty module.
    """
    if not _COMMENT.sub("", text).strip():
        return ModuleOp([])
    parser = None
    try:
        parser = make_parser(ctx, text, name, line_offset)
        module = parser.parse_module()
    except ParseError as error:
        where = error.span.get_location()
        place = f"{name}:{where.line + line_offset}:{where.col}"
        raise GaweeError(
            Diagnostic(first_line(ValueError(error.msg)).rstrip("."), place)
        ) from error
    except VerifyException as error:  # an attribute that its own constructor rejects
        place = None if parser is None else parser.place(parser.pos)
        raise GaweeError(Diagnostic(first_line(error), place)) from error
    except NUMBERS as error:  # a number that its type, or memory, cannot hold
        place = None if parser is None else parser.place(parser.pos)
        raise GaweeError(Diagnostic(_too_large(error), place)) from error
    except RecursionError as error:
        place = None if parser is None else parser.place(parser.pos)
        raise GaweeError(Diagnostic("expected less nesting", place)) from error
    read_open_sizes(module)
    verify_module(module)
    verify_static_bounds(module)
    return module


def _too_large(error: Exception) -> str:
    # xDSL makes a list of a splat's elements.
    if isinstance(error, MemoryError) or "index-sized integer" in str(error):
        return "expected a size that memory has room for"
    return first_line(error)


def print_mlir(module: ModuleOp, *, generic: bool = False, locations: bool = False) -> str:
    """Return a module's text, in generic form or with locations by its flags."""
    return module_text(module, TextOptions(generic, locations))
