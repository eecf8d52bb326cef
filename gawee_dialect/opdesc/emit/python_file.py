"""Descriptions as Python: an op class each, whose `check` is the description's, line by line."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, wrap

from gawee_dialect.easy_json import Code
from gawee_dialect.equations.instance import Body
from gawee_dialect.opdesc.c_evaluate import RELATIONS
from gawee_dialect.opdesc.c_print import INDENT
from gawee_dialect.opdesc.c_types import variables
from gawee_dialect.opdesc.compiled import GIVEN, CompiledOperator
from gawee_dialect.opdesc.described_op import class_name
from gawee_dialect.opdesc.description import Bound, Operator, Param, TensorIn, TensorOut
from gawee_dialect.opdesc.emit.python_print import PythonPrinter, literals, python_name, string

_RUNTIME = ("Array", "equations", "library", "library_double", "quotient", "remainder", "zeros")
_SCALARS = {"STRING": "text", "BOOL": "boolean", "NULL": "null"}
TAB = INDENT * 2
MAX_LITERAL = 70
"""Characters of an equation on one line."""

MAX_LINE = 88
"""Of imports; all other lines are for a formatter."""


def python_file(dialect: str, compiled: Sequence[CompiledOperator], source: str) -> str:
    """Return the file of a dialect; raises GaweeError where C has no counterpart in Python."""
    used: set[str] = set()
    operators = [each for each in compiled if each.operator.autogen]
    classes = [_class(dialect, each, used) for each in operators]
    names = ", ".join(class_name(each.operator.optype) for each in operators)
    head = [
        f'"""Ops of the dialect \'{dialect}\': {Path(source).name}, '
        'by gawee-translate opdesc --emit python."""',
        "",
        *_imports(
            used,
            any(each.operator.tensors_out for each in operators),
            any(each.operator.params or each.body for each in operators),
        ),
    ]
    last = f"{dialect.upper()} = Dialect({string(dialect)}, [{names}])\n"
    return "\n".join((*head, "", "", "\n\n\n".join((*classes, last))))


def _imports(used: set[str], pure: bool, params: bool) -> Iterator[str]:
    math = sorted(used & {"ceil", "floor"})
    if math:
        yield f"from math import {', '.join(math)}"
    if params:
        yield "from typing import ClassVar"
    if math or params:
        yield ""
    names = sorted({"CheckedOp", "Checks"} | used.intersection(_RUNTIME), key=_import_order)
    line = f"from gawee_dialect.opdesc.checked_op import {', '.join(names)}"
    if len(line) > MAX_LINE:
        line = "\n".join(
            (line.partition("import ")[0] + "import (", *(f"{TAB}{name}," for name in names), ")")
        )
    yield line
    if "shape_text" in used:
        yield "from gawee_dialect.opdesc.pre_run import shape_text"
    yield "from xdsl.ir import Dialect"
    yield f"from xdsl.irdl import irdl_op_definition{', traits_def' if pure else ''}"
    if pure:
        yield "from xdsl.traits import Pure"


def _import_order(name: str) -> tuple[bool, str]:
    return name[0].islower(), name


def _class(dialect: str, compiled: CompiledOperator, used: set[str]) -> str:
    operator = compiled.operator
    doc = operator.doc or f"The operator '{operator.optype}' of {operator.author}."
    lines = [
        "@irdl_op_definition",
        f"class {class_name(operator.optype)}(CheckedOp):",
        f'{TAB}"""{_docstring(doc)}"""',
        "",
        f"{TAB}name = {string(f'{dialect}.{operator.optype}')}",
        "",
    ]
    if operator.params:
        params = ", ".join(string(param.arg_name) for param in operator.params)
        comma = "," if len(operator.params) == 1 else ""
        lines.append(f"{TAB}PARAMS: ClassVar = ({params}{comma})")
    if compiled.body is not None:
        lines += _equations(operator, compiled.body)
        used.add("equations")
    if operator.tensors_out:
        lines.append(f"{TAB}traits = traits_def(Pure())")
    if lines[-1]:
        lines.append("")
    checks = _Check(compiled)
    body = [f"{TAB}{TAB}{line}" for line in checks.body()]
    used |= checks.printer.used
    return "\n".join((*lines, f"{TAB}def check(self, check: Checks) -> None:", *body))


def _equations(operator: Operator, body: Body) -> Iterator[str]:
    """Yield the attribute of a class that holds its equations."""
    assert operator.body is not None  # what a body was read from
    text = dedent(operator.body.text).strip("\n")
    parts = [
        string(line[start : start + MAX_LITERAL])
        for line in text.splitlines(keepends=True)
        for start in range(0, len(line), MAX_LITERAL)
    ]
    yield f"{TAB}BODY: ClassVar = equations("
    yield from (f"{TAB}{TAB}{part}" for part in parts[:-1])
    yield f"{TAB}{TAB}{parts[-1]},"
    yield f"{TAB}{TAB}{_listed(operator.tensors_in, operator.body)},"
    yield f"{TAB}{TAB}{_listed(operator.tensors_out, operator.body)},"
    for each in body.program.parameters:
        if each.offset == GIVEN:
            yield f"{TAB}{TAB}({string(each.kind)}, {string(each.name)}, {each.length}),"
    yield f"{TAB})"


def _listed(tensors: Sequence[TensorIn | TensorOut], body: Code) -> str:
    """Return the names of tensors that a description lists; None where its body says them."""
    if all(each.place == body.place() for each in tensors):
        return "None"
    return f"[{', '.join(string(each.arg_name) for each in tensors)}]"


def _docstring(text: str) -> str:
    text = text[:1].upper() + text[1:]
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = wrap(escaped if escaped.endswith(".") else f"{escaped}.", 88)
    return f"\n{TAB}".join(lines)


@dataclass
class _Check:
    """Writes the method of an operator."""

    compiled: CompiledOperator
    printer: PythonPrinter = field(init=False)
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.printer = PythonPrinter(variables(self.compiled.operator))

    def body(self) -> list[str]:
        """Return the statements."""
        operator = self.compiled.operator
        add = self.lines.append
        add(f'check.count("input tensors", {len(operator.tensors_in)}, len(self.operands))')
        for index, tensor in enumerate(operator.tensors_in):
            self._input(index, tensor)
        add(f'check.count("output tensors", {len(operator.tensors_out)}, len(self.results))')
        given = "len(self.params())" if self.compiled.body is None else "check.params"
        add(f'check.count("params", {len(operator.params)}, {given})')
        for param in operator.params:
            self._param(param)
        for code in operator.checks:
            self._holds("'checks'", code)
        self._custom("'custom'", operator.custom)
        for index, output in enumerate(operator.tensors_out):
            if self.compiled.body is None or (output.ndim and output.dims and output.dtype):
                self._output(index, output)
        if self.compiled.body is not None:
            self._body(self.compiled.body)
        return list(self._used())

    def _body(self, body: Body) -> None:
        """Add the check that results are as the equations say."""
        inputs = ", ".join(map(python_name, body.program.inputs))
        params = (
            f"{string(each.name)}: {python_name(each.name)}" for each in body.program.parameters
        )
        self.lines.append(f"check.body([{inputs}], {{{', '.join(params)}}})")

    def _used(self) -> Iterator[str]:
        """Yield the lines; what nothing reads is checked, and has no name."""
        body = ast.parse("\n".join(self.lines))
        names = [each for each in ast.walk(body) if isinstance(each, ast.Name)]
        read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
        for line in self.lines:
            name, assign, value = line.partition(" = check.")
            yield f"check.{value}" if assign and name not in read else line

    def _expression(self, code: Code) -> str:
        return self.printer.expression(self.compiled.syntax.expression(code))

    def _holds(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        check = self.compiled.syntax.check(code)
        expected = f"expected {what} to hold: "
        message = literals([expected + " ".join(code.text.split())])
        if check.message:
            message = self.printer.message(check.message, expected)
        self.lines.append(f"if {self.printer.negated(check.condition)}:")
        self.lines.append(f"{TAB}check.fail({message})")

    def _custom(self, what: str, code: Code | None) -> None:
        if code is not None:
            self.lines += self.printer.statements(self.compiled.syntax.statements(code), what)

    def _input(self, index: int, tensor: TensorIn) -> None:
        name, quoted = python_name(tensor.arg_name), string(tensor.arg_name)
        add = self.lines.append
        add(f"{name} = check.input({quoted}, {index})")
        if tensor.mtype.text != "LN_MEM_NONE":
            add(f"check.mtype({name}, {string(tensor.mtype.text)})")
        if tensor.dtype is not None:
            add(f"check.dtype({name}, {string(tensor.dtype.text)})")
        if tensor.ndim is not None:
            add(f"check.ndim({name}, {self._expression(tensor.ndim)})")
        if tensor.len is not None:
            add(f"check.len({name}, {self._expression(tensor.len)})")
        if tensor.sametype is not None:
            add(f"check.same_type({name}, {python_name(tensor.sametype.text)})")
        if tensor.sameshape is not None:
            add(f"check.same_shape({name}, {python_name(tensor.sameshape.text)})")
        if tensor.static is not None:
            add(f"check.static({name}, {tensor.static})")
        what = f"input '{tensor.arg_name}'"
        self._holds(f"'check' of {what}", tensor.check)
        for code in tensor.checks:
            self._holds(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", tensor.custom)

    def _param(self, param: Param) -> None:
        name, what = python_name(param.arg_name), f"param '{param.arg_name}'"
        add = self.lines.append
        add(f"{name} = {_param_value(param)}" if param.kind != "NULL" else _param_value(param))
        if param.len is not None:
            length = self._expression(param.len)
            add(f"check.length({string(param.arg_name)}, len({name}), {length})")
        for bound in param.bounds:
            add(self._bound(param, bound))
        self._holds(f"'check' of {what}", param.check)
        for code in param.checks:
            self._holds(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", param.custom)

    def _bound(self, param: Param, bound: Bound) -> str:
        method = "bounds" if param.is_array else "bound"
        relation, limit = string(RELATIONS[bound.relation]), self._expression(bound.code)
        name = python_name(param.arg_name)
        return f"check.{method}({string(param.arg_name)}, {name}, {relation}, {limit})"

    def _output(self, index: int, output: TensorOut) -> None:
        name = output.arg_name
        values = {"ndim": "0", "dims": "", "dtype": "-1"}
        if output.ndim is not None:
            values["ndim"] = self._expression(output.ndim)
        if output.dtype is not None:
            values["dtype"] = self._expression(output.dtype)
        if isinstance(output.dims, Code):
            values["dims"] = self._expression(output.dims)
        elif output.dims is not None:
            sizes = ", ".join(self._expression(code) for code in output.dims)
            values["dims"] = f"Array([{sizes}])"
            self.printer.used.add("Array")
        if output.custom is not None:
            if not values["dims"]:
                values["dims"] = "zeros(0)"
                self.printer.used.add("zeros")
            self.lines += [f"{name}_{key} = {value}" for key, value in values.items()]
            self._custom(f"'custom' of output '{name}'", output.custom)
            values = {key: f"{name}_{key}" for key in values}
        arguments = ", ".join((string(name), str(index), *values.values()))
        self.lines.append(f"check.output({arguments})")


def _param_value(param: Param) -> str:
    name = string(param.arg_name)
    if param.from_func is not None:
        method = "constants" if param.is_array else "constant"
        return f"check.{method}({name}, {string(param.from_func.text)})"
    if param.kind == "NUMBER":
        assert param.realtype is not None  # read.py refuses a number without one
        real = param.realtype.text
        if real == "int":
            return f"check.{'integers' if param.is_array else 'integer'}({name})"
        method = "numbers" if param.is_array else "number"
        return f"check.{method}({name}, {string(real)})"
    if param.is_array:
        return f"check.elements({name}, {string(param.ptype.text)})"
    return f"check.{_SCALARS[param.kind]}({name})"
