"""Structure of a Gawee graph: keys, kinds and ranges of values, by the JSON Schema beside this.

`gawee_graph.schema.json` is the definition; this file says its verdicts in our words. A file that
`--load` names may bring op types of a user's own:

SHRINK = JsonOp(
    "SoftShrink",
    SoftShrinkOp,
    read=lambda node: SoftShrinkOp(node.tensor(0), lambd=node.number("lambd", 0.5)),
    write=lambda op: NodeText("SoftShrink", [op.input], {"lambd": op.lambd.value.data}),
    attributes={"lambd": {"type": "number", "description": "a number"}},
)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.frontends.graph import Report
from gawee_dialect.hints import isa
from gawee_dialect.located_json import JsonObject, JsonValue

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from gawee_dialect.frontends.gawee_json.export_ops import NodeText
    from gawee_dialect.frontends.gawee_json.ops import NodeReader


@dataclass(frozen=True)
class JsonOp:
    """How nodes of an op type are checked, read and written.

    `attributes` are JSON Schemas by key, whose `description` messages say; `{"$ref":
    "#/$defs/data"}` is a weight. `arity` are the numbers of inputs a node may have, None for any.
    """

    op_type: str
    op: type[Operation]
    read: Callable[[NodeReader], Operation]
    write: Callable[..., NodeText]
    """Takes an op of the class."""
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    required: Sequence[str] = ()
    arity: Sequence[int] | None = (1,)
    limits: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of a node's attributes."""
        return {
            "type": "object",
            "properties": dict(self.attributes),
            "required": list(self.required),
            "additionalProperties": False,
        }


_own: ContextVar[Sequence[JsonOp]] = ContextVar("own", default=())


def own_ops() -> Mapping[str, JsonOp]:
    """Return the op types that were added to ours, by name."""
    return {each.op_type: each for each in _own.get()}


@contextmanager
def with_own_ops(ops: Sequence[JsonOp]) -> Generator[None]:
    """Have graphs read and written with more op types, for the time of a with block."""
    token = _own.set((*_own.get(), *ops))
    try:
        yield
    finally:
        _own.reset(token)


BOOKKEEPING = frozenset(("target", "op", "op_type", "mod"))
"""Keys of `attrs` that a tracer leaves for its own use; its `op_type` is not the node's."""

Schema = dict[str, object]


def _is_integer(_checker: object, instance: object) -> bool:
    # JSON Schema lets 2.0 pass as an integer; a dimension of 2.0 is a mistake upstream of us.
    return isinstance(instance, int) and not isinstance(instance, bool)


class _Validator(Protocol):
    """The part of a jsonschema validator that is used here, with complete types."""

    def iter_errors(self, instance: object) -> Iterator[ValidationError]: ...


_extend: Callable[..., Callable[[Schema], _Validator]] = getattr(validators, "extend")
_make_validator = _extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


@cache
def _schema() -> Schema:
    text = files("gawee_dialect.frontends").joinpath("gawee_graph.schema.json").read_text()
    root = json.loads(text)
    schema = _inline(root, root)
    assert isa(schema, Schema)
    return schema


def _inline(schema: object, root: Schema) -> object:
    """Replace every `$ref` by what it names: resolving them would double the checking time."""
    if isa(schema, list[object]):
        return [_inline(item, root) for item in schema]
    if not isa(schema, Schema):
        return schema
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return {key: _inline(value, root) for key, value in schema.items()}
    definitions = root["$defs"]
    assert isa(definitions, Schema)
    return _inline(definitions[reference.removeprefix("#/$defs/")], root)


@cache
def _attribute_schemas() -> dict[str, Schema]:
    definitions = _schema()["$defs"]
    assert isa(definitions, Schema)
    attributes = definitions["attributes"]
    assert isa(attributes, dict[str, Schema])
    return attributes


@cache
def _graph_validator() -> _Validator:
    return _make_validator(_schema())


@cache
def _attribute_validator(op_type: str) -> _Validator:
    return _make_validator(_attribute_schemas()[op_type])


def _validator_of(op_type: str) -> _Validator:
    own = own_ops().get(op_type)
    if own is None:
        return _attribute_validator(op_type)
    schema = _inline(own.schema(), _schema())
    assert isa(schema, Schema)
    return _make_validator(schema)


def op_types() -> Sequence[str]:
    """Return every `op_type` that a graph may use."""
    return (*_attribute_schemas(), *own_ops())


def fixed_attributes(op_type: str) -> Sequence[str]:
    """Return the attributes of which the schema supports one value alone: `groups 1`."""
    attributes: object = _attribute_schemas().get(op_type, {}).get("properties", {})
    assert isa(attributes, dict[str, Schema])
    return tuple(
        f"{key} {str(attribute['description']).partition(' (')[0]}"
        for key, attribute in attributes.items()
        if "const" in attribute
    )


def _property_names(schema: object) -> list[str]:
    properties: object = schema.get("properties", {}) if isa(schema, Schema) else {}
    return list(properties) if isa(properties, Schema) else []


def _path_text(path: Iterable[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _value_text(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _say(error: ValidationError, subject: str) -> Iterator[tuple[str, str | None]]:
    """Say one verdict as message and hint; `subject` is the object that was checked."""
    path = _path_text(error.absolute_path)
    instance: object = error.instance
    where = f"'{path}' of {subject}" if path else subject
    if error.validator == "required" and isa(instance, dict[str, object]):
        required: object = error.validator_value
        assert isa(required, list[str])
        missing = [key for key in required if key not in instance]
        yield f"expected {where} to have key {', '.join(map(repr, missing))}", None
    elif error.validator == "additionalProperties" and isa(instance, dict[str, object]):
        known = _property_names(error.schema)
        for key in instance:
            if key not in known:
                listing = f"known keys: {', '.join(known) or 'none'}"
                yield f"unknown key '{key}' of {where}", did_you_mean(key, known, listing)
    else:
        expected: object = error.schema.get("description") if isa(error.schema, Schema) else None
        wanted = f"expected {where} to be {expected}" if expected else f"unexpected {where}"
        yield f"{wanted}, got {_value_text(instance)}", None


def _offset_of(root: JsonValue, path: Iterable[str | int]) -> int:
    """Return where the innermost object on a path stands."""
    offset, value = 0, root
    for step in (None, *path):
        if isinstance(step, str) and isinstance(value, JsonObject):
            value = value[step]
        elif isinstance(step, int) and isinstance(value, list):
            value = value[step]
        if isinstance(value, JsonObject):
            offset = value.offset
    return offset


def _name_of(root: JsonValue, path: Sequence[str | int]) -> str | None:
    """Return the name of the node that a path leads through."""
    if len(path) < 2 or path[0] != "nodes" or not isinstance(root, JsonObject):
        return None
    nodes, index = root["nodes"], path[1]
    node = nodes[index] if isinstance(nodes, list) and isinstance(index, int) else None
    name = node.get("name") if isinstance(node, JsonObject) else None
    return name if isinstance(name, str) else None


def check_structure(graph: JsonValue, report: Report) -> None:
    """Report everything about a graph's structure that is wrong, `attrs` apart."""
    said: set[tuple[int, str]] = set()
    for error in _graph_validator().iter_errors(graph):
        path = list(error.absolute_path)
        offset = _offset_of(graph, path)
        for message, hint in _say(error, "graph"):
            if (offset, message) not in said:
                said.add((offset, message))
                report.add(offset, message, _name_of(graph, path), hint)


def own_attributes(attrs: JsonObject) -> JsonObject:
    """Return a node's attributes without bookkeeping; a null means that the key is absent."""
    own = JsonObject(
        (key, value) for key, value in attrs.items() if key not in BOOKKEEPING and value is not None
    )
    own.offset = attrs.offset
    return own


@lru_cache(maxsize=1 << 10)
def _is_valid(op_type: str, attributes: str) -> bool:
    """Whether a node of the dialect may have attributes, given as JSON.

    Layers are alike: jsonschema is asked once for all that have the same attributes.
    """
    return next(_attribute_validator(op_type).iter_errors(json.loads(attributes)), None) is None


def check_attributes(op_type: str, name: str, attributes: JsonObject, report: Report) -> bool:
    """Report what is wrong with a node's own attributes; return whether nothing is."""
    if op_type not in own_ops() and _is_valid(op_type, json.dumps(attributes)):
        return True
    said: set[tuple[int, str]] = set()
    for error in _validator_of(op_type).iter_errors(attributes):
        offset = _offset_of(attributes, error.absolute_path)
        for message, hint in _say(error, f"'{op_type}' node"):
            if (offset, message) not in said:
                said.add((offset, message))
                report.add(offset, message, name, hint)
    return not said
