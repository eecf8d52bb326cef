"""What C texts may say: checked when a description is read, not when it is used.

pycparser reads all of C; what is outside the subset is refused, and so is a name that is none.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.opdesc.c_evaluate import NAMED_CONSTANTS, STATEMENT_CALLS
from gawee_dialect.opdesc.c_library import FUNCTIONS, directives
from gawee_dialect.opdesc.c_parse import CodeError, code_error, constant, place_of, type_name
from gawee_dialect.opdesc.c_types import Types
from gawee_dialect.opdesc.c_values import EvaluationError, StructType, TypeName, type_of

if TYPE_CHECKING:
    from pycparser import c_ast

SUPPORTED = (
    "integers, floats, strings, names, ->, [], calls, sizeof, casts, (int[]){...}, "
    "+ - * / % ! && || ?: & ++ -- =, comparisons, declarations, if, for, break, continue, blocks"
)

_TYPE_WORDS = frozenset("void char short int long signed unsigned float double size_t bool".split())
_BINARY = frozenset("+ - * / % == != < <= > >= && ||".split())
_ASSIGN = frozenset("= += -= *= /= %=".split())
_UNARY = frozenset("- + ! * & ++ -- p++ p-- sizeof".split())


def _unsupported(what: str, node: "c_ast.Node") -> CodeError:
    """Return the error for C that is not evaluated."""
    return code_error(f"unsupported C: {what}", place_of(node), f"supported: {SUPPORTED}")


def check_code(nodes: "Sequence[c_ast.Node]", scope: Types) -> None:
    """Raise CodeError for what a text may not say; what it declares joins the scope."""
    try:
        _Checker(scope).all(nodes)
    except RecursionError as error:
        message = "expected C text that is nested less deeply"
        raise code_error(message, place_of(nodes[0])) from error


def check_message(message: "Sequence[c_ast.Node]", scope: Types) -> None:
    """Check a format and its arguments; raises CodeError where they don't go together."""
    from pycparser import c_ast

    check_code(message, scope)
    if not message:
        return
    place, first = place_of(message[0]), message[0]
    if not isinstance(first, c_ast.Constant) or first.type != "string":
        raise code_error("expected a message in double quotes", place)
    known = constant(first.type, first.value)
    wanted = tuple(directives(str(known[0] if known else "")))
    if "" in wanted:
        raise code_error("expected % in a message to be %d, %s, %g or %%", place)
    if len(wanted) != len(message) - 1:
        got = len(message) - 1
        raise code_error(f"expected {len(wanted)} arguments after the message, got {got}", place)


@dataclass
class _Checker:
    """Goes through nodes by their classes; one that has no method here is not supported."""

    scope: Types
    in_loop: bool = False

    def all(self, nodes: "Sequence[c_ast.Node | None]") -> None:
        """Check some nodes, one after the other."""
        for node in nodes:
            if node is not None:
                self.one(node)

    def one(self, node: "c_ast.Node") -> None:
        """Check a node and all inside it."""
        kind = type(node).__name__
        visit: Callable[[c_ast.Node], None] | None = getattr(self, f"visit_{kind}", None)
        if visit is None:
            raise _unsupported(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower(), node)
        visit(node)

    def inside(self, *nodes: "c_ast.Node | None", in_loop: bool | None = None) -> None:
        """Check nodes whose declarations end with them."""
        inner = _Checker(dict(self.scope), self.in_loop if in_loop is None else in_loop)
        inner.all(nodes)

    # Expressions.

    def visit_Constant(self, node: "c_ast.Constant") -> None:
        if constant(node.type, node.value) is None:
            integer = node.type.endswith("int")
            what = "an integer of so many digits" if integer else f"constant {node.value[:20]}"
            raise _unsupported(what, node)

    def visit_ID(self, node: "c_ast.ID") -> None:
        if node.name not in self.scope and node.name not in NAMED_CONSTANTS:
            known = (*self.scope, *NAMED_CONSTANTS)
            hint = did_you_mean(node.name, known, f"known: {', '.join(self.scope)}")
            raise code_error(f"unknown name '{node.name}'", place_of(node), hint)

    def visit_StructRef(self, node: "c_ast.StructRef") -> None:
        from pycparser import c_ast

        if node.type != "->":
            raise _unsupported("struct ref", node)
        self.one(node.name)
        struct = self.scope.get(node.name.name) if isinstance(node.name, c_ast.ID) else None
        if not isinstance(struct, StructType) or not struct.fields:
            raise code_error("expected a tensor or an entry before ->", place_of(node.name))
        if node.field.name not in struct.fields:
            known = struct.fields
            hint = did_you_mean(node.field.name, known, f"fields: {', '.join(known)}")
            raise code_error(f"unknown field '{node.field.name}'", place_of(node), hint)

    def visit_UnaryOp(self, node: "c_ast.UnaryOp") -> None:
        from pycparser import c_ast

        if node.op not in _UNARY:
            raise _unsupported(f"operator {node.op}", node)
        if node.op == "sizeof":
            if not isinstance(node.expr, c_ast.Typename):
                raise _unsupported("sizeof of a value", node)
            self.type(node.expr)
            return
        self.one(node.expr)
        if node.op == "&" and not isinstance(node.expr, c_ast.ArrayRef):
            raise _unsupported("& of what is no element of an array", node)
        if node.op.endswith(("++", "--")):
            self.target(node.expr)

    def visit_BinaryOp(self, node: "c_ast.BinaryOp") -> None:
        if node.op not in _BINARY:
            raise _unsupported(f"operator {node.op}", node)
        self.all((node.left, node.right))

    def visit_TernaryOp(self, node: "c_ast.TernaryOp") -> None:
        self.all((node.cond, node.iftrue, node.iffalse))

    def visit_ArrayRef(self, node: "c_ast.ArrayRef") -> None:
        self.all((node.name, node.subscript))

    def visit_Cast(self, node: "c_ast.Cast") -> None:
        self.type(node.to_type)
        self.one(node.expr)

    def visit_CompoundLiteral(self, node: "c_ast.CompoundLiteral") -> None:
        self.array(self.type(node.type), node.init)

    def visit_Assignment(self, node: "c_ast.Assignment") -> None:
        if node.op not in _ASSIGN:
            raise _unsupported(f"operator {node.op}", node)
        self.all((node.lvalue, node.rvalue))
        self.target(node.lvalue)

    def visit_FuncCall(self, node: "c_ast.FuncCall") -> None:
        from pycparser import c_ast

        if not isinstance(node.name, c_ast.ID):
            raise _unsupported("func call", node)
        name, arguments = node.name.name, [] if node.args is None else node.args.exprs
        known = {each: function.arity for each, function in FUNCTIONS.items()} | {**STATEMENT_CALLS}
        if name not in known:
            hint = did_you_mean(name, known, f"known: {', '.join(sorted(FUNCTIONS))}")
            raise code_error(f"unknown function '{name}'", place_of(node), hint)
        arity, count = known[name], len(arguments)
        if arity is not None:
            if arity != count:
                message = f"expected {arity} arguments of '{name}', got {count}"
                raise code_error(message, place_of(node))
            self.all(arguments)
            return
        before = int(name == "ln_opck_satisfy_msg")
        self.all(arguments[:before])
        if not arguments[before:]:
            raise code_error(f"expected a message of '{name}', got none", place_of(node))
        check_message(arguments[before:], self.scope)

    def target(self, node: "c_ast.Node") -> None:
        """Check that a node can be assigned to."""
        from pycparser import c_ast

        is_element = isinstance(node, c_ast.UnaryOp) and node.op == "*"
        if not isinstance(node, c_ast.ID | c_ast.ArrayRef) and not is_element:
            raise _unsupported("assignment to what is no variable or element", node)

    def array(self, written: TypeName, elements: "c_ast.Node") -> None:
        """Check the elements of an array, in braces."""
        from pycparser import c_ast

        if not written.is_array or not isinstance(elements, c_ast.InitList):
            raise _unsupported("a list in braces for what is no array", elements)
        self.all(elements.exprs)

    def type(self, node: "c_ast.Node") -> TypeName:
        """Return the type that is written, of words of numbers."""
        written = type_name(node)
        if written is None:
            what = "a type that is no number, array of numbers or pointer"
            raise _unsupported(what, node)
        for word in written.words:
            if word not in _TYPE_WORDS:
                raise _unsupported(f"type {word}", node)
        self.all((written.length,))
        return written

    # Statements.

    def visit_DeclList(self, node: "c_ast.DeclList") -> None:
        self.all(node.decls)

    def visit_Decl(self, node: "c_ast.Decl") -> None:
        from pycparser import c_ast

        if node.storage or node.funcspec or node.bitsize is not None or node.name is None:
            raise _unsupported("a declaration that is no plain variable", node)
        written = self.type(node.type)
        if node.init is not None and (written.is_array or isinstance(node.init, c_ast.InitList)):
            self.array(written, node.init)
        else:
            self.all((node.init,))
        try:
            self.scope[node.name] = type_of(written)
        except EvaluationError as error:
            raise code_error(str(error), place_of(node)) from error

    def visit_EmptyStatement(self, node: "c_ast.EmptyStatement") -> None:
        """Nothing is wrong with nothing."""

    def visit_Compound(self, node: "c_ast.Compound") -> None:
        self.inside(*(node.block_items or ()))

    def visit_If(self, node: "c_ast.If") -> None:
        self.one(node.cond)
        self.inside(node.iftrue)
        self.inside(node.iffalse)

    def visit_For(self, node: "c_ast.For") -> None:
        around, self.scope = self.scope, dict(self.scope)
        self.all((node.init, node.cond, node.next))
        self.inside(node.stmt, in_loop=True)
        self.scope = around

    def visit_Break(self, node: "c_ast.Node") -> None:
        if not self.in_loop:
            raise code_error("expected break and continue to be in a loop", place_of(node))

    visit_Continue = visit_Break
