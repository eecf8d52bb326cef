"""An operator with its C texts parsed, and every name in them known to be one.

What a text may name depends on where it is evaluated: inputs come first, in order, then parameters,
then the checks of the operator, then outputs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.equations.functions import ParameterValue
from gawee_dialect.equations.instance import Body, read_body
from gawee_dialect.equations.parse import IndexNotationError
from gawee_dialect.equations.program import Arguments
from gawee_dialect.equations.syntax import Parameter
from gawee_dialect.located_json import MAX_PROBLEMS, Code, Scalar
from gawee_dialect.opdesc.c_evaluate import NAMED_CONSTANTS, STATEMENT_CALLS, Types
from gawee_dialect.opdesc.c_library import FUNCTIONS, directives
from gawee_dialect.opdesc.c_parse import (
    CodeError,
    code_error,
    constant,
    parse_arguments,
    parse_expression,
    parse_statements,
    place_of,
    type_name,
)
from gawee_dialect.opdesc.c_values import (
    ENTRY,
    INT,
    INT_POINTER,
    LIST_ENTRY,
    OPERATOR,
    PARAM_ENTRY,
    STRING,
    TENSOR,
    CType,
    EvaluationError,
    StructType,
    TypeName,
    param_type,
    type_of,
)
from gawee_dialect.opdesc.description import Named, Operator, Param, ParamValue, TensorIn, TensorOut
from gawee_dialect.source import Place

if TYPE_CHECKING:
    from pycparser import c_ast

SUPPORTED = (
    "integers, floats, strings, names, ->, [], calls, sizeof, casts, (int[]){...}, "
    "+ - * / % ! && || ?: & ++ -- =, comparisons, declarations, if, for, break, continue, blocks"
)

_TYPE_WORDS = frozenset("void char short int long signed unsigned float double size_t bool".split())
_ARITIES: Mapping[str, int | None] = {
    **{name: function.arity for name, function in FUNCTIONS.items()},
    **STATEMENT_CALLS,
}
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
        if name not in _ARITIES:
            hint = did_you_mean(name, _ARITIES, f"known: {', '.join(sorted(FUNCTIONS))}")
            raise code_error(f"unknown function '{name}'", place_of(node), hint)
        arity, count = _ARITIES[name], len(arguments)
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


MAX_ALL_CODE = 40_000
"""Characters of C in one file, what derived operators inherit counted once."""

MAX_ALL_BODIES = 60_000
"""Characters of index notation in one file."""

KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while bool size_t".split()
)
"""What no variable of C is called."""


@dataclass
class Syntax:
    """What the texts of a file parse to; a text that operators inherit is parsed once."""

    _parsed: "dict[int, Sequence[c_ast.Node]]" = field(
        default_factory=dict[int, "Sequence[c_ast.Node]"]
    )

    def _nodes(
        self, code: Code, parse: "Callable[[Code], Sequence[c_ast.Node]]"
    ) -> "Sequence[c_ast.Node]":
        key = id(code.scalar)  # which the operators keep alive
        if key not in self._parsed:
            self._parsed[key] = parse(code)
        return self._parsed[key]

    def expression(self, code: Code) -> "c_ast.Node":
        """Return the syntax of an expression; raises CodeError."""
        return self._nodes(code, lambda code: [parse_expression(code)])[0]

    def statements(self, code: Code) -> "Sequence[c_ast.Node]":
        """Return the syntax of statements; raises CodeError."""
        return self._nodes(code, parse_statements)

    def check(self, code: Code) -> "tuple[c_ast.Node, Sequence[c_ast.Node]]":
        """Return the condition of a check, and the format and arguments of its message, if any.

        Raises CodeError.
        """
        condition, *message = self._nodes(code, parse_arguments)
        return condition, message


@dataclass(frozen=True)
class CompiledOperator:
    """A description, and the syntax of its C texts.

    `types` are the variables that a text may name; `owners` names the input whose memory an output
    shares, by the output. `body` is the operator's meaning in index notation, where it has one.
    """

    operator: Operator
    syntax: Syntax
    types: Mapping[str, CType]
    owners: Mapping[str, str]
    body: Body | None = None


def compile_operators(operators: Sequence[Operator]) -> Sequence[CompiledOperator]:
    """Parse the texts of operators; raises GaweeError that lists everything wrong in them."""
    codes = [text.code for each in operators for text in texts_of(each)]
    texts = {id(code.scalar): len(code.text) for code in codes}
    if sum(texts.values()) > MAX_ALL_CODE:
        message = f"expected at most {MAX_ALL_CODE} characters of C, got {sum(texts.values())}"
        raise GaweeError(Diagnostic(message, str(operators[0].place)))
    bodies = sum(len(each.body.text) for each in operators if each.body is not None)
    if bodies > MAX_ALL_BODIES:
        message = f"expected at most {MAX_ALL_BODIES} characters of index notation, got {bodies}"
        raise GaweeError(Diagnostic(message, str(operators[0].place)))
    syntax = Syntax()
    problems: list[Diagnostic] = []
    compiled: list[CompiledOperator] = []
    for described in operators:
        if len(problems) >= MAX_PROBLEMS:
            break
        try:
            operator, body = with_body(described)
        except IndexNotationError as error:
            problems += _in_body(described, error)
            continue
        checker = _NameChecker(operator, syntax, problems)
        checker.check_all()
        compiled.append(CompiledOperator(operator, syntax, checker.scope, checker.owners, body))
    if problems:
        raise GaweeError(dict.fromkeys(problems))
    return compiled


def _in_body(operator: Operator, error: IndexNotationError) -> Iterator[Diagnostic]:
    for each in error.diagnostics:
        yield replace(each, message=f"operator '{operator.optype}', 'body': {each.message}")


@dataclass(frozen=True)
class Text:
    """A C text of an operator: which argument's, and the field that it is in."""

    argument: str
    key: str
    code: Code

    @property
    def has_statements(self) -> bool:
        """Whether it is no expression and no check."""
        return self.key in ("custom", "cleanup")


def texts_of(operator: Operator) -> Sequence[Text]:
    """Return every C text of an operator that is evaluated, in the order of an invocation."""
    return [step for step in _steps(operator) if isinstance(step, Text)]


Argument: TypeAlias = TensorIn | TensorOut | Param


def _steps(operator: Operator) -> Iterator[Text | tuple[Argument, Types]]:
    """Yield texts, and before those that may name them the variables of an argument."""
    for each in operator.tensors_in:
        name, what = each.arg_name, f"input '{each.arg_name}'"
        yield each, {f"{name}_name": STRING, name: TENSOR, f"{name}_entry": ENTRY}
        yield each, {f"{name}_list_entry": LIST_ENTRY}
        yield from _texts(what, ndim=each.ndim, len=each.len)
        yield from _texts(what, check=each.check, checks=each.checks, custom=each.custom)
    for each in operator.tensors_out:
        yield each, {f"{each.arg_name}_name": STRING}
    for each in operator.params:
        name, what = each.arg_name, f"param '{each.arg_name}'"
        yield each, {f"{name}_entry": PARAM_ENTRY}
        yield from _texts(what, len=each.len)
        yield each, {name: param_type(each)}
        yield from (Text(what, bound.relation, bound.code) for bound in each.bounds)
        yield from _texts(what, check=each.check, checks=each.checks, custom=each.custom)
    yield from _texts("", checks=operator.checks, custom=operator.custom)
    for each in operator.tensors_out:
        name, what = each.arg_name, f"output '{each.arg_name}'"
        yield from _texts(what, ndim=each.ndim, dtype=each.dtype)
        yield each, {f"{name}_ndim": INT, f"{name}_dtype": INT}
        yield from _texts(what, dims=each.dims)
        yield each, {f"{name}_dims": INT_POINTER}
        yield from _texts(what, custom=each.custom)
        yield each, {name: TENSOR, f"{name}_entry": ENTRY}
        yield from _texts(what, cleanup=each.cleanup)


def _texts(argument: str, **fields: Code | Sequence[Code] | None) -> Iterator[Text]:
    for key, given in fields.items():
        codes = (given,) if isinstance(given, Code) else given or ()
        yield from (Text(argument, key, code) for code in codes)


@dataclass
class _NameChecker:
    """Goes through an operator as an invocation does, and checks every text against its scope."""

    operator: Operator
    syntax: Syntax
    problems: list[Diagnostic]
    owners: dict[str, str] = field(default_factory=dict[str, str])
    scope: Types = field(default_factory=lambda: Types(op_arg=OPERATOR))

    def check_all(self) -> None:
        """Check every text; problems are collected."""
        for step in _steps(self.operator):
            if isinstance(step, Text):
                self._check(step)
            else:
                self._add(*step)
        for output in self.operator.tensors_out:
            if output.owner is not None:
                self._owner(output, output.owner)

    def _add(self, argument: Argument, names: Types) -> None:
        """Add variables of an argument to the scope."""
        for name in names:
            if name in self.scope or name in NAMED_CONSTANTS or name in KEYWORDS:
                message = f"expected '{name}' to be free, it has a meaning"
                self._report(f"argument '{argument.arg_name}': {message}", argument.place)
        self.scope |= names

    def _report(self, message: str, place: Place | str, hint: str | None = None) -> None:
        text = f"operator '{self.operator.optype}': {message}"
        self.problems.append(Diagnostic(text, str(place), hint=hint))

    def _check(self, text: Text) -> None:
        """Check a text; what is wrong is reported."""
        try:
            if text.has_statements:
                check_code(self.syntax.statements(text.code), self.scope)
            elif text.key in ("check", "checks"):
                condition, message = self.syntax.check(text.code)
                check_code([condition], self.scope)
                check_message(message, self.scope)
            else:
                check_code([self.syntax.expression(text.code)], self.scope)
        except CodeError as error:
            where = f"{text.argument}, '{text.key}'" if text.argument else f"'{text.key}'"
            for each in error.diagnostics:
                self._report(f"{where}: {each.message}", each.place or "", each.hint)

    def _owner(self, output: TensorOut, owner: Code) -> None:
        text = owner.text.strip()
        inputs = [tensor.arg_name for tensor in self.operator.tensors_in]
        found = text if text in inputs else text.removesuffix("_name")
        if found in inputs:
            self.owners[output.arg_name] = found
            return
        message = f"output '{output.arg_name}': expected 'owner' to name an input, got '{text}'"
        hint = did_you_mean(text, [f"{each}_name" for each in inputs], "such as src_name")
        self._report(message, owner.place(), hint)


GIVEN = 0
"""The offset of a parameter that the description declares, and not the body itself."""

_KINDS = {"int": "int", "float": "float", "double": "float"}


def with_body(operator: Operator) -> tuple[Operator, Body | None]:
    """Return an operator with all of its arguments, and its body; raises IndexNotationError.

    Inputs and outputs that the description does not list are those of the body, parameters that
    the body declares come behind those of the description.
    """
    code = operator.body
    if code is None:
        return operator, None
    inputs = [each.arg_name for each in operator.tensors_in]
    outputs = [each.arg_name for each in operator.tensors_out]
    given = [each for param in operator.params if (each := _parameter(param)) is not None]
    body = read_body(code, Arguments(inputs or None, outputs or None, given))
    own = [each for each in body.program.parameters if each not in given]
    place = code.place()
    anywhere = Named("LN_MEM_NONE", place)
    return (
        replace(
            operator,
            tensors_in=operator.tensors_in
            or [TensorIn(name, place, anywhere) for name in body.program.inputs],
            tensors_out=operator.tensors_out
            or [TensorOut(name, place, anywhere) for name in body.program.outputs],
            params=[*operator.params, *(_param(each, code) for each in own)],
        ),
        body,
    )


def numbers_of(params: Mapping[str, ParamValue]) -> Mapping[str, ParameterValue]:
    """Return those parameters that a body can name: numbers, truth values, arrays of numbers."""
    found: dict[str, ParameterValue] = {}
    for name, value in params.items():
        if isinstance(value, tuple):
            numbers = [each for each in value if isinstance(each, int | float)]
            found[name] = tuple(numbers)
        elif isinstance(value, int | float):
            found[name] = value
    return found


def _parameter(param: Param) -> Parameter | None:
    """Return a parameter of a description as the body names it; None for texts and the like."""
    kind = "bool" if param.kind == "BOOL" else ""
    if param.kind == "NUMBER" and param.realtype is not None:
        kind = _KINDS[param.realtype.text]
    if not kind or (param.is_array and (param.len is None or not param.len.text.isdigit())):
        return None
    length = int(param.len.text) if param.is_array and param.len is not None else None
    return Parameter(GIVEN, kind, param.arg_name, length)


def _param(parameter: Parameter, code: Code) -> Param:
    """Return a parameter that a body declares as descriptions have it."""
    place = code.place(parameter.offset)
    array = "" if parameter.length is None else "ARRAY_"
    kind = "BOOL" if parameter.kind == "bool" else "NUMBER"
    realtype = {"int": "int", "float": "double"}.get(parameter.kind)
    length = None
    if parameter.length is not None:
        text = str(parameter.length)
        length = Code(text, code.source, Scalar(text, code.place(parameter.offset).offset))
    return Param(
        parameter.name,
        place,
        Named(f"LN_PARAM_{array}{kind}", place),
        realtype=None if realtype is None else Named(realtype, place),
        len=length,
    )
