"""JSON values as attributes of ops, and back: how what else a file says of a node survives."""

from collections.abc import Mapping

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

from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.located_json import JsonObject, JsonValue

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
