"""Read operator descriptions: JSON, easy JSON or operator text; every problem at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.located_json import (
    MAX_CHARACTERS,
    MAX_NAME,
    MAX_PROBLEMS,
    Code,
    Fields,
    Items,
    Node,
    Scalar,
    decode_easy_json,
)
from gawee_dialect.opdesc.compiled import CompiledOperator, compile_operators
from gawee_dialect.opdesc.description import (
    ARCHS,
    DEFAULT_DIALECT,
    DTYPES,
    FROM_FUNCS,
    MTYPES,
    PTYPES,
    REALTYPES,
    Bound,
    ExtraPrivate,
    Named,
    Operator,
    Param,
    TensorIn,
    TensorOut,
)
from gawee_dialect.opdesc.mlir_body import check_mlir_body
from gawee_dialect.opdesc.op_text import MAX_OPERATORS, decode_op_text, is_op_text
from gawee_dialect.source import Place, Source

MAX_ARGUMENTS = 64
"""Inputs, outputs, parameters or checks: each kind of an operator."""

MAX_DOC = 20_000
"""Characters of what is written for readers."""


@dataclass
class FieldReader:
    """Reads the fields of one object; problems are collected under the name of what it is."""

    fields: Fields
    what: str
    source: Source
    problems: list[Diagnostic]
    known: Sequence[str] = field(default=())
    has_body: bool = False
    """Whether the operator has a body in index notation, which says what else fields must."""

    def check_known(self) -> None:
        """Report every field that is none of the known ones."""
        if len(self.fields.fields) > MAX_ARGUMENTS:
            count = len(self.fields.fields)
            self.report(f"expected at most {MAX_ARGUMENTS} fields, got {count}")
            return
        for key in self.fields.fields:
            if len(key) > MAX_NAME:
                message = f"expected a field's name of at most {MAX_NAME} characters"
                self.report(f"{message}, got {len(key)}", self.fields.keys.get(key))
            elif key not in self.known:
                hint = did_you_mean(key, self.known, f"fields: {', '.join(self.known)}")
                self.report(f"unknown field '{key}'", self.fields.keys.get(key), hint)

    def report(self, message: str, offset: int | None = None, hint: str | None = None) -> None:
        """Add a problem, at the object where no offset is given."""
        at = self.fields.offset if offset is None else offset
        text = f"{self.what}: {message}"
        self.problems.append(Diagnostic(text, self.source.place(at), hint=hint))

    def has(self, key: str) -> bool:
        """Whether a field is there."""
        return key in self.fields.fields

    def _scalar(self, key: str, kinds: tuple[type, ...], expected: str) -> Scalar | None:
        node = self.fields.fields.get(key)
        if node is None:
            return None
        if isinstance(node, Scalar) and type(node.value) in kinds:
            return node
        self.report(f"expected '{key}' to be {expected}, got {kind_of(node)}", node.offset)
        return None

    def text(self, key: str, *, required: bool = False, longest: int = MAX_NAME) -> Named | None:
        """Read a string; reports one that is too long, or is required and not there."""
        if required and not self.has(key):
            self.report(f"expected a field '{key}', got none")
        node = self._scalar(key, (str,), "a string")
        if node is None:
            return None
        if not self._is_short(key, node, longest):
            return None
        return Named(str(node.value), Place(self.source, node.offset))

    def _is_short(self, key: str, node: Scalar, longest: int) -> bool:
        length = len(str(node.value))
        if length > longest:
            message = f"expected '{key}' of at most {longest} characters, got {length}"
            self.report(message, node.offset)
        return length <= longest

    def one_of(self, key: str, names: Iterable[str], *, required: bool = False) -> Named | None:
        """Read a string that is one of some names."""
        found = self.text(key, required=required)
        if found is not None and found.text not in (known := tuple(names)):
            hint = did_you_mean(found.text, known, f"{key}: {', '.join(known)}")
            self.report(f"unknown {key} '{found.text}'", found.place.offset, hint)
            return None
        return found

    def boolean(self, key: str) -> bool | None:
        """Read true or false."""
        node = self._scalar(key, (bool,), "true or false")
        return None if node is None else bool(node.value)

    def code(self, key: str, *, number: bool = False, longest: int = MAX_CHARACTERS) -> Code | None:
        """Read C text, with `number` also a number that stands for itself."""
        if number:
            node = self._scalar(key, (str, int, float), "a number or a C expression")
        else:
            node = self._scalar(key, (str,), "a string")
        if node is None or not self._is_short(key, node, longest):
            return None
        return self._as_code(node)

    def _as_code(self, node: Scalar) -> Code:
        return Code(str(node.value), self.source, node)

    def codes(self, key: str) -> tuple[Code, ...]:
        """Read an array of numbers and C expressions."""
        node = self.fields.fields[key]
        assert isinstance(node, Items)
        found: list[Code] = []
        for item in node.items[: MAX_ARGUMENTS + 1]:
            if isinstance(item, Scalar) and type(item.value) in (str, int):
                found.append(self._as_code(item))
            else:
                message = f"expected '{key}' to hold numbers and C expressions, got {kind_of(item)}"
                self.report(message, item.offset)
        return tuple(found)

    def objects(self, key: str, *, required: bool = False) -> list[Fields]:
        """Read an array of objects."""
        node = self.fields.fields.get(key)
        if node is None:
            if required:
                self.report(f"expected a field '{key}', got none")
            return []
        if not isinstance(node, Items):
            self.report(f"expected '{key}' to be an array, got {kind_of(node)}", node.offset)
            return []
        if len(node.items) > MAX_ARGUMENTS:
            message = f"expected '{key}' to have at most {MAX_ARGUMENTS} elements"
            self.report(f"{message}, got {len(node.items)}", node.offset)
            return []
        found = [item for item in node.items if isinstance(item, Fields)]
        for item in node.items:
            if not isinstance(item, Fields):
                message = f"expected '{key}' to hold objects, got {kind_of(item)}"
                self.report(message, item.offset)
        return found

    def checks(self) -> tuple[Code, ...]:
        """Read `checks`, an array of objects of one field `check`."""
        found: list[Code] = []
        for element in self.objects("checks"):
            inner = self.inside(element, self.what, ("check",))
            if not inner.has("check"):
                inner.report("expected an element of 'checks' to have a field 'check', got none")
            code = inner.code("check")
            if code is not None:
                found.append(code)
        return tuple(found)

    def inside(self, fields: Fields, what: str, known: Sequence[str]) -> "FieldReader":
        """Return a reader of an object inside this one."""
        inner = FieldReader(fields, what, self.source, self.problems, known, self.has_body)
        inner.check_known()
        return inner


def kind_of(node: Node) -> str:
    """Return what messages call a value."""
    if isinstance(node, Fields):
        return "an object"
    if isinstance(node, Items):
        return "an array"
    if isinstance(node.value, str):
        return "a string"
    if isinstance(node.value, bool):
        return str(node.value).lower()
    if isinstance(node.value, int | float):
        return f"the number {node.value}" if abs(node.value) < 1e9 else "a number"
    return "null" if node.value is None else "'-'"


RELATIONS = ("eq", "gt", "ge", "lt", "le", "ne")
"""In the order in which they are checked."""


_OPERATOR_FIELDS = (
    *("optype", "author", "arch", "tensors_in", "tensors_out", "params", "autogen", "extra_privs"),
    *("checks", "custom", "static_run", "run", "post_run", "calc_offset", "variable_length"),
    *("body", "mlir", "doc"),
)
_INPUT_FIELDS = (
    *("arg_name", "mtype", "ndim", "dims", "len", "dtype", "sametype", "sameshape", "static"),
    *("check", "checks", "custom"),
)
_OUTPUT_FIELDS = (
    *("arg_name", "mtype", "ndim", "dims", "len", "dtype", "owner", "static", "custom"),
    "cleanup",
)
_PARAM_FIELDS = (
    *("arg_name", "ptype", "realtype", "from_func", "len", *RELATIONS, "check", "checks"),
    "custom",
)


@dataclass(frozen=True)
class DescriptionFile:
    """What a file describes: operators, and the dialect that their ops are in."""

    name: str
    text: str = field(repr=False)
    dialect: str
    operators: Sequence[CompiledOperator]


def _argument(reader: FieldReader, fields: Fields, kind: str, known: Sequence[str]) -> FieldReader:
    """Return a reader of an input, output or parameter, whose name goes into its messages."""
    what = f"{reader.what}, {_named(kind, fields, 'arg_name')}"
    return reader.inside(fields, what, known)


def _named(kind: str, fields: Fields, key: str) -> str:
    """Return what messages call an object: its kind, and its name where it has one."""
    name = fields.fields.get(key)
    if isinstance(name, Scalar) and isinstance(name.value, str) and len(name.value) <= MAX_NAME:
        return f"{kind} '{name.value}'"
    return kind


def _arg_name(reader: FieldReader) -> Named:
    name = reader.text("arg_name", required=True)
    if name is None:
        return Named("", Place(reader.source, reader.fields.offset))
    if not name.text.isidentifier() or not name.text.isascii():
        reader.report("expected 'arg_name' to be a C identifier", name.place.offset)
    return name


def _input(reader: FieldReader) -> TensorIn | None:
    name = _arg_name(reader)
    mtype = reader.one_of("mtype", MTYPES, required=True)
    tensor = TensorIn(
        name.text,
        name.place,
        mtype or name,
        ndim=reader.code("ndim", number=True),
        len=reader.code("len", number=True),
        dtype=reader.one_of("dtype", DTYPES),
        sametype=reader.text("sametype"),
        sameshape=reader.text("sameshape"),
        static=reader.boolean("static"),
        check=reader.code("check"),
        checks=reader.checks(),
        custom=reader.code("custom"),
    )
    return None if mtype is None else tensor


def _output(reader: FieldReader) -> TensorOut | None:
    name = _arg_name(reader)
    mtype = reader.one_of("mtype", MTYPES, required=True)
    custom = reader.code("custom")
    if custom is None and not reader.has_body:
        for key in ("ndim", "dims", "dtype"):
            if not reader.has(key):
                reader.report(f"expected a field '{key}', or 'custom' that sets it, got none")
    listed = isinstance(reader.fields.fields.get("dims"), Items)
    tensor = TensorOut(
        name.text,
        name.place,
        mtype or name,
        ndim=reader.code("ndim", number=True),
        dims=reader.codes("dims") if listed else reader.code("dims"),
        dtype=reader.code("dtype"),
        owner=reader.code("owner", longest=MAX_NAME),
        static=reader.boolean("static") or False,
        custom=custom,
        cleanup=reader.code("cleanup"),
    )
    return None if mtype is None else tensor


def _param(reader: FieldReader) -> Param | None:
    name = _arg_name(reader)
    ptype = reader.one_of("ptype", PTYPES, required=True)
    bounds = [
        Bound(relation, code)
        for relation in RELATIONS
        if (code := reader.code(relation, number=True)) is not None
    ]
    param = Param(
        name.text,
        name.place,
        ptype or name,
        realtype=reader.text("realtype"),
        from_func=reader.one_of("from_func", FROM_FUNCS),
        len=reader.code("len", number=True),
        bounds=bounds,
        check=reader.code("check"),
        checks=reader.checks(),
        custom=reader.code("custom"),
    )
    if ptype is None:
        return None
    _check_param(reader, param)
    return param


def _check_param(reader: FieldReader, param: Param) -> None:
    """Report fields that the kind of a parameter requires, or has no use for."""
    if param.kind == "NUMBER":
        if param.realtype is None:
            reader.report(f"expected a field 'realtype' beside {param.ptype.text}, got none")
        else:
            reader.one_of("realtype", REALTYPES)
    elif param.bounds:
        relation = param.bounds[0].relation
        message = f"expected no '{relation}' beside {param.ptype.text}, which has no order"
        reader.report(message, reader.fields.keys.get(relation))
    if param.kind == "STRING":
        if param.realtype is not None and not reader.has("from_func"):
            reader.report("expected a field 'from_func' beside 'realtype' of a string, got none")
        elif param.realtype is not None and param.realtype.text != "int":
            reader.report("expected 'realtype' of a string to be int, which 'from_func' returns")
    elif param.from_func is not None:
        reader.report(f"expected no 'from_func' beside {param.ptype.text}, it is for strings")
    if param.len is not None and not param.is_array:
        reader.report(f"expected no 'len' beside {param.ptype.text}, which is no array")


def _operator(reader: FieldReader) -> Operator | None:
    before = len(reader.problems)
    needed = not reader.has_body  # what a body says need not be said again
    optype = reader.text("optype", required=True)
    author = reader.text("author", required=needed)
    arch = reader.one_of("arch", ARCHS, required=needed)
    if optype is not None:
        _check_optype(reader, optype, arch)
    operator = Operator(
        "" if optype is None else optype.text,
        Place(reader.source, reader.fields.offset if optype is None else optype.place.offset),
        "" if author is None else author.text,
        "none" if arch is None else arch.text,
        tensors_in=_all(reader, "tensors_in", "input", _INPUT_FIELDS, _input),
        tensors_out=_all(reader, "tensors_out", "output", _OUTPUT_FIELDS, _output),
        params=_all(reader, "params", "param", _PARAM_FIELDS, _param),
        autogen=reader.boolean("autogen") is not False,
        extra_privs=_extra_privs(reader),
        checks=reader.checks(),
        custom=reader.code("custom"),
        static_run=reader.code("static_run"),
        run=reader.code("run"),
        post_run=reader.code("post_run"),
        calc_offset=reader.code("calc_offset"),
        body=reader.code("body"),
        mlir=reader.code("mlir"),
        doc=None if (doc := reader.text("doc", longest=MAX_DOC)) is None else doc.text,
    )
    return operator if len(reader.problems) == before else None


def _check_optype(reader: FieldReader, optype: Named, arch: Named | None) -> None:
    if not optype.text.isidentifier() or not optype.text.isascii():
        reader.report("expected 'optype' to be a C identifier", optype.place.offset)
    elif arch is not None and arch.text != "none" and not _bears(optype.text, arch.text):
        message = f"expected 'optype' to end in '_{arch.text}', its arch, got '{optype.text}'"
        reader.report(message, optype.place.offset)


T = TypeVar("T", TensorIn, TensorOut, Param)


def _all(
    reader: FieldReader,
    key: str,
    kind: str,
    known: Sequence[str],
    read: Callable[[FieldReader], T | None],
) -> tuple[T, ...]:
    objects = reader.objects(key, required=not reader.has_body)
    readers = [_argument(reader, each, kind, known) for each in objects]
    return tuple(made for each in readers if (made := read(each)) is not None)


def _extra_privs(reader: FieldReader) -> tuple[ExtraPrivate, ...]:
    found: list[ExtraPrivate] = []
    for element in reader.objects("extra_privs"):
        inner = reader.inside(element, f"{reader.what}, extra_privs", ("type", "name"))
        type_, name = inner.text("type", required=True), inner.text("name", required=True)
        if type_ is not None and name is not None:
            found.append(ExtraPrivate(type_.text, name.text))
    return tuple(found)


def _check_names(operator: Operator, problems: list[Diagnostic]) -> None:
    """Report argument names that occur twice, and references to no earlier input."""
    seen: set[str] = set()
    for argument in (*operator.tensors_in, *operator.tensors_out, *operator.params):
        if argument.arg_name in seen:
            message = f"expected arguments to differ, got '{argument.arg_name}' twice"
            problems.append(_problem(operator, message, argument.place))
        seen.add(argument.arg_name)
    earlier: list[str] = []
    for tensor in operator.tensors_in:
        for key, other in (("sametype", tensor.sametype), ("sameshape", tensor.sameshape)):
            if other is not None and other.text not in earlier:
                message = (
                    f"input '{tensor.arg_name}': expected '{key}' to name an earlier input, "
                    f"got '{other.text}'"
                )
                hint = did_you_mean(other.text, earlier, "inputs are checked in their order")
                problems.append(_problem(operator, message, other.place, hint))
        earlier.append(tensor.arg_name)


def _problem(operator: Operator, message: str, place: Place, hint: str | None = None) -> Diagnostic:
    return Diagnostic(f"operator '{operator.optype}': {message}", str(place), hint=hint)


def _operator_objects(
    root: Node, source: Source, problems: list[Diagnostic]
) -> tuple[list[Fields], str]:
    """Return the operators of a JSON text, and the name of the dialect that they are in."""
    if not isinstance(root, Fields):
        message = f"expected an operator description, an object, got {kind_of(root)}"
        raise GaweeError(Diagnostic(message, source.place(root.offset)))
    if "ops" not in root.fields:
        return [root], DEFAULT_DIALECT
    reader = FieldReader(root, "description file", source, problems, ("ops", "dialect"))
    reader.check_known()
    dialect = reader.text("dialect")
    if dialect is not None and not (dialect.text.isidentifier() and dialect.text.isascii()):
        reader.report("expected 'dialect' to be an identifier", dialect.place.offset)
    ops = root.fields["ops"]
    if isinstance(ops, Items) and len(ops.items) > MAX_OPERATORS:
        reader.report(f"expected at most {MAX_OPERATORS} operators, got {len(ops.items)}")
        return [], DEFAULT_DIALECT
    if not isinstance(ops, Items):
        reader.report(f"expected 'ops' to be an array, got {kind_of(ops)}", ops.offset)
        return [], DEFAULT_DIALECT
    found = [item for item in ops.items if isinstance(item, Fields)]
    for item in ops.items:
        if not isinstance(item, Fields):
            reader.report(f"expected 'ops' to hold objects, got {kind_of(item)}", item.offset)
    return found, DEFAULT_DIALECT if dialect is None else dialect.text


def _decoded(
    text: str, name: str, problems: list[Diagnostic]
) -> tuple[Sequence[Fields], str, Source]:
    if is_op_text(text):
        blocks, dialect, source = decode_op_text(text, name)
        objects = [_with_optype(block, fields) for block, fields in blocks.items()]
        return objects, dialect or DEFAULT_DIALECT, source
    root, source = decode_easy_json(text, name)
    objects, dialect = _operator_objects(root, source, problems)
    return objects, dialect, source


def _with_optype(block: str, fields: Fields) -> Fields:
    """Return an operator that has its block's name for a type, where a body is all that it says."""
    if "optype" in fields.fields or "body" not in fields.fields:
        return fields
    return replace(fields, fields={"optype": Scalar(block, fields.offset), **fields.fields})


def parse_descriptions(text: str, name: str) -> DescriptionFile:
    """Read the descriptions of a text.

    Raises GaweeError that lists every problem of the text: fields that are missing, unknown or of
    the wrong kind, names outside of the tables of the format, references to nothing; and, where
    these are all right, every C text that cannot be understood.
    """
    problems: list[Diagnostic] = []
    objects, dialect, source = _decoded(text, name, problems)
    operators: list[Operator] = []
    seen: set[str] = set()
    for fields in objects:
        if len(problems) >= MAX_PROBLEMS:
            break
        what = _named("operator", fields, "optype")
        has_body = "body" in fields.fields
        reader = FieldReader(fields, what, source, problems, _OPERATOR_FIELDS, has_body)
        reader.check_known()
        operator = _operator(reader)
        if operator is None:
            continue
        if operator.optype in seen:
            message = f"expected operators to differ, got '{operator.optype}' twice"
            problems.append(Diagnostic(message, str(operator.place)))
        seen.add(operator.optype)
        _check_names(operator, problems)
        check_mlir_body(operator, problems)
        operators.append(operator)
    if problems:
        raise GaweeError(problems)
    return DescriptionFile(name, text, dialect, compile_operators(operators))


def read_descriptions(path: str | Path) -> DescriptionFile:
    """Read the descriptions of a file; raises OSError, and GaweeError as `parse_descriptions`."""
    from gawee_dialect.located_json import MAX_CHARACTERS

    size = Path(path).stat().st_size  # of a device: 0
    if size > 4 * MAX_CHARACTERS:
        message = f"cannot read descriptions: expected at most {4 * MAX_CHARACTERS} bytes"
        raise GaweeError(Diagnostic(f"{message}, got {size}", str(path)))
    return parse_descriptions(Source.read(path).text, str(path))


def _bears(optype: str, arch: str) -> bool:
    """Whether an operator's name says what it runs on, or is that itself."""
    return optype.endswith(f"_{arch}") or optype == arch
