"""Fold, canonicalize and remove dead code until nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait
from xdsl.transforms.dead_code_elimination import region_dce

from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Driver, Pattern


class CanonicalizationPatterns(Pattern):
    """op -> what the op's own canonicalization patterns make of it"""

    def __init__(self) -> None:
        self._by_op: dict[type[Operation], Sequence[RewritePattern]] = {}

    def patterns_of(self, op: type[Operation], example: Operation) -> Sequence[RewritePattern]:
        """Return an op's patterns, made once and reporting to this pattern's listener."""
        if op not in self._by_op:
            traits = example.get_traits_of_type(HasCanonicalizationPatternsTrait)
            found = [pattern for trait in traits for pattern in trait.get_patterns(op)]
            for pattern in found:
                if isinstance(pattern, Pattern):
                    pattern.listener = self.listener
            self._by_op[op] = found
        return self._by_op[op]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for pattern in self.patterns_of(type(op), op):
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """xDSL's `canonicalize` under our driver, so that new ops keep locations.

    gawee-opt uses it in the place of xDSL's pass of the same name; the patterns are the same.

    rewrite:
        %y = gawee.identity %x; %z = gawee.relu %y   ->   %z = gawee.relu %x
    """

    name = "canonicalize"
    numerics: ClassVar[Numerics] = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = Driver([CanonicalizationPatterns()], ctx, fold=True)
        PatternRewriteWalker(driver, post_walk_func=region_dce).rewrite_module(op)
