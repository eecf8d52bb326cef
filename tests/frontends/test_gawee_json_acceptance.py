"""What is accepted without jsonschema is what jsonschema accepts."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gawee_dialect.frontends.gawee_json.acceptance import acceptance
from tests.effort import examples
from tests.frontends.test_gawee_json_mutations import JSON, every_op, places

NUMBER: dict[str, object] = {"type": ["number", "null"], "minimum": 2, "exclusiveMinimum": 1}
SCHEMA: dict[str, object] = {
    "type": "object",
    "description": "a graph",
    "required": ["nodes"],
    "properties": {
        "inputs": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        "outputs": {"items": {"enum": ["y", 1, None]}, "maxItems": 3},
        "nodes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": ["string", "null"]},
                    "op_type": {"type": "string"},
                    "attrs": {"additionalProperties": {"anyOf": [NUMBER, {"not": {}}, {}]}},
                },
                "additionalProperties": True,
            },
        },
        "values": {"type": "object", "additionalProperties": {"type": "object"}},
    },
    "additionalProperties": False,
}


@given(st.data())
@examples(150)
def test_what_is_accepted_has_no_errors(draws: st.DataObject):
    changed = copy.deepcopy(every_op())
    container, key = draws.draw(st.sampled_from(places(changed)))
    container[key] = draws.draw(JSON)
    if acceptance(SCHEMA)(changed):
        assert Draft202012Validator(SCHEMA).is_valid(changed)


def test_a_graph_of_every_op_is_accepted():
    assert acceptance(SCHEMA)(every_op())


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({"type": "object"}, [{}], [[], None, 0]),
        ({"type": "integer"}, [0, -3], [True, 2.5, "2", None]),
        ({"type": "number"}, [0, 2.5], [False, "2"]),
        ({"type": ["boolean", "null"]}, [True, None], [0, 1, ""]),
        ({"minimum": 2}, [2, 2.5, "a", True], [1, -7.5]),
        ({"maximum": 2}, [2, [3], None], [3, 2.5]),
        ({"exclusiveMinimum": 2}, [2.5], [2]),
        ({"exclusiveMaximum": 2}, [1.5], [2]),
        ({"minLength": 1}, ["a", []], [""]),
        ({"minItems": 1}, [[0], ""], [[]]),
        ({"maxItems": 1}, [[0], "ab"], [[0, 0]]),
        ({"items": {"type": "null"}}, [[], [None], 3], [[0], [None, 0]]),
        ({"const": 1}, [1], [True, 2, "1"]),
        ({"enum": ["a", False]}, ["a", False], [0, "b", None]),
        ({"anyOf": [{"const": 3}, {"minLength": 2}]}, [3, "ab", 5], ["a"]),
        ({"required": ["a"]}, [{"a": 0}, {"a": 0, "b": 0}, 7], [{}, {"b": 0}]),
        ({"properties": {"a": {"type": "null"}}}, [{"a": None}, {"b": 1}, []], [{"a": 1}]),
        ({"additionalProperties": {"type": "null"}}, [{"a": None}, {}], [{"a": 1}]),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            [{"a": 1}, {}, 2],
            [{"b": 1}, {"a": 1, "b": 1}],
        ),
    ],
)
def test_a_keyword_means_what_it_does_to_jsonschema(
    schema: dict[str, object], allowed: list[Any], refused: list[Any]
):
    accepts, validator = acceptance(schema), Draft202012Validator(schema)
    assert all(accepts(value) and validator.is_valid(value) for value in allowed)
    assert not any(accepts(value) or validator.is_valid(value) for value in refused)


def test_nothing_is_accepted_by_a_keyword_that_is_not_known():
    assert not acceptance({"type": "string", "pattern": "a"})("a")
