"""Parse C texts of descriptions by pycparser: its nodes, each with its place in the description.

Nothing is executed here, and nothing is ever executed as Python: `c_evaluate.py` walks the nodes.
Which of them descriptions may have, `compiled.py` says.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.located_json import Code
from gawee_dialect.locations import line_starts
from gawee_dialect.opdesc.c_values import TypeName
from gawee_dialect.source import Place

if TYPE_CHECKING:
    from pycparser import c_ast

MAX_CODE = 20_000
"""Characters of one C text: the longest of the shipped descriptions has 800."""

MAX_DIGITS = 70
"""Of an integer."""

_TYPEDEFS = ("size_t", "bool")
_PRELUDE = "".join(f"typedef unsigned long {name};" for name in _TYPEDEFS)

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)
_PROBLEM = re.compile(r"[^:]*:(\d+):(\d+): (.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class CodeError(GaweeError):
    """C text that cannot be understood, with its place in the description."""


def code_error(message: str, place: Place, hint: str | None = None) -> CodeError:
    """Return an error in C text."""
    return CodeError(Diagnostic(message, str(place), hint=hint))


def require_pycparser(place: Place) -> None:
    """Raise GaweeError where the parser of C is not installed: no CodeError of many."""
    if find_spec("pycparser") is None:
        message = "cannot read operator descriptions: pycparser is not installed"
        hint = "pip install 'gawee-dialect[opdesc]'"
        raise GaweeError(Diagnostic(message, str(place), hint=hint))


def parse_expression(code: Code) -> "c_ast.Node":
    """Parse one expression; raises CodeError."""
    expressions = parse_arguments(code)
    if len(expressions) != 1:
        raise code_error(
            f"expected one C expression, got {len(expressions)} with commas between", code.place()
        )
    return expressions[0]


def parse_arguments(code: Code) -> "Sequence[c_ast.Node]":
    """Parse expressions with commas between, as the arguments of a call; raises CodeError."""
    statements = _parse(code, "f(", ");")
    from pycparser import c_ast

    call = statements[0] if len(statements) == 1 else None
    if not isinstance(call, c_ast.FuncCall):
        raise code_error("expected a C expression, got statements", code.place())
    if call.args is None:
        raise code_error("expected a C expression, got none", code.place())
    return call.args.exprs


def parse_statements(code: Code) -> "Sequence[c_ast.Node]":
    """Parse statements; raises CodeError."""
    return _parse(code, "", "")


def _parse(code: Code, before: str, after: str) -> "list[c_ast.Node]":
    """Parse a text inside a function; returns the statements of the function's body."""
    require_pycparser(code.place())
    from pycparser import c_ast, c_parser

    if len(code.text) > MAX_CODE:
        message = f"expected C text of at most {MAX_CODE} characters, got {len(code.text)}"
        raise code_error(message, code.place())
    directive = _DIRECTIVE.search(code.text)
    if directive is not None:
        raise code_error("unsupported C: a preprocessor line", code.place(directive.start()))
    text = _COMMENT.sub(
        lambda found: re.sub(r"[^\n]", " ", found[0]) if found[1] else found[0], code.text
    )
    try:
        tree = c_parser.CParser().parse(f"{_PRELUDE} void f(void) {{{before}\n{text}\n{after}}}")
        _locate(tree.ext[-1], code)
    except c_parser.ParseError as error:
        raise _syntax_error(code, str(error)) from error
    except RecursionError as error:
        raise code_error("expected C text that is nested less deeply", code.place()) from error
    function = tree.ext[-1]
    if len(tree.ext) != len(_TYPEDEFS) + 1 or not isinstance(function, c_ast.FuncDef):
        raise code_error("expected brackets that match, got a } too many", code.place())
    return function.body.block_items or []


class _At(NamedTuple):
    """Where the parser found a node, in the text of some code."""

    code: Code
    coord: object


def _locate(node: "c_ast.Node", code: Code) -> None:
    """Set the code that a node, and all inside it, are of."""
    if not isinstance(node.coord, _At):  # declarations of one statement share their type
        node.coord = _At(code, node.coord)
        for _, child in node.children():
            _locate(child, code)


def place_of(node: "c_ast.Node") -> Place:
    """Return where a node stands in its description."""
    from pycparser.c_parser import Coord

    assert isinstance(node.coord, _At)  # no node leaves this file without
    code, at = node.coord
    return code.place(_index(code.text, at.line, at.column or 1) if isinstance(at, Coord) else 0)


_line_starts = lru_cache(maxsize=8)(line_starts)


def _index(text: str, line: int, column: int) -> int:
    """Return the index of a place that the parser names, whose first line is before the text."""
    starts = _line_starts(text)
    last = max(0, len(text) - 1)
    if line - 2 >= len(starts):
        return last
    return min(starts[max(0, line - 2)] + max(0, column - 1), last)


def _syntax_error(code: Code, text: str) -> CodeError:
    found = _PROBLEM.fullmatch(text)
    if found is None:
        what = text.strip(": ")
        return code_error(f"cannot parse C text: {what[:1].lower()}{what[1:]}", code.place())
    index = _index(code.text, int(found[1]), int(found[2]))
    what = found[3].strip().partition("\n")[0]
    if what.startswith("before: "):
        message = f"cannot parse C text at '{what.removeprefix('before: ')}'"
    else:
        message = f"cannot parse C text: {what[:1].lower()}{what[1:]}"
    return code_error(message, code.place(index))


def walk(node: "c_ast.Node") -> "Iterator[c_ast.Node]":
    """Yield a node and all that is inside it, but for names of functions and of fields."""
    yield node
    apart = {"FuncCall": "name", "StructRef": "field"}.get(type(node).__name__)
    for name, child in node.children():
        if name != apart:
            yield from walk(child)


def type_name(node: "c_ast.Node") -> TypeName | None:
    """Return the type that a declaration or a cast writes; None for one that is not supported."""
    from pycparser import c_ast

    is_array, length, pointers = False, None, 0
    if isinstance(node, c_ast.Typename):
        node = node.type
    if isinstance(node, c_ast.ArrayDecl):
        is_array, length, node = True, node.dim, node.type
    while isinstance(node, c_ast.PtrDecl):
        pointers, node = pointers + 1, node.type
    named = node.type if isinstance(node, c_ast.TypeDecl) else node
    if not isinstance(named, c_ast.IdentifierType) or pointers > 1:
        return None
    return TypeName(tuple(named.names), pointers == 1, is_array, length)


def written_type(node: "c_ast.Node") -> TypeName:
    """Return the type that a text which was checked writes."""
    written = type_name(node)
    assert written is not None  # compiled.py lets nothing else pass
    return written


@lru_cache(maxsize=1024)
def constant(type: str, spelling: str) -> tuple[int | float | str, str] | None:
    """Return what a constant is, and the suffix that is its type; None for an unsupported one."""
    if type == "string":
        return _unescaped(spelling[1:-1]), ""
    if type == "char" and spelling.startswith("'"):
        character = _unescaped(spelling[1:-1])
        return (ord(character), "") if len(character) == 1 and ord(character) < 128 else None
    if type in ("float", "double"):
        suffix = "f" if spelling[-1] in "fF" and not spelling.startswith("0x") else ""
        try:
            return float(spelling.rstrip("fF")), suffix
        except ValueError:
            return None
    digits = spelling.rstrip("uUlL").lower()
    if not type.endswith("int") or len(digits) > MAX_DIGITS:
        return None
    base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 10
    if base == 10 and len(digits) > 1 and digits.startswith("0"):
        base = 8
    return int(digits, base), spelling[len(digits) :].lower()


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] == "x" and len(escape) > 1:
            return chr(int(escape[1:], 16) & 0xFF)
        if escape.isdigit():
            return chr(int(escape, 8) & 0xFF)
        return _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(character, text)
