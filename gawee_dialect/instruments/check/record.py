"""What every place of a program computed, remembered while the interpreter runs it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from xdsl.dialects.builtin import LocationAttr, MemRefType, UnknownLoc
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.written_buffers import WrittenBuffers
from gawee_dialect.dialect.scan import BATCH_MARK, ScanOp, is_step_loop, is_thread_loop
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
    """What the ops of one location computed: the last array of each shape, and the last op.

    Of what is computed for each part of a batch, an array is a part.
    """

    location: LocationAttr
    op: Operation
    arrays: dict[tuple[int, ...], dict[int, Array]] = field(
        default_factory=dict[tuple[int, ...], dict[int, Array]]
    )
    """By shape, in the order in which they were computed: the last one is the place's value."""

    steps: list[tuple[Operation, Array]] = field(default_factory=list[tuple[Operation, Array]])
    """Which op computed what, the last MOST_STEPS of them."""

    def add(self, op: Operation, array: Array, part: int = 0) -> None:
        """Remember an array as the newest."""
        self.op = op
        self.steps = [*self.steps[1 - MOST_STEPS :], (op, array)]
        parts = self.arrays.pop(array.shape, {})
        parts[part] = array
        self.arrays[array.shape] = parts

    @property
    def all(self) -> Sequence[Array]:
        """All arrays that are remembered."""
        return [*(array for _, array in self.steps), *map(_joined, self.arrays.values())]

    @property
    def value(self) -> Array:
        """The last array."""
        return _joined(next(reversed(self.arrays.values())))

    def like(self, array: Array) -> Array | None:
        """Return the last array that may be the same value: of one shape, else of one size."""
        joined = [_joined(parts, array.shape) for parts in reversed(self.arrays.values())]
        same_shape = (own for own in joined if own.shape == array.shape)
        same_size = (own.reshape(array.shape) for own in joined if own.size == array.size)
        return next(chain(same_shape, same_size), None)


def _joined(parts: Mapping[int, Array], shape: Sequence[int] = ()) -> Array:
    """Return the parts of a batch as one array, along the axis that makes it of a shape."""
    arrays = [parts[index] for index in sorted(parts)]
    if len(arrays) == 1:
        return arrays[0]
    if arrays[0].ndim == 0:
        return np.stack(arrays)
    axes = (
        axis
        for axis, size in enumerate(arrays[0].shape)
        if (*arrays[0].shape[:axis], size * len(arrays), *arrays[0].shape[axis + 1 :]) == (*shape,)
    )
    return np.concatenate(arrays, next(axes, 0))


@dataclass
class _Loop:
    """A loop over steps that runs: its ops are seen as those of the function are.

    The parts of a batch are all remembered. Of a recurrence that is the first step: in a later one
    each op reads what all of them made of the step before, so nothing tells which of them is wrong.
    """

    op: Operation
    steps: Sequence[int]
    done: Counter[tuple[Operation, SSAValue]] = field(
        default_factory=Counter[tuple[Operation, SSAValue]]
    )
    """How often an op has made a value."""

    @property
    def is_batch(self) -> bool:
        """Whether steps are parts of a batch, or threads that compute some."""
        return BATCH_MARK in self.op.attributes or is_thread_loop(self.op)


def _loop_of(op: Operation, args: PythonValues) -> _Loop | None:
    """Return the loop over steps that an op is."""
    if isinstance(op, ScanOp):
        return _Loop(op, range(op.num_steps))
    if is_step_loop(op) or is_thread_loop(op):
        return _Loop(op, range(*map(int, args[:3])))
    return None


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
        """How many ops run, each a part of the one before; loops over steps are not counted."""
        self._loops: list[_Loop] = []
        """Those that run, the inmost last."""

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        loop = None if self._depth else _loop_of(op, args)
        if loop is None:
            self._depth += 1
        if self._depth > 1:
            return  # an op inside another is part of that
        for value, array in zip(op.operands, args, strict=False):
            self._note(value, array)
        opened = list(self._open.values())
        if opened and (loop or op.location != opened[0].location or op in opened):
            self.close()
        if loop is not None:
            self._loops.append(loop)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if self._loops and op is self._loops[-1].op:
            self.close()
            self._loops.pop()
        else:
            self._depth -= 1
        if self._depth > 0:
            return
        for value, array in zip(op.results, results, strict=True):
            self._note(value, array)
            if not isinstance(value.type, MemRefType):
                self._add(op, value, array)
        for buffer in self._written.of(op):
            self._open[buffer] = op

    def close(self) -> None:
        """Take the buffers of the last location as they are now."""
        for buffer, op in self._open.items():
            if buffer in self._buffers:
                self._add(op, buffer, self._buffers[buffer])
        self._open.clear()

    def _note(self, value: SSAValue, array: object) -> None:
        if isinstance(value.type, MemRefType):
            self._buffers[value] = array

    def _add(self, op: Operation, value: SSAValue, found: object) -> None:
        array = self._plan.recorded(found)
        if array is None:
            return
        loop, part = next(reversed(self._loops), None), 0
        if loop is not None:
            done = loop.done[op, value]
            loop.done[op, value] += 1
            if done and not loop.is_batch:
                return
            part = loop.steps[done]
        if isinstance(op.location, UnknownLoc):
            place = self.placeless.setdefault(op, Place(op.location, op))
        else:
            # In the order of what is computed last: `@prepare` has places of `@main` too.
            place = self.places.pop(op.location, None) or Place(op.location, op)
            self.places[op.location] = place
        is_buffer = isinstance(value.type, MemRefType)
        place.add(op, np.array(array) if is_buffer else array, part)


def record(plan: Plan, data_sets: Sequence[DataSet]) -> Record:
    """Run an observable plan and return what each location computed last; raises GaweeError."""
    recorder = Recorder(plan)
    plan.observe(data_sets, recorder)
    recorder.close()
    return Record(recorder.places, [*recorder.placeless.values()])
