"""Damaged JSON that is still JSON: what a member holds, and which members there are, is wrong."""

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from tests.fuzz.mutate import DEEP, NUMBERS, PATHS, mutated

_RAW = "raw text "
"""Begins a string in whose place the text behind it is written."""
_TWIN = "twin of "
"""Begins a key in whose place another is written, which is then there twice."""

VALUES: Sequence[object] = (
    *(None, True, False, "", [], {}, [[]], [None], {"": None}, 0, -1, 1, 0.5, 2**31, 2**63, 2**64),
    *("\ud800", "\0", "a" * 100_000, "ü図", "main", "%", "loc", "float32", "complex64", "?"),
    *(path.decode() for path in PATHS),
    *(_RAW + number.decode() for number in NUMBERS),
    *(_RAW + one * DEEP + other * DEEP for one, other in ("[]", ('{"a":', "}"))),
    *([1] * 10_000, list(range(100)), [0, 0], [1, 2, 3, 4, 5]),
)


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """Give each container, a list or a dict, with each of its indices or keys."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _replace(choice: Random, root: object) -> None:
    container, key = choice.choice(list(_places(root)))
    container[key] = deepcopy(choice.choice(VALUES))


def _remove(choice: Random, root: object) -> None:
    container, key = choice.choice(list(_places(root)))
    del container[key]


def _swap(choice: Random, root: object) -> None:
    places = list(_places(root))
    (one, key), (other, at) = choice.choice(places), choice.choice(places)
    one[key], other[at] = json.loads(json.dumps(other[at])), json.loads(json.dumps(one[key]))


def _repeat(choice: Random, root: object) -> None:
    container, key = choice.choice(list(_places(root)))
    again = json.loads(json.dumps(container[key]))
    if isinstance(container, list):
        container.insert(choice.randrange(len(container) + 1), again)
    else:
        container[_TWIN + key] = choice.choice((again, 7, None))


def _add(choice: Random, root: object) -> None:
    container, _ = choice.choice(list(_places(root)))
    if isinstance(container, list):
        container.append(deepcopy(choice.choice(VALUES)))
    else:
        keys = ("", "name", "a" * 1000, "ü", "\0", "no such key")
        container[choice.choice(keys)] = deepcopy(choice.choice(VALUES))


MUTATIONS: Sequence[Callable[[Random, object], None]] = (
    *(_replace, _replace, _replace, _replace, _remove, _swap, _repeat, _add),
)


def _text(value: object) -> str:
    """Write JSON by hand: what Python's own writer has no words for is text already."""
    if isinstance(value, dict):
        inner = (
            f"{json.dumps(key.removeprefix(_TWIN))}: {_text(each)}" for key, each in value.items()
        )
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, str) and value.startswith(_RAW):
        return value.removeprefix(_RAW)
    return json.dumps(value)


def mutated_json(seed: bytes, number: int) -> bytes:
    """Return the damaged version of a seed that has a number: of two, one is JSON still."""
    if number % 2:
        return mutated(seed, number)
    choice = Random(number)
    root = json.loads(seed)
    for _ in range(choice.choice((1, 1, 1, 2, 4))):
        if any(_places(root)):
            choice.choice(MUTATIONS)(choice, root)
    return _text(root).encode()
