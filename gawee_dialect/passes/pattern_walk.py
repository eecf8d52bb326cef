"""The walk that patterns are applied in: xDSL's, without visits that could change nothing."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.utils.worklist import Worklist

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.passes.dead_code import is_dead
from gawee_dialect.upstream.walk import all_ops, inner_ops

REWRITES, REWRITES_AN_OP = 20_000, 100
"""How many rewrites a walk may make, and how many more for each op that it begins with.

Passes make a few for each op. A pattern that matches what it makes never ends.
"""


class SelectivePattern(RewritePattern, ABC):
    """A pattern that decides by the class of an op alone whether a visit could change anything."""

    @abstractmethod
    def tries(self, op: Operation) -> bool:
        """Whether it looks at an op that is not dead."""

    @abstractmethod
    def ignores(self, op: Operation) -> bool:
        """Whether it leaves an op alone even where that is dead."""

    @abstractmethod
    def last_rewrite(self, what: str) -> Diagnostic:
        """Return a message at the op that was rewritten last, with the patterns that fired."""


class _Worklist(Worklist[Operation]):
    """xDSL's list, by the identity of ops: `Operation.__hash__` is a call of Python's."""

    def __init__(self, ignores: Callable[[Operation], bool]):
        super().__init__()
        self._ignores = ignores
        self._places: dict[int, int] = {}
        self._ops: list[Operation | None] = []

    def __bool__(self) -> bool:
        return bool(self._places)

    def push(self, item: Operation) -> None:
        if id(item) not in self._places and not self._ignores(item):
            self._places[id(item)] = len(self._ops)
            self._ops.append(item)

    def pop(self) -> Operation:
        while (op := self._ops.pop()) is None:
            pass
        del self._places[id(op)]
        return op

    def remove(self, item: Operation) -> None:
        place = self._places.pop(id(item), None)
        if place is not None:
            self._ops[place] = None


class PatternWalk(PatternRewriteWalker):
    """Visits the ops that xDSL's walker does, in its order, but for those that would stay.

    Most ops of a module are in the bodies of others, where no pattern is for them.
    """

    def __init__(
        self,
        pattern: SelectivePattern,
        post_walk_func: Callable[[Region, PatternRewriterListener], bool] | None = None,
    ):
        super().__init__(pattern, post_walk_func=post_walk_func)
        self._pattern = pattern
        self._worklist = _Worklist(pattern.ignores)
        self._rewrites = self._limit = 0

    def _populate_worklist(self, op: Operation | Region | Block) -> None:
        assert isinstance(op, Region)
        inside = inner_ops(op)
        self._limit = self._limit or REWRITES + REWRITES_AN_OP * len(inside)
        pattern, push = self._pattern, self._worklist.push
        kinds = {type(inner): inner for inner in inside}
        tried = {kind for kind, inner in kinds.items() if pattern.tries(inner)}
        ignored = {kind for kind, inner in kinds.items() if pattern.ignores(inner)}
        for inner in reversed(inside):
            kind = type(inner)
            if kind in tried or (kind not in ignored and is_dead(inner)):
                push(inner)  # others, when a rewrite makes them dead

    def _handle_operation_removal(self, op: Operation) -> None:
        self._add_operands_to_worklist(op.operands)
        for inner in all_ops(op):
            self._worklist.remove(inner)

    def _process_worklist(self, listener: PatternRewriterListener) -> bool:
        try:
            return self._visit_worklist(listener)
        except KeyboardInterrupt as stop:
            if self._rewrites:
                what = f"was rewritten last when Ctrl-C came, after {self._rewrites} rewrites"
                stop.add_note(str(self._pattern.last_rewrite(what)))
            raise

    def _count_rewrite(self) -> None:
        self._rewrites += 1
        if self._rewrites > self._limit:
            what = f"is rewritten without end: stopped after {self._limit} rewrites"
            raise GaweeError(self._pattern.last_rewrite(what))

    def _visit_worklist(self, listener: PatternRewriterListener) -> bool:
        pattern, worklist, changed = self._pattern, self._worklist, False
        rewriter: PatternRewriter | None = None
        while worklist:
            op = worklist.pop()
            if not pattern.tries(op) and not is_dead(op):
                continue
            if rewriter is None:
                rewriter = PatternRewriter(op)
                rewriter.extend_from_listener(listener)
            rewriter.has_done_action = False
            rewriter.current_operation = op
            rewriter.insertion_point = InsertPoint.before(op)
            rewriter.name_hint = None
            try:
                pattern.match_and_rewrite(op, rewriter)
            except GaweeError:  # a bug alone needs the whole module as text
                raise
            except Exception as error:
                op.emit_error(f"Error while applying pattern: {error}", underlying_error=error)
            if rewriter.has_done_action:
                changed = True
                self._count_rewrite()
        return changed
