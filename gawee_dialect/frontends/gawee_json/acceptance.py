"""Whether a JSON value is as a JSON Schema says: the verdict alone, without a reason.

jsonschema gives reasons, but takes long to load, and ten times as long for each value: it is asked
only about what is not accepted here.
"""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from types import NoneType
from typing import TypeGuard

Accepts = Callable[[object], bool]
Check = Callable[[object, Mapping[str, object]], Accepts]
"""Takes what a keyword says, and the schema that it is of."""

CLASSES: Mapping[object, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (NoneType,),
    "integer": (int,),  # not 2.0, which JSON Schema lets pass
    "number": (int, float),
}

SAYS_NOTHING = frozenset(("$schema", "$comment", "$defs", "title", "description"))


def acceptance(schema: object) -> Accepts:
    """Return what is true of values that a schema without references allows, and of no others.

    It may be false of some that are allowed: of all, where a keyword is unknown here.
    """
    if schema is True:
        return lambda value: True
    if not _is_object(schema) or not schema.keys() <= _CHECKS.keys() | SAYS_NOTHING:
        return lambda value: False
    checks = [_CHECKS[key](wanted, schema) for key, wanted in schema.items() if key in _CHECKS]
    return checks[0] if len(checks) == 1 else lambda value: all([each(value) for each in checks])


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type(wanted: object, _: Mapping[str, object]) -> Accepts:
    names = wanted if _is_list(wanted) else [wanted]
    classes = tuple(each for name in names for each in CLASSES.get(name, ()))
    if bool in classes:
        return lambda value: isinstance(value, classes)
    return lambda value: isinstance(value, classes) and not isinstance(value, bool)


def _fields(wanted: object, schema: Mapping[str, object]) -> Accepts:
    assert _is_object(wanted)
    known = {key: acceptance(each) for key, each in wanted.items()}
    other = acceptance(schema.get("additionalProperties", True))
    return lambda value: (
        not _is_object(value) or all([known.get(key, other)(each) for key, each in value.items()])
    )


def _other_fields(_: object, schema: Mapping[str, object]) -> Accepts:
    return acceptance(True) if "properties" in schema else _fields({}, schema)


def _required(wanted: object, _: Mapping[str, object]) -> Accepts:
    names = frozenset(wanted if _is_list(wanted) else ())
    return lambda value: not _is_object(value) or value.keys() >= names


def _items(wanted: object, _: Mapping[str, object]) -> Accepts:
    accepts = acceptance(wanted)
    return lambda value: not _is_list(value) or all(map(accepts, value))


def _any_of(wanted: object, _: Mapping[str, object]) -> Accepts:
    each_accepts = [acceptance(each) for each in wanted] if _is_list(wanted) else []
    return lambda value: any([accepts(value) for accepts in each_accepts])


def _enum(wanted: object, _: Mapping[str, object]) -> Accepts:
    # Of one type: 1 is no `true`, though Python says that they are equal.
    allowed = [(type(each), each) for each in wanted] if _is_list(wanted) else []
    return lambda value: (type(value), value) in allowed


def _const(wanted: object, schema: Mapping[str, object]) -> Accepts:
    return _enum([wanted], schema)


Measure = Callable[[object], int | float | None]


def _number(value: object) -> int | float | None:
    return value if _is_number(value) else None


def _characters(value: object) -> int | None:
    return len(value) if isinstance(value, str) else None


def _elements(value: object) -> int | None:
    return len(value) if _is_list(value) else None


def _limit(measure: Measure, holds: Callable[[float, float], bool]) -> Check:
    """Return the check of a keyword that limits a measure of what has one."""

    def check(wanted: object, _: Mapping[str, object]) -> Accepts:
        limit = _number(wanted)

        def accepts(value: object) -> bool:
            size = measure(value)
            return size is None or (limit is not None and holds(size, limit))

        return accepts

    return check


_CHECKS: Mapping[str, Check] = {
    "type": _type,
    "properties": _fields,
    "additionalProperties": _other_fields,
    "required": _required,
    "items": _items,
    "anyOf": _any_of,
    "enum": _enum,
    "const": _const,
    "minimum": _limit(_number, ge),
    "maximum": _limit(_number, le),
    "exclusiveMinimum": _limit(_number, gt),
    "exclusiveMaximum": _limit(_number, lt),
    "minLength": _limit(_characters, ge),
    "minItems": _limit(_elements, ge),
    "maxItems": _limit(_elements, le),
}
