"""Every reader on damaged input: it is read, or refused with a message; nothing else happens.

`make fuzz` tries 5000 versions a reader, the tests some of these. A failure names its number:
`python -m tests.fuzz.show READER NUMBER` writes the input.
"""

import os

import pytest

from gawee_dialect.diagnostics import GaweeError
from tests.fuzz.mutate import mutated
from tests.fuzz.readers import READERS, Reader

PER_READER = 5000
STEP = 1 if os.environ.get("GAWEE_FUZZ") == "full" else 125


def what_is_wrong(reader: Reader, number: int) -> str | None:
    """Return what a reader does to a damaged input that it must not do."""
    try:
        reader.read(mutated(reader.seeds[number % len(reader.seeds)], number))
    except GaweeError as error:
        located = all(each.place or "seed" in each.message for each in error.diagnostics)
        return None if located else f"no place: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_read(name: str) -> None:
    for seed in READERS[name].whole:
        READERS[name].read(seed)


@pytest.mark.parametrize("name", READERS)
def test_damaged_input_is_read_or_refused_with_its_place(name: str) -> None:
    reader = READERS[name]

    problems = {number: what_is_wrong(reader, number) for number in range(0, PER_READER, STEP)}

    assert {number: problem for number, problem in problems.items() if problem} == {}


def test_a_number_always_makes_the_same_input() -> None:
    seed = b'{"a": [1, 2.5, "text"], "b": null}'
    damaged = [mutated(seed, number) for number in range(50)]

    assert damaged == [mutated(seed, number) for number in range(50)]
    assert len(set(damaged)) > 40
    assert mutated(b"", 7) == b""
