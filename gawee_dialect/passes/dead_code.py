"""Which ops are dead, as xDSL says it: what the class of an op decides is asked once."""

from functools import cache

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation, Region
from xdsl.pattern_rewriter import PatternRewriterListener
from xdsl.traits import IsTerminator, MemoryEffect, NoMemoryEffect, SymbolOpInterface
from xdsl.transforms.dead_code_elimination import LiveSet, would_be_trivially_dead


@cache
def _is_needed(kind: type[Operation]) -> bool | None:
    """Whether ops of a class stay though nobody reads their results; None where that depends."""
    if issubclass(kind, UnregisteredOp):
        return None
    if kind.has_trait(IsTerminator) or kind.has_trait(SymbolOpInterface):
        return True
    effects = kind.get_traits_of_type(MemoryEffect)
    if not effects:
        return True
    return False if all(type(each).get_effects is _NONE for each in effects) else None


_NONE = NoMemoryEffect.get_effects


def is_needed(op: Operation) -> bool:
    """Whether an op stays though nobody reads its results: control, symbols, effects on memory."""
    known = _is_needed(type(op))
    return not would_be_trivially_dead(op) if known is None else known


def is_dead(op: Operation) -> bool:
    """Whether nobody reads an op's results, and it does nothing else."""
    return all(result.first_use is None for result in op.results) and not is_needed(op)


class _Live(LiveSet):
    """xDSL's set of live ops, which one sweep finds where no block follows another."""

    has_branches = False

    def propagate_region_liveness(self, region: Region) -> None:
        block = region.first_block
        if block is not region.last_block:
            self.has_branches = True
            super().propagate_region_liveness(region)
            return
        op = None if block is None else block.last_op
        while op is not None:
            self.propagate_op_liveness(op)
            op = op.prev_op

    def propagate_op_liveness(self, op: Operation) -> None:
        for region in op.regions:
            self.propagate_region_liveness(region)
        live = self._live_ops
        if op in live:
            return
        uses = (use for result in op.results for use in result.uses)
        if is_needed(op) or any(use.operation in live for use in uses):
            self.set_live(op)


def erase_dead(region: Region, listener: PatternRewriterListener | None = None) -> bool:
    """Erase dead ops, and blocks of such alone, in a region; return whether there were any."""
    live = _Live()
    live.propagate_region_liveness(region)
    while live.has_branches and live.changed:
        live.changed = False
        live.propagate_region_liveness(region)
    live.changed = False
    live.delete_dead(region, listener)
    return live.changed
