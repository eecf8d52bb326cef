"""When what ran, as events of the Trace Event Format, which Perfetto and chrome://tracing open.

The format: "Trace Event Format", Google, 2016: complete events (`X`) with microseconds.
"""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.profile import NodeTime
from gawee_dialect.passes.instrument import Instrument

TOOL, NODES = 1, 2
"""The rows: what the tool did; the nodes of a run, one after the other."""

Event = dict[str, object]


class TraceEvents(Instrument):
    """Notes when each phase of the tool and each pass began, and how long it took."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._open: list[float] = []
        self._started = perf_counter()

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Note what is not a pass: reading, lowering, running."""
        started = perf_counter()
        try:
            yield
        finally:
            self._note(name, "phase", started)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._open.append(perf_counter())

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._note(str(module_pass.spec()), "pass", self._open.pop())

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._open.pop()

    def needs_verified(self) -> bool:
        return False  # what is timed is the run as it is without a trace

    def nodes(self, times: Sequence[NodeTime]) -> None:
        """Note the time of each node of one run, which are drawn from the beginning on."""
        at = 0.0
        for time in times:
            self._events.append(_event(time.node, "node", NODES, at, time.seconds))
            self._events[-1]["args"] = {"ran": time.ran, "place": time.place}
            at += time.seconds

    def text(self) -> str:
        """Return the events as JSON text."""
        rows = ((TOOL, "gawee-run: phases and passes"), (NODES, "one run, node after node"))
        names = [
            {"name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": {"name": name}}
            for row, name in rows
            if any(each["tid"] == row for each in self._events)
        ]
        document = {"displayTimeUnit": "ms", "traceEvents": [*names, *self._events]}
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def _note(self, name: str, kind: str, started: float) -> None:
        seconds = perf_counter() - started
        self._events.append(_event(name, kind, TOOL, started - self._started, seconds))


def _event(name: str, kind: str, row: int, start: float, seconds: float) -> Event:
    microseconds = {"ts": start * 1e6, "dur": seconds * 1e6}
    return {"name": name, "cat": kind, "ph": "X", "pid": 1, "tid": row, **microseconds}
