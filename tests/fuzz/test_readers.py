"""Every reader on damaged input: it is read, or refused with a message; nothing else happens.

`make fuzz` tries 5000 versions a reader in watched processes, the tests some of these. A failure
names its number: `python -m tests.fuzz.show READER NUMBER` writes the input.
"""

from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from tests.effort import FULL
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS
from tests.fuzz.watched import what_is_wrong

SEEDS = 8 if FULL else 2
"""Of a reader, that are read as they are."""
TRIED = 12 if FULL else 3
STRIDE = 397
"""Numbers that are tried lie so far apart: a prime, so that all seeds have their turn."""


def usable(name: str) -> Reader:
    """Return a reader; a test of one whose packages are absent is skipped."""
    for package in READERS[name].needs:
        pytest.importorskip(package)
    return READERS[name]


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_read(name: str, tmp_path: Path) -> None:
    reader = usable(name)
    read = 0
    for number, seed in enumerate(reader.seeds[:: 1 + len(reader.seeds) // SEEDS]):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            reader.read(seed, folder)
        except GaweeError:
            if name != "onnx":  # of published models, some have ops that are not supported
                raise
        else:
            read += 1

    assert read


@pytest.mark.parametrize("name", READERS)
def test_damaged_input_is_read_or_refused_with_its_place(name: str) -> None:
    reader = usable(name)
    numbers = range(0, TRIED * STRIDE, STRIDE)

    problems = {number: what_is_wrong(reader, number) for number in numbers}

    assert {number: problem for number, problem in problems.items() if problem} == {}


def test_a_command_line_that_only_asks_is_read(tmp_path: Path) -> None:
    assert READERS["command-lines"].read(b"--canonicalize -h", tmp_path) is None
