"""Fold, canonicalize and remove dead code until nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver


class CanonicalizationDriver(Driver):
    """Folds, and tries on each op its own canonicalization patterns."""

    def __init__(self, ctx: Context) -> None:
        super().__init__((), ctx, fold=True)
        self._by_op: dict[type[Operation], Sequence[RewritePattern]] = {}

    def patterns_for(self, op: Operation) -> Sequence[RewritePattern]:
        """Return an op's patterns; they are made once for each kind of op."""
        kind = type(op)
        if kind not in self._by_op:
            traits = op.get_traits_of_type(HasCanonicalizationPatternsTrait)
            found = [pattern for trait in traits for pattern in trait.get_patterns(kind)]
            self.listen(found)
            self._by_op[kind] = found
        return self._by_op[kind]


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """xDSL's `canonicalize` under our driver, so that new ops keep locations.

    gawee-opt uses it in the place of xDSL's pass of the same name; the patterns are the same.

    rewrite:
        %y = gawee.identity %x; %z = gawee.relu %y   ->   %z = gawee.relu %x
    """

    name = "canonicalize"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True
    special_values: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = CanonicalizationDriver(ctx)
        PatternWalk(driver, post_walk_func=erase_dead).rewrite_module(op)
