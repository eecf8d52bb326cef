"""Which kernels a recurrence runs at each step, and a clock that is read after each of them.

The loop of a recurrence is one function. So that its kernels have times of their own, the module
that is profiled calls a clock in the loop, which knows how long each place took in all steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.loop_work import trip_count
from gawee_dialect.analysis.op_cost import op_work
from gawee_dialect.analysis.work import Work, total
from gawee_dialect.dialect.scan import is_batch_loop, is_step_loop
from gawee_dialect.instruments.profile import NodeTime, name_of
from gawee_dialect.locations import hand_on_location, place
from gawee_dialect.passes.outline_kernels import base_name, node_groups

BEFORE = 0
"""The place of the clock for all that is not in a loop of steps."""


@dataclass(frozen=True)
class StepPart:
    """A kernel of a step: its place on the clock, and what is known of it before it is timed."""

    place: int
    time: NodeTime


def call_clock(module: ModuleOp, clock: str, places: int) -> Mapping[str, Sequence[StepPart]]:
    """Call a clock after each kernel in loops of steps; return these by function, in order.

    The module is one whose kernels are outlined and are kernels still. A function is left as it is
    where it has no such loop, where steps are not counted, and beyond so many places.
    """
    numbers = count(BEFORE + 1)
    found: dict[str, list[StepPart]] = {}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    for function in functions:
        ops = function.body.block.ops
        loops = [op for op in ops if is_step_loop(op) and not is_batch_loop(op)]
        parts = {op: part for loop in loops for op, part in _parts(function, loop, numbers)}
        if parts and next(reversed(parts.values())).place < places:
            found[function.sym_name.data] = _named_apart(parts.values())
            first = function.body.block.first_op
            assert first is not None
            _call(clock, BEFORE, InsertPoint.before(first), first)
            for op, part in parts.items():
                _call(clock, part.place, InsertPoint.after(op), op)
    if found:
        module.body.block.add_op(FuncOp.external(clock, [i64], []))
    return found


def _parts(
    function: FuncOp, loop: scf.ForOp, numbers: Iterator[int]
) -> Iterator[tuple[Operation, StepPart]]:
    """Yield the kernels of a step, each with its last op."""
    steps = trip_count(loop)
    for group in () if steps is None else list(node_groups(loop.body.block)):
        assert steps is not None
        work = total(each for each in map(op_work, group) if each is not None)
        # What a step touches, the next one finds.
        work = replace(
            work,
            flops=steps * work.flops,
            read_bytes=steps * work.read_bytes,
            write_bytes=steps * work.write_bytes,
        )
        # As in outline-kernels: others prepare for what has the most operands.
        main = max(reversed(group), key=lambda op: len(op.operands))
        where, name = place(main.location), function.sym_name.data
        time = NodeTime(name_of(main), base_name(main), 0.0, work, where, steps, name)
        yield group[-1], StepPart(next(numbers), time)


def _named_apart(parts: Iterable[StepPart]) -> list[StepPart]:
    """Number what is called alike."""
    names: Counter[str] = Counter()
    found: list[StepPart] = []
    for part in parts:
        what = part.time.what
        found.append(replace(part, time=replace(part.time, what=f"{what}_{names[what]}")))
        names[what] += 1
    return found


def _call(clock: str, number: int, where: InsertPoint, source: Operation) -> None:
    builder = Builder(where)
    constant = builder.insert(arith.ConstantOp(IntegerAttr(number, i64)))
    call = builder.insert(CallOp(clock, [constant.result], []))
    for op in (constant, call):
        hand_on_location(source, op)


def timed_parts(
    whole: NodeTime, parts: Sequence[StepPart], seconds: Sequence[float]
) -> Iterator[NodeTime]:
    """Yield the times of a function's kernels, and what of its own time is left beside them."""
    for part, each in zip(parts, seconds, strict=True):
        yield replace(part.time, seconds=each)
    rest = max(0.0, whole.seconds - sum(seconds))
    yield replace(whole, seconds=rest, work=Work())
