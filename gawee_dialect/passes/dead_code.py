"""Which ops are dead, as xDSL says it: what the class of an op decides is kept."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation, Region
from xdsl.pattern_rewriter import PatternRewriterListener
from xdsl.rewriter import Rewriter
from xdsl.traits import (
    EffectInstance,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.transforms.dead_code_elimination import region_dce, would_be_trivially_dead


@cache
def effect_traits(kind: type[Operation]) -> Sequence[MemoryEffect]:
    """Return what says which effects ops of a class have."""
    return kind.get_traits_of_type(MemoryEffect)


@cache
def _is_needed(kind: type[Operation]) -> bool | None:
    """Whether ops of a class stay without uses of their results; None where that depends."""
    if issubclass(kind, UnregisteredOp):
        return None
    if kind.has_trait(IsTerminator) or kind.has_trait(SymbolOpInterface):
        return True
    if not effect_traits(kind):
        return True
    return False if fixed_effects(kind) == NO_EFFECTS else None


NO_EFFECTS = frozenset[EffectInstance]()

_FIXED = {
    trait.get_effects.__func__: trait.get_effects(ModuleOp([]))
    for trait in (NoMemoryEffect, MemoryReadEffect, MemoryWriteEffect)
}
"""What effects are by functions that look at no op."""


@cache
def fixed_effects(kind: type[Operation]) -> AbstractSet[EffectInstance] | None:
    """Return what each op of a class does to memory; None where that depends, or is not known."""
    traits = effect_traits(kind)
    found = [_FIXED.get(type(each).get_effects.__func__) for each in traits]
    known = [each for each in found if each is not None]
    return NO_EFFECTS.union(*known) if found and len(known) == len(found) else None


def always_stays(kind: type[Operation]) -> bool:
    """Whether no op of a class is ever dead."""
    return _is_needed(kind) is True


@cache
def _always_writes(kind: type[Operation]) -> bool:
    return any(each.kind is MemoryEffectKind.WRITE for each in fixed_effects(kind) or ())


@cache
def _does_what_is_inside(kind: type[Operation]) -> bool:
    return any(isinstance(each, RecursiveMemoryEffect) for each in effect_traits(kind))


def _writes_inside(op: Operation) -> bool:
    """Whether one op inside writes for certain: a loop's last ones mostly do."""
    if not _does_what_is_inside(type(op)):
        return False
    for region in op.regions:
        inner = region.last_block and region.last_block.last_op
        while inner is not None:
            if _always_writes(type(inner)) or (inner.regions and _writes_inside(inner)):
                return True
            inner = inner.prev_op
    return False


def is_needed(op: Operation) -> bool:
    """Whether an op stays without uses of its results: control, symbols, effects on memory."""
    known = _is_needed(type(op))
    if known is not None:
        return known
    if op.regions and _writes_inside(op):
        return True
    traits = effect_traits(type(op))
    if traits and all(each.get_effects(op) == NO_EFFECTS for each in traits):
        return False  # what most are, and soon known
    return not would_be_trivially_dead(op)


def is_dead(op: Operation) -> bool:
    """Whether an op's results have no uses, and it has no side effects."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return not is_needed(op)


class _Sweep:
    """The dead ops of a region, found from its end to its start: uses come after."""

    def __init__(self) -> None:
        self.dead: dict[Operation, None] = {}
        """In the order in which they can be erased, but for those inside of dead ones."""

    def region(self, region: Region) -> bool:
        """Look at a region; return whether no block in it follows another."""
        block = region.first_block
        if block is None:
            return True
        if block is not region.last_block:
            return False
        op = block.last_op
        while op is not None:
            if op.regions and not all([self.region(inner) for inner in op.regions]):
                return False
            if not self._is_read(op) and not is_needed(op):
                self.dead[op] = None
            op = op.prev_op
        return True

    def _is_read(self, op: Operation) -> bool:
        """Whether an op reads a result that is not dead itself."""
        for result in op.results:
            if result.first_use is not None:
                if not self.dead or any(use.operation not in self.dead for use in result.uses):
                    return True
        return False


def erase_dead(region: Region, listener: PatternRewriterListener | None = None) -> bool:
    """Erase dead ops, and blocks of such alone, in a region; return whether there were any."""
    sweep = _Sweep()
    if not sweep.region(region):
        return region_dce(region, listener)
    for op in sweep.dead:
        if listener is not None:
            listener.handle_operation_removal(op)
        Rewriter.erase_op(op, safe_erase=False)
    return bool(sweep.dead)
