"""Damaged inputs: bytes of a seed changed as accidents, careless editors and attackers change them."""

import random
import re
from collections.abc import Callable, Sequence

INTERESTING = (
    *(b"", b"0", b"-1", b"9" * 30, b"1e999", b"nan", b"null", b"{}", b"[]", b'""', b"\0"),
    *(b"\xff", b"\xef\xbb\xbf", "図".encode(), b"%x", b"@main", b"tensor<?xf32>", b"<<<<", b"))))"),
)
"""What is put in the place of a word."""

_WORD = re.compile(rb"[A-Za-z_]\w*|-?\d[\d.eE+-]*")


def _flip(random: random.Random, data: bytearray) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _cut(random: random.Random, data: bytearray) -> None:
    del data[random.randrange(len(data)) :]


def _remove(random: random.Random, data: bytearray) -> None:
    start = random.randrange(len(data))
    del data[start : start + random.randrange(1, 1 + min(60, len(data)))]


def _repeat(random: random.Random, data: bytearray) -> None:
    start = random.randrange(len(data))
    piece = bytes(data[start : start + random.randrange(1, 40)])
    data[start:start] = piece * random.choice((1, 2, 30))


def _move(random: random.Random, data: bytearray) -> None:
    start = random.randrange(len(data))
    piece = bytes(data[start : start + random.randrange(1, 80)])
    target = random.randrange(len(data))
    data[target:target] = piece


def _word(random: random.Random, data: bytearray) -> None:
    words = list(_WORD.finditer(bytes(data)))
    if not words:
        return
    word = random.choice(words)
    others = (*INTERESTING, random.choice(words)[0])
    data[word.start() : word.end()] = random.choice(others)


MUTATIONS: Sequence[Callable[[random.Random, bytearray], None]] = (
    *(_flip, _cut, _remove, _repeat, _move),
    *(_word, _word, _word, _word),
)


def mutated(seed: bytes, number: int) -> bytes:
    """Return the damaged version of a seed that has a number: always the same."""
    choice = random.Random(number)
    data = bytearray(seed)
    for _ in range(choice.choice((1, 1, 1, 2, 5))):
        if data:
            choice.choice(MUTATIONS)(choice, data)
    return bytes(data)
