"""Every name in a C text is one: checked when a description is read, not when it is used."""

from collections.abc import Iterable, Sequence

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_evaluate import NAMED_CONSTANTS, STATEMENT_CALLS
from gawee_dialect.opdesc.c_library import FUNCTIONS
from gawee_dialect.opdesc.c_parse import code_error
from gawee_dialect.opdesc.printf import directives

Scope = dict[str, Sequence[str] | None]
"""Names that a text may use, with the fields of those that are structs."""


def check_message(message: Sequence[c.Expression], scope: Scope) -> None:
    """Check a format and its arguments; raises CodeError where they don't go together."""
    for each in message:
        check_expression(each, scope)
    if not message or not isinstance(message[0], c.Text):
        if message:
            raise code_error("expected a message in double quotes", message[0].place)
        return
    wanted = tuple(directives(message[0].value))
    if "" in wanted:
        raise code_error("expected % in a message to be %d, %s, %g or %%", message[0].place)
    if len(wanted) != len(message) - 1:
        raise code_error(
            f"expected {len(wanted)} arguments after the message, got {len(message) - 1}",
            message[0].place,
        )


def check_expression(node: c.Expression, scope: Scope) -> None:
    """Raise CodeError where an expression names what its scope has not."""
    match node:
        case c.Name():
            _check_name(node, scope)
        case c.Member():
            _check_member(node, scope)
        case c.Call():
            _check_call(node, scope)
        case c.Number() | c.Text() | c.SizeOf():
            pass
        case _:
            for child in children(node):
                check_expression(child, scope)


def children(node: c.Expression) -> Iterable[c.Expression]:
    """Return the expressions that are directly inside one."""
    match node:
        case c.Unary() | c.Cast():
            return (node.operand,)
        case c.Binary():
            return (node.left, node.right)
        case c.Conditional():
            return (node.condition, node.yes, node.no)
        case c.Index():
            return (node.array, node.index)
        case c.ArrayLiteral():
            return (*node.elements, *([node.type.length] if node.type.length else []))
        case c.Assign():
            return (node.target, node.value)
        case c.Step():
            return (node.target,)
        case c.Call():
            return node.arguments
        case c.Member():
            return (node.struct,)
        case _:
            return ()


def _check_name(node: c.Name, scope: Scope) -> None:
    if node.name not in scope and node.name not in NAMED_CONSTANTS:
        hint = did_you_mean(node.name, (*scope, *NAMED_CONSTANTS), f"known: {', '.join(scope)}")
        raise code_error(f"unknown name '{node.name}'", node.place, hint)


def _check_member(node: c.Member, scope: Scope) -> None:
    check_expression(node.struct, scope)
    fields = scope.get(node.struct.name) if isinstance(node.struct, c.Name) else None
    if fields is None:
        raise code_error("expected a tensor or an entry before ->", node.struct.place)
    if node.field_name not in fields:
        hint = did_you_mean(node.field_name, fields, f"fields: {', '.join(fields)}")
        raise code_error(f"unknown field '{node.field_name}'", node.place, hint)


def _check_call(node: c.Call, scope: Scope) -> None:
    known = {name: function.arity for name, function in FUNCTIONS.items()} | dict(STATEMENT_CALLS)
    if node.function not in known:
        hint = did_you_mean(node.function, known, f"known: {', '.join(sorted(FUNCTIONS))}")
        raise code_error(f"unknown function '{node.function}'", node.place, hint)
    arity, count = known[node.function], len(node.arguments)
    if arity is not None and arity != count:
        message = f"expected {arity} arguments of '{node.function}', got {count}"
        raise code_error(message, node.place)
    if arity is None:
        message = node.arguments
        if node.function == "ln_opck_satisfy_msg":
            for each in node.arguments[:1]:
                check_expression(each, scope)
            message = node.arguments[1:]
        if not message:
            raise code_error(f"expected a message of '{node.function}', got none", node.place)
        check_message(message, scope)
        return
    for each in node.arguments:
        check_expression(each, scope)


def check_statements(
    statements: Sequence[c.Statement], scope: Scope, *, in_loop: bool = False
) -> None:
    """Raise CodeError where statements name what is unknown; what they declare joins the scope."""
    for statement in statements:
        _check_statement(statement, scope, in_loop)


def _check_statement(node: c.Statement, scope: Scope, in_loop: bool) -> None:
    match node:
        case c.Evaluate():
            check_expression(node.expression, scope)
        case c.Declare():
            for part in (node.type.length, node.value):
                if part is not None:
                    check_expression(part, scope)
            scope[node.name] = None
        case c.Break() | c.Continue():
            if not in_loop:
                raise code_error("expected break and continue to be in a loop", node.place)
        case _:
            _check_nested(node, dict(scope), in_loop)


def _check_nested(node: c.Block | c.If | c.For, scope: Scope, in_loop: bool) -> None:
    """Check what is inside a statement, in a scope of its own."""
    match node:
        case c.Block():
            check_statements(node.statements, scope, in_loop=in_loop)
        case c.If():
            check_expression(node.condition, scope)
            check_statements([node.yes], dict(scope), in_loop=in_loop)
            check_statements([node.no] if node.no else [], dict(scope), in_loop=in_loop)
        case c.For():
            check_statements(node.start, scope)
            for part in (node.condition, node.step):
                if part is not None:
                    check_expression(part, scope)
            check_statements([node.body], dict(scope), in_loop=True)
