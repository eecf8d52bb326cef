"""Threads that take over images of a batch while their caller computes others."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gawee_dialect.backend.openmp import MOST_THREADS


class _Helpers:
    """The threads of this process, which are started when there is something for them to do."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # A forked process has none of them.
        self._executor = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="gawee-images")

    def submit(self, function: Callable[[], None]) -> "Future[None]":
        """Have a thread call a function."""
        return self._executor.submit(function)


_helpers = _Helpers()


def call_in_threads(function: Callable[[], None], threads: int) -> None:
    """Call a function in some threads at once, the caller's among them.

    It is to do all there is to do, whoever comes first: helpers that have not begun when the caller
    is done are not waited for. Raises what the caller's own call does, else what a helper's does.
    """
    others = [_helpers.submit(function) for _ in range(threads - 1)]
    try:
        function()
    finally:
        for each in others:
            if not each.cancel():
                each.exception()  # waits: the caller's memory is theirs until then
    for each in others:
        if not each.cancelled():
            each.result()
