"""Python's search for garbage in circles, which is switched off where a network is compiled."""

import atexit
import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Generator[None]:
    """Let garbage be: ops, blocks and values refer to each other, and live to the end of a pass.

    To look through all of them again and again takes a tenth of the time of a compilation. Where
    modules were loaded meanwhile, most of what is new stays: it is not looked through even once.
    """
    enabled, loaded = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if len(sys.modules) > loaded and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # back among the oldest, whichever generation it was of
            gc.enable()


@contextmanager
def rare_garbage_collection() -> Generator[None]:
    """Look for garbage seldom, for the time of a tool: the IR lives to its end.

    At the end of the process it is left as it is: to look through it takes another tenth.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
