"""The OpenMP runtime of this process: found without asking, or replaced by one thread.

Compiled code calls five functions that GCC's, LLVM's and Intel's runtimes all define. One runtime
is used for the life of the process: two of them would each keep a thread busy on every core.
"""

import ctypes
import ctypes.util
import os
import site
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from llvmlite import binding

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.host import physical_cores

START_TEAM = "GOMP_parallel"

SYMBOLS = (
    START_TEAM,
    "GOMP_barrier",
    "omp_get_max_threads",
    "omp_get_num_threads",
    "omp_get_thread_num",
)
"""What compiled code calls."""

NAMES = ("libgomp", "libomp", "libiomp5", "vcomp140", "libomp140")
"""How the file of a runtime is called, up to its version."""

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
    """A runtime that is loaded, and the functions of it that this process calls."""

    name: str
    library: ctypes.CDLL

    def limit(self) -> int:
        """Return how many threads the next team of the calling thread may have."""
        return self.library.omp_get_max_threads()

    @property
    def survives_fork(self) -> bool:
        """Whether a forked process can start teams: GCC's waits for threads of its parent."""
        return "gomp" not in Path(self.name).name

    def set_limit(self, threads: int) -> None:
        """Set how many threads the next teams of the calling thread have."""
        self.library.omp_set_num_threads(threads)


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
    yield from ("libgomp.so.1", "libomp.so", "libomp.so.5", "libiomp5.so", "libomp.dylib")
    for name in ("gomp", "omp", "iomp5"):
        found = ctypes.util.find_library(name)
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
        library = ctypes.CDLL(path)  # for us alone: code of ours is told addresses
    except OSError:
        return None
    complete = all(hasattr(library, symbol) for symbol in (*SYMBOLS, "omp_set_num_threads"))
    return library if complete else None


def find_runtime() -> Runtime | None:
    """Load the runtime to use: one that the process has already, else one that is installed."""
    for path in (*_loaded_files(), *_installed_files()):
        library = _opened(path)
        if library is not None:
            return Runtime(path, library)
    return None


def _define_serial() -> binding.ExecutionEngine:
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu="", features="", opt=2, reloc="default", codemodel="jitdefault", jit=True
    )
    engine = binding.create_mcjit_compiler(binding.parse_assembly(SERIAL), machine)
    engine.finalize_object()
    for symbol in SYMBOLS:
        binding.add_symbol(symbol, engine.get_function_address(symbol))
    return engine


@cache
def _provided() -> tuple[Runtime | None, binding.ExecutionEngine | None]:
    runtime = find_runtime()
    if runtime is None:
        warnings.warn(
            "no OpenMP runtime was found, so compiled models run on one thread; "
            f"'pip install {PYPI_PACKAGE}' brings one",
            RuntimeWarning,
            stacklevel=2,
        )
        return None, _define_serial()
    for symbol in SYMBOLS:
        # By address: several loaded runtimes define the same names.
        address = ctypes.cast(getattr(runtime.library, symbol), ctypes.c_void_p).value
        binding.add_symbol(symbol, address or 0)
    return runtime, None


_lock = threading.Lock()


def runtime() -> Runtime | None:
    """Return this process's runtime, None where it has none and one thread does everything.

    The first call makes the functions known to LLVM, and warns where there is no runtime. LLVM
    must have been prepared.
    """
    with _lock:
        return _provided()[0]


@cache
def cores() -> int:
    """Return how many threads can work at once."""
    return physical_cores()


def check_threads(threads: int | None) -> None:
    """Raise GaweeError for less than one thread; None is one a core."""
    if threads is not None and threads < 1:
        raise GaweeError(f"expected at least 1 thread, got {threads}")


class _Calls:
    """The calls that run at the moment: those that take what is free share the cores."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0

    def enter(self) -> int:
        """Count one more; return how many cores each may have."""
        with self._lock:
            self._running += 1
            return max(1, cores() // self._running)

    def leave(self) -> None:
        """Count one less."""
        with self._lock:
            self._running -= 1


_calls = _Calls()


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


def call_in_team(
    function: Callable[[object], None], argument: object, threads: int | None, using: Runtime
) -> None:
    """Call a compiled function that starts teams of some threads; None is the cores that are free.

    The limit is the calling thread's own, so calls from several threads do not disturb each other;
    it is put back, since other libraries use the same runtime.
    """
    share = _calls.enter()
    before = using.limit()
    using.set_limit(_ancestry.limit(threads or share, using))
    try:
        function(argument)
    finally:
        using.set_limit(before)
        _calls.leave()
