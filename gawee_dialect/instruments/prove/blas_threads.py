"""Threads of NumPy's BLAS: those that have nothing to do wait in loops, which takes processors."""

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

LIBRARIES = "*openblas*"
"""What the library is called that NumPy's wheels bring; others are left as they are."""

GET, SET = "scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"


@cache
def _library() -> ctypes.CDLL | None:
    folder = Path(np.__file__).parent
    for path in (
        *(folder.parent / "numpy.libs").glob(LIBRARIES),
        *folder.glob(f".dylibs/{LIBRARIES}"),
    ):
        library = ctypes.CDLL(str(path))
        if hasattr(library, GET) and hasattr(library, SET):
            return library
    return None


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Multiply matrices in one thread, for the time of a with block."""
    library = _library()
    if library is None:
        yield
        return
    threads = library[GET]()
    library[SET](1)
    try:
        yield
    finally:
        library[SET](threads)
