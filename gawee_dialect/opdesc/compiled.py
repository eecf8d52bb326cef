"""An operator with its C texts parsed, and every name in them known to be one.

What a text may name depends on where it is evaluated: inputs come first, in order, then parameters,
then the checks of the operator, then outputs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.easy_json import MAX_PROBLEMS, Code, Scalar
from gawee_dialect.equations.instance import Body, read_body
from gawee_dialect.equations.parse import IndexNotationError
from gawee_dialect.equations.program import Arguments
from gawee_dialect.equations.scalars import ParameterValue
from gawee_dialect.equations.syntax import Parameter
from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_evaluate import NAMED_CONSTANTS
from gawee_dialect.opdesc.c_names import Scope, check_expression, check_message, check_statements
from gawee_dialect.opdesc.c_parse import (
    CodeError,
    parse_arguments,
    parse_expression,
    parse_statements,
)
from gawee_dialect.opdesc.description import Named, Operator, Param, TensorIn, TensorOut
from gawee_dialect.opdesc.invocation import ParamValue
from gawee_dialect.source import Place

MAX_ALL_CODE = 40_000
"""Characters of C in one file, what derived operators inherit counted once."""

MAX_ALL_BODIES = 60_000
"""Characters of index notation in one file."""

TENSOR_FIELDS = ("ndim", "len", "dims", "dtype")
TENSOR_ENTRY_FIELDS = ("name", "isstatic", "mtype", "owner", "offset", "creater")
LIST_ENTRY_FIELDS = ("arg_name", "name")
PARAM_ENTRY_FIELDS = (
    *("arg_name", "type", "array_len", "value_string", "value_double", "value_float"),
    *("value_int", "value_bool", "value_array_double", "value_array_float", "value_array_int"),
    *("value_array_bool",),
)
OPERATOR_FIELDS = ("name", "optype")

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while bool size_t".split()
)


@dataclass(frozen=True)
class CheckCode:
    """A check: a condition, and the format and arguments of its message, if it has one."""

    condition: c.Expression
    message: Sequence[c.Expression]


@dataclass
class Syntax:
    """What the texts of a file parse to; a text that operators inherit is parsed once."""

    _expressions: dict[int, c.Expression] = field(default_factory=dict[int, c.Expression])
    _statements: dict[int, Sequence[c.Statement]] = field(
        default_factory=dict[int, Sequence[c.Statement]]
    )
    _checks: dict[int, CheckCode] = field(default_factory=dict[int, CheckCode])

    def expression(self, code: Code) -> c.Expression:
        """Return the syntax of an expression; raises CodeError."""
        key = id(code.scalar)  # which the operators keep alive
        if key not in self._expressions:
            self._expressions[key] = parse_expression(code)
        return self._expressions[key]

    def statements(self, code: Code) -> Sequence[c.Statement]:
        """Return the syntax of statements; raises CodeError."""
        key = id(code.scalar)
        if key not in self._statements:
            self._statements[key] = parse_statements(code)
        return self._statements[key]

    def check(self, code: Code) -> CheckCode:
        """Return the syntax of a check; raises CodeError, also where its message is none."""
        key = id(code.scalar)
        if key not in self._checks:
            condition, *message = parse_arguments(code)
            self._checks[key] = CheckCode(condition, message)
        return self._checks[key]


@dataclass(frozen=True)
class CompiledOperator:
    """A description, and the syntax of its C texts.

    `owners` names the input whose memory an output shares, by the output. `body` is the operator's
    meaning in index notation, where it has one.
    """

    operator: Operator
    syntax: Syntax
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
        compiled.append(CompiledOperator(operator, syntax, checker.owners, body))
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
    scope: Scope = field(default_factory=lambda: Scope(op_arg=OPERATOR_FIELDS))

    def check_all(self) -> None:
        """Check every text; problems are collected."""
        operator = self.operator
        for tensor in operator.tensors_in:
            self._input(tensor)
        for output in operator.tensors_out:
            self._add(output.arg_name, output.place, f"{output.arg_name}_name")
        for param in operator.params:
            self._param(param)
        for code in operator.checks:
            self._check("", "checks", code)
        self._custom("", operator.custom)
        for output in operator.tensors_out:
            self._output(output)

    def _add(self, arg_name: str, place: Place, *names: str, **structs: Sequence[str]) -> None:
        """Add the variables of an argument to the scope."""
        for name in (*names, *structs):
            if name in self.scope or name in NAMED_CONSTANTS or name in _KEYWORDS:
                message = f"argument '{arg_name}': expected '{name}' to be free, it has a meaning"
                self._report(message, place)
            self.scope[name] = structs.get(name)

    def _report(self, message: str, place: Place | str, hint: str | None = None) -> None:
        text = f"operator '{self.operator.optype}': {message}"
        self.problems.append(Diagnostic(text, str(place), hint=hint))

    def _refuse(self, argument: str, key: str, error: CodeError) -> None:
        where = f"{argument}, '{key}'" if argument else f"'{key}'"
        for each in error.diagnostics:
            self._report(f"{where}: {each.message}", each.place or "", each.hint)

    def _expression(self, argument: str, key: str, code: Code | None) -> None:
        if code is None:
            return
        try:
            check_expression(self.syntax.expression(code), self.scope)
        except CodeError as error:
            self._refuse(argument, key, error)

    def _check(self, argument: str, key: str, code: Code | None) -> None:
        if code is None:
            return
        try:
            check = self.syntax.check(code)
            check_expression(check.condition, self.scope)
            check_message(check.message, self.scope)
        except CodeError as error:
            self._refuse(argument, key, error)

    def _custom(self, argument: str, code: Code | None, key: str = "custom") -> None:
        if code is None:
            return
        try:
            check_statements(self.syntax.statements(code), self.scope)
        except CodeError as error:
            self._refuse(argument, key, error)

    def _input(self, tensor: TensorIn) -> None:
        name = tensor.arg_name
        structs = {
            name: TENSOR_FIELDS,
            f"{name}_entry": TENSOR_ENTRY_FIELDS,
            f"{name}_list_entry": LIST_ENTRY_FIELDS,
        }
        self._add(name, tensor.place, f"{name}_name", **structs)
        argument = f"input '{name}'"
        self._expression(argument, "ndim", tensor.ndim)
        self._expression(argument, "len", tensor.len)
        self._check(argument, "check", tensor.check)
        for code in tensor.checks:
            self._check(argument, "checks", code)
        self._custom(argument, tensor.custom)

    def _param(self, param: Param) -> None:
        name, argument = param.arg_name, f"param '{param.arg_name}'"
        self._add(name, param.place, **{f"{name}_entry": PARAM_ENTRY_FIELDS})
        self._expression(argument, "len", param.len)
        self._add(name, param.place, name)
        for bound in param.bounds:
            self._expression(argument, bound.relation, bound.code)
        self._check(argument, "check", param.check)
        for code in param.checks:
            self._check(argument, "checks", code)
        self._custom(argument, param.custom)

    def _output(self, output: TensorOut) -> None:
        name, argument = output.arg_name, f"output '{output.arg_name}'"
        self._expression(argument, "ndim", output.ndim)
        self._expression(argument, "dtype", output.dtype)
        self._add(name, output.place, f"{name}_ndim", f"{name}_dtype")
        for code in output.dims_codes():
            self._expression(argument, "dims", code)
        self._add(name, output.place, f"{name}_dims")
        self._custom(argument, output.custom)
        structs = {name: TENSOR_FIELDS, f"{name}_entry": TENSOR_ENTRY_FIELDS}
        self._add(name, output.place, **structs)
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
