"""What is compiled while a model runs on, and waiting for it."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from time import monotonic

_running: set[threading.Thread] = set()


def start(work: Callable[[], None]) -> threading.Thread:
    """Do some work in a thread, which sees what the caller's context has."""
    context = copy_context()

    def run() -> None:
        try:
            context.run(work)
        finally:
            _running.discard(threading.current_thread())

    thread = threading.Thread(target=run, name="gawee-compilation")
    _running.add(thread)
    thread.start()
    return thread


def wait_until_compiled(timeout: float | None = None) -> bool:
    """Wait until all that is compiled in the background is ready, or was found to be impossible.

    Returns whether it is, False after `timeout` seconds.
    """
    end = None if timeout is None else monotonic() + timeout
    for thread in tuple(_running):
        thread.join(None if end is None else max(0.0, end - monotonic()))
        if thread.is_alive():
            return False
    return True
