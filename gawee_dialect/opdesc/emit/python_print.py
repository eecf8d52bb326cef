"""C of descriptions as Python: expressions, conditions, and the statements of `custom`.

Integers of C are Python's, divided by `quotient` and `remainder`; arrays are `Array`. What has no
counterpart is refused with its place: pointers into arrays, assignments inside of expressions.
"""

import builtins
import json
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_evaluate import PARAM_CHECKS, RELATIONS
from gawee_dialect.opdesc.c_parse import code_error
from gawee_dialect.opdesc.c_print import INDENT, expressions_in
from gawee_dialect.opdesc.c_types import Types, static_type
from gawee_dialect.opdesc.c_values import INT, STRING, Arithmetic, type_of
from gawee_dialect.opdesc.enums import CONSTANTS

_LEVELS = {
    **{"||": 1, "&&": 2, "!": 3},
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4),
    **{"+": 5, "-": 5, "*": 6, "/": 6},
}
_UNARY, _POSTFIX = 7, 8
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_WORDS = {"&&": "and", "||": "or"}
_DIRECTIVE = re.compile(r"%(?:%|([-+ 0#]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z)?(.))", re.DOTALL)
_TAKEN = {
    "self",
    "check",
    "quotient",
    "remainder",
    "zeros",
    "Array",
    "ceil",
    "floor",
    "library",
    "library_double",
}

DOUBLES = ("tl_dtype_min_double", "tl_dtype_max_double")
"""Functions of the format that return a double."""


def python_name(name: str) -> str:
    """Return the Python variable for one of C."""
    taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in _TAKEN
    return f"{name}_" if taken else name


def string(text: str) -> str:
    """Return a string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)  # what JSON escapes, Python does so too


MAX_LITERAL = 60
"""Characters of a message, after which another line begins."""


def literals(parts: Sequence[str]) -> str:
    """Return a message as literals beside each other: text and values in turn, text at both ends.

    A value is an expression, with its format behind a colon.
    """
    lines: list[tuple[str, bool]] = [("", False)]
    for index, part in enumerate(parts):
        if index % 2:
            text, _ = lines.pop()
            lines.append((f"{text}{{{part}}}", True))
            continue
        for word in re.split(r"(?<= )", part):
            if len(lines[-1][0]) > MAX_LITERAL:
                lines.append(("", False))
            text, has_value = lines.pop()
            lines.append((text + word.replace("{", "\0").replace("}", "\1"), has_value))
    return " ".join(_literal(text, has_value) for text, has_value in lines if text)


def _literal(text: str, has_value: bool) -> str:
    for mark, brace in (("\0", "{"), ("\1", "}")):
        text = text.replace(mark, brace * 2 if has_value else brace)
    if not has_value:
        return string(text)
    pieces = re.split(r"((?<!\{)\{(?!\{).*?\})", text)
    spelled = [piece if at % 2 else string(piece)[1:-1] for at, piece in enumerate(pieces)]
    quote = '"' if all('"' not in piece for piece in pieces[1::2]) else "'''"
    return f"f{quote}{''.join(spelled)}{quote}"


@dataclass
class PythonPrinter:
    """Translates the texts of one operator; `used` collects the functions that they call."""

    types: Types
    used: set[str] = field(default_factory=set[str])

    def expression(self, node: c.Expression, level: int = 0) -> str:
        """Return an expression, in brackets where it binds less than `level`."""
        text, own = self._expression(node)
        return f"({text})" if own < level else text

    def _expression(self, node: c.Expression) -> tuple[str, int]:
        match node:
            case c.Number():
                return repr(node.value), _POSTFIX
            case c.Text():
                return string(node.value), _POSTFIX
            case c.Name():
                return self._name(node.name), _POSTFIX
            case c.Member():
                return self._member(node), _POSTFIX
            case c.Index():
                return f"{self.expression(node.array)}[{self.expression(node.index)}]", _POSTFIX
            case c.Binary():
                return self._binary(node)
            case c.Unary():
                return self._unary(node)
            case _:
                return self._other(node)

    def _other(self, node: c.Expression) -> tuple[str, int]:
        match node:
            case c.Call():
                return self._call(node)
            case c.Cast():
                return self._cast(node), _POSTFIX
            case c.SizeOf():
                raise code_error("cannot be Python: sizeof outside of ln_alloc", node.place)
            case c.ArrayLiteral():
                self.used.add("Array")
                return f"Array([{', '.join(map(self.expression, node.elements))}])", _POSTFIX
            case c.Conditional():
                yes, no = self.expression(node.yes, 1), self.expression(node.no)
                return f"{yes} if {self.expression(node.condition, 1)} else {no}", 0
            case _:
                raise code_error("cannot be Python: an assignment in an expression", node.place)

    def _name(self, name: str) -> str:
        return str(CONSTANTS[name]) if name in CONSTANTS else python_name(name)

    def _member(self, node: c.Member) -> str:
        struct = self.expression(node.struct)
        owner = struct.removesuffix("_entry")
        if node.field_name == "array_len":
            return f"len({python_name(owner)})"
        if node.field_name == "value_double":
            return f"check.number({string(owner)})"
        if struct.endswith("_entry"):
            raise code_error(f"cannot be Python: '{struct}->{node.field_name}'", node.place)
        return f"{struct}.{node.field_name}"

    def _binary(self, node: c.Binary) -> tuple[str, int]:
        if node.operator in ("/", "%") and self._is_integer(node):
            function = "quotient" if node.operator == "/" else "remainder"
            self.used.add(function)
            arguments = f"{self.expression(node.left)}, {self.expression(node.right)}"
            return f"{function}({arguments})", _POSTFIX
        if node.operator == "%":
            raise code_error("cannot be Python: % of what are no integers", node.place)
        level = _LEVELS[node.operator]
        strict = level == _LEVELS["=="]  # Python chains comparisons
        left = self.expression(node.left, level + strict)
        right = self.expression(node.right, level + 1)
        return f"{left} {_WORDS.get(node.operator, node.operator)} {right}", level

    def _is_integer(self, node: c.Binary) -> bool:
        kinds = static_type(node.left, self.types), static_type(node.right, self.types)
        return all(isinstance(kind, Arithmetic) and not kind.floating for kind in kinds)

    def _unary(self, node: c.Unary) -> tuple[str, int]:
        if node.operator == "!":
            return f"not {self.expression(node.operand, _LEVELS['!'])}", _LEVELS["!"]
        if node.operator == "&" and isinstance(node.operand, c.Index):
            array, start = self.expression(node.operand.array), node.operand.index
            return f"{array}.after({self.expression(start)})", _POSTFIX
        if node.operator in ("&", "*"):
            raise code_error(f"cannot be Python: operator {node.operator}", node.place)
        return f"{node.operator}{self.expression(node.operand, _UNARY)}", _UNARY

    def _cast(self, node: c.Cast) -> str:
        kind = type_of(node.type)
        operand = self.expression(node.operand)
        if isinstance(kind, Arithmetic) and (kind.floating or kind == INT):
            return f"{'float' if kind.floating else 'int'}({operand})"
        if isinstance(kind, Arithmetic):
            raise code_error(f"cannot be Python: a cast to {kind.name}", node.place)
        return self.expression(node.operand, _POSTFIX)

    def _call(self, node: c.Call) -> tuple[str, int]:
        arguments = [self.expression(each) for each in node.arguments if not _is_size(each)]
        match node.function:
            case "ln_streq":
                left, right = (self.expression(each, 5) for each in node.arguments)
                return f"{left} == {right}", _LEVELS["=="]
            case "ln_alloc":
                self.used.add("zeros")
                return f"zeros({self._elements(node.arguments[0])})", _POSTFIX
            case "ln_clone":
                count = self._elements(node.arguments[1])
                return f"{arguments[0]}.copy({count})", _POSTFIX
            case "ln_sprint_shape":
                self.used.add("shape_text")
                return f"shape_text({arguments[2]}.copy({arguments[1]}).numbers())", _POSTFIX
            case "ceil" | "floor" | "floorf":
                function = node.function.removesuffix("f") if node.function != "floorf" else "floor"
                self.used.add(function)
                return f"float({function}({arguments[0]}))", _POSTFIX
            case function:
                call = "library_double" if function in DOUBLES else "library"
                self.used.add(call)
                return f"{call}({', '.join((string(function), *arguments))})", _POSTFIX

    def _elements(self, size: c.Expression) -> str:
        """Return how many elements a size in bytes is: sizeof(int) times that, or sizeof(int)."""
        if isinstance(size, c.SizeOf):
            return "1"
        if isinstance(size, c.Binary) and size.operator == "*":
            for one, other in ((size.left, size.right), (size.right, size.left)):
                if isinstance(one, c.SizeOf):
                    return self.expression(other)
        raise code_error("cannot be Python: expected sizeof(type) * count", size.place)

    def message(self, message: Sequence[c.Expression], before: str = "") -> str:
        """Return a format and its arguments as a string, with some text before it."""
        assert isinstance(message[0], c.Text)  # c_names.py lets nothing else pass
        arguments = iter(message[1:])
        text = before
        parts: list[str] = []
        for literal, spec, kind in _pieces(message[0].value):
            text += literal
            if kind:
                value = self.expression(next(arguments))
                parts += [text, f"{value}:{spec}{kind}" if kind in "fge" or spec else value]
                text = ""
        return literals([*parts, text])

    def negated(self, node: c.Expression) -> str:
        """Return a condition that holds where an expression is 0."""
        if isinstance(node, c.Binary) and node.operator in _NEGATED:
            flipped = c.Binary(node.place, _NEGATED[node.operator], node.left, node.right)
            return self.expression(flipped)
        return f"not {self.expression(node, _LEVELS['!'])}"

    # Statements.

    def statements(self, statements: Sequence[c.Statement], what: str) -> Iterator[str]:
        """Yield the lines of statements; `what` is where they stand, for their messages."""
        for statement in statements:
            yield from self._statement(statement, what)

    def _statement(self, node: c.Statement, what: str) -> Iterator[str]:
        match node:
            case c.Declare():
                yield from self._declare(node)
            case c.Evaluate():
                yield from self._effect(node.expression, what)
            case c.Break():
                yield "break"
            case c.Continue():
                yield "continue"
            case c.Block():
                yield from self.statements(node.statements, what)
            case c.If():
                yield from self._condition(node, what, "if")
            case c.For():
                yield from self._loop(node, what)

    def _condition(self, node: c.If, what: str, word: str) -> Iterator[str]:
        no = node.no
        while isinstance(no, c.Block) and len(no.statements) == 1:
            no = no.statements[0]
        yes = list(self._body([node.yes], what))
        otherwise = []
        if isinstance(no, c.If):
            otherwise = list(self._condition(no, what, "elif"))
        elif no is not None:
            otherwise = ["else:", *self._body([no], what)]
        if all(line.strip() == "pass" or not line.startswith(" ") for line in (*yes, *otherwise)):
            return  # what does nothing here has only warned
        yield f"{word} {self.expression(node.condition)}:"
        yield from yes
        yield from otherwise

    def _body(self, statements: Sequence[c.Statement], what: str) -> Iterator[str]:
        lines = list(self.statements(statements, what))
        yield from (INDENT * 2 + line for line in lines or ["pass"])

    def _declare(self, node: c.Declare) -> Iterator[str]:
        self.types[node.name] = kind = type_of(node.type)
        name = python_name(node.name)
        if node.value is not None:
            yield f"{name} = {self.expression(node.value)}"
        elif isinstance(kind, Arithmetic):
            yield f"{name} = {'0.0' if kind.floating else '0'}"
        elif kind != STRING:
            raise code_error("cannot be Python: an array without values", node.place)

    def _effect(self, node: c.Expression, what: str) -> Iterator[str]:
        match node:
            case c.Assign():
                if node.operator in ("/", "%"):
                    value = self.expression(
                        c.Binary(node.place, node.operator, node.target, node.value)
                    )
                    yield f"{self.expression(node.target)} = {value}"
                else:
                    value = self.expression(node.value)
                    yield f"{self.expression(node.target)} {node.operator}= {value}"
            case c.Step():
                yield f"{self.expression(node.target)} {'+' if node.by > 0 else '-'}= 1"
            case c.Call():
                yield from self._statement_call(node, what)
            case _:
                yield self.expression(node)

    def _statement_call(self, node: c.Call, what: str) -> Iterator[str]:
        name, arguments = node.function, node.arguments
        if name in ("ln_free", "ln_msg_warn"):
            return  # nothing to free; no verifier warns
        if name in PARAM_CHECKS:
            yield self._compare(node, what)
        elif name.startswith("ln_opck_satisfy"):
            yield f"if {self.negated(arguments[0])}:"
            message = literals([f"{what}: expected its check to hold"])
            if name == "ln_opck_satisfy_msg":
                message = self.message(arguments[1:], f"{what}: ")
            yield f"{INDENT * 2}check.fail({message})"
        elif name in ("ln_msg_error", "ln_msg_inter_error"):
            yield f"check.fail({self.message(arguments, f'{what}: ')})"
        else:
            yield self.expression(node)

    def _compare(self, node: c.Call, what: str) -> str:
        kind, relation = PARAM_CHECKS[node.function]
        entry = node.arguments[0]
        assert isinstance(entry, c.Name)  # an entry is no other expression
        name = entry.name.removesuffix("_entry")
        value = f"check.number({string(name)}, {string(kind)})"
        limit = self.expression(node.arguments[1])
        start = f"check.compare({string(what)}, {string(name)}, {value}"
        return f"{start}, {string(RELATIONS[relation])}, {limit})"

    def _loop(self, node: c.For, what: str) -> Iterator[str]:
        start, step = node.start[0] if len(node.start) == 1 else None, node.step
        counted = (
            isinstance(start, c.Declare)
            and start.value is not None
            and isinstance(step, c.Step)
            and step.by == 1
            and step.target == c.Name(step.place, start.name)
            and isinstance(node.condition, c.Binary)
            and node.condition.operator == "<"
            and node.condition.left == c.Name(node.condition.place, start.name)
            and start.name not in _assigned([node.body])
        )
        if not counted:
            place = start.place if start is not None else node.place
            raise code_error("cannot be Python: a loop that does not count up by one", place)
        assert isinstance(start, c.Declare)
        assert start.value is not None
        assert isinstance(node.condition, c.Binary)
        self.types[start.name] = INT
        first, end = self.expression(start.value), self.expression(node.condition.right)
        bounds = end if first == "0" else f"{first}, {end}"
        yield f"for {python_name(start.name)} in range({bounds}):"
        yield from self._body([node.body], what)


def _is_size(node: c.Expression) -> bool:
    """Whether an argument is a size in bytes, which arrays have by themselves."""
    parts = (node.left, node.right) if isinstance(node, c.Binary) else (node,)
    return any(isinstance(each, c.SizeOf) for each in parts)


def _assigned(statements: Sequence[c.Statement]) -> set[str]:
    return {
        node.target.name
        for node in expressions_in(statements)
        if isinstance(node, c.Assign | c.Step) and isinstance(node.target, c.Name)
    }


def _pieces(format: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text before every directive, its flags and its letter; none behind the last."""
    position = 0
    for found in _DIRECTIVE.finditer(format):
        literal = format[position : found.start()]
        position = found.end()
        if found[0] == "%%":
            yield literal + "%", "", ""
        else:
            yield literal, found[1] or "", found[2]
    yield format[position:], "", ""
