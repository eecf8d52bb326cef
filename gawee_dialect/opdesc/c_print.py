"""Print C of descriptions: what was parsed, as C that a compiler takes without a warning.

What the evaluator refuses is refused here too, as far as it is known where the text stands: a
divisor of zero, an index out of the dims of a tensor or of the elements of a parameter.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.arguments import PARAM_ENTRY
from gawee_dialect.opdesc.c_names import children
from gawee_dialect.opdesc.c_types import Types, static_type
from gawee_dialect.opdesc.c_values import INT, Arithmetic, type_of

INDENT = "  "

_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_PRECEDENCE = {each: level for level, operators in enumerate(_LEVELS, 3) for each in operators}
_ASSIGNMENT, _CONDITIONAL, _UNARY, _POSTFIX = 1, 2, 10, 11
_COMPARISONS = (*_LEVELS[2], *_LEVELS[3])

_DIRECTIVE = re.compile(r"%(?:%|[-+ 0#]*\d*(?:\.\d+)?(hh|h|ll|l|z)?(.))", re.DOTALL)
_SIZES = {"l": "long", "ll": "long long", "z": "size_t"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

MESSAGES: Mapping[str, int] = {
    "ln_opck_satisfy_msg": 1,
    "ln_msg_warn": 0,
    "ln_msg_error": 0,
    "ln_msg_inter_error": 0,
}
"""Functions that take a message, and where in their arguments its format is."""


def text_literal(text: str) -> str:
    """Return a string as C spells it."""
    spelled = (
        _ESCAPES.get(each) or (each if each.isprintable() else f"\\{ord(each) & 0xFF:03o}")
        for each in text
    )
    return f'"{"".join(spelled)}"'


def type_text(written: c.TypeName) -> str:
    """Return a type as C spells it, but for the lengths of an array."""
    return f"{' '.join(written.words)}{' *' if written.pointers else ''}"


def walk(node: c.Expression) -> Iterator[c.Expression]:
    """Yield an expression and all that is inside it."""
    yield node
    for child in children(node):
        yield from walk(child)


def expressions_in(statements: Sequence[c.Statement]) -> Iterator[c.Expression]:
    """Yield every expression of some statements, and all that is inside each."""
    for statement in statements:
        for part in _parts(statement):
            yield from walk(part)
        yield from expressions_in(_inside(statement))


def _parts(node: c.Statement) -> Sequence[c.Expression]:
    match node:
        case c.Evaluate():
            return (node.expression,)
        case c.Declare():
            return tuple(each for each in (node.type.length, node.value) if each is not None)
        case c.If():
            return (node.condition,)
        case c.For():
            return tuple(each for each in (node.condition, node.step) if each is not None)
        case _:
            return ()


def _inside(node: c.Statement) -> Sequence[c.Statement]:
    match node:
        case c.If():
            return (node.yes, *([] if node.no is None else [node.no]))
        case c.For():
            return (*node.start, node.body)
        case c.Block():
            return node.statements
        case _:
            return ()


@dataclass
class CPrinter:
    """Prints the texts of one operator.

    `types` are its variables; `lengths` how many elements are known to be in an array, by what
    stands before the brackets; `read` the names whose values some text reads.
    """

    types: Types
    lengths: Mapping[str, int] = field(default_factory=dict[str, int])
    read: frozenset[str] = frozenset()
    checked: bool = True
    """Whether divisors and indices are checked where they are used."""

    def expression(self, node: c.Expression, level: int = 0) -> str:
        """Return an expression, in brackets where it binds less than `level`."""
        text, own = self._expression(node)
        return f"({text})" if own < level else text

    def _expression(self, node: c.Expression) -> tuple[str, int]:
        match node:
            case c.Number():
                return self._number(node), _POSTFIX
            case c.Text():
                return text_literal(node.value), _POSTFIX
            case c.Name():
                return node.name, _POSTFIX
            case c.Member():
                return f"{self.expression(node.struct, _POSTFIX)}->{node.field_name}", _POSTFIX
            case c.Index():
                return self._index(node), _POSTFIX
            case c.Call():
                return self._call(node), _POSTFIX
            case c.Binary():
                return self._binary(node), _PRECEDENCE[node.operator]
            case c.ArrayLiteral():
                return self._array(node), _POSTFIX
            case _:
                return self._operator(node)

    def _operator(self, node: c.Expression) -> tuple[str, int]:
        match node:
            case c.Unary(operator="&", operand=c.Index() as place):
                # One past the last is no element, and may be pointed to.
                array = self.expression(place.array, _POSTFIX)
                return f"&{array}[{self.expression(place.index)}]", _UNARY
            case c.Unary():
                operand = self.expression(node.operand, _UNARY)
                gap = " " if operand.startswith(node.operator) else ""
                return f"{node.operator}{gap}{operand}", _UNARY
            case c.Cast():
                return f"({type_text(node.type)}){self.expression(node.operand, _UNARY)}", _UNARY
            case c.SizeOf():
                return f"sizeof({type_text(node.type)})", _POSTFIX
            case c.Conditional():
                yes, no = (self.expression(each, _CONDITIONAL) for each in (node.yes, node.no))
                condition = self.expression(node.condition, _CONDITIONAL + 1)
                return f"{condition} ? {yes} : {no}", _CONDITIONAL
            case c.Assign():
                target = self.expression(node.target, _UNARY)
                value = self.expression(node.value, _ASSIGNMENT)
                if node.operator in ("/", "%"):
                    value = self._divisor(node.target, node.value, value)
                return f"{target} {node.operator}= {value}", _ASSIGNMENT
            case c.Step():
                target, sign = self.expression(node.target, _POSTFIX), "++" if node.by > 0 else "--"
                return (f"{sign}{target}" if node.is_prefix else f"{target}{sign}"), _UNARY
            case _:
                raise AssertionError(f"no expression: {node}")

    @staticmethod
    def _number(node: c.Number) -> str:
        text = repr(node.value)
        return f"{text}{node.suffix}"

    def _array(self, node: c.ArrayLiteral) -> str:
        """(int[]){a, b}, copied to where it outlives the block that it is in"""
        kind = type_text(node.type)
        if node.type.length is None:
            return f"LN_ARRAY({kind}, {self.initializer(node)})"
        literal = f"({kind}[{self.expression(node.type.length)}]){self.initializer(node)}"
        return f"({kind} *)ln_copy(op_arg, {literal}, sizeof{literal})"

    def initializer(self, node: c.ArrayLiteral) -> str:
        """Return the elements of an array, in braces."""
        return f"{{{', '.join(self.expression(each, _ASSIGNMENT) for each in node.elements)}}}"

    def _binary(self, node: c.Binary) -> str:
        level = _PRECEDENCE[node.operator]
        left, right = (
            self._operand(node, node.left, level),
            self._operand(node, node.right, level + 1),
        )
        if node.operator in ("/", "%"):
            right = self._divisor(node.left, node.right, right)
        return f"{left} {node.operator} {right}"

    def _operand(self, node: c.Binary, operand: c.Expression, level: int) -> str:
        # Compilers warn of `a && b || c`, `a < b < c` and `!a == b`.
        mixed = node.operator == "||" and isinstance(operand, c.Binary) and operand.operator == "&&"
        compared = node.operator in _COMPARISONS and (
            (isinstance(operand, c.Binary) and operand.operator in _COMPARISONS)
            or (isinstance(operand, c.Unary) and operand.operator == "!")
        )
        return self.expression(operand, _POSTFIX if mixed or compared else level)

    def _divisor(self, left: c.Expression, right: c.Expression, text: str) -> str:
        types = static_type(left, self.types), static_type(right, self.types)
        known = isinstance(right, c.Number) and right.value != 0
        if known or not self.checked or types != (INT, INT):
            return text
        return f"ln_nonzero(op_arg, {text})"

    def _index(self, node: c.Index) -> str:
        array, index = self.expression(node.array, _POSTFIX), self.expression(node.index)
        known = self.lengths.get(array, 0)
        if not self.checked or (isinstance(node.index, c.Number) and node.index.value < known):
            return f"{array}[{index}]"
        match node.array:
            case c.Member(struct=c.Name(name=name), field_name="dims"):
                return f"LN_DIM({name}, {index})"
            case c.Name(name=name) if self.types.get(f"{name}_entry") == PARAM_ENTRY:
                return f"LN_AT({name}, {index})"
            case _:
                return f"{array}[{index}]"

    def _call(self, node: c.Call) -> str:
        arguments = list(node.arguments)
        at = MESSAGES.get(node.function)
        texts = [self.expression(each, _ASSIGNMENT) for each in arguments]
        if at is not None:
            texts = [*texts[:at], *self.message(arguments[at:])]
        return f"{node.function}({', '.join(texts)})"

    def message(self, message: Sequence[c.Expression]) -> list[str]:
        """Return a format and its arguments, each in the type that the format has for it."""
        texts = [self.expression(each, _ASSIGNMENT) for each in message]
        if not isinstance(message[0], c.Text):
            return ['"%s"', *texts]
        wanted = [found for found in _DIRECTIVE.finditer(message[0].value) if found[0] != "%%"]
        for index, found in enumerate(wanted, 1):
            kind = static_type(message[index], self.types)
            size = _SIZES.get(found[1] or "", "int")
            expected = "double" if found[2] in "fge" else size
            if found[2] != "s" and isinstance(kind, Arithmetic) and kind.name != expected:
                texts[index] = f"({expected}){self.expression(message[index], _UNARY)}"
        return texts

    # Statements.

    def statements(self, statements: Sequence[c.Statement]) -> Iterator[str]:
        """Yield the lines of statements; what they declare joins the variables."""
        for statement in statements:
            yield from self.statement(statement)

    def statement(self, node: c.Statement) -> Iterator[str]:
        """Yield the lines of a statement."""
        match node:
            case c.Declare():
                yield from self._declare(node)
            case c.Evaluate():
                yield f"{self._effect(node.expression)};"
            case c.Break():
                yield "break;"
            case c.Continue():
                yield "continue;"
            case c.Block():
                yield from self._braced("", [node])
            case c.If():
                yield from self._braced(f"if ({self.expression(node.condition)}) ", [node.yes])
                yield from self._otherwise(node.no)
            case c.For():
                yield from self._loop(node)

    def _effect(self, node: c.Expression) -> str:
        text = self.expression(node)
        return text if isinstance(node, c.Assign | c.Step | c.Call) else f"(void)({text})"

    def _braced(self, head: str, statements: Sequence[c.Statement]) -> Iterator[str]:
        if len(statements) == 1 and isinstance(statements[0], c.Block):
            statements = statements[0].statements
        around, self.types = self.types, dict(self.types)
        yield f"{head}{{"
        yield from (f"{INDENT}{line}" for line in self.statements(statements))
        yield "}"
        self.types = around

    def _otherwise(self, no: c.Statement | None) -> Iterator[str]:
        while isinstance(no, c.Block) and len(no.statements) == 1:
            no = no.statements[0]
        if isinstance(no, c.If):
            yield from self._braced(f"else if ({self.expression(no.condition)}) ", [no.yes])
            yield from self._otherwise(no.no)
        elif no is not None:
            yield from self._braced("else ", [no])

    def _loop(self, node: c.For) -> Iterator[str]:
        around, self.types = self.types, dict(self.types)
        start = list(self.statements(node.start))
        condition = "" if node.condition is None else f" {self.expression(node.condition)}"
        step = "" if node.step is None else f" {self._effect(node.step)}"
        if len(start) <= 1:
            yield from self._braced(
                f"for ({start[0] if start else ';'}{condition};{step}) ", [node.body]
            )
        else:  # several declarations stand before it, in a block of their own
            body = self._braced(f"for (;{condition};{step}) ", [node.body])
            yield from ("{", *(f"{INDENT}{line}" for line in (*start, *body)), "}")
        self.types = around

    def _declare(self, node: c.Declare) -> Iterator[str]:
        kind = type_of(node.type)
        star = "*" if node.type.pointers else ""
        name = f"{' '.join(node.type.words)} {star}{node.name}"
        if node.type.is_array:
            length = "" if node.type.length is None else self.expression(node.type.length)
            name = f"{name}[{length}]"
        value = node.value
        if isinstance(value, c.ArrayLiteral) and node.type.is_array:
            yield f"{name} = {self.initializer(value)};"
        elif value is not None:
            yield f"{name} = {self.expression(value, _ASSIGNMENT)};"
        else:
            yield f"{name};"
        self.types[node.name] = kind
        if node.name not in self.read:
            yield f"(void){node.name};"
