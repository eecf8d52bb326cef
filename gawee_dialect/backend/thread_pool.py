"""Threads of our own behind the functions of an OpenMP runtime, where the system has futexes.

OpenMP's static teams end with their slowest thread. Where other programs use the processors too,
that is one that does not run at all, for milliseconds, and its colleagues watch it meanwhile. Here
a thread takes over what another has not begun, watches for microseconds, and then sleeps.
"""

import atexit
import ctypes
import os
import platform
import sys
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files

from llvmlite import binding

from gawee_dialect.backend.cache import CompileCache, key_of

TEXT = files("gawee_dialect.backend").joinpath("thread_pool.ll")

PARTS = 8
"""Parts of the work for each thread: what one is in the middle of is what others wait for."""

WATCH = 2000
"""Looks, some 27 ns each, after which a thread that waits for a team goes to sleep."""

PATIENCE = 500
"""Looks after which a team's caller sleeps until the last part is done."""

MACHINES = {
    "x86_64": {"FUTEX": "202", "RELAX": "@llvm.x86.sse2.pause()"},
    "aarch64": {"FUTEX": "98", "RELAX": "@llvm.aarch64.isb(i32 15)"},
}
"""A Linux machine's number of the system call, and what a waiting thread does."""

C_FUNCTIONS = (
    "pthread_create",
    "pthread_join",
    "pthread_key_create",
    "pthread_getspecific",
    "pthread_setspecific",
    "syscall",
    "memset",
)


def loaded(text: str, *, opt: int = 2) -> binding.ExecutionEngine:
    """Compile LLVM IR text as it stands, for any processor of this kind; LLVM must be prepared."""
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), _generic_machine(opt))
    engine.finalize_object()
    return engine


def _generic_machine(opt: int) -> binding.TargetMachine:
    return binding.Target.from_default_triple().create_target_machine(
        cpu="", features="", opt=opt, reloc="default", codemodel="jitdefault", jit=True
    )


new_code: dict[str, bytes] = {}
"""Machine code of what runs teams, by its key, where this process has compiled it."""


def keep_code(cache: CompileCache) -> None:
    """Keep what was compiled for processes to come."""
    while new_code:
        cache.write(*new_code.popitem())


def _loaded_again(text: str) -> binding.ExecutionEngine:
    """Load what `loaded` compiles; an earlier process may have done so."""
    machine = _generic_machine(opt=2)
    key = key_of("threads", text, machine.triple)
    cache = CompileCache()
    code = cache.read(key) if cache.folder.is_dir() else None  # to read it makes the folder
    if code is None:
        code = new_code[key] = machine.emit_object(binding.parse_assembly(text))
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


class ThreadPool:
    """The helpers of this process, which stay asleep while there is nothing to do."""

    def __init__(self, threads: int, machine: dict[str, str]):
        """Compile the functions; raises OSError where the system lacks what they need."""
        text = TEXT.read_text(encoding="utf-8")
        numbers = {"PARTS": PARTS, "WATCH": WATCH, "PATIENCE": PATIENCE}
        for name, value in {**machine, **numbers}.items():
            text = text.replace(name, str(value))
        c = ctypes.CDLL(None)
        for name in C_FUNCTIONS:
            address = ctypes.cast(getattr(c, name), ctypes.c_void_p).value
            binding.add_symbol(name, address or 0)
        self._engine = _loaded_again(text)
        start = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(self.address("start_pool"))
        if start(threads) == 0:
            raise OSError("no thread-specific keys are left")
        forget, stop = (
            ctypes.CFUNCTYPE(None)(self.address(name)) for name in ("forget_helpers", "stop_pool")
        )
        os.register_at_fork(after_in_child=forget)
        atexit.register(stop)  # before the code that the helpers are in goes away

    def address(self, name: str) -> int:
        """Return where a function is."""
        return self._engine.get_function_address(name)

    @cached_property
    def limit(self) -> Callable[[], int]:
        """Returns how many threads the next team of the calling thread may have."""
        return ctypes.CFUNCTYPE(ctypes.c_int)(self.address("omp_get_max_threads"))

    @cached_property
    def set_limit(self) -> Callable[[int], object]:
        """Sets how many threads the next teams of the calling thread have."""
        return ctypes.CFUNCTYPE(None, ctypes.c_int)(self.address("omp_set_num_threads"))


def start_pool(threads: int) -> ThreadPool | None:
    """Make this process's pool, for teams of some threads; None where the system has no futexes."""
    machine = MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return None
    try:
        return ThreadPool(threads, machine)
    except (OSError, AttributeError, RuntimeError):
        return None
