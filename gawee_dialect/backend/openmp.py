"""What starts the teams of compiled code: a pool of our own, an OpenMP runtime, or nothing.

Compiled code calls five functions that GCC's, LLVM's and Intel's runtimes all define, and four of
them our own pool, which is taken where the system has it and no team waits in its middle.
"""

import ctypes
import os
import site
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from llvmlite import binding

from gawee_dialect.backend.thread_pool import ThreadPool, loaded, start_pool
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.host import physical_cores

A = TypeVar("A")
T = TypeVar("T")

START_TEAM = "GOMP_parallel"

BARRIER = "GOMP_barrier"

SYMBOLS = (
    START_TEAM,
    BARRIER,
    "omp_get_max_threads",
    "omp_get_num_threads",
    "omp_get_thread_num",
)
"""What compiled code calls."""

NAMES = ("libgomp", "libomp", "libiomp5", "vcomp140", "libomp140")
"""How the file of a runtime is called, up to its version."""

MOST_THREADS = 1024
"""The limit of threads: thousands take more memory than networks do, or end the process."""

PYPI_PACKAGE = "intel-openmp"

SERIAL = """
define void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
  call void %function(ptr %data)
  ret void
}
define void @GOMP_barrier() { ret void }
define i32 @omp_get_max_threads() { ret i32 1 }
define i32 @omp_get_num_threads() { ret i32 1 }
define i32 @omp_get_thread_num() { ret i32 0 }
"""
"""What stands in for a runtime: a team is the calling thread."""


@dataclass(frozen=True)
class Runtime:
    """What starts teams in this process, and sets how many threads they have."""

    name: str
    addresses: Mapping[str, int]
    """Where the functions are that compiled code calls."""

    limit: Callable[[], int]
    """Returns how many threads the next team of the calling thread may have."""

    set_limit: Callable[[int], object]
    """Sets how many threads the next teams of the calling thread have."""

    survives_fork: bool = True
    """Whether a forked process can start teams: GCC's waits for threads of its parent."""


def _is_runtime(path: str) -> bool:
    return Path(path).name.partition(".")[0].partition("-")[0] in NAMES


def _loaded_files() -> Iterator[str]:
    """Yield the runtimes that are loaded already: PyTorch and others bring their own."""
    if sys.platform == "darwin":
        dyld = ctypes.CDLL(None)
        dyld._dyld_get_image_name.restype = ctypes.c_char_p
        for index in range(dyld._dyld_image_count()):
            name: bytes = dyld._dyld_get_image_name(index) or b""
            if _is_runtime(name.decode()):
                yield name.decode()
        return
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    paths = (line.split(maxsplit=5)[5] for line in maps.read_text().splitlines() if "/" in line)
    found = dict.fromkeys(path for path in paths if _is_runtime(path))
    # PyTorch's first: it is the one that most likely has threads already.
    yield from sorted(found, key=lambda path: "/torch/" not in path)


def _installed_files() -> Iterator[str]:
    """Yield where runtimes may be: the system's, then those of Python packages."""
    from ctypes import util
    from importlib import metadata

    yield from ("libgomp.so.1", "libomp.so", "libomp.so.5", "libiomp5.so", "libomp.dylib")
    for name in ("gomp", "omp", "iomp5"):
        found = util.find_library(name)
        if found is not None:
            yield found
    # Homebrew keeps its own apart.
    yield "/opt/homebrew/opt/libomp/lib/libomp.dylib"
    yield "/usr/local/opt/libomp/lib/libomp.dylib"
    try:
        files = metadata.files(PYPI_PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    yield from (str(file.locate()) for file in files if _is_runtime(file.name))
    # Wheels of numerical packages bring a copy of GCC's.
    for folder in map(Path, site.getsitepackages()):
        for pattern in ("torch/lib/libgomp*", "*.libs/libgomp*"):
            yield from map(str, sorted(folder.glob(pattern)))


def _opened(path: str) -> ctypes.CDLL | None:
    """Load a runtime, None where there is none or it lacks a function."""
    try:
        library = ctypes.CDLL(path)  # for us alone: code of ours gets addresses
    except OSError:
        return None
    complete = all(hasattr(library, symbol) for symbol in (*SYMBOLS, "omp_set_num_threads"))
    return library if complete else None


def find_library() -> Runtime | None:
    """Load the runtime to use: one that the process has already, else one that is installed."""
    for path in (*_loaded_files(), *_installed_files()):
        library = _opened(path)
        if library is not None:
            addresses = {
                symbol: ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0
                for symbol in SYMBOLS
            }
            return Runtime(
                path,
                addresses,
                library.omp_get_max_threads,
                library.omp_set_num_threads,
                survives_fork="gomp" not in Path(path).name,
            )
    return None


@cache
def _serial() -> binding.ExecutionEngine:
    """Compile what makes the calling thread its own team; the code stays for ever."""
    return loaded(SERIAL)


@cache
def _library() -> Runtime | None:
    runtime = find_library()
    if runtime is None:
        warnings.warn(
            "no OpenMP runtime was found, so compiled models run on one thread; "
            f"'pip install {PYPI_PACKAGE}' brings one",
            RuntimeWarning,
            stacklevel=2,
        )
    return runtime


@cache
def _started_pool() -> ThreadPool | None:
    """Start the pool; its code stays for ever."""
    return start_pool(cores())


def _pool() -> Runtime | None:
    pool = _started_pool()
    if pool is None:
        return None
    addresses = {symbol: pool.address(symbol) for symbol in SYMBOLS if symbol != BARRIER}
    return Runtime("futexes", addresses, pool.limit, pool.set_limit)


_lock = threading.Lock()


def start_threads() -> None:
    """Start what runs teams before the first code that needs some; LLVM must be prepared."""
    with _lock:
        _started_pool()


@contextmanager
def linked(symbols: Collection[str]) -> Generator[Runtime | None]:
    """Let code that calls some of the functions be loaded in a with block.

    Gives what starts its teams, None where a team is the calling thread: that, with one warning,
    where the system has no futexes and there is no OpenMP runtime. LLVM must have been prepared.
    """
    if not set(symbols) & set(SYMBOLS):
        yield None
        return
    with _lock:
        runtime = (None if BARRIER in symbols else _pool()) or _library()
        if runtime is None:
            serial = _serial()
            addresses = {symbol: serial.get_function_address(symbol) for symbol in SYMBOLS}
        else:
            addresses = runtime.addresses
        for symbol, address in addresses.items():
            # By address: several loaded libraries define the same names.
            binding.add_symbol(symbol, address)
        yield runtime


@cache
def cores() -> int:
    """Return how many threads can work at once: what OMP_NUM_THREADS says, or one a core."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isascii() and asked.isdigit() and int(asked) >= 1:
        return min(int(asked), MOST_THREADS)
    return physical_cores()


def check_threads(threads: int | None) -> None:
    """Raise GaweeError for less than one thread and for too many; None is one a core."""
    if threads is not None and threads < 1:
        raise GaweeError(f"expected at least 1 thread, got {threads}")
    if threads is not None and threads > MOST_THREADS:
        raise GaweeError(f"expected at most {MOST_THREADS} threads, got {threads}")


_running: list[None] = []
"""One for each call that runs at the moment: those that take what is free share the cores."""


class _Ancestry:
    """Whether this process was forked from one that had started teams."""

    def __init__(self) -> None:
        self.started_teams = False
        self.is_child = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.is_child = self.started_teams

    def limit(self, threads: int, using: Runtime) -> int:
        """Return how many threads a team may have here; one warning where it is one."""
        if threads > 1 and self.is_child and not using.survives_fork:
            _warn_of_fork()
            return 1
        self.started_teams = self.started_teams or threads > 1
        return threads


_ancestry = _Ancestry()


@cache
def _warn_of_fork() -> None:
    warnings.warn(
        "this process was forked from one with OpenMP threads, so compiled models run on one "
        "thread in it; multiprocessing.set_start_method('spawn') avoids that",
        RuntimeWarning,
        stacklevel=2,
    )


def call_in_team(function: Callable[[A], T], argument: A, threads: int | None, using: Runtime) -> T:
    """Call a compiled function that starts teams of some threads; None is the cores that are free.

    The limit is the calling thread's own, so calls from several threads do not disturb each other;
    it is put back, since other libraries use the same runtime.
    """
    running = _running
    running.append(None)
    try:
        limit = _ancestry.limit(threads or max(1, cores() // len(running)), using)
        before = using.limit()
        if before == limit:
            return function(argument)
        using.set_limit(limit)
        try:
            return function(argument)
        finally:
            using.set_limit(before)
    finally:
        running.pop()
