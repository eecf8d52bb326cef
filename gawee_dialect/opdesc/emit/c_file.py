"""Descriptions as a C file: the functions of every operator's life, against `gawee_op.h`.

pre_run is written from the checks; static_run, run, post_run and calc_offset hold the texts of the
description as they are. Where it has equations and no text for `run`, that is made of them.
"""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from xdsl.dialects.builtin import FixedBitwidthType

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.equations.functions import ScalarError
from gawee_dialect.equations.program import Group
from gawee_dialect.equations.sizes import Limit
from gawee_dialect.equations.syntax import (
    Access,
    Conditional,
    Definition,
    Expression,
    Name,
    Range,
    Reduction,
    Wildcard,
    operands,
)
from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.c_parse import require_pycparser
from gawee_dialect.opdesc.c_values import as_realtype, dtype_value
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.description import (
    Operator,
    Param,
    ParamValue,
    Tensor,
    from_text,
    ptype_of,
)
from gawee_dialect.opdesc.emit.c_body import (
    INDENT,
    WHOLE,
    BodyInC,
    CValue,
    Local,
    Numbers,
    identifiers,
    locals_from_private,
    param_c_type,
    param_value,
    private_fields,
    text_literal,
    used_lines,
)
from gawee_dialect.opdesc.pre_run import Checked

HEADER = "gawee_op.h"


def header_text() -> str:
    """Return the header that the files are compiled against."""
    return (Path(__file__).parent / HEADER).read_text()


def c_file(compiled: Sequence[CompiledOperator], source: str) -> str:
    """Return the C file of some operators; `source` is what they were read from."""
    operators = [each for each in compiled if each.operator.autogen]
    texts = _operator_texts(operators)
    names = ", ".join(f"&ln_op_{each.operator.optype}" for each in operators)
    return "\n\n".join(
        [
            f"/* Made from {Path(source).name} by gawee-translate opdesc --emit c. */\n"
            f'#include "{HEADER}"',
            *texts,
            f"const ln_op *const ln_ops[] = {{{names}{', ' if names else ''}NULL}};\n",
        ]
    )


def _operator_texts(operators: Sequence[CompiledOperator]) -> list[str]:
    """Return the text of every operator; raises GaweeError that lists those that have none."""
    texts: list[str] = []
    problems: list[Diagnostic] = []
    for each in operators:
        try:
            texts.append(operator_text(each))
        except ScalarError as error:
            assert each.operator.body is not None  # what the error is about
            message = f"cannot write operator '{each.operator.optype}' as C: {error.message}"
            place = str(each.operator.body.place(error.offset))
            problems.append(Diagnostic(message, place, hint=error.hint))
    if problems:
        raise GaweeError(problems)
    return texts


@dataclass(frozen=True)
class Body:
    """A function of an operator's life whose statements the description holds."""

    name: str
    code: Code | None
    result: str = "void"
    arguments: str = "ln_op_arg *op_arg"
    after: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether the operator has this function."""
        return self.code is not None or bool(self.after)


def bodies(operator: Operator) -> Sequence[Body]:
    """Return the functions after pre_run, in the order of a life; post_run there always is."""
    entry = "ln_op_arg *op_arg, ln_tensor_entry *entry"
    return (
        Body("static_run", operator.static_run),
        Body("run", operator.run),
        Body("post_run", operator.post_run, after=("ln_end(op_arg);",)),
        Body("calc_offset", operator.calc_offset, "size_t", entry),
    )


def private_struct(operator: Operator, body: BodyInC | None = None) -> str:
    """Return the struct of what an operator keeps from pre_run to post_run."""
    made = [] if body is None else [f"ln_tensor *{body.shape(e.tensor)};" for e in body.made()]
    fields = [f"{INDENT}{each}" for each in (*private_fields(operator), *made)]
    fields = fields or [f"{INDENT}int none;"]
    return "\n".join((f"struct {operator.optype}_priv {{", *fields, "};"))


def operator_text(compiled: CompiledOperator) -> str:
    """Return the functions of an operator, and the table that names them."""
    operator = compiled.operator
    require_pycparser(operator.place)
    # Native code of a description has no pre_run: only this needs the generator of C.
    from gawee_dialect.opdesc.emit.c_pre_run import PreRun

    optype = operator.optype
    equations = None if compiled.body is None else BodyInC(compiled, compiled.body)
    checks = [_indented(line) for line in PreRun(compiled, equations).body()]
    doc = f"{optype}: {operator.doc}" if operator.doc else optype
    parts = [
        f"/* {doc.replace('*/', '* /')} */",
        private_struct(operator, equations),
        "\n".join((f"static void {optype}_checks(ln_op_arg *op_arg) {{", *checks, "}")),
        f"static int {optype}_pre_run(ln_op_arg *op_arg) {{\n"
        f"{INDENT}return ln_checked(op_arg, {optype}_checks);\n}}",
    ]
    names = [f"{optype}_pre_run"]
    for body in bodies(operator):
        computed = body.name == "run" and not body.is_there and equations is not None
        names.append(f"{optype}_{body.name}" if body.is_there or computed else "NULL")
        if body.is_there:
            parts.append(body_function(operator, body))
        elif computed and equations is not None:
            parts.append(run_function(equations))
    values = ", ".join((text_literal(optype), text_literal(operator.arch), *names))
    return "\n\n".join((*parts, f"const ln_op ln_op_{optype} = {{{values}}};"))


def run_function(equations: BodyInC) -> str:
    """Return `run` as the equations of the body say it."""
    head = f"static void {equations.compiled.operator.optype}_run(ln_op_arg *op_arg) {{"
    return "\n".join((head, *(_indented(line) for line in run_lines(equations)), "}"))


def body_function(operator: Operator, body: Body, *, located: bool = False) -> str:
    """Return the function of a body: the variables that occur in its text, then the text.

    With `located`, a compiler's messages are about lines of the description.
    """
    lines = _body_lines(operator, body.code, located=located)
    read = identifiers(" ".join((*lines, *body.after)))
    unused = [
        f"(void){name};"
        for name in ("op_arg", "entry")
        if f"*{name}" in body.arguments and name not in read
    ]
    head = f"static {body.result} {operator.optype}_{body.name}({body.arguments}) {{"
    inside = (*unused, *lines, *body.after)
    return "\n".join((head, *(line if located else _indented(line) for line in inside), "}"))


def _indented(line: str) -> str:
    return f"{INDENT}{line}" if line else ""


def _body_lines(operator: Operator, code: Code | None, *, located: bool) -> list[str]:
    """Return a text in braces, after the variables that occur in it."""
    if code is None:
        return []
    if not code.text.strip():
        return ["/* nothing is computed */"]
    names = identifiers(code.text)
    needed = [local.text() for local in locals_from_private(operator) if local.name in names]
    if needed or "priv" in names:
        needed.insert(0, f"struct {operator.optype}_priv *priv = op_arg->priv;")
    text = (
        _located_lines(code) if located else map(_indented, dedent(code.text).strip().splitlines())
    )
    return [*needed, "{", *text, "}"]


def _located_lines(code: Code) -> Iterator[str]:
    """Yield the lines of a text, each in its place of the file that it is from."""
    index, expected = 0, -1
    for text in code.text.splitlines(keepends=True):
        file, line, column = str(code.place(index)).rsplit(":", 2)
        if int(line) != expected:
            yield f"#line {line} {text_literal(file)}"
        yield " " * (int(column) - 1) + text.rstrip("\r\n")
        index, expected = index + len(text), int(line) + 1
    yield '#line 1 "the function around it"'


_NEUTRAL = {"sum": "0", "prod": "1", "any": "false", "all": "true"}
_LIMITS = {("max", True): "INT64_MIN", ("min", True): "INT64_MAX"} | {
    ("max", False): "-INFINITY",
    ("min", False): "INFINITY",
}


def run_lines(body: BodyInC) -> Sequence[str]:
    """Return the statements of `run`."""
    lines: list[str | Local] = list(_variables(body))
    for group in body.body.program.groups:
        lines += _group(body, group)
    return used_lines(lines)


def _variables(body: BodyInC) -> Iterator[Local]:
    operator = body.compiled.operator
    yield Local(f"struct {operator.optype}_priv *", "priv", "op_arg->priv")
    for param in operator.params:
        entry = f"priv->{param.arg_name}_entry"
        yield Local(param_c_type(param), param.arg_name, param_value(param, entry))
    for name in body.body.program.inputs:
        yield Local("const ln_tensor *", name, f"priv->{name}_entry->tensor")
        yield Local(f"const {body.stored(name)} *", data(body, name), f"{name}->data")
    outputs = body.body.program.outputs
    for definition in body.body.program.definitions:
        name = definition.tensor
        made = body.shape(name)
        place = f"priv->{name}_entry->tensor" if name in outputs else f"priv->{made}"
        yield Local("const ln_tensor *", made, place)
        yield Local(f"{body.stored(name)} *", data(body, name), f"{made}->data")


def data(body: BodyInC, tensor: str) -> str:
    """Return the variable of the data of a tensor."""
    return body.names.of("data", tensor, f"{tensor}_data")


def _group(body: BodyInC, group: Group) -> Iterator[str | Local]:
    """Yield the loops of equations that are computed together."""
    for definition in group.definitions:
        yield from body.extents(body.body.plans[definition.tensor])
    if group.along is None:
        (definition,) = group.definitions
        yield from _Equation(body, definition).lines_of(definition.ranges)
        return
    step = body.names.of("index", group.along, group.along)
    count = body.extent(group.definitions[0], group.along)
    if group.backward:
        yield f"for ({WHOLE} {step} = {count} - 1; {step} >= 0; {step}--) {{"
    else:
        yield f"for ({WHOLE} {step} = 0; {step} < {count}; {step}++) {{"
    for definition in group.definitions:
        ranges = [
            each
            for each in definition.ranges
            if isinstance(each, Wildcard) or each.index != group.along
        ]
        lines = _Equation(body, definition).lines_of(ranges)
        yield from (INDENT + line for line in lines)
    yield "}"


@dataclass
class _Equation:
    """Prints one equation, line by line."""

    body: BodyInC
    definition: Definition
    lines: list[str] = field(default_factory=list[str])
    depth: int = 0
    places: dict[int, CValue] = field(default_factory=dict[int, CValue])
    """The subscripts that have a variable, by identity."""
    sure: set[int] = field(default_factory=set[int])
    """The accesses that are known to be inside of their tensor here, by identity."""

    def lines_of(self, ranges: Sequence[Range | Wildcard]) -> Sequence[str]:
        """Return the loops over the indices of what is defined."""
        definition = self.definition
        for each in ranges:
            self.open_loop(each)
        name = definition.tensor
        value = self.numbers().text(definition.value, self.body.stored(name))
        own: list[Expression | Wildcard] = [
            each if isinstance(each, Wildcard) else Name(each.offset, each.index)
            for each in definition.ranges
        ]
        address = self.address(Access(definition.offset, name, own))
        self.add(f"{data(self.body, name)}[{address}] = {value};")
        for _ in ranges:
            self.close()
        return self.lines

    def add(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    def open_loop(self, each: Range | Wildcard) -> None:
        index = "..." if isinstance(each, Wildcard) else each.index
        name = self.index(index)
        extent = self.body.extent(self.definition, index)
        self.add(f"for ({WHOLE} {name} = 0; {name} < {extent}; {name}++) {{")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.add("}")

    def index(self, index: str) -> str:
        """Return the variable of an index."""
        return self.body.names.of("index", index, "rest" if index == "..." else index)

    def numbers(self) -> "_Elements":
        return _Elements(self)

    # Elements.

    def address(self, access: Access) -> str:
        """Return the position of an element in its tensor, row by row."""
        subscripts = access.subscripts
        text, wild = "", False
        for axis, each in enumerate(subscripts):
            if isinstance(each, Wildcard):
                wild = True
                size = self.body.extent(self.definition, "...")
                place = CValue(self.index("..."), 9, WHOLE)
            else:
                size = self.body.axis_size(access.tensor, axis - len(subscripts) if wild else axis)
                place = self.place(each)
            if text:
                text = f"({text})" if " + " in text else text
                text = f"{text} * {size} + {place.inside(4)}"
            else:
                text = place.text
        return text or "0"

    def place(self, subscript: Expression) -> CValue:
        """Return a subscript, in a variable where it is more than an index."""
        if isinstance(subscript, Name):
            return self.numbers().value(subscript)
        if id(subscript) not in self.places:
            value = self.numbers().text(subscript, WHOLE)
            name = self.body.names.fresh("at")
            self.add(f"const {WHOLE} {name} = {value};")
            self.places[id(subscript)] = CValue(name, 9, WHOLE)
        return self.places[id(subscript)]

    def bounds(self, access: Access) -> list[str]:
        """Return the conditions under which an access is inside of its tensor."""
        found: list[str] = []
        wild = False
        plan = self.body.body.plans[self.definition.tensor]
        for axis, each in enumerate(access.subscripts):
            if isinstance(each, Wildcard):
                wild = True
                continue
            if isinstance(each, Name) and plan.origin(each.name) is not None:
                limited = isinstance(plan.origin(each.name), Limit)
                if not limited or access.otherwise is None:
                    continue
            size = self.body.axis_size(
                access.tensor, axis - len(access.subscripts) if wild else axis
            )
            place = self.place(each).text
            found.append(f"{place} >= 0 && {place} < {size}")
        return found

    def inside(self, node: Expression) -> list[str]:
        """Return the conditions under which an expression reads inside of tensors."""
        match node:
            case Reduction():
                return []
            case Access() if node.otherwise is not None:
                return []
            case Access():
                nested = [e for e in node.subscripts if not isinstance(e, Wildcard)]
                found = [text for each in nested for text in self.inside(each)]
                self.sure.add(id(node))
                return [*found, *self.bounds(node)]
            case Conditional():
                before = set(self.sure)
                branches = [" && ".join(self.inside(each)) for each in (node.yes, node.no)]
                self.sure = before
                found = self.inside(node.condition)
                if any(branches):
                    yes, no = (each or "true" for each in branches)
                    condition = self.numbers().value(node.condition).inside(1)
                    found.append(f"({condition} ? {yes} : {no})")
                return found
            case _:
                return [text for each in operands(node) for text in self.inside(each)]

    @contextmanager
    def block(self) -> Generator[None]:
        """Keep what is known of subscripts to the loops in between."""
        places, sure = dict(self.places), set(self.sure)
        yield
        self.places, self.sure = places, sure

    def reduction(self, node: Reduction, type: str) -> CValue:
        """Print the loops of a reduction; return the variable of its value."""
        kind = node.kind
        wide = "double" if kind == "sum" and type == "float" else type
        name = self.body.names.fresh(kind)
        neutral = _NEUTRAL.get(kind) or _LIMITS[kind, type == WHOLE]
        self.add(f"{wide} {name} = {neutral};")
        with self.block():
            for each in node.ranges:
                self.open_loop(each)
            if node.condition is not None:
                condition = self.numbers().text(node.condition)
                self.add(f"if (!({condition})) continue;")
            conditions = list(dict.fromkeys(self.inside(node.term)))
            if conditions:
                self.add(f"if (!({' && '.join(conditions)})) continue;")
            term = self.numbers().cast(node.term, type)
            self.add(_accumulated(kind, name, term, type))
        for _ in node.ranges:
            self.close()
        value = CValue(name, 9, wide)
        return self.numbers().as_type(value, type)


def _accumulated(kind: str, name: str, term: CValue, type: str) -> str:
    if kind in ("sum", "prod"):
        return f"{name} {'+' if kind == 'sum' else '*'}= {term.text};"
    if kind in ("any", "all"):
        return f"{name} = {name} {'||' if kind == 'any' else '&&'} {term.inside(3)};"
    suffix = "_int" if type == WHOLE else ""
    return f"{name} = ln_{kind}{suffix}({name}, {term.text});"


class _Elements(Numbers):
    """Prints expressions with elements and reductions, whose loops go before."""

    def __init__(self, equation: _Equation) -> None:
        super().__init__(equation.body, equation.definition, "float")
        self.equation = equation

    def index(self, name: str) -> str | None:
        plan = self.body.body.plans[self.equation.definition.tensor]
        return None if plan.origin(name) is None else self.equation.index(name)

    def value(self, node: Expression) -> CValue:
        match node:
            case Access():
                return self.access(node)
            case Reduction():
                return self.equation.reduction(node, self.type_of(node))
            case _:
                return super().value(node)

    def access(self, node: Access) -> CValue:
        """Return an element; outside of the tensor `else`, or 0."""
        equation, body = self.equation, self.equation.body
        conditions = [] if id(node) in equation.sure else equation.bounds(node)
        text = f"{data(body, node.tensor)}[{equation.address(node)}]"
        type = self.computed(node, body.typing.elements[node.tensor])
        stored = CValue(text, 9, body.stored(node.tensor))
        found = self.as_type(stored, type)
        if not conditions:
            return found
        otherwise = "0" if node.otherwise is None else self.cast(node.otherwise, type).inside(0)
        return CValue(f"{' && '.join(conditions)} ? {found.text} : {otherwise}", 0, type)


# One use of an operator as a C function of pointers: what a compiled network calls.
#
# A call is a whole life of the operator, from what pre_run has made of the description: static_run,
# run, post_run. Nothing is kept between calls, so that they may run at the same time.


SYMBOL_PREFIX = "gawee_native_"


@dataclass(frozen=True)
class Instance:
    """A C function of one use of an operator: its symbol, and the file that defines it."""

    symbol: str
    source: str


def instance_of(op: DescribedOp) -> Instance:
    """Return the C function of an op that verifies and whose description has a `run`.

    It takes pointers to the data of the inputs, then to that of the outputs, in the order of the
    description. An output that is in the memory of an input is in that of a copy of it.
    """
    compiled = op.description()
    operator, checked = compiled.operator, op.checked()
    lines = list(_call(op, checked))
    functions = [
        body_function(operator, each, located=True) for each in bodies(operator) if each.is_there
    ]
    file = [f'#include "{HEADER}"', private_struct(operator), *functions]
    digest = hashlib.sha256("\n".join((*file, *lines)).encode()).hexdigest()[:12]
    symbol = f"{SYMBOL_PREFIX}{operator.optype}_{digest}"
    arguments = ", ".join(
        [f"const void *{each.arg_name}_data" for each in operator.tensors_in]
        + [f"void *{each.arg_name}_data" for each in operator.tensors_out]
    )
    head = f"void {symbol}({arguments or 'void'}) {{"
    function = "\n".join((head, *(f"{INDENT}{line}" for line in lines), "}"))
    return Instance(symbol, "\n\n".join((*file, function)) + "\n")


def _tensors(op: DescribedOp, checked: Checked) -> Sequence[Tensor]:
    operator = op.description().operator
    types = [tensor_type(each) for each in op.operands]
    inputs = [
        Tensor(described.arg_name, type.element_type, type.get_shape(), described.mtype.text)
        for described, type in zip(operator.tensors_in, types, strict=True)
    ]
    return (*inputs, *checked.outputs)


def _call(op: DescribedOp, checked: Checked) -> Iterator[str]:
    """Yield the statements of a call."""
    compiled = op.description()
    operator = compiled.operator
    optype = operator.optype
    for tensor in _tensors(op, checked):
        data = tensor_data(tensor, f"(void *){tensor.name}_data")
        yield f"ln_tensor {tensor.name}_tensor = {data};"
        entry = entry_data(tensor, f"&{tensor.name}_tensor")
        yield f"ln_tensor_entry {tensor.name}_entry = {entry};"
    for param in operator.params:
        data = param_data(param.arg_name, checked.params[param.arg_name], param)
        yield f"ln_param_entry {param.arg_name}_entry = {data};"
    fields = ", ".join(f".{name}_entry = &{name}_entry" for name in operator.arg_names())
    yield f"struct {optype}_priv priv = {{{fields or '0'}}};"
    yield "ln_tensor_table table = {NULL, 0, 0};"
    name = text_literal(optype)
    names = f".name = {name}, .optype = {name}"
    yield f"ln_op_arg op_arg = {{{names}, .table = &table, .priv = &priv}};"
    yield from _shared(op, checked)
    if operator.static_run is not None:
        yield f"{optype}_static_run(&op_arg);"
    if operator.run is not None:
        yield f"{optype}_run(&op_arg);"
    for described, output in zip(operator.tensors_out, checked.outputs, strict=True):
        if described.arg_name in compiled.owners:
            size = f"{output.len} * {_size(output)}"
            place = described.arg_name
            yield f"memcpy({place}_data, {place}_tensor.data, {size});"
    yield f"{optype}_post_run(&op_arg);"


def _shared(op: DescribedOp, checked: Checked) -> Iterator[str]:
    """Yield what puts outputs into the memory of a copy of their owner."""
    compiled = op.description()
    tensors = {tensor.name: tensor for tensor in _tensors(op, checked)}
    for name in dict.fromkeys(compiled.owners.values()):
        size = f"{tensors[name].len} * {_size(tensors[name])}"
        yield f"{name}_tensor.data = ln_copy(&op_arg, {name}_data, {size});"
    for output, owner in compiled.owners.items():
        offset = "0"
        if compiled.operator.calc_offset is not None:
            offset = f"{compiled.operator.optype}_calc_offset(&op_arg, &{output}_entry)"
        yield f"{output}_tensor.data = (char *){owner}_tensor.data + {offset};"


def _size(tensor: Tensor) -> int:
    """Return the bytes of an element, as the format stores it."""
    assert isinstance(tensor.element, FixedBitwidthType)  # the format has no other
    return tensor.element.size


def tensor_data(tensor: Tensor, data: str = "NULL") -> str:
    """Return the initializer of an `ln_tensor`."""
    dims = f"(int[]){{{', '.join(map(str, tensor.shape)) or '0'}}}"
    return f"{{{len(tensor.shape)}, {tensor.len}, {dims}, {dtype_value(tensor)}, {data}}}"


def entry_data(tensor: Tensor, address: str) -> str:
    """Return the initializer of an `ln_tensor_entry` of the tensor at an address."""
    fields = [
        text_literal(tensor.name),
        address,
        str(int(bool(tensor.static))),
        tensor.mtype or "LN_MEM_NONE",
        "NULL" if tensor.owner is None else text_literal(tensor.owner),
        "0",
        "NULL" if tensor.creator is None else text_literal(tensor.creator),
    ]
    return f"{{{', '.join(fields)}}}"


def param_data(arg_name: str, value: ParamValue, param: Param | None = None) -> str:
    """Return the initializer of an `ln_param_entry`.

    `param` says by which function a string becomes a number; pre_run does that by itself. An array
    holds one kind of value, and at least one.
    """
    fields = [f".arg_name = {text_literal(arg_name)}", f".type = {ptype_of(value)}"]
    if isinstance(value, tuple):
        fields += [f".array_len = {len(value)}", *_array(value)]
    elif isinstance(value, str):
        fields.append(f".value_string = {text_literal(value)}")
    elif value is not None:
        fields += [f".value_{kind} = {_number(value, kind)}" for kind in ("double", "float", "int")]
        fields.append(f".value_bool = {int(bool(value))}")
    if param is not None and param.from_func is not None:
        texts = value if isinstance(value, tuple) else (value,)
        numbers = [str(from_text(param.from_func.text, str(each))) for each in texts]
        array = f".value_array_int = (int[]){{{', '.join(numbers)}}}"
        fields.append(array if isinstance(value, tuple) else f".value_int = {numbers[0]}")
    return f"{{{', '.join(fields)}}}"


def _array(values: Sequence[bool | int | float | str]) -> Iterator[str]:
    if isinstance(values[0], str):
        texts = ", ".join(text_literal(str(each)) for each in values)
        yield f".value_array_string = (char *[]){{{texts}}}"
    elif isinstance(values[0], bool):
        yield f".value_array_bool = (int[]){{{', '.join(str(int(bool(each))) for each in values)}}}"
    else:
        for kind in ("double", "float", "int"):
            elements = ", ".join(_number(each, kind) for each in values)
            yield f".value_array_{kind} = ({kind}[]){{{elements}}}"


def _number(value: bool | float | str, kind: str) -> str:
    assert not isinstance(value, str)  # arrays hold one kind of value
    number = as_realtype(value, kind)
    return f"(-{-number - 1} - 1)" if kind == "int" and number < 0 else repr(number)
