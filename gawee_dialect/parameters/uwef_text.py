"""The text of a UWEF file without its numbers: structure first, data when it is asked for.

A file of weights is nearly all numbers. They lie in flat lists under the key `data`; here each such
list is passed over at the speed of a memory scan, and what remains is small enough to decode whole.
"""

import os
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.located_json import JsonValue, decode_json
from gawee_dialect.parameters.contained_file import require_regular
from gawee_dialect.source import Source

PIECE = 1 << 18
"""Bytes of text that are in memory at a time."""

MAX_STRUCTURE = 1 << 25
"""Bytes that everything but numbers may take: a hundred thousand nodes take a third of it."""

# A string, and whether a list is its value; an unclosed string ends with the file.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"(?P<list>\s*+:\s*+\[)?|\Z)', re.DOTALL)
_NUMBERS = b"0123456789+-.eE, \t\r\n"
_NO_NUMBER = re.compile(rb"[^0-9+\-.eE, \t\r\n]")
_NUMBER_START = re.compile(rb"[0-9+\-.eE]*+\Z")
_WORD = re.compile(rb"[^,\[\]{}\s]{1,20}|.", re.DOTALL)


@dataclass(frozen=True)
class DataList:
    """Where the numbers of a list lie in the file, without brackets, and how many they are."""

    start: int
    end: int
    count: int


class UwefText:
    """A file's structure as JSON, in which a list of numbers is an index in `lists`.

    The file is read in blocks, never mapped: pages of a mapping count as memory of the process, and
    the text is three times as large as its arrays. Raises GaweeError, located, for text that is not
    JSON and for data that are not flat lists of numbers; OSError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._file = _opened(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self.lists: list[DataList] = []
        mark = len(BOM_UTF8) if self._read(0, len(BOM_UTF8)) == BOM_UTF8 else 0
        self._origins: list[tuple[int, int]] = [(0, mark)]
        self._places = _OriginSource(self.name, self._structure(mark), file=self)
        if not self._places.is_text:
            raise GaweeError(f"cannot read '{self.name}': its text is not UTF-8")
        self.root: JsonValue = decode_json(self._places)

    def place(self, offset: int) -> str:
        """Return `name:line:column` of an offset in the structure."""
        return self._places.place(offset)

    def pieces(self, numbers: DataList) -> Iterator[bytes]:
        """Yield the text of a list in pieces of whole numbers; an empty one where one lacks."""
        start, rest = numbers.start, b""
        while start < numbers.end:
            block = rest + self._read(start, min(start + PIECE, numbers.end))
            start = min(start + PIECE, numbers.end)
            if start == numbers.end:
                yield block
                return
            whole, comma, rest = block.rpartition(b",")
            if comma:
                yield whole

    def _read(self, start: int, end: int) -> bytes:
        return os.pread(self._file.fileno(), max(min(end, self._size) - start, 0), start)

    def _structure(self, start: int) -> bytes:
        parts: list[bytes] = []
        length, kept = 0, start
        while (begin := self._next_list(start)) is not None:
            parts.append(self._read(kept, begin) + b"%d" % len(self.lists))
            length += len(parts[-1])
            numbers = self._scan(begin)
            self.lists.append(numbers)
            start = kept = numbers.end
            self._origins.append((length, kept))
            self._check_length(length)
        parts.append(self._read(kept, self._size))
        return b"".join(parts)

    def _next_list(self, start: int) -> int | None:
        """Return where the next list under the key `data` begins, behind its bracket."""
        first, size = start, PIECE >> 2
        while start < self._size:
            window = self._read(start, start + size)
            position = 0
            for match in _STRING.finditer(window):
                if match.end() == len(window) and start + match.end() < self._size:
                    position, size = match.start(), 2 * size  # it may go on behind the window
                    break
                if match["list"] is not None and match[0].startswith(b'"data"'):
                    return start + match.end()
            else:
                position = len(window)
            start += position
            self._check_length(start + size - first)
        self._check_length(self._size - first)
        return None

    def _check_length(self, length: int) -> None:
        if length > MAX_STRUCTURE:
            raise GaweeError(
                f"expected '{self.name}' to have at most {MAX_STRUCTURE} bytes beside its data, "
                "got more"
            )

    def _scan(self, start: int) -> DataList:
        """Find the end of a list of numbers, and count them."""
        commas, blank, at = 0, True, start
        while True:
            block, bracket, _ = self._read(at, at + PIECE).partition(b"]")
            if block.translate(None, _NUMBERS):
                self._refuse_word(block, at)
            commas += block.count(b",")
            blank = blank and not block.strip()
            at += len(block)
            if bracket:
                return DataList(start, at, 0 if blank else commas + 1)
            if at >= self._size:
                message = "cannot read JSON: expected ']' behind data, got the end of the file"
                raise GaweeError(Diagnostic(message, self._byte_place(start)))

    def _refuse_word(self, block: bytes, start: int) -> None:
        found = _NO_NUMBER.search(block)
        assert found is not None
        before = _NUMBER_START.search(block, max(found.start() - 20, 0), found.start())
        word = _WORD.match(block, found.start() if before is None else before.start())
        text = (word or found)[0].decode(errors="replace")
        message = f"expected data to be a flat list of finite numbers, got {text!r} in it"
        raise GaweeError(Diagnostic(message, self._byte_place(start + found.start())))

    def _byte_place(self, offset: int) -> str:
        line, column = self.line_column(offset)
        return f"{self.name}:{line}:{column}"

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset in the file, both from 1."""
        line, column = 1, 1
        for start in range(0, offset, PIECE):
            head, newline, tail = self._read(start, min(start + PIECE, offset)).rpartition(b"\n")
            line += head.count(b"\n") + len(newline)
            column = (1 if newline else column) + len(tail.decode(errors="ignore"))
        return line, column

    def origin(self, offset: int) -> int:
        """Return where a byte of the structure stands in the file."""
        index = bisect_right(self._origins, (offset, self._size)) - 1
        before, origin = self._origins[index]
        return origin + offset - before


@dataclass(frozen=True, kw_only=True)
class _OriginSource(Source):
    """Tells where characters of the structure stand in the file they were taken from."""

    file: UwefText

    def line_column(self, offset: int) -> tuple[int, int]:
        return self.file.line_column(self.file.origin(len(self.text[:offset].encode())))


def _opened(path: Path) -> BinaryIO:
    require_regular(path)
    if path.stat().st_size == 0:
        raise GaweeError(f"cannot read '{path}': the file is empty")
    return path.open("rb", buffering=0)
