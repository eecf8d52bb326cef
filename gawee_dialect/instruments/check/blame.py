"""Which op a difference comes from: the first whose value differs, in the order of the program."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from xdsl.dialects.builtin import LocationAttr, MemRefType, UnknownLoc
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.effects import WrittenBuffers
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.scan import BATCH_MARK, ScanOp, is_step_loop, is_thread_loop
from gawee_dialect.instruments.check.compare import Difference, Tolerance, compare
from gawee_dialect.instruments.check.execute import Plan
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.native_run import run_isolated
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.locations import node_name, place

# What every place of a program computed, remembered while the interpreter runs it.

MOST_STEPS = 8

Places = Mapping[LocationAttr, "LocatedValues"]
"""What was computed, in the order of the program."""


@dataclass(frozen=True)
class Record:
    """What was computed at each place, and by ops that have none, in the order of the program."""

    places: Places
    placeless: "Sequence[LocatedValues]"


@dataclass
class LocatedValues:
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
    each op reads what all of them made of the step before, so the wrong one stays open.
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
        self.places: dict[LocationAttr, LocatedValues] = {}
        """In the order in which they last computed something."""
        self.placeless: dict[Operation, LocatedValues] = {}
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
            place = self.placeless.setdefault(op, LocatedValues(op.location, op))
        else:
            # In the order of what is computed last: `@prepare` has places of `@main` too.
            place = self.places.pop(op.location, None) or LocatedValues(op.location, op)
            self.places[op.location] = place
        is_buffer = isinstance(value.type, MemRefType)
        place.add(op, np.array(array) if is_buffer else array, part)


def record(plan: Plan, data_sets: Sequence[DataSet]) -> Record:
    """Run an observable plan and return what each location computed last; raises GaweeError."""
    recorder = Recorder(plan)
    plan.observe(data_sets, recorder)
    recorder.close()
    return Record(recorder.places, [*recorder.placeless.values()])


@dataclass(frozen=True)
class Culprit:
    """The op whose value a pass changed, as it was and as it is.

    `difference` is None for the end of the function: every op computes what it did, and another
    value is returned. `gone` are ops whose values it needs and that the pass has removed.
    """

    before: Operation
    after: Operation | None
    difference: Difference | None
    gone: Sequence[Operation] = ()

    def describe(self) -> str:
        """Say which op it is: `'gawee.relu', now 'linalg.generic'`."""
        before = op_text(self.before)
        after = before if self.after is None else op_text(self.after)
        return before if before == after else f"{before}, now {after}"


def op_text(op: Operation) -> str:
    """Return an op's name, and of a call its callee too: `'func.call' of '@generic_1'`."""
    of = f" of '@{op.callee.string_value()}'" if isinstance(op, CallOp) else ""
    return f"'{op.name}'{of}"


def find_culprit(
    before: Plan, after: Plan, data_sets: Sequence[DataSet], tolerance: Tolerance
) -> Culprit | None:
    """Run both programs again, remember every value, and return the first op that differs.

    The values are those of the last data set, which the others come before.

    1. Ops are matched by their location: what the ops of one location compute last is its value.
    2. An op of another value is not to blame where a later op had that value before the pass: it
       has taken that op in, as a convolution does with a batch norm.
    3. Where a pass has left ops without a location, or given one to several, they are found by
       their values: the first op whose value is nowhere among theirs is to blame.
    4. Where no op differs, the function returns other values than it did.

    None where the values cannot be seen: at the llvm level, where `find_kernel` looks.
    """
    if not (before.is_observable and after.is_observable):
        return None
    old, new = record(before, data_sets), record(after, data_sets)
    found = _first_wrong(old, new, tolerance)
    end = _return_op(before)
    if found is not None or end is None:
        return found
    gone = _gone(end.operands, old.places, new.places)
    return _nameless(gone, old, new, tolerance) or Culprit(end, None, None, gone)


def find_kernel(
    seen: Plan, after: Plan, data_sets: Sequence[DataSet], tolerance: Tolerance
) -> Culprit | None:
    """Return the call whose kernel computes something else in the machine code of another module.

    `seen` is how the function ran when its values could be seen last: it calls the kernels of that
    module by their names. None where all of them compute what they did.
    """
    mixed = seen.calling(after)
    if mixed is None:
        return None
    old = record(seen, data_sets)
    locations = list(old.places)

    def run() -> dict[str, Array]:
        new = record(mixed, data_sets).places
        kept = ((index, new.get(each)) for index, each in enumerate(locations))
        return {str(index): found.value for index, found in kept if found is not None}

    new: dict[LocationAttr, LocatedValues] = {}
    try:
        values = run_isolated(run)
    except GaweeError:
        return None  # it crashes, or has no function of that name
    for index, value in values.items():
        location = locations[int(index)]
        new[location] = LocatedValues(location, old.places[location].op, {value.shape: {0: value}})
    return _first_wrong(old, Record(new, ()), tolerance)


def _first_wrong(old: Record, new: Record, tolerance: Tolerance) -> Culprit | None:
    waiting = list(old.places.values())
    for index, was in enumerate(waiting):
        now, later = new.places.get(was.location), waiting[index + 1 :]
        found = None if now is None else _difference(now, was, tolerance)
        if now is None or found is None or _is_taken_over(now, later, tolerance):
            continue
        gone = _gone(_inputs(was.op, old.places), old.places, new.places)
        nameless = _nameless(gone, old, new, tolerance) or _shared(now, was, later, new, tolerance)
        return nameless or _first_step(was, now, tolerance) or Culprit(was.op, now.op, found, gone)
    return None


def _first_step(was: LocatedValues, now: LocatedValues, tolerance: Tolerance) -> Culprit | None:
    """Return the first op of a place that differs, where the pass has left it the same ops."""
    if [op.name for op, _ in was.steps] != [op.name for op, _ in now.steps]:
        return None
    for (before, old), (after, new) in zip(was.steps, now.steps, strict=True):
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            return None
        found = compare(new, old, tolerance)
        if found is not None and found.is_wrong:
            return Culprit(before, after, found)
    return None


def _nameless(
    gone: Sequence[Operation], old: Record, new: Record, tolerance: Tolerance
) -> Culprit | None:
    """Return the op whose value none of the ops has that a pass has left without a place.

    It is one of those that are gone, or that they depend on, the first of the program.
    """
    if not new.placeless:
        return None
    lost, waiting = set[LocationAttr](), list(gone)
    while waiting:
        op = waiting.pop()
        if op.location not in lost:
            lost.add(op.location)
            waiting += _gone(_inputs(op, old.places), old.places, new.places)
    for was in (each for each in old.places.values() if each.location in lost):
        if any(_has(each, was, tolerance) for each in new.placeless):
            continue
        for now in new.placeless:
            found = _difference(now, was, tolerance) if _is_like(now, was) else None
            if found is not None and not _is_taken_over(now, old.places.values(), tolerance):
                return Culprit(was.op, now.op, found)
    return None


def _shared(
    now: LocatedValues,
    was: LocatedValues,
    later: Iterable[LocatedValues],
    new: Record,
    tolerance: Tolerance,
) -> Culprit | None:
    """Return the op that lost its place to another one, which is right."""
    if not _has(now, was, tolerance):
        return None
    lost = (each for each in later if each.location not in new.places)
    for each in lost:
        if not _is_like(now, each) or _has(now, each, tolerance):
            continue
        found = _difference(now, each, tolerance)
        if found is not None:
            return Culprit(each.op, now.op, found)
    return None


def _is_like(now: LocatedValues, was: LocatedValues) -> bool:
    """Whether the same op may have computed both: the newer one is of the older one's shape."""
    return now.value.shape == was.value.shape and now.value.dtype == was.value.dtype


def _has(now: LocatedValues, was: LocatedValues, tolerance: Tolerance) -> bool:
    """Whether a value is among those of a place."""
    value = was.value
    alike = (each for each in now.all if (each.shape, each.dtype) == (value.shape, value.dtype))
    return any(not tolerance.wrong(each, value).any() for each in alike)


def _difference(now: LocatedValues, was: LocatedValues, tolerance: Tolerance) -> Difference | None:
    """Return how a place's value has become wrong; None where it is right or has no counterpart."""
    actual = now.like(was.value)
    if actual is None or actual.dtype != was.value.dtype:
        return None
    found = compare(actual, was.value, tolerance)
    return found if found is not None and found.is_wrong else None


def _is_taken_over(
    now: LocatedValues, later: Iterable[LocatedValues], tolerance: Tolerance
) -> bool:
    value = now.value
    for place_before in later:
        other = place_before.value
        if (other.shape, other.dtype) != (value.shape, value.dtype):
            continue
        if not tolerance.wrong(value, other).any():
            return True
    return False


def _inputs(op: Operation, places: Places) -> Iterable[SSAValue]:
    """Return what the ops of an op's location read from others."""
    block = op.parent
    if block is None:
        return op.operands
    group = [other for other in block.ops if other.location == op.location]
    return [value for other in group for value in other.operands]


def _gone(
    values: Iterable[SSAValue],
    old: Places,
    new: Places,
) -> Sequence[Operation]:
    owners = (value.owner for value in values)
    makers = dict.fromkeys(owner for owner in owners if isinstance(owner, Operation))
    return [op for op in makers if op.location in old and op.location not in new]


def _return_op(plan: Plan) -> Operation | None:
    function = find_function(plan.observed, plan.function)
    last = None if function is None else function.body.block.last_op
    return last if isinstance(last, ReturnOp) else None


def where(op: Operation) -> str:
    """Return the node and the place of an op of an op: `'gawee.relu' op of node "act" (a:4:5)`."""
    node, position = node_name(op.location), place(op.location)
    of_node = f' of node "{node}"' if node else ""
    at = f" ({position})" if position else ""
    return f"'{op.name}' op{of_node}{at}"
