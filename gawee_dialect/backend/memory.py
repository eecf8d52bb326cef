"""Memory that vectors and the page tables like: aligned, and on huge pages where it is large."""

import ctypes
import mmap
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.backend.signature import Buffer

CACHE_LINE = 64
HUGE_PAGE = 2 << 20

LLVM = "llvmlite"
"""A part of the name of the file that has LLVM's code."""

DONT_NEED = getattr(mmap, "MADV_DONTNEED", 4)
"""Of a private mapping: pages without writes are read from the file again."""


@dataclass(frozen=True)
class MemoryUse:
    """The bytes that a compiled network needs beside its code, its inputs and its outputs."""

    workspace: int
    """The peak of the intermediate values, for each thread of the caller's that runs it."""

    prepared: int
    """Weights in the form that the code reads."""

    parameters: int
    """Weights as they were given, and read again by every run: what is prepared is not counted."""


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """Return at least one byte of zeroed memory, aligned to 64 bytes, or to 2 MB from 2 MB on."""
    if size < HUGE_PAGE:
        return _aligned(np.zeros(size + CACHE_LINE, np.uint8), size, CACHE_LINE)
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows
        return _aligned(np.zeros(size + HUGE_PAGE, np.uint8), size, HUGE_PAGE)
    # Private: what could be shared with other processes is never on huge pages.
    pages = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return _aligned(np.frombuffer(pages, np.uint8), size, HUGE_PAGE)


class _Memory(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """Bytes that arrays lie in. A view of such an array refers to it, and not to these bytes:
    NumPy passes over arrays of the view's own class only."""


def new_array(buffer: Buffer) -> NDArray[np.generic]:
    """Return an array whose elements are still to be written, from the start of a cache line on.

    A vector of 64 bytes that is stored elsewhere crosses into the next line.
    """
    memory = _Memory((buffer.size + CACHE_LINE,), np.uint8)
    return np.ndarray(buffer.shape, buffer.dtype, memory, -memory.ctypes.data % CACHE_LINE)


def _aligned(memory: NDArray[np.uint8], size: int, alignment: int) -> NDArray[np.uint8]:
    start = -memory.ctypes.data % alignment
    return memory[start : start + max(size, 1)]


def give_back() -> None:
    """Return to the system what this process has freed: the C library keeps it otherwise."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # GNU's
        if trim is not None:
            trim(0)


_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (r-[-x])p \S+ \S+ \S+ +(\S.*)$", re.MULTILINE)
_UNCHANGED = re.compile(r"^Anonymous: +0 kB$.*?^Swap: +0 kB$", re.MULTILINE | re.DOTALL)


def forget_code_of(library: str) -> None:
    """Let the system have the pages of a library that are as they are in its file.

    They come back at its next call. library: a part of the name of its file.
    """
    if sys.platform != "linux":
        return
    found = _pages_of.get(library) or _unchanged_pages(library)
    _pages_of[library] = found
    advise = ctypes.CDLL(None).madvise
    for start, end in found:
        advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), DONT_NEED)


Addresses = tuple[int, int]

_pages_of: dict[str, Sequence[Addresses]] = {}
"""What was found of each library: nothing writes to these pages, and to look takes 6 ms."""


def _unchanged_pages(library: str) -> Sequence[Addresses]:
    """Return the mappings of a library that nothing can write to, and nothing has."""
    try:
        text = Path("/proc/self/smaps").read_text()
    except OSError:
        return ()
    mappings = [*_MAPPING.finditer(text)]
    found: list[Addresses] = []
    for mapping, after in zip(mappings, [*mappings[1:], None], strict=True):
        about = text[mapping.end() : after.start() if after else len(text)]
        if library in Path(mapping[4]).name and _UNCHANGED.search(about.partition("VmFlags")[0]):
            found.append((int(mapping[1], 16), int(mapping[2], 16)))
    return found


def arena(buffers: tuple[Buffer, ...]) -> Mapping[str, NDArray[np.generic]]:
    """Return zeroed arrays by name, side by side in one piece, each aligned to a cache line."""
    offsets: list[int] = []
    size = 0
    for buffer in buffers:
        offsets.append(size)
        size += -(-buffer.size // CACHE_LINE) * CACHE_LINE
    memory = aligned_bytes(size)
    return {
        buffer.name: memory[offset : offset + buffer.size].view(buffer.dtype).reshape(buffer.shape)
        for buffer, offset in zip(buffers, offsets, strict=True)
    }
