"""The pre_run of an operator as C: every check in the documented order, then the outputs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.c_evaluate import Types, static_type
from gawee_dialect.opdesc.c_parse import constant, walk, written_type
from gawee_dialect.opdesc.c_values import INT, PARAM_ENTRY, Arithmetic, type_of
from gawee_dialect.opdesc.compiled import CompiledOperator, texts_of
from gawee_dialect.opdesc.description import Bound, Operator, Param, TensorIn, TensorOut
from gawee_dialect.opdesc.emit.c_body import (
    BodyInC,
    Local,
    param_c_type,
    param_value,
    text_literal,
    used_lines,
)

_DIRECTIVE = re.compile(r"%(?:%|[-+ 0#]*\d*(?:\.\d+)?(hh|h|ll|l|z)?(.))", re.DOTALL)
_SIZES = {"l": "long", "ll": "long long", "z": "size_t"}

_MESSAGES: Mapping[str, int] = {
    "ln_opck_satisfy_msg": 1,
    "ln_msg_warn": 0,
    "ln_msg_error": 0,
    "ln_msg_inter_error": 0,
}
"""Functions that take a message, and where in their arguments its format is."""

_EFFECTS = (
    *(c_ast.Assignment, c_ast.FuncCall, c_ast.Compound, c_ast.EmptyStatement),
    *(c_ast.If, c_ast.For, c_ast.Break, c_ast.Continue),
)


class _Printer(CGenerator):
    """Prints the texts of one operator, as C that a compiler takes without a warning.

    What the evaluator refuses is refused here too, as far as it is known where the text stands: a
    divisor of zero, an index out of the dims of a tensor or of the elements of a parameter.

    `types` are its variables; `lengths` how many elements are known to be in an array, by what
    stands before the brackets; `read` the names whose values some text reads.
    """

    def __init__(self, types: Types, lengths: Mapping[str, int], read: frozenset[str]) -> None:
        super().__init__()
        self.types, self.lengths, self.read = types, lengths, read

    def visit_BinaryOp(self, n: c_ast.BinaryOp) -> str:
        right = self._divisor(n.left, n.right) if n.op in ("/", "%") else n.right
        return super().visit_BinaryOp(c_ast.BinaryOp(n.op, n.left, right))

    def visit_Assignment(self, n: c_ast.Assignment) -> str:
        value = self._divisor(n.lvalue, n.rvalue) if n.op in ("/=", "%=") else n.rvalue
        return super().visit_Assignment(c_ast.Assignment(n.op, n.lvalue, value))

    def _divisor(self, left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
        types = static_type(left, self.types), static_type(right, self.types)
        if types != (INT, INT) or _number(right):
            return right
        return c_ast.ID(f"ln_nonzero(op_arg, {self.visit(right)})")

    def visit_ArrayRef(self, n: c_ast.ArrayRef) -> str:
        array, index, number = self.visit(n.name), self.visit(n.subscript), _number(n.subscript)
        if number is not None and number < self.lengths.get(array, 0):
            return super().visit_ArrayRef(n)
        match n.name:
            case c_ast.StructRef(name=c_ast.ID(name=name), field=c_ast.ID(name="dims")):
                return f"LN_DIM({name}, {index})"
            case c_ast.ID(name=name) if self.types.get(f"{name}_entry") == PARAM_ENTRY:
                return f"LN_AT({name}, {index})"
            case _:
                return super().visit_ArrayRef(n)

    def visit_UnaryOp(self, n: c_ast.UnaryOp) -> str:
        if n.op == "&" and isinstance(n.expr, c_ast.ArrayRef):
            # One past the last is no element, and may be pointed to.
            return f"&{super().visit_ArrayRef(n.expr)}"
        return super().visit_UnaryOp(n)

    def visit_CompoundLiteral(self, n: c_ast.CompoundLiteral) -> str:
        """(int[]){a, b}, copied to where it outlives the block that it is in"""
        kind, elements = written_type(n.type), f"{{{self.visit(n.init)}}}"
        if kind.length is None:
            return f"LN_ARRAY({kind}, {elements})"
        literal = f"({kind}[{self.visit(kind.length)}]){elements}"
        return f"({kind} *)ln_copy(op_arg, {literal}, sizeof{literal})"

    def visit_FuncCall(self, n: c_ast.FuncCall) -> str:
        function, arguments = self.visit(n.name), [] if n.args is None else n.args.exprs
        at = _MESSAGES.get(function)
        if at is None:
            return super().visit_FuncCall(n)
        texts = *map(self.visit, arguments[:at]), *self.message(arguments[at:])
        return f"{function}({', '.join(texts)})"

    def message(self, message: Sequence[c_ast.Node]) -> list[str]:
        """Return a format and its arguments, each in the type that the format has for it."""
        texts = [self.visit(each) for each in message]
        wanted = [found for found in _DIRECTIVE.finditer(texts[0]) if found[0] != "%%"]
        for index, found in enumerate(wanted, 1):
            kind = static_type(message[index], self.types)
            size = _SIZES.get(found[1] or "", "int")
            expected = "double" if found[2] in "fge" else size
            if found[2] != "s" and isinstance(kind, Arithmetic) and kind.name != expected:
                texts[index] = f"({expected})({texts[index]})"
        return texts

    # Statements.

    def statements(self, statements: Sequence[c_ast.Node]) -> list[str]:
        """Return the lines of statements; what they declare joins the variables."""
        block = super().visit_Compound(c_ast.Compound(list(self._items(statements))))
        return dedent("\n".join(block.splitlines()[1:-1])).splitlines()

    def _items(self, statements: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """Yield statements, and beside them what keeps compilers from warnings."""
        for node in statements:
            if isinstance(node, c_ast.Decl):
                yield node
                yield from self._declared([node])
            elif isinstance(node, _EFFECTS) or _stepped(node) is not None:
                yield node
            else:
                yield c_ast.ID(f"(void)({self.visit(node)})")

    def _declared(self, nodes: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """Add variables, and yield what uses those that nothing reads."""
        for node in nodes:
            if isinstance(node, c_ast.Decl) and node.name is not None:
                self.types[node.name] = type_of(written_type(node.type))
                if node.name not in self.read:
                    yield c_ast.ID(f"(void){node.name}")

    def visit_Compound(self, n: c_ast.Compound) -> str:
        around, self.types = self.types, dict(self.types)
        text = super().visit_Compound(c_ast.Compound(list(self._items(n.block_items or []))))
        self.types = around
        return text

    def visit_If(self, n: c_ast.If) -> str:
        no = n.iffalse
        if no is not None and not isinstance(no, c_ast.If):
            no = _block(no)
        return super().visit_If(c_ast.If(n.cond, _block(n.iftrue), no))

    def visit_For(self, n: c_ast.For) -> str:
        around, self.types = self.types, dict(self.types)
        unread = self._declared(n.init.decls if isinstance(n.init, c_ast.DeclList) else [])
        body = _block(n.stmt, *unread)
        text = super().visit_For(c_ast.For(n.init, n.cond, n.next, body))
        self.types = around
        return text


def _block(node: c_ast.Node, *before: c_ast.Node) -> c_ast.Compound:
    """Return a statement in braces."""
    items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
    return c_ast.Compound([*before, *items])


def _number(node: c_ast.Node) -> float | None:
    """Return the value of a constant number, None for what is none."""
    known = constant(node.type, node.value) if isinstance(node, c_ast.Constant) else None
    return None if known is None or isinstance(known[0], str) else known[0]


def _stepped(node: c_ast.Node) -> c_ast.Node | None:
    """Return what `++` and `--` are of, None for other expressions."""
    if isinstance(node, c_ast.UnaryOp) and node.op.endswith(("++", "--")):
        return node.expr
    return None


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


def _names(nodes: Sequence[c_ast.Node]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables that are read, not only assigned; and those that are set."""
    assigned = [node for node in nodes if isinstance(node, c_ast.Assignment)]
    targets = {id(node.lvalue) for node in assigned if node.op == "="}
    names = [node for node in nodes if isinstance(node, c_ast.ID)]
    changed = [*(node.lvalue for node in assigned), *map(_stepped, nodes)]
    return (
        frozenset(node.name for node in names if id(node) not in targets),
        frozenset(node.name for node in changed if isinstance(node, c_ast.ID)),
    )


@dataclass
class PreRun:
    """Writes the checks of an operator."""

    compiled: CompiledOperator
    body_in_c: BodyInC | None = None
    lines: list[str | Local] = field(default_factory=list[str | Local])
    printer: _Printer = field(init=False)

    def __post_init__(self) -> None:
        operator, syntax = self.compiled.operator, self.compiled.syntax
        texts = [text for text in texts_of(operator) if text.has_statements]
        statements = [each for text in texts for each in syntax.statements(text.code)]
        read, self.set = _names([node for each in statements for node in walk(each)])
        self.printer = _Printer(dict(self.compiled.types), _known_lengths(operator), read)

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
        return self.printer.visit(self.compiled.syntax.expression(code))

    def _check(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        node, message = self.compiled.syntax.check(code)
        condition = self.printer.visit(node)
        if message:
            texts = self.printer.message(message)
            arguments = ", ".join((text_literal(what), condition, *texts))
            self.lines.append(f"ln_opck_holds_msg({arguments});")
            return
        text = text_literal(" ".join(code.text.split()))
        self.lines.append(f'ln_opck_holds({text_literal(what)}, {condition}, "%s", {text});')

    def _custom(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        # Not in braces: a later text may read what this one declares.
        lines = self.printer.statements(self.compiled.syntax.statements(code))
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
