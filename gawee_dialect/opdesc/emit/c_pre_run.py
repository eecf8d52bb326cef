"""The pre_run of an operator as C: every check in the documented order, then the outputs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gawee_dialect.easy_json import Code
from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_print import CPrinter, expressions_in, text_literal
from gawee_dialect.opdesc.c_types import variables
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import Bound, Operator, Param, TensorIn, TensorOut
from gawee_dialect.opdesc.emit.c_body import BodyInC
from gawee_dialect.opdesc.emit.c_locals import Local, param_c_type, param_value, used_lines


def _codes(operator: Operator) -> Iterator[Code]:
    """Yield the statements of an operator, where variables are set."""
    for argument in (*operator.tensors_in, *operator.params, *operator.tensors_out, operator):
        if argument.custom is not None:
            yield argument.custom


def _known_lengths(operator: Operator) -> dict[str, int]:
    """Return how many elements arrays have that the description gives a number for."""
    found: dict[str, int] = {}
    for tensor in operator.tensors_in:
        if tensor.ndim is not None and tensor.ndim.text.isdigit():
            found[f"{tensor.arg_name}->dims"] = int(tensor.ndim.text)
    for param in operator.params:
        if param.len is not None and param.len.text.isdigit():
            found[param.arg_name] = int(param.len.text)
    return found


def _read_names(statements: Sequence[c.Statement]) -> Iterator[str]:
    """Yield the variables that are read, not only assigned."""
    assigned = {
        id(node.target)
        for node in expressions_in(statements)
        if isinstance(node, c.Assign) and not node.operator
    }
    for node in expressions_in(statements):
        if isinstance(node, c.Name) and id(node) not in assigned:
            yield node.name


def _set_names(statements: Sequence[c.Statement]) -> Iterator[str]:
    for node in expressions_in(statements):
        if isinstance(node, c.Assign | c.Step) and isinstance(node.target, c.Name):
            yield node.target.name


@dataclass
class PreRun:
    """Writes the checks of an operator."""

    compiled: CompiledOperator
    body_in_c: BodyInC | None = None
    lines: list[str | Local] = field(default_factory=list[str | Local])
    printer: CPrinter = field(init=False)

    def __post_init__(self) -> None:
        operator, syntax = self.compiled.operator, self.compiled.syntax
        statements = [each for code in _codes(operator) for each in syntax.statements(code)]
        self.printer = CPrinter(
            variables(operator), _known_lengths(operator), frozenset(_read_names(statements))
        )
        self.set = frozenset(_set_names(statements))

    def body(self) -> list[str]:
        """Return the lines of the function; variables that nothing reads are left out."""
        operator = self.compiled.operator
        self.lines.append(f"ln_opck_tensors_in_len_eq({len(operator.tensors_in)});")
        for tensor in operator.tensors_in:
            self._input(tensor)
        self.lines += ["", f"ln_opck_tensors_out_len_eq({len(operator.tensors_out)});"]
        for output in operator.tensors_out:
            self._output_name(output)
        self.lines += ["", f"ln_opck_params_len_eq({len(operator.params)});"]
        for param in operator.params:
            self._param(param)
        if operator.checks or operator.custom is not None:
            self.lines.append("")
        for code in operator.checks:
            self._check("'checks'", code)
        self._custom("'custom'", operator.custom)
        if self.body_in_c is not None:
            self.lines += ["", *self.body_in_c.checks()]
        for output in operator.tensors_out:
            self._output(output)
        self._private()
        return used_lines(self.lines)

    def _expression(self, code: Code) -> str:
        return self.printer.expression(self.compiled.syntax.expression(code))

    def _check(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        check = self.compiled.syntax.check(code)
        condition = self.printer.expression(check.condition)
        if check.message:
            message = self.printer.message(check.message)
            arguments = ", ".join((text_literal(what), condition, *message))
            self.lines.append(f"ln_opck_holds_msg({arguments});")
            return
        text = text_literal(" ".join(code.text.split()))
        self.lines.append(f'ln_opck_holds({text_literal(what)}, {condition}, "%s", {text});')

    def _custom(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        # Not in braces: a later text may read what this one declares.
        lines = list(self.printer.statements(self.compiled.syntax.statements(code)))
        if lines:
            self.lines += [f"ln_custom({text_literal(what)});", *lines, "ln_custom(NULL);"]

    # Rows 2 to 13: an input.

    def _input(self, tensor: TensorIn) -> None:
        name, what = tensor.arg_name, f"input '{tensor.arg_name}'"
        entry, argument = f"{name}_entry", f"{name}_list_entry"
        add, quoted = self.lines.append, f'"{name}"'
        self.lines += [
            *("", f"/* {what} */"),
            Local("ln_tensor_list_entry *", argument, f"ln_opck_tensor_in_exist({quoted})"),
            Local("ln_tensor_entry *", entry, f"ln_opck_tensor_defined({argument})"),
            Local("ln_tensor *", name, f"{entry}->tensor"),
            Local("char *", f"{name}_name", f"{entry}->name"),
        ]
        if tensor.mtype.text != "LN_MEM_NONE":
            add(f"ln_opck_tensor_mtype_eq({quoted}, {entry}, {tensor.mtype.text});")
        if tensor.dtype is not None:
            add(f"ln_opck_tensor_dtype_eq({quoted}, {entry}, {tensor.dtype.text});")
        if tensor.ndim is not None:
            add(f"ln_opck_tensor_ndim({quoted}, {entry}, {self._expression(tensor.ndim)});")
        if tensor.len is not None:
            add(f"ln_opck_tensor_len({quoted}, {entry}, {self._expression(tensor.len)});")
        for kind, other in (("type", tensor.sametype), ("shape", tensor.sameshape)):
            if other is not None:
                arguments = f'{quoted}, {entry}, "{other.text}", {other.text}_entry'
                add(f"ln_opck_tensor_issame{kind}({arguments});")
        if tensor.static is not None:
            check = "isstatic" if tensor.static else "isnotstatic"
            add(f"ln_opck_tensor_{check}({quoted}, {entry});")
        self._check(f"'check' of {what}", tensor.check)
        for code in tensor.checks:
            self._check(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", tensor.custom)

    # Rows 15 and 16: the name of an output.

    def _output_name(self, output: TensorOut) -> None:
        name = output.arg_name
        argument = f"{name}_list_entry"
        self.lines += [
            *("", f"/* output '{name}' */"),
            Local("ln_tensor_list_entry *", argument, f'ln_opck_tensor_out_exist("{name}")'),
            Local("char *", f"{name}_name", f"{argument}->name"),
            f'ln_opck_tensor_not_defined("{name}", {argument});',
        ]

    # Rows 18 to 23: a parameter.

    def _param(self, param: Param) -> None:
        name, what, entry = param.arg_name, f"param '{param.arg_name}'", f"{param.arg_name}_entry"
        self.lines += [
            *("", f"/* {what} */"),
            Local("ln_param_entry *", entry, f'ln_opck_param_exist("{name}")'),
            f"ln_opck_param_type({entry}, {param.ptype.text});",
        ]
        if param.len is not None:
            length = self._expression(param.len)
            self.lines.append(f"ln_opck_param_array_len_eq({entry}, {length});")
        if param.from_func is not None and param.is_array:
            self.lines.append(f"LN_CONVERT_TEXTS({entry}, {param.from_func.text});")
        elif param.from_func is not None:
            converted = f"{param.from_func.text}({entry}->value_string)"
            self.lines.append(f"{entry}->value_int = {converted};")
        self.lines.append(Local(param_c_type(param), name, param_value(param, entry)))
        for bound in param.bounds:
            self._bound(param, bound)
        self._check(f"'check' of {what}", param.check)
        for code in param.checks:
            self._check(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", param.custom)

    def _bound(self, param: Param, bound: Bound) -> None:
        assert param.realtype is not None  # read.py refuses a number without one
        kind = f"{'array' if param.is_array else 'number'}_{param.realtype.text}_{bound.relation}"
        limit = self._expression(bound.code)
        self.lines.append(f"ln_opck_{kind}({param.arg_name}_entry, {limit});")

    # Rows 25 to 33: an output.

    def _output(self, output: TensorOut) -> None:
        name, what = output.arg_name, f"output '{output.arg_name}'"
        self.lines += ["", f"/* {what} */", *self._type(output)]
        if self.body_in_c is None:
            self._custom(f"'custom' of {what}", output.custom)
        arguments = f"{name}_list_entry, {name}_ndim, {name}_dims, {name}_dtype"
        self.lines.append(f"ln_tensor_entry *{name}_entry = ln_output({arguments});")
        owner = self.compiled.owners.get(name)
        if owner is not None:
            self.lines.append(f"{name}_entry->owner = {owner}_name;")
        if output.static:
            self.lines.append(f"{name}_entry->isstatic = 1;")
        self.lines += [
            f"{name}_entry->mtype = {output.mtype.text};",
            f"ln_table_insert({name}_entry);",
            Local("ln_tensor *", name, f"{name}_entry->tensor"),
        ]
        self._custom(f"'cleanup' of {what}", output.cleanup)

    def _type(self, output: TensorOut) -> Iterator[str]:
        """Yield what declares rank, dtype and dims: those of the body, if there is one."""
        name = output.arg_name
        if self.body_in_c is not None:
            made = self.body_in_c.shape(name)
            yield f"if ({made}->ndim == 0) ln_add_axis({made}, 1);"
            ndim, dtype, dims = (f"{made}->{each}" for each in ("ndim", "dtype", "dims"))
        else:
            ndim, dtype = (
                "-1" if code is None else self._expression(code)
                for code in (output.ndim, output.dtype)
            )
            dims = self._dims(output)
        yield f"int {name}_ndim = {ndim};"
        yield f"int {name}_dtype = {dtype};"
        yield f"int *{name}_dims = {dims};"

    def _dims(self, output: TensorOut) -> str:
        if output.dims is None:
            return "NULL"
        if isinstance(output.dims, Code):
            return self._expression(output.dims)
        sizes = ", ".join(self._expression(code) for code in output.dims)
        return f"LN_ARRAY(int, {{{sizes}}})"

    def _private(self) -> None:
        operator = self.compiled.operator
        struct = f"struct {operator.optype}_priv"
        self.lines += ["", f"{struct} *priv = ln_alloc(sizeof({struct}));"]
        for argument in operator.arg_names():
            self.lines.append(f"priv->{argument}_entry = {argument}_entry;")
        for param in operator.params:
            if param.arg_name in self.set:
                value = param_value(param, f"{param.arg_name}_entry")
                self.lines.append(f"{value} = {param.arg_name};")
        if self.body_in_c is not None:
            self.lines += self.body_in_c.kept()
        self.lines.append("op_arg->priv = priv;")
