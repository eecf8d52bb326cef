"""Which op a difference comes from: the first whose value differs, in the order of the program."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.instruments.check.compare import Difference, Tolerance, compare
from gawee_dialect.instruments.check.execute import Plan
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.isolated import run_isolated
from gawee_dialect.instruments.check.record import Place, Places, Record, record
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.locations import node_name, place


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
    """Return an op's name, and of a call whom it calls: `'func.call' of '@generic_1'`."""
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
    3. Where a pass has left ops without a location, or given one to several, they are told by
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

    new: dict[LocationAttr, Place] = {}
    try:
        values = run_isolated(run)
    except GaweeError:
        return None  # it crashes, or has no function of that name
    for index, value in values.items():
        location = locations[int(index)]
        new[location] = Place(location, old.places[location].op, {value.shape: {0: value}})
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


def _first_step(was: Place, now: Place, tolerance: Tolerance) -> Culprit | None:
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
    now: Place, was: Place, later: Iterable[Place], new: Record, tolerance: Tolerance
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


def _is_like(now: Place, was: Place) -> bool:
    """Whether the same op may have computed both: the newer one is of the older one's shape."""
    return now.value.shape == was.value.shape and now.value.dtype == was.value.dtype


def _has(now: Place, was: Place, tolerance: Tolerance) -> bool:
    """Whether a value is among those of a place."""
    value = was.value
    alike = (each for each in now.all if (each.shape, each.dtype) == (value.shape, value.dtype))
    return any(not tolerance.wrong(each, value).any() for each in alike)


def _difference(now: Place, was: Place, tolerance: Tolerance) -> Difference | None:
    """Return how a place's value has become wrong; None where it is right or has no counterpart."""
    actual = now.like(was.value)
    if actual is None or actual.dtype != was.value.dtype:
        return None
    found = compare(actual, was.value, tolerance)
    return found if found is not None and found.is_wrong else None


def _is_taken_over(now: Place, later: Iterable[Place], tolerance: Tolerance) -> bool:
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
