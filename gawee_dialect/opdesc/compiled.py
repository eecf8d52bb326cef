"""An operator with its C texts parsed, and every name in them known to be one.

What a text may name depends on where it is evaluated: inputs come first, in order, then parameters,
then the checks of the operator, then outputs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.easy_json import MAX_PROBLEMS
from gawee_dialect.opdesc.arguments import (
    ENTRY,
    LIST_ENTRY,
    OPERATOR,
    PARAM_ENTRY,
    TENSOR,
    param_type,
)
from gawee_dialect.opdesc.c_check import check_code, check_message
from gawee_dialect.opdesc.c_evaluate import NAMED_CONSTANTS
from gawee_dialect.opdesc.c_parse import (
    CodeError,
    parse_arguments,
    parse_expression,
    parse_statements,
)
from gawee_dialect.opdesc.c_types import Types
from gawee_dialect.opdesc.c_values import INT, INT_POINTER, STRING, CType
from gawee_dialect.opdesc.description import Code, Operator, Param, Place, TensorIn, TensorOut
from gawee_dialect.opdesc.index_notation.arguments import with_body
from gawee_dialect.opdesc.index_notation.body import Body
from gawee_dialect.opdesc.index_notation.lexer import IndexNotationError

if TYPE_CHECKING:
    from pycparser import c_ast

MAX_ALL_CODE = 40_000
"""Characters of C in one file, what derived operators inherit counted once."""

MAX_ALL_BODIES = 60_000
"""Characters of index notation in one file."""

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while bool size_t".split()
)


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
    texts = {id(code.scalar): len(code.text) for each in operators for code in _codes(each)}
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


def _codes(operator: Operator) -> Iterator[Code]:
    """Yield every C text of an operator that is evaluated."""
    for tensor in operator.tensors_in:
        yield from _present(tensor.ndim, tensor.len, tensor.check, *tensor.checks, tensor.custom)
    for param in operator.params:
        bounds = (bound.code for bound in param.bounds)
        yield from _present(param.len, *bounds, param.check, *param.checks, param.custom)
    yield from _present(*operator.checks, operator.custom)
    for output in operator.tensors_out:
        parts = output.ndim, *output.dims_codes(), output.dtype, output.custom, output.cleanup
        yield from _present(*parts)


def _present(*codes: Code | None) -> Iterator[Code]:
    return (code for code in codes if code is not None)


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
        operator = self.operator
        for tensor in operator.tensors_in:
            self._input(tensor)
        for output in operator.tensors_out:
            self._add(output, **{f"{output.arg_name}_name": STRING})
        for param in operator.params:
            self._param(param)
        for code in operator.checks:
            self._check("", "checks", code)
        self._custom("", operator.custom)
        for output in operator.tensors_out:
            self._output(output)

    def _add(self, argument: TensorIn | TensorOut | Param, **names: CType) -> None:
        """Add the variables of an argument to the scope."""
        for name in names:
            if name in self.scope or name in NAMED_CONSTANTS or name in _KEYWORDS:
                message = f"expected '{name}' to be free, it has a meaning"
                self._report(f"argument '{argument.arg_name}': {message}", argument.place)
        self.scope |= names

    def _report(self, message: str, place: Place | str, hint: str | None = None) -> None:
        text = f"operator '{self.operator.optype}': {message}"
        self.problems.append(Diagnostic(text, str(place), hint=hint))

    def _text(
        self, argument: str, key: str, code: Code | None, check: Callable[[Code], None]
    ) -> None:
        """Check a text, if there is one; what is wrong is reported."""
        try:
            if code is not None:
                check(code)
        except CodeError as error:
            where = f"{argument}, '{key}'" if argument else f"'{key}'"
            for each in error.diagnostics:
                self._report(f"{where}: {each.message}", each.place or "", each.hint)

    def _expression(self, argument: str, key: str, code: Code | None) -> None:
        def check(code: Code) -> None:
            check_code([self.syntax.expression(code)], self.scope)

        self._text(argument, key, code, check)

    def _check(self, argument: str, key: str, code: Code | None) -> None:
        def check(code: Code) -> None:
            condition, message = self.syntax.check(code)
            check_code([condition], self.scope)
            check_message(message, self.scope)

        self._text(argument, key, code, check)

    def _custom(self, argument: str, code: Code | None, key: str = "custom") -> None:
        def check(code: Code) -> None:
            check_code(self.syntax.statements(code), self.scope)

        self._text(argument, key, code, check)

    def _checks(self, argument: str, described: TensorIn | Param) -> None:
        """Check what an input or parameter is to satisfy."""
        self._check(argument, "check", described.check)
        for code in described.checks:
            self._check(argument, "checks", code)
        self._custom(argument, described.custom)

    def _input(self, tensor: TensorIn) -> None:
        name = tensor.arg_name
        names = {f"{name}_name": STRING, name: TENSOR, f"{name}_entry": ENTRY}
        self._add(tensor, **names, **{f"{name}_list_entry": LIST_ENTRY})
        argument = f"input '{name}'"
        self._expression(argument, "ndim", tensor.ndim)
        self._expression(argument, "len", tensor.len)
        self._checks(argument, tensor)

    def _param(self, param: Param) -> None:
        name, argument = param.arg_name, f"param '{param.arg_name}'"
        self._add(param, **{f"{name}_entry": PARAM_ENTRY})
        self._expression(argument, "len", param.len)
        self._add(param, **{name: param_type(param)})
        for bound in param.bounds:
            self._expression(argument, bound.relation, bound.code)
        self._checks(argument, param)

    def _output(self, output: TensorOut) -> None:
        name, argument = output.arg_name, f"output '{output.arg_name}'"
        self._expression(argument, "ndim", output.ndim)
        self._expression(argument, "dtype", output.dtype)
        self._add(output, **{f"{name}_ndim": INT, f"{name}_dtype": INT})
        for code in output.dims_codes():
            self._expression(argument, "dims", code)
        self._add(output, **{f"{name}_dims": INT_POINTER})
        self._custom(argument, output.custom)
        self._add(output, **{name: TENSOR, f"{name}_entry": ENTRY})
        self._custom(argument, output.cleanup, "cleanup")
        if output.owner is not None:
            self._owner(output, output.owner)

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
