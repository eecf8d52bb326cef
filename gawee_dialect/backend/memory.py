"""Memory that vectors and the page tables like: aligned, and on huge pages where it is large."""

import mmap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.backend.signature import Buffer

CACHE_LINE = 64
HUGE_PAGE = 2 << 20


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


def _aligned(memory: NDArray[np.uint8], size: int, alignment: int) -> NDArray[np.uint8]:
    start = -memory.ctypes.data % alignment
    return memory[start : start + max(size, 1)]


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
