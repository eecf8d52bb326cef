"""Damaged inputs: bytes of a seed changed as accidents, careless editors and attackers change them."""

import random
import re
from collections.abc import Callable, Sequence
from random import Random

DEEP = 10_000
"""How deep what is nested is nested."""

NUMBERS = (
    *(b"0", b"-1", b"1", b"2147483648", b"9223372036854775808", b"-9223372036854775809"),
    *(b"18446744073709551616", b"1" + b"0" * 400, b"9" * 5000, b"1e999", b"-1e999", b"NaN"),
    *(b"nan", b"inf", b"0x7FC00000", b"0.5", b"1e-400", b"1000000007"),
)
"""What is put in the place of a number."""

PATHS = (b"../..", b"../../../../etc/passwd", b"/etc/passwd", b"/dev/zero", b"a/../../b", b"C:\\x")
"""What is put in the place of text, and must not be opened."""

INTERESTING = (
    *(b"", b"0", b"-1", b"9" * 30, b"1e999", b"nan", b"null", b"{}", b"[]", b'""', b"\0"),
    *(b"\xff", b"\xef\xbb\xbf", "図".encode(), b"%x", b"@main", b"tensor<?xf32>", b"<<<<", b"))))"),
    *(b"\xed\xa0\x80", b"\\ud800", b"a" * 100_000, b'"', b"//", b"/*", b"'''", b"`", b"\r", b"?"),
)
"""What is put in the place of a word."""

_WORD = re.compile(rb"[A-Za-z_]\w*|-?\d[\d.eE+-]*")
_NUMBER = re.compile(rb"-?\d[\d.eE+]*")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_STRING = re.compile(rb'"[^"\n]*"')
_OPENING = (b"(", b"[", b"{", b"<", b"-", b'{"a":', b"[[", b"tensor<", b"loc(", b"if(1) ")


def _flip(choice: Random, data: bytearray) -> None:
    data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)


def _cut(choice: Random, data: bytearray) -> None:
    del data[choice.randrange(len(data)) :]


def _cut_at_a_token(choice: Random, data: bytearray) -> None:
    tokens = [token.end() for token in _TOKEN.finditer(bytes(data))]
    if tokens:
        del data[choice.choice(tokens) :]


def _remove(choice: Random, data: bytearray) -> None:
    start = choice.randrange(len(data))
    del data[start : start + choice.randrange(1, 1 + min(60, len(data)))]


def _repeat(choice: Random, data: bytearray) -> None:
    start = choice.randrange(len(data))
    piece = bytes(data[start : start + choice.randrange(1, 40)])
    data[start:start] = piece * choice.choice((1, 2, 30))


def _move(choice: Random, data: bytearray) -> None:
    start = choice.randrange(len(data))
    piece = bytes(data[start : start + choice.randrange(1, 80)])
    target = choice.randrange(len(data))
    data[target:target] = piece


def _lines(choice: Random, data: bytearray) -> None:
    """Remove a line, write one twice, or exchange two."""
    lines = bytes(data).split(b"\n")
    one, other = choice.randrange(len(lines)), choice.randrange(len(lines))
    kind = choice.randrange(3)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _put(choice: Random, data: bytearray, place: re.Pattern[bytes], new: Sequence[bytes]) -> None:
    found = list(place.finditer(bytes(data)))
    if found:
        one = choice.choice(found)
        data[one.start() : one.end()] = choice.choice((*new, choice.choice(found)[0]))


def _word(choice: Random, data: bytearray) -> None:
    _put(choice, data, _WORD, INTERESTING)


def _number(choice: Random, data: bytearray) -> None:
    _put(choice, data, _NUMBER, NUMBERS)


def _path(choice: Random, data: bytearray) -> None:
    _put(choice, data, _STRING, [b'"' + path + b'"' for path in (*PATHS, b"a" * 100_000)])


def _nest(choice: Random, data: bytearray) -> None:
    place = choice.choice([token.start() for token in _TOKEN.finditer(bytes(data))] or [0])
    data[place:place] = choice.choice(_OPENING) * DEEP


MUTATIONS: Sequence[Callable[[Random, bytearray], None]] = (
    *(_flip, _cut, _cut_at_a_token, _remove, _repeat, _move, _lines, _lines, _path, _nest),
    *(_word, _word, _word, _word, _number, _number, _number, _number),
)


def mutated(seed: bytes, number: int) -> bytes:
    """Return the damaged version of a seed that has a number: always the same."""
    choice = random.Random(number)
    data = bytearray(seed)
    for _ in range(choice.choice((1, 1, 1, 2, 5))):
        if data:
            choice.choice(MUTATIONS)(choice, data)
    return bytes(data)
