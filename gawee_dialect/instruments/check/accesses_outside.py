"""Loads and stores outside of their memref, which may still lie in the memory behind it.

A row that is one too long is written over by the next one, or ends where nothing lives: outputs are
what they should be, by luck.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.index_values import IndexValues, reached_box
from gawee_dialect.instruments.check.violation import Violation

ENDS: Sequence[Callable[[range], int]] = (lambda counts: counts[0], lambda counts: counts[-1])
"""Iterations that are looked at: all loops stand at their first one, or at their last one."""


def accesses_outside(module: ModuleOp) -> Iterator[Violation]:
    """Yield the loads and stores that surely leave their memref; what data decide is left out."""
    for function in module.ops:
        if isinstance(function, FuncOp) and function.body.blocks:
            for end in ENDS:
                walk = _Walk({}, end)
                walk.block(function.body.block)
                yield from walk.found


@dataclass
class _Walk(IndexValues):
    """Visits each loop once, at one of its ends."""

    numbers: dict[SSAValue, int]
    end: Callable[[range], int]
    found: list[Violation] = field(default_factory=list[Violation])

    def number(self, value: SSAValue) -> int | None:
        found = super().number(value)
        if found is not None:
            self.numbers[value] = found  # no loop is visited twice
        return found

    def block(self, block: Block) -> None:
        """Look at all ops of a block, and at what they hold."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._loop(op.body.block, [(op.lb, op.ub, op.step)])
                case scf.ParallelOp():
                    bounds = zip(op.lowerBound, op.upperBound, op.step, strict=True)
                    self._loop(op.body.block, [*bounds])
                case scf.IfOp():
                    self._branch(op)
                case _:
                    self._access(op)

    def _loop(self, body: Block, bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]]) -> None:
        for counter, each in zip(body.args, bounds, strict=False):
            lower, upper, step = map(self.number, each)
            if lower is None or upper is None or not step:
                return
            counts = range(lower, upper, step)
            if not counts:
                return
            self.numbers[counter] = self.end(counts)
        self.block(body)

    def _branch(self, op: scf.IfOp) -> None:
        taken = self.number(op.cond)
        region = op.true_region if taken else op.false_region
        if taken is not None and region.blocks:
            self.block(region.block)

    def _access(self, op: Operation) -> None:
        touched = reached_box(op)
        if touched is None or not isa(type := touched[0].type, MemRefType[Attribute]):
            return
        _, offsets, sizes, is_write = touched
        for index, (offset, size, extent) in enumerate(
            zip(offsets, sizes, type.get_shape(), strict=True)
        ):
            start = offset if isinstance(offset, int) else self.number(offset)
            if start is None or extent < 0 or 0 <= start <= extent - size:
                continue
            place = start if size == 1 else f"{start} to {start + size - 1}"
            what = "writes" if is_write else "reads"
            message = f"{what} index {place} of axis {index}, which has {extent} elements"
            self.found.append(Violation(op, message))
