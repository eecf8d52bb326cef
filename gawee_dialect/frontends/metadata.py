"""Metadata by dotted keys, `perf.time.cpu`, and nested, as files have it. Lists are leaves."""

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i1,
)
from xdsl.ir import Attribute

from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.located_json import JsonObject, JsonValue


class KeyConflict(ValueError):
    """A key that is a value and also the beginning of other keys, or that names nothing."""


def flatten(nested: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return from dotted keys to leaves; an empty object is a leaf.

    Raises KeyConflict for keys that would not come back: `a.b` beside `a`, or an empty one.
    """
    flat: dict[str, JsonValue] = {}
    for key, value in _leaves(nested, ""):
        if key in flat:
            raise KeyConflict(f"expected one value of '{key}', got two")
        flat[key] = value
    nest(flat)
    return flat


def _leaves(nested: Mapping[str, JsonValue], prefix: str) -> Iterator[tuple[str, JsonValue]]:
    for key, value in nested.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def nest(flat: Mapping[str, JsonValue]) -> JsonObject:
    """Return dotted keys as nested objects: `{"a.b": 1}` as `{"a": {"b": 1}}`.

    Raises KeyConflict for a key that is a value and a prefix of another one, and for an empty part.
    """
    root = JsonObject()
    for key, value in flat.items():
        *parents, last = key.split(".")
        if not all((*parents, last)):
            raise KeyConflict(f"expected words between the dots of a key, got '{key}'")
        where = root
        for depth, part in enumerate(parents, 1):
            below = where.setdefault(part, JsonObject())
            if not isinstance(below, JsonObject) or ".".join(parents[:depth]) in flat:
                prefix = ".".join(parents[:depth])
                raise KeyConflict(f"expected '{prefix}' to be a value or a prefix, got '{key}' too")
            where = below
        if last in where:
            raise KeyConflict(f"expected '{key}' to be a value or a prefix, got both")
        where[last] = value
    return root


# JSON values as attributes of ops, and back: how what else a file says of a node survives.

METADATA = "gawee.metadata"
"""The attribute of an op, of an argument or of the function: what the file says besides."""
TENSOR_METADATA = "gawee.tensor_metadata"
"""The attribute of an op: what the file says of each of its results, in their order."""
GRAPH = "gawee.graph"
"""The attribute of the function: the id and the name of the graph."""


def metadata_attribute(values: Mapping[str, JsonValue]) -> DictionaryAttr:
    """Return nested JSON as an attribute; integers have 64 bits, or as many as they need."""
    return DictionaryAttr({key: _attribute(value) for key, value in values.items()})


def _attribute(value: JsonValue) -> Attribute:
    match value:
        case None:
            return UnitAttr()
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, IntegerType(max(64, value.bit_length() + 1)))
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case list():
            return ArrayAttr(map(_attribute, value))
        case dict():
            return metadata_attribute(value)


def metadata_values(attribute: Attribute | None) -> dict[str, JsonValue] | None:
    """Return what `metadata_attribute` made as JSON; None for other attributes, and for none.

    Raises Refusal for an attribute inside that JSON does not have.
    """
    if not isa(attribute, DictionaryAttr):
        return None
    return JsonObject({key: _value(each) for key, each in attribute.data.items()})


def _value(attribute: Attribute) -> JsonValue:
    match attribute:
        case UnitAttr():
            return None
        case IntegerAttr():
            number = attribute.value.data
            return bool(number) if attribute.type == i1 else number
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case ArrayAttr():
            return [_value(each) for each in attribute]
        case DictionaryAttr():
            return JsonObject({key: _value(each) for key, each in attribute.data.items()})
        case _:
            raise Refusal(f"expected metadata that JSON has, got '{attribute}'")
