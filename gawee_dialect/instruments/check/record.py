"""What every place of a program computed, remembered while the interpreter runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import LocationAttr, MemRefType, UnknownLoc
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.written_buffers import WrittenBuffers
from gawee_dialect.instruments.check.execute import Plan
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.interpreter.arrays import Array

MOST_STEPS = 8

Places = Mapping[LocationAttr, "Place"]
"""What was computed, in the order of the program."""


@dataclass(frozen=True)
class Record:
    """What was computed at each place, and by ops that have none, in the order of the program."""

    places: Places
    placeless: "Sequence[Place]"


@dataclass
class Place:
    """What the ops of one location computed: the last array of each shape, and the last op."""

    location: LocationAttr
    op: Operation
    arrays: dict[tuple[int, ...], Array] = field(default_factory=dict[tuple[int, ...], Array])
    """In the order in which they were computed: the last one is the place's value."""

    steps: list[tuple[Operation, Array]] = field(default_factory=list[tuple[Operation, Array]])
    """Which op computed what, the last MOST_STEPS of them."""

    def add(self, op: Operation, array: Array) -> None:
        """Remember an array as the newest."""
        self.op = op
        self.steps = [*self.steps[1 - MOST_STEPS :], (op, array)]
        self.arrays.pop(array.shape, None)
        self.arrays[array.shape] = array

    @property
    def all(self) -> Sequence[Array]:
        """All arrays that are remembered."""
        return [*(array for _, array in self.steps), *self.arrays.values()]

    @property
    def value(self) -> Array:
        """The last array."""
        return next(reversed(self.arrays.values()))

    def like(self, array: Array) -> Array | None:
        """Return the last array that may be the same value: of one shape, else of one size."""
        if array.shape in self.arrays:
            return self.arrays[array.shape]
        same_size = (own for own in reversed(self.arrays.values()) if own.size == array.size)
        found = next(same_size, None)
        return None if found is None else found.reshape(array.shape)


class Recorder(Interpreter.Listener):
    """Remembers what every op of the entry functions computes, by location.

    Buffers change as the program runs, and one node may write its buffer by several ops: what a
    run of ops of one location wrote is copied when the run ends.
    """

    def __init__(self, plan: Plan) -> None:
        self.places: dict[LocationAttr, Place] = {}
        """In the order in which they last computed something."""
        self.placeless: dict[Operation, Place] = {}
        self._plan = plan
        self._written = WrittenBuffers(plan.observed)
        self._buffers: dict[SSAValue, object] = {}
        self._open: dict[SSAValue, Operation] = {}
        self._depth = 0

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._depth += 1
        if self._depth > 1:
            return  # an op inside another is part of that
        for value, array in zip(op.operands, args, strict=False):
            self._note(value, array)
        if self._open and op.location != next(iter(self._open.values())).location:
            self.close()

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        self._depth -= 1
        if self._depth > 0:
            return
        for value, array in zip(op.results, results, strict=True):
            self._note(value, array)
            if not isinstance(value.type, MemRefType):
                self._add(op, array)
        for buffer in self._written.of(op):
            self._open[buffer] = op

    def close(self) -> None:
        """Take the buffers of the last location as they are now."""
        for buffer, op in self._open.items():
            if buffer in self._buffers:
                self._add(op, self._buffers[buffer], is_shared=True)
        self._open.clear()

    def _note(self, value: SSAValue, array: object) -> None:
        if isinstance(value.type, MemRefType):
            self._buffers[value] = array

    def _add(self, op: Operation, value: object, *, is_shared: bool = False) -> None:
        array = self._plan.recorded(value)
        if array is None:
            return
        if isinstance(op.location, UnknownLoc):
            place = self.placeless.setdefault(op, Place(op.location, op))
        else:
            # In the order of what is computed last: `@prepare` has places of `@main` too.
            place = self.places.pop(op.location, None) or Place(op.location, op)
            self.places[op.location] = place
        place.add(op, np.array(array) if is_shared else array)


def record(plan: Plan, data_sets: Sequence[DataSet]) -> Record:
    """Run an observable plan and return what each location computed last; raises GaweeError."""
    recorder = Recorder(plan)
    plan.observe(data_sets, recorder)
    recorder.close()
    return Record(recorder.places, [*recorder.placeless.values()])
