"""Memory that vectors and the page tables like: aligned, and on huge pages where it is large."""

import mmap

import numpy as np
from numpy.typing import NDArray

CACHE_LINE = 64
HUGE_PAGE = 2 << 20


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """Return at least one byte of zeroed memory, aligned to 64 bytes, or to 2 MB from 2 MB on."""
    if size < HUGE_PAGE:
        return _aligned(np.zeros(size + CACHE_LINE, np.uint8), size, CACHE_LINE)
    pages = mmap.mmap(-1, size + HUGE_PAGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return _aligned(np.frombuffer(pages, np.uint8), size, HUGE_PAGE)


def _aligned(memory: NDArray[np.uint8], size: int, alignment: int) -> NDArray[np.uint8]:
    start = -memory.ctypes.data % alignment
    return memory[start : start + max(size, 1)]
