"""Use the results of an op in the place of those of later ops that compute the same."""

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffectKind,
    RecursiveMemoryEffect,
    get_effects,
)

from gawee_dialect.passes.dead_code import NO_EFFECTS, effect_traits, fixed_effects, is_dead
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream.equivalence import are_equivalent_regions

Effects: TypeAlias = AbstractSet[EffectInstance] | None
"""What an op does to memory; None where that is not known."""


@cache
def _is_terminator(kind: type[Operation]) -> bool:
    return kind.has_trait(IsTerminator)


@cache
def _is_isolated(kind: type[Operation]) -> bool:
    """Whether ops of a class see nothing around them; one that is not registered may be."""
    return issubclass(kind, UnregisteredOp) or kind.has_trait(IsolatedFromAbove)


@dataclass(frozen=True)
class _Known:
    """An op whose results others may use."""

    op: Operation
    writes: int
    """How many ops before it in its block may write."""


class _Sharing:
    """A walk over a module by xDSL's rules, which finds effects once, and looks each op up once."""

    def __init__(self) -> None:
        self.unneeded: list[Operation] = []
        self._known: dict[Hashable, tuple[_Known, ...]] = {}
        """Ops by what they say, regions aside."""
        self._before: list[tuple[Hashable, tuple[_Known, ...]]] = []
        """What was known before the region that the walk is in."""
        self._effects: dict[Operation, Effects] = {}
        self._equal: dict[Attribute, int] = {}
        self._numbers: dict[int, int] = {}

    def region(self, region: Region) -> None:
        """Share what ops compute in a region of one block, and in regions inside."""
        block = region.first_block
        if block is None or block is not region.last_block:
            return
        outer, self._before = self._before, []
        self._block(block)
        for key, known in reversed(self._before):
            self._known[key] = known
        self._before = outer

    def _block(self, block: Block) -> None:
        writes = 0
        for op in block.ops:
            if op.regions:
                self._inside(op)
            self._op(op, writes)
            writes += self._may_write(op)

    def _inside(self, op: Operation) -> None:
        known = self._known
        if _is_isolated(type(op)):
            self._known = {}
        for region in op.regions:
            self.region(region)
        self._known = known

    def _op(self, op: Operation, writes: int) -> None:
        if _is_terminator(type(op)):
            return
        effects = self._effects_of(op)
        # A loop is asked only where it may be dead: what asks looks at all that is inside.
        if (not op.regions or not self._may_write(op)) and is_dead(op):
            self.unneeded.append(op)
            return
        if effects is None or (effects and not _only_reads(effects)):
            return
        if op.regions and any(len(region.blocks) > 1 for region in op.regions):
            return
        key = self._key(op)
        alike = self._known.get(key, ())
        same = next((each for each in alike if _have_equal_regions(each.op, op)), None)
        in_time = same is not None and same.op.parent is op.parent and same.writes == writes
        if same is not None and (in_time or not effects):
            for old, new in zip(op.results, same.op.results, strict=True):
                old.replace_all_uses_with(new)
            self.unneeded.append(op)
            return
        self._before.append((key, alike))
        others = [each for each in alike if each is not same]
        self._known[key] = (*others, _Known(op, writes))

    def _key(self, op: Operation) -> Hashable:
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        return (
            name,
            tuple([id(operand) for operand in op.operands]),
            tuple([self._number(result.type) for result in op.results]),
            frozenset([(each, self._number(value)) for each, value in op.attributes.items()]),
            frozenset([(each, self._number(value)) for each, value in op.properties.items()]),
        )

    def _number(self, attribute: Attribute) -> int:
        """Return a number, the same for equal attributes; ops keep them alive during the walk."""
        found = self._numbers.get(id(attribute))
        if found is None:
            found = self._equal.setdefault(attribute, len(self._equal))
            self._numbers[id(attribute)] = found
        return found

    def _effects_of(self, op: Operation) -> Effects:
        fixed = fixed_effects(type(op))
        if fixed is not None:
            return fixed
        if not op.regions:
            return get_effects(op)
        if op not in self._effects:
            self._effects[op] = self._effects_with_inside(op)
        return self._effects[op]

    def _effects_with_inside(self, op: Operation) -> Effects:
        traits = effect_traits(type(op))
        found: list[Effects] = []
        for trait in traits:
            if isinstance(trait, RecursiveMemoryEffect):
                blocks = (block for region in op.regions for block in region.blocks)
                found += [self._effects_of(inner) for block in blocks for inner in block.ops]
            else:
                found.append(trait.get_effects(op))
        known = [each for each in found if each is not None]
        return NO_EFFECTS.union(*known) if traits and len(known) == len(found) else None

    def _may_write(self, op: Operation) -> bool:
        effects = self._effects_of(op)
        if not effects:
            return effects is None
        return any(each.kind is MemoryEffectKind.WRITE for each in effects)


def _only_reads(effects: AbstractSet[EffectInstance]) -> bool:
    return all(each.kind is MemoryEffectKind.READ for each in effects)


def _have_equal_regions(op: Operation, other: Operation) -> bool:
    pairs = zip(op.regions, other.regions, strict=True)
    return all([are_equivalent_regions(region, same, {}) for region, same in pairs])


@dataclass(frozen=True)
class CommonSubexpressionElimination(ModulePass):
    """Use the results of an op in the place of those of later ops that compute the same.

    In the place of xDSL's pass of that name, which makes the same module in more than twice the
    time: it finds out for each loop again what everything inside does to memory.

    rewrite:
        %a = arith.addi %i, %j; %b = arith.addi %i, %j; %c = arith.muli %a, %b
        ->
        %a = arith.addi %i, %j; %c = arith.muli %a, %a
    """

    name = "cse"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sharing = _Sharing()
        for region in op.regions:
            sharing.region(region)
        for each in sharing.unneeded:
            if each.parent is not None:
                Rewriter.erase_op(each)
