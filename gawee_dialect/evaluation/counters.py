"""The processor's own counters of a run, where the system lets a process read them (Linux).

By `perf_event_open`: events of this process in user mode, which `perf_event_paranoid` up to 2
allows. Virtual machines often have no counters at all.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence
from fcntl import ioctl

from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures

EVENTS = {"cycles": 0, "retired_instructions": 1, "cache_misses": 3, "branch_misses": 5}
"""PERF_COUNT_HW_* by what they count."""

SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
ATTRIBUTE_SIZE = 64
DISABLED, INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
ENABLE, DISABLE = 0x2400, 0x2401
RUNS = 3


def open_counter(event: int) -> int:
    """Return a descriptor that counts an event in this process; raises OSError."""
    number = SYSTEM_CALLS.get(platform.machine())
    if number is None or not sys.platform.startswith("linux"):
        raise OSError("this system has no perf_event_open")
    flags = DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR
    attribute = struct.pack("IIQQQQQ", 0, ATTRIBUTE_SIZE, event, 0, 0, 0, flags)
    buffer = ctypes.create_string_buffer(attribute, ATTRIBUTE_SIZE)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.syscall(number, buffer, 0, -1, -1, 0)
    if descriptor < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return descriptor


class Counters(Evaluator[Build]):
    """Cycles, instructions and misses of a run, or the reason why there are none.

    Threads that run already are not counted: code for one thread is counted whole.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        compiled, inputs = build.compiled, build.inputs
        compiled.run(inputs)
        found: dict[str, object] = {}
        for name, event in EVENTS.items():
            try:
                descriptor = open_counter(event)
            except OSError as error:
                return {"counters": f"absent: {error.strerror or error}"}
            try:
                ioctl(descriptor, ENABLE, 0)
                for _ in range(RUNS):
                    compiled.run(inputs)
                ioctl(descriptor, DISABLE, 0)
                (count,) = struct.unpack("Q", os.read(descriptor, 8))
            finally:
                os.close(descriptor)
            found[name] = count // RUNS
        return found
