"""What a graph is read from: a file or standard input, its bytes, and its text where it is text."""

import mmap
import os
import stat
import sys
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from xdsl.dialects.builtin import LocationAttr

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.locations import file_location, line_starts

STANDARD_INPUT = "-"
"""How command lines spell it."""

ONNX_START = b"\x08"
"""The first byte of a ModelProto: the key of its field 1, ir_version, which all writers put first.
No text of ours begins with it."""

LARGE = 1 << 20
"""Bytes of a binary file that is mapped: most of it are weights, which opening it does not read."""


def is_endless(descriptor: int) -> bool:
    """Whether what is open is a device that gives bytes for ever, such as `/dev/zero`."""
    mode = os.fstat(descriptor).st_mode
    is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
    empty = os.path.exists(os.devnull) and os.path.samestat(
        os.fstat(descriptor), os.stat(os.devnull)
    )
    return is_device and not empty and not os.isatty(descriptor)


def _content(file: BinaryIO) -> bytes | mmap.mmap:
    """Return the bytes of a file, mapped where most of them need not be read."""
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size >= LARGE:
        if file.read(len(ONNX_START)) == ONNX_START:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        file.seek(0)
    return file.read()


@dataclass(frozen=True)
class Source:
    """Bytes under the name that messages call them by.

    `path` is where they are on disk, None for standard input and for text from memory. Places in
    the text are offsets: characters from its beginning, a byte order mark not counted.
    """

    name: str
    data: bytes | mmap.mmap
    path: Path | None = None

    @staticmethod
    def read(path: str | Path) -> "Source":
        """Read a file, or standard input for `-`.

        Raises OSError, GaweeError for a device and for standard input that is closed.
        """
        if path == STANDARD_INPUT:
            if sys.__stdin__ is None:
                raise GaweeError("expected a file on standard input, which is closed")
            return Source("<stdin>", sys.stdin.buffer.read())
        with Path(path).open("rb") as file:
            if is_endless(file.fileno()):
                raise GaweeError(f"expected a file, got device '{path}'")
            return Source(str(path), _content(file), Path(path))

    @staticmethod
    def of_text(text: str, name: str) -> "Source":
        """Make a source of text that is in memory already."""
        return Source(name, text.encode())

    @property
    def folder(self) -> Path:
        """Where files beside the source are: the current folder where it is no file."""
        return Path() if self.path is None else self.path.parent

    @cached_property
    def _decoded(self) -> str | Diagnostic:
        data = bytes(self.data).removeprefix(BOM_UTF8)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            return self._not_text(data, error)

    def _not_text(self, data: bytes, error: UnicodeDecodeError) -> Diagnostic:
        before = data[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        place = f"{self.name}:{line}:{column}"
        if error.reason == "unexpected end of data":
            got = "the end of the file inside a character"
            return Diagnostic(f"expected UTF-8 text, got {got}", place, hint="the file is cut off")
        return Diagnostic(f"expected UTF-8 text, got byte 0x{data[error.start]:02x}", place)

    @property
    def is_text(self) -> bool:
        """Whether the bytes are UTF-8."""
        return isinstance(self._decoded, str)

    @property
    def text(self) -> str:
        """The bytes decoded as UTF-8; raises GaweeError at the first that is not."""
        if isinstance(self._decoded, Diagnostic):
            raise GaweeError(self._decoded)
        return self._decoded

    @cached_property
    def _line_starts(self) -> Sequence[int]:
        return line_starts(self.text)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset in the text, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def place(self, offset: int) -> str:
        """Return `name:line:column` of an offset in the text."""
        line, column = self.line_column(offset)
        return f"{self.name}:{line}:{column}"

    def location(self, offset: int, node: str | None = None) -> LocationAttr:
        """Return the location of an offset as ops carry it."""
        return file_location(self.name, *self.line_column(offset), node)


@dataclass(frozen=True)
class Place:
    """An offset in a source's text."""

    source: Source
    offset: int

    def __str__(self) -> str:
        return self.source.place(self.offset)
