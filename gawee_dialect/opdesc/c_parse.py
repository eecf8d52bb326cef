"""Parse C texts of descriptions: pycparser reads all of C, what is outside the subset is refused.

Nothing is executed here, and nothing is ever executed as Python: `c_evaluate.py` walks the syntax.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.easy_json import Code
from gawee_dialect.locations import line_starts
from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.source import Place

if TYPE_CHECKING:
    from pycparser import c_ast

MAX_CODE = 20_000
"""Characters of one C text: the longest of the shipped descriptions has 800."""

SUPPORTED = (
    "integers, floats, strings, names, ->, [], calls, sizeof, casts, (int[]){...}, "
    "+ - * / % ! && || ?: & ++ -- =, comparisons, declarations, if, for, break, continue, blocks"
)

_TYPE_WORDS = frozenset(
    ("void", "char", "short", "int", "long", "signed", "unsigned", "float", "double")
)
_TYPEDEFS = ("size_t", "bool")
_PRELUDE = "".join(f"typedef unsigned long {name};" for name in _TYPEDEFS)

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)
_PROBLEM = re.compile(r"[^:]*:(\d+):(\d+): (.*)", re.DOTALL)
_SUFFIX = re.compile(r"([uUlL]*)$")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

_BINARY = frozenset(("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"))
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%="))


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


def parse_expression(code: Code) -> c.Expression:
    """Parse one expression; raises CodeError."""
    expressions = parse_arguments(code)
    if len(expressions) != 1:
        raise code_error(
            f"expected one C expression, got {len(expressions)} with commas between", code.place()
        )
    return expressions[0]


def parse_arguments(code: Code) -> Sequence[c.Expression]:
    """Parse expressions with commas between, as the arguments of a call; raises CodeError."""
    statements = _parse(code, "f(", ");")
    from pycparser import c_ast

    call = statements[0] if len(statements) == 1 else None
    if not isinstance(call, c_ast.FuncCall):
        raise code_error("expected a C expression, got statements", code.place())
    if call.args is None:
        raise code_error("expected a C expression, got none", code.place())
    converter, arguments = _Converter(code), call.args.exprs
    return converter.guarded(lambda: [converter.expression(each) for each in arguments])


def parse_statements(code: Code) -> Sequence[c.Statement]:
    """Parse statements; raises CodeError."""
    statements = _parse(code, "", "")
    converter = _Converter(code)
    return converter.guarded(
        lambda: [made for each in statements for made in converter.statements(each)]
    )


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
    except c_parser.ParseError as error:
        raise _syntax_error(code, str(error)) from error
    except RecursionError as error:
        raise code_error("expected C text that is nested less deeply", code.place()) from error
    function = tree.ext[-1]
    if len(tree.ext) != len(_TYPEDEFS) + 1 or not isinstance(function, c_ast.FuncDef):
        raise code_error("expected brackets that match, got a } too many", code.place())
    return function.body.block_items or []


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


T = TypeVar("T")


class _Converter:
    """Turns pycparser's syntax into ours; raises CodeError for what is outside the subset."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def guarded(self, convert: Callable[[], T]) -> T:
        """Convert; raises CodeError where the syntax is too deep for Python's stack."""
        try:
            return convert()
        except RecursionError as error:
            message = "expected C text that is nested less deeply"
            raise code_error(message, self.code.place()) from error

    def place(self, node: "c_ast.Node") -> Place:
        """Return where a piece of syntax stands."""
        coord = node.coord
        if coord is None:
            return self.code.place()
        return self.code.place(_index(self.code.text, coord.line, coord.column or 1))

    def unsupported(self, what: str, node: "c_ast.Node") -> CodeError:
        """Return the error for C that is not evaluated."""
        return code_error(f"unsupported C: {what}", self.place(node), f"supported: {SUPPORTED}")

    def expression(self, node: "c_ast.Node") -> c.Expression:
        """Convert an expression."""
        from pycparser import c_ast

        place = self.place(node)
        match node:
            case c_ast.Constant():
                return self._constant(node, place)
            case c_ast.ID():
                return c.Name(place, node.name)
            case c_ast.UnaryOp():
                return self._unary(node, place)
            case c_ast.BinaryOp():
                if node.op not in _BINARY:
                    raise self.unsupported(f"operator {node.op}", node)
                left, right = self.expression(node.left), self.expression(node.right)
                return c.Binary(place, node.op, left, right)
            case c_ast.TernaryOp():
                parts = (node.cond, node.iftrue, node.iffalse)
                condition, yes, no = map(self.expression, parts)
                return c.Conditional(place, condition, yes, no)
            case c_ast.ArrayRef():
                array, index = self.expression(node.name), self.expression(node.subscript)
                return c.Index(place, array, index)
            case _:
                return self._other_expression(node, place)

    def _other_expression(self, node: "c_ast.Node", place: Place) -> c.Expression:
        from pycparser import c_ast

        match node:
            case c_ast.StructRef(type="->"):
                return c.Member(place, self.expression(node.name), node.field.name)
            case c_ast.FuncCall(name=c_ast.ID() as function):
                arguments = node.args.exprs if node.args is not None else []
                return c.Call(place, function.name, [self.expression(each) for each in arguments])
            case c_ast.Cast():
                return c.Cast(place, self._type(node.to_type.type), self.expression(node.expr))
            case c_ast.CompoundLiteral():
                return self._array(node.type.type, node.init, place)
            case c_ast.Assignment():
                if node.op not in _ASSIGN:
                    raise self.unsupported(f"operator {node.op}", node)
                target, value = self._target(node.lvalue), self.expression(node.rvalue)
                return c.Assign(place, node.op.removesuffix("="), target, value)
            case _:
                raise self.unsupported(_words_of(type(node).__name__), node)

    def _constant(self, node: "c_ast.Constant", place: Place) -> c.Expression:
        if node.type == "string":
            return c.Text(place, _unescaped(node.value[1:-1]))
        if node.type == "char" and node.value.startswith("'"):
            character = _unescaped(node.value[1:-1])
            if len(character) == 1 and ord(character) < 128:
                return c.Number(place, ord(character))
        if node.type in ("float", "double"):
            suffix = "f" if node.value[-1] in "fF" and not node.value.startswith("0x") else ""
            try:
                return c.Number(place, float(node.value.rstrip("fF")), suffix)
            except ValueError:
                pass
        if node.type.endswith("int"):
            return self._integer(node, place)
        raise self.unsupported(f"constant {node.value[:20]}", node)

    def _integer(self, node: "c_ast.Constant", place: Place) -> c.Expression:
        suffix = _SUFFIX.search(node.value)
        assert suffix is not None  # it matches nothing, too
        digits = node.value[: suffix.start()].lower()
        base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 10
        if base == 10 and len(digits) > 1 and digits.startswith("0"):
            base = 8
        if len(digits) > 70:
            raise self.unsupported("an integer of so many digits", node)
        return c.Number(place, int(digits, base), suffix[1].lower())

    def _unary(self, node: "c_ast.UnaryOp", place: Place) -> c.Expression:
        from pycparser import c_ast

        if node.op == "sizeof":
            if not isinstance(node.expr, c_ast.Typename):
                raise self.unsupported("sizeof of a value", node)
            return c.SizeOf(place, self._type(node.expr.type))
        if node.op in ("++", "--", "p++", "p--"):
            by = 1 if "+" in node.op else -1
            return c.Step(place, by, not node.op.startswith("p"), self._target(node.expr))
        if node.op == "&":
            operand = self.expression(node.expr)
            if not isinstance(operand, c.Index):
                raise self.unsupported("& of what is no element of an array", node)
            return c.Unary(place, "&", operand)
        if node.op not in ("-", "+", "!", "*"):
            raise self.unsupported(f"operator {node.op}", node)
        return c.Unary(place, node.op, self.expression(node.expr))

    def _target(self, node: "c_ast.Node") -> c.Expression:
        target = self.expression(node)
        if not isinstance(target, c.Name | c.Index) and not (
            isinstance(target, c.Unary) and target.operator == "*"
        ):
            raise self.unsupported("assignment to what is no variable or element", node)
        return target

    def _array(
        self, declared: "c_ast.Node", initializer: "c_ast.Node", place: Place
    ) -> c.ArrayLiteral:
        from pycparser import c_ast

        type_ = self._type(declared)
        if not type_.is_array or not isinstance(initializer, c_ast.InitList):
            raise self.unsupported("a list in braces for what is no array", initializer)
        return c.ArrayLiteral(place, type_, [self.expression(each) for each in initializer.exprs])

    def _type(self, node: "c_ast.Node") -> c.TypeName:
        from pycparser import c_ast

        is_array, length = False, None
        pointers = 0
        if isinstance(node, c_ast.ArrayDecl):
            is_array = True
            length = None if node.dim is None else self.expression(node.dim)
            node = node.type
        while isinstance(node, c_ast.PtrDecl):
            pointers += 1
            node = node.type
        named = node.type if isinstance(node, c_ast.TypeDecl) else node
        if not isinstance(named, c_ast.IdentifierType) or pointers > 1:
            raise self.unsupported("a type that is no number, array of numbers or pointer", node)
        for word in named.names:
            if word not in _TYPE_WORDS and word not in _TYPEDEFS:
                raise self.unsupported(f"type {word}", named)
        return c.TypeName(tuple(named.names), pointers, is_array, length)

    def statements(self, node: "c_ast.Node") -> Iterator[c.Statement]:
        """Convert a statement; an empty one is none."""
        from pycparser import c_ast

        if isinstance(node, c_ast.DeclList):
            for each in node.decls:
                yield from self.statements(each)
        elif isinstance(node, c_ast.Decl):
            yield self._declaration(node)
        elif not isinstance(node, c_ast.EmptyStatement):
            yield self._statement(node)

    def _block(self, node: "c_ast.Node") -> c.Statement:
        """Convert a statement inside another; one that is empty is a block of none."""
        made = tuple(self.statements(node))
        return made[0] if len(made) == 1 else c.Block(self.place(node), made)

    def _declaration(self, node: "c_ast.Decl") -> c.Statement:
        place = self.place(node)
        if node.storage or node.funcspec or node.bitsize is not None or node.name is None:
            raise self.unsupported("a declaration that is no plain variable", node)
        type_ = self._type(node.type)
        if node.init is None:
            return c.Declare(place, type_, node.name, None)
        if type_.is_array:
            return c.Declare(place, type_, node.name, self._array(node.type, node.init, place))
        return c.Declare(place, type_, node.name, self.expression(node.init))

    def _statement(self, node: "c_ast.Node") -> c.Statement:
        from pycparser import c_ast

        place = self.place(node)
        match node:
            case c_ast.Compound():
                items = node.block_items or []
                return c.Block(place, [made for each in items for made in self.statements(each)])
            case c_ast.If():
                no = None if node.iffalse is None else self._block(node.iffalse)
                return c.If(place, self.expression(node.cond), self._block(node.iftrue), no)
            case c_ast.For():
                start = () if node.init is None else tuple(self.statements(node.init))
                condition = None if node.cond is None else self.expression(node.cond)
                step = None if node.next is None else self.expression(node.next)
                return c.For(place, start, condition, step, self._block(node.stmt))
            case c_ast.Break():
                return c.Break(place)
            case c_ast.Continue():
                return c.Continue(place)
            case _:
                return c.Evaluate(place, self.expression(node))


def _words_of(class_name: str) -> str:
    """Return the name of a class of syntax as words: `DoWhile` is do while."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", class_name).lower()


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] == "x" and len(escape) > 1:
            return chr(int(escape[1:], 16) & 0xFF)
        if escape.isdigit():
            return chr(int(escape, 8) & 0xFF)
        return _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(character, text)
