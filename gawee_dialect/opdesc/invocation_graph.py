"""Graphs that invoke operators in program order, as JSON or as plain text; read and written.

    slice(src=x | dst=y | axis=1, start=1, len=3);

An op takes tensors that earlier ones made. Both forms say the same; the text has no names of ops,
which are then the operator's and a number.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.frontends.graph import Report
from gawee_dialect.located_json import (
    MAX_NAME,
    MAX_PROBLEMS,
    Deleted,
    Fields,
    Items,
    Node,
    Scalar,
    decode_easy_json,
)
from gawee_dialect.opdesc.description import Argument, Invocation, ParamValue, ptype_of
from gawee_dialect.opdesc.description import Scalar as ParamScalar
from gawee_dialect.opdesc.op_text import OpTextReader
from gawee_dialect.opdesc.read import MAX_ARGUMENTS
from gawee_dialect.source import Source


@dataclass(frozen=True)
class LocatedInvocation:
    """An invocation, and the offset in the text where it begins."""

    invocation: Invocation
    offset: int


@dataclass(frozen=True)
class InvocationGraph:
    """Invocations in program order, with the text that they come from."""

    invocations: Sequence[LocatedInvocation]
    source: Source
    report: Report = field(compare=False)


MAX_OPS = 10_000

_OP_FIELDS = ("name", "optype", "tensors_in", "tensors_out", "params")
_HALVES = ("offset_h", "offset_l")


@dataclass
class _JsonReader:
    """Reads the JSON form; problems are collected, and an op with one is left out."""

    report: Report
    what: str = "graph"

    def read(self, root: Node) -> Iterator[LocatedInvocation]:
        """Yield the invocations of a text."""
        if not isinstance(root, Fields) or not isinstance(ops := root.fields.get("ops"), Items):
            self.report.add(root.offset, "expected an object with an array 'ops'")
            return
        known = ("ops", "mem_sizes_h", "mem_sizes_l")
        for key in root.fields:
            if key not in known:
                self.report.add(root.keys[key], f"unknown field '{key}' of graph")
        if len(ops.items) > MAX_OPS:
            self.report.add(ops.offset, f"expected at most {MAX_OPS} ops, got {len(ops.items)}")
            return
        for node in ops.items:
            if len(self.report.problems) >= MAX_PROBLEMS:
                return
            made = self._op(node)
            if made is not None:
                yield LocatedInvocation(made, node.offset)

    def _problem(self, node: Node, message: str) -> None:
        self.report.add(node.offset, f"{self.what}: {message}")

    def _text(self, fields: Fields, key: str) -> str | None:
        node = fields.fields.get(key)
        if isinstance(node, Scalar) and isinstance(node.value, str) and node.value:
            if len(node.value) <= MAX_NAME:
                return node.value
            message = f"expected '{key}' of at most {MAX_NAME} characters, got {len(node.value)}"
            self._problem(node, message)
            return None
        got = "none" if node is None else "no text"
        self._problem(fields if node is None else node, f"expected a string '{key}', got {got}")
        return None

    def _objects(self, fields: Fields, key: str, known: Sequence[str]) -> Iterator[Fields]:
        node = fields.fields.get(key)
        if not isinstance(node, Items):
            self._problem(fields if node is None else node, f"expected an array '{key}'")
            return
        if len(node.items) > MAX_ARGUMENTS:
            message = f"expected '{key}' to have at most {MAX_ARGUMENTS} elements"
            self._problem(node, f"{message}, got {len(node.items)}")
            return
        for item in node.items:
            if not isinstance(item, Fields):
                self._problem(item, f"expected '{key}' to hold objects")
                continue
            for name in item.fields:
                if name not in known:
                    self._problem(item, f"unknown field '{name}' in '{key}'")
            yield item

    def _op(self, node: Node) -> Invocation | None:
        self.what = "op"
        if not isinstance(node, Fields):
            self._problem(node, "expected an object")
            return None
        before = len(self.report.problems)
        name = self._text(node, "name")
        self.what = "op" if name is None else f"op '{name}'"
        optype = self._text(node, "optype")
        for key in node.fields:
            if key not in _OP_FIELDS:
                self._problem(node, f"unknown field '{key}'")
        inputs = self._arguments(node, "tensors_in")
        outputs = self._arguments(node, "tensors_out")
        params = self._params(node)
        if len(self.report.problems) > before or name is None or optype is None:
            return None
        return Invocation(name, optype, inputs, outputs, params)

    def _arguments(self, fields: Fields, key: str) -> list[Argument]:
        found: list[Argument] = []
        for item in self._objects(fields, key, ("arg_name", "name", *_HALVES)):
            arg_name, name = self._text(item, "arg_name"), self._text(item, "name")
            for half in _HALVES:  # where memory was planned to be: it is planned anew
                value = item.fields.get(half)
                if isinstance(value, Scalar) and type(value.value) is int:
                    continue
                if value is not None:
                    self._problem(value, f"expected '{half}' to be an integer")
            if arg_name is not None and name is not None:
                if any(each.arg_name == arg_name for each in found):
                    self._problem(item, f"expected arguments to differ, got '{arg_name}' twice")
                found.append(Argument(arg_name, name))
        return found

    def _params(self, fields: Fields) -> dict[str, ParamValue]:
        found: dict[str, ParamValue] = {}
        for item in self._objects(fields, "params", ("arg_name", "value")):
            arg_name = self._text(item, "arg_name")
            if arg_name is None:
                continue
            if "value" not in item.fields:
                self._problem(item, f"expected a value of param '{arg_name}', got none")
            elif arg_name in found:
                self._problem(item, f"expected params to differ, got '{arg_name}' twice")
            else:
                found[arg_name] = self._value(item.fields["value"], arg_name)
        return found

    def _value(self, node: Node, arg_name: str) -> ParamValue:
        if isinstance(node, Scalar) and not isinstance(node.value, Deleted):
            return node.value
        if isinstance(node, Items):
            elements = [_element(item) for item in node.items]
            values = tuple(each for each in elements if each is not None)
            kind = ptype_of(values)
            if len(values) == len(elements) and kind.startswith("LN_PARAM_"):
                return values
            got = kind if len(values) == len(elements) else "an array of other values"
        else:
            got = "an object"
        message = f"expected a string, number, boolean, null or array of param '{arg_name}'"
        self._problem(node, f"{message}, got {got}")
        return None


def _element(node: Node) -> ParamScalar | None:
    if isinstance(node, Scalar) and not isinstance(node.value, Deleted):
        return node.value
    return None


class _TextReader(OpTextReader):
    """Reads the text form, one invocation after another."""

    what = "invocations"

    def invocations(self) -> Iterator[LocatedInvocation]:
        """Yield the invocations of the text."""
        counts: dict[str, int] = {}
        left = iter(range(MAX_OPS))
        while self.peek():
            start = self.position
            if next(left, None) is None:
                raise self.error(f"expected at most {MAX_OPS} ops, got more")
            optype = self.name()
            self.expect("(")
            inputs = self._arguments("|")
            self.expect("|")
            outputs = self._arguments("|")
            self.expect("|")
            params = self._params()
            self.expect(")")
            self.expect(";")
            counts[optype] = counts.get(optype, 0) + 1
            name = f"{optype}{counts[optype]}"
            yield LocatedInvocation(Invocation(name, optype, inputs, outputs, params), start)

    def tensor(self) -> str:
        """Read the name of a tensor: a word, or text in double quotes."""
        if self.peek() == '"':
            at = self.position
            value = self.string().value
            assert isinstance(value, str)
            if len(value) > MAX_NAME:
                message = f"expected a name of at most {MAX_NAME} characters, got {len(value)}"
                raise self.error(message, at)
            return value
        return self.name()

    def _arguments(self, end: str) -> list[Argument]:
        found: list[Argument] = []
        while self.peek() not in (end, ""):
            at = self.position
            arg_name = self.name()
            self.expect("=")
            self._require_room(len(found))
            if any(each.arg_name == arg_name for each in found):
                raise self.error(f"expected arguments to differ, got '{arg_name}' twice", at)
            found.append(Argument(arg_name, self.tensor()))
            if not self.take(","):
                break
        return found

    def _params(self) -> dict[str, ParamValue]:
        found: dict[str, ParamValue] = {}
        while self.peek() not in (")", ""):
            at = self.position
            arg_name = self.name()
            self.expect("=")
            self._require_room(len(found))
            if arg_name in found:
                raise self.error(f"expected params to differ, got '{arg_name}' twice", at)
            found[arg_name] = self._param()
            if not self.take(","):
                break
        return found

    def _require_room(self, count: int) -> None:
        if count == MAX_ARGUMENTS:
            raise self.error(f"expected at most {MAX_ARGUMENTS} arguments of a kind, got more")

    def _param(self) -> ParamValue:
        at = self.position
        node = self.value(2)
        if isinstance(node, Scalar) and not isinstance(node.value, Deleted):
            return node.value
        if isinstance(node, Items):
            values = tuple(each for item in node.items if (each := _element(item)) is not None)
            kind = ptype_of(values)
            if len(values) == len(node.items) and kind.startswith("LN_PARAM_"):
                return values
            raise self.error(f"expected an array of one kind of value, got {kind}", at)
        raise self.error("expected a string, number, boolean, null or array", at)


_JSON = re.compile(r"\s*\{")


def parse_invocations(source: Source) -> InvocationGraph:
    """Read invocations in either form.

    Raises GaweeError: for the JSON form with every problem, for the text form with the first.
    """
    report = Report(source)
    if _JSON.match(source.text):
        root, _ = decode_easy_json(source.text, source.name)
        found = tuple(_JsonReader(report).read(root))
    else:
        found = tuple(_TextReader(source.text, source.name).invocations())
    report.raise_if_any()
    _check_names(found, report)
    _check_integers(found, report)
    report.raise_if_any()
    return InvocationGraph(found, source, report)


def _check_names(found: Sequence[LocatedInvocation], report: Report) -> None:
    """Report names of ops that occur twice, and tensors that two ops make or none has made."""
    names: set[str] = set()
    made: set[str] = set()
    later = {out.name for each in found for out in each.invocation.tensors_out}
    for each in found:
        if len(report.problems) >= MAX_PROBLEMS:
            return
        invocation = each.invocation
        if invocation.name in names:
            report.add(each.offset, f"expected ops to differ, got '{invocation.name}' twice")
        names.add(invocation.name)
        for argument in invocation.tensors_in:
            if argument.name not in made:
                hint = "ops come in the order in which they run" if argument.name in later else None
                message = f"expected tensor '{argument.name}' to be made by an earlier op"
                report.add(each.offset, f"op '{invocation.name}': {message}", hint=hint)
                made.add(argument.name)  # reported once
        for argument in invocation.tensors_out:
            if argument.name in made:
                message = f"expected one op that makes tensor '{argument.name}', got two"
                report.add(each.offset, f"op '{invocation.name}': {message}")
            made.add(argument.name)


def _check_integers(found: Sequence[LocatedInvocation], report: Report) -> None:
    """Report integers that 64 bits do not hold, signed or not."""
    for each in found:
        for name, value in each.invocation.params.items():
            numbers = value if isinstance(value, tuple) else (value,)
            if any(isinstance(one, int) and not -(1 << 63) <= one < 1 << 64 for one in numbers):
                message = f"expected integers of 64 bits as param '{name}', got a larger one"
                report.add(each.offset, f"op '{each.invocation.name}': {message}")


def invocations_json(invocations: Sequence[Invocation]) -> str:
    """Return the JSON form of invocations."""

    def arguments(given: Sequence[Argument]) -> list[Mapping[str, str]]:
        return [{"arg_name": each.arg_name, "name": each.name} for each in given]

    ops = [
        {
            "name": each.name,
            "optype": each.optype,
            "tensors_in": arguments(each.tensors_in),
            "tensors_out": arguments(each.tensors_out),
            "params": [{"arg_name": name, "value": value} for name, value in each.params.items()],
        }
        for each in invocations
    ]
    return json.dumps({"ops": ops}, indent=1, ensure_ascii=False) + "\n"


def invocations_text(invocations: Sequence[Invocation]) -> str:
    """Return the text form of invocations, which has no names of ops."""

    def arguments(given: Sequence[Argument]) -> str:
        return ", ".join(f"{each.arg_name}={_tensor_text(each.name)}" for each in given)

    def params(given: Mapping[str, ParamValue]) -> str:
        values = (
            f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items()
        )
        return ", ".join(values)

    lines = (
        f"{each.optype}({arguments(each.tensors_in)} | {arguments(each.tensors_out)} | "
        f"{params(each.params)});\n"
        for each in invocations
    )
    return "".join(lines)


def _tensor_text(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)
