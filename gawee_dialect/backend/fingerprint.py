"""Notices writes to memory of which code has copies, in microseconds.

Small pieces are read whole, of large ones some lines all over them: what writes all of a tensor
shows, as does what writes whole columns or every few rows.
"""

import ctypes
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.resources import files
from itertools import chain

from gawee_dialect.backend.jit import initialize
from gawee_dialect.backend.thread_pool import loaded

TEXT = files("gawee_dialect.backend").joinpath("fingerprint.ll")

LINE = 64
"""Bytes that are read together."""

AHEAD = 32
"""How many lines are fetched ahead: together, since each takes as long as a hundred steps."""

LINES = 64
"""How many lines of a piece are read: all of up to 4 KiB."""

Places = tuple[int, int]
"""A piece of memory: its address, and how many bytes it has."""


@cache
def _native() -> Callable[..., int]:
    """Compile the function, for ever."""
    initialize()
    text = TEXT.read_text(encoding="utf-8").replace("i64 %index, AHEAD", f"i64 %index, {AHEAD}")
    engine = loaded(text)
    kind = ctypes.PYFUNCTYPE(
        ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64
    )
    function: Callable[..., int] = kind(engine.get_function_address("fingerprint"))
    _kept.append(engine)
    return function


_kept: list[object] = []


def fingerprint(pieces: Iterable[Places]) -> Callable[[], int]:
    """Return what computes a number of the bytes in pieces of memory, which must stay there.

    Any change of a piece of up to 4 KiB changes it, and of a larger one each in its LINES lines.
    """
    pieces = [*pieces]
    lines = list(chain.from_iterable(_lines(*each) for each in pieces))
    single = [start + at for start, size in pieces if size < LINE for at in range(size)]
    counts = [ctypes.c_int64(len(each)) for each in (lines, single)]
    padded = (lines + lines[-1:] * AHEAD, single)
    tables = [(ctypes.c_uint64 * len(each))(*each) for each in padded]
    return partial(_native(), tables[0], counts[0], tables[1], counts[1])


def _lines(start: int, size: int) -> Iterable[int]:
    """Yield the addresses of the lines of a piece that are read; the last ends with it."""
    whole, rest = divmod(size, LINE)
    if not whole:
        return
    read = min(whole, LINES)
    for number in range(read):
        yield start + number * (whole - 1) // max(1, read - 1) * LINE
    if rest:
        yield start + size - LINE
