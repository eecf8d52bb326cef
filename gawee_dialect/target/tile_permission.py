"""What Linux asks of a process that multiplies tiles: that it says so before."""

import ctypes
import platform
import sys
from functools import cache

SYS_ARCH_PRCTL = 158
ARCH_REQ_XCOMP_PERM = 0x1023
XFEATURE_XTILEDATA = 18


@cache
def may_use_tiles() -> bool:
    """Ask for the registers of AMX, for all threads of this process; return whether it has them.

    Without permission an instruction on tiles ends the process. What is saved of a thread in which
    they are used is 8 KB larger.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    call = ctypes.CDLL(None).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long] * 3
    return call(SYS_ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0
