"""Metadata by dotted keys, `perf.time.cpu`, and nested, as files have it. Lists are leaves."""

from collections.abc import Iterator, Mapping

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
