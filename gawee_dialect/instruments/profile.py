"""How long every graph node takes, in the interpreter or as machine code, and what it could take.

What ran, an op or a kernel, says how many FLOPs and bytes the node is; the processor's limits say
how long that takes at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import scf
from xdsl.dialects.func import CallOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import Work, total
from gawee_dialect.locations import node_name, place
from gawee_dialect.target.description import GIGA, Limit, Processor

Array = NDArray[np.generic]


@dataclass
class NodeTime:
    """Seconds spent on one node, the best of all runs, and which op or kernel took most of them.

    `work` is None where a part of what ran has no known work. `place` separates nodes of a name.
    A kernel that the loop of a recurrence runs has a row by itself: `calls` are its steps, `within`
    the function that is the loop.
    """

    node: str
    what: str
    seconds: float
    work: Work | None = None
    place: str | None = None
    calls: int = 1
    within: str | None = None

    @property
    def ran(self) -> str:
        """What ran, and how often it was called in a loop."""
        return self.what if self.within is None else f"{self.calls} x {self.what}"

    @property
    def gflops(self) -> float | None:
        """Billions of FLOPs a second."""
        return self._rate(None if self.work is None else self.work.flops)

    @property
    def gbytes(self) -> float | None:
        """Billions of bytes read and written a second."""
        return self._rate(None if self.work is None else self.work.bytes)

    def _rate(self, amount: int | None) -> float | None:
        return None if amount is None or self.seconds <= 0 else amount / self.seconds / 1e9

    def limit(self, processor: Processor) -> Limit | None:
        """Return the least time that the node's work can take; None where there is no work."""
        work = self.work
        return None if work is None or not work.bytes else limit_of(work, processor)

    def percent_of_limit(self, processor: Processor) -> float | None:
        """Return the limit as a part of the measured time: 100 is as fast as can be."""
        limit = self.limit(processor)
        return None if limit is None or self.seconds <= 0 else 100 * limit.seconds / self.seconds

    def to_json(self, processor: Processor) -> dict[str, object]:
        """Return what is known of the node as `json.dumps` takes it."""
        work, limit = self.work, self.limit(processor)
        return {
            "node": self.node,
            "place": self.place,
            "what": self.what,
            "calls": self.calls,
            "within": self.within,
            "seconds": self.seconds,
            "flops": None if work is None else work.flops,
            "read_bytes": None if work is None else work.read_bytes,
            "write_bytes": None if work is None else work.write_bytes,
            "intensity": None if work is None else work.intensity,
            "predicted_seconds": None if limit is None else limit.seconds,
            "bound": None if limit is None else limit.bound,
            "gflops_per_second": self.gflops,
            "gbytes_per_second": self.gbytes,
            "percent_of_limit": self.percent_of_limit(processor),
        }


def processor_json(processor: Processor) -> dict[str, object]:
    """Return the limits that percentages are of as `json.dumps` takes them."""
    return {
        "target": processor.name,
        "cpu": processor.cpu,
        "source": processor.source,
        "vector_bits": processor.vector_bits,
        "gflops_per_second": processor.flops() / GIGA,
        "memories": [
            {"name": each.name, "bytes": each.size, "gbytes_per_second": each.bandwidth / GIGA}
            for each in processor.memories
        ],
    }


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit to show parts of a time in, and how many of it a second has."""
    return ("us", 1e6) if seconds < 2e-3 else ("ms", 1e3)


def by_node(parts: Iterable[NodeTime]) -> list[NodeTime]:
    """Add up what ran for each node; nodes are in the order in which they first ran."""
    nodes: dict[tuple[str | None, ...], list[NodeTime]] = {}
    for part in parts:
        inner = () if part.within is None else (part.within, part.what)
        nodes.setdefault((part.node, part.place, *inner), []).append(part)
    return [_together(group) for group in nodes.values()]


def _together(parts: Sequence[NodeTime]) -> NodeTime:
    # What computes names the node, though a constant that is made first may take longer.
    longest = max(
        parts, key=lambda part: (part.work is not None and part.work.flops > 0, part.seconds)
    )
    works = [part.work for part in parts if part.work is not None]
    work = total(works) if len(works) == len(parts) else None
    return replace(longest, seconds=sum(part.seconds for part in parts), work=work)


def timed(
    op: Operation, what: str, seconds: float, known: Mapping[str, Work] | None = None
) -> NodeTime:
    """Return the time of an op with the node that it is of, and its work.

    `known` is the work of functions by name: of kernels, whose loops no longer show it.
    """
    work = (known or {}).get(what) or op_work(op)
    if work is None and not isinstance(op, CallOp | scf.ForOp):
        work = Work()  # a view, a constant: nothing, rather than unknown
    return NodeTime(name_of(op), what, seconds, work, place(op.location))


def name_of(op: Operation) -> str:
    """Return the node an op comes from, else its place, else its name."""
    return node_name(op.location) or place(op.location) or op.name


class InterpreterProfile(Interpreter.Listener):
    """Times every op of the entry function's body; ops of one node are added up."""

    def __init__(self) -> None:
        self._times: list[NodeTime] = []
        self._started: list[float] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._started.append(perf_counter())

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        seconds = perf_counter() - self._started.pop()
        if not self._started:  # ops inside another op are part of its time
            self._times.append(timed(op, op.name, seconds))

    def times(self) -> Sequence[NodeTime]:
        """Return the nodes in the order in which they first ran."""
        return by_node(self._times)
