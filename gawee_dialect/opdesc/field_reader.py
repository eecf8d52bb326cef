"""The fields of one object of a description, read by kind; problems are collected."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gawee_dialect.diagnostics import Diagnostic, did_you_mean
from gawee_dialect.easy_json import MAX_CHARACTERS, MAX_NAME, Code, Fields, Items, Node, Scalar
from gawee_dialect.opdesc.description import Named
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
