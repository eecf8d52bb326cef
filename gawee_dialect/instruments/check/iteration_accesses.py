"""Which elements the first iterations of a parallel loop read and write.

Indices are evaluated, so that whatever arithmetic they are made by is looked through; what depends
on data is left out. Of inner loops the first two iterations and the last one are looked at: what is
found there is so, and what is nowhere to be found may still be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.dialect.forall import InParallelOp
from gawee_dialect.instruments.check.index_values import IndexValues, touched_box

ITERATIONS = 4
"""Of a parallel loop, how many of the first are compared with each other."""

MOST = 400
"""Loads and stores of an iteration that are looked at."""

Element = tuple[SSAValue, tuple[int, ...]]
"""A place in memory: whose, and which indices."""


@dataclass
class Accesses:
    """What an iteration reads and writes: which op did so first, by element."""

    reads: dict[Element, Operation] = field(default_factory=dict[Element, Operation])
    writes: dict[Element, Operation] = field(default_factory=dict[Element, Operation])


@dataclass(frozen=True)
class Collision:
    """An element that one iteration writes, and another one touches."""

    write: Operation
    other: Operation
    is_read: bool

    @property
    def text(self) -> str:
        """What the other iteration does: `another of which reads by 'memref.load' what ...`."""
        if self.is_read:
            return (
                f"an iteration of which reads by '{self.other.name}' what another one writes by "
                f"'{self.write.name}'"
            )
        return f"two iterations of which write one element by '{self.other.name}'"


def collision(
    body: Block,
    counters: Sequence[Sequence[int]],
    index: int,
    is_outside: Callable[[SSAValue], bool],
) -> Collision | None:
    """Return an element that two iterations of a nest share, which differ in one counter.

    counters: the numbers that each counter of the nest takes; the others are at their first one.
    is_outside: whether memory is shared by the iterations.
    """
    found: list[Accesses] = []
    for number in counters[index][:ITERATIONS]:
        numbers = [number if place == index else each[0] for place, each in enumerate(counters)]
        trace = _Trace(dict(zip(body.args, numbers, strict=False)), is_outside)
        trace.walk(body)
        found.append(trace.accesses)
    for one, other in combinations(found, 2):
        for first, second in ((one, other), (other, one)):
            shared = next((each for each in first.writes if each in second.writes), None)
            if shared is not None:
                return Collision(first.writes[shared], second.writes[shared], is_read=False)
            shared = next((each for each in first.writes if each in second.reads), None)
            if shared is not None:
                return Collision(first.writes[shared], second.reads[shared], is_read=True)
    return None


class _Trace(IndexValues):
    """Follows an iteration."""

    def __init__(
        self, numbers: dict[SSAValue, int], is_outside: Callable[[SSAValue], bool]
    ) -> None:
        super().__init__(numbers)
        self.accesses = Accesses()
        self._is_outside = is_outside
        self._left = MOST

    def walk(self, block: Block) -> None:
        for op in block.ops:
            if self._left <= 0:
                return
            match op:
                case scf.ForOp():
                    self._nest(op.body.block, [self._counts(op.lb, op.ub, op.step)])
                case scf.ParallelOp():
                    bounds = zip(op.lowerBound, op.upperBound, op.step, strict=True)
                    self._nest(op.body.block, [self._counts(*each) for each in bounds])
                case scf.IfOp():
                    self._branch(op)
                case InParallelOp():
                    self.walk(op.body.block)
                case _:
                    self._note(op)

    def _nest(self, body: Block, counts: Sequence[Sequence[int]]) -> None:
        for numbers in product(*counts):
            self.numbers.update(zip(body.args, numbers, strict=False))
            self.walk(body)

    def _counts(self, *bounds: SSAValue) -> Sequence[int]:
        lower, upper, step = map(self.number, bounds)
        if lower is None or upper is None or not step:
            return ()
        counts = range(lower, upper, step)
        return sorted({*counts[:2], *counts[-1:]})

    def _branch(self, op: scf.IfOp) -> None:
        taken = self.number(op.cond)
        if taken is None:
            return
        region = op.true_region if taken else op.false_region
        if region.blocks:
            self.walk(region.block)

    def _note(self, op: Operation) -> None:
        found = touched_box(op)
        if found is None:
            return
        base, offsets, sizes, is_write = found
        starts = [each if isinstance(each, int) else self.number(each) for each in offsets]
        known = [each for each in starts if each is not None]
        if len(known) < len(starts) or prod(sizes) > MOST or not self._is_outside(base):
            return
        self._left -= 1
        kept = self.accesses.writes if is_write else self.accesses.reads
        for place in product(*(range(a, a + n) for a, n in zip(known, sizes, strict=True))):
            kept.setdefault((base, place), op)
