"""The one driver of rewrite patterns: it hands on locations, collects reasons."""

from abc import ABC
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from inspect import getclosurevars, signature
from struct import error as PackError
from types import FunctionType
from typing import ClassVar, get_args

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.folder import Folder
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import ConstantLike, HasFolder

from gawee_dialect.analysis.open_sizes import SIZES_HINT, has_open_sizes
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.open_size import UnknownSize
from gawee_dialect.dialect.operation import hand_on_mark
from gawee_dialect.locations import hand_on_location, place
from gawee_dialect.passes.dead_code import always_stays, is_dead
from gawee_dialect.passes.instrument import (
    SILENT,
    Instrument,
    Rewrite,
    RewriteKind,
    are_finished,
    instruments,
    tell,
)
from gawee_dialect.passes.pattern_walk import PatternWalk, SelectivePattern
from gawee_dialect.upstream.walk import all_ops

LAST = 8
"""Rewrites that a message looks back on: patterns may undo each other in turn."""


def _nobody(pattern: RewritePattern, op: Operation, reason: str) -> None:
    """Hear a reason where no driver listens."""


class Pattern(RewritePattern, ABC):
    """A rewrite that says why, whenever it declines an op of the kind it is for."""

    listener: Callable[[RewritePattern, Operation, str], None] = staticmethod(_nobody)

    def missed(self, op: Operation, reason: str) -> None:
        """Report the reason for leaving `op` as it is: `expected rank 2, got 3`."""
        self.listener(self, op, reason)

    def fused(self, op: Operation, into: Operation) -> None:
        """Report that `op` becomes part of another."""
        tell(lambda instrument: instrument.ops_fused(self, op, into))


@cache
def ops_of(pattern: type[RewritePattern]) -> tuple[type[Operation], ...]:
    """Return the op classes that a pattern is annotated for; none where it does not say."""
    expected = getclosurevars(pattern.match_and_rewrite).nonlocals.get("expected_type")
    found = get_args(expected) or (expected,)
    return tuple(each for each in found if isinstance(each, type) and issubclass(each, Operation))


@cache
def _require_decorator(pattern: type[RewritePattern]) -> None:
    """Raise GaweeError for a pattern annotated for some ops that would be tried on all of them."""
    method = pattern.match_and_rewrite
    if ops_of(pattern) or not isinstance(method, FunctionType):
        return
    try:
        _, op, _ = signature(method, eval_str=True).parameters.values()
    except (NameError, ValueError):  # names of another scope; or not of three parameters
        return
    kinds = [each for each in get_args(op.annotation) or (op.annotation,) if isinstance(each, type)]
    narrow = [each.__name__ for each in kinds if each is not Operation]
    if narrow and all(issubclass(each, Operation) for each in kinds):
        message = (
            f"expected '@op_type_rewrite_pattern' on '{pattern.__name__}.match_and_rewrite', which "
            f"is annotated for '{' | '.join(narrow)}', got none"
        )
        hint = "without it the pattern is tried on every op; it is in xdsl.pattern_rewriter"
        code = method.__code__
        where = f"{code.co_filename}:{code.co_firstlineno}:5"
        raise GaweeError(Diagnostic(message, where, hint=hint))


@cache
def _is_one_of(kind: type[Operation], classes: tuple[type[Operation], ...]) -> bool:
    """Whether a class of ops is one of several, found once: `issubclass` is slow."""
    return issubclass(kind, classes)


@cache
def _may_fold(kind: type[Operation]) -> bool:
    """Whether ops of a class may fold into something else.

    A constant folds to itself: materializing it again would never end.
    """
    return kind.has_trait(HasFolder) and not kind.has_trait(ConstantLike)


@lru_cache(maxsize=4096)
def _places_for(patterns: tuple[type[RewritePattern], ...], kind: type[Operation]) -> Sequence[int]:
    """Return the places of the patterns that may be for an op class."""
    wanted = map(ops_of, patterns)
    return [place for place, ops in enumerate(wanted) if not ops or issubclass(kind, ops)]


@dataclass(eq=False)
class Driver(SelectivePattern):
    """Applies patterns to one op: dead code first, then folders, then the patterns in order.

    New ops get the location of the op they were made for.
    """

    patterns: Sequence[RewritePattern]
    ctx: Context | None = None
    fold: bool = False
    reasons: dict[Operation, dict[str, str]] = field(
        default_factory=dict[Operation, dict[str, str]]
    )
    observers: Sequence[Instrument] = field(default_factory=instruments)

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            _require_decorator(type(pattern))
        self.listen(self.patterns)
        self._types = tuple(type(each) for each in self.patterns)
        self._by_op: dict[type[Operation], Sequence[RewritePattern]] = {}
        self._tried: dict[type[Operation], bool] = {}
        self._last: deque[Rewrite] = deque(maxlen=LAST)
        self._ignored: dict[type[Operation], bool] = {}

    def tries(self, op: Operation) -> bool:
        kind = type(op)
        known = self._tried.get(kind)
        if known is None:
            folds = self.fold and _may_fold(kind)
            known = self._tried[kind] = folds or bool(self.patterns_for(op))
        return known

    def ignores(self, op: Operation) -> bool:
        kind = type(op)
        known = self._ignored.get(kind)
        if known is None:
            known = self._ignored[kind] = not self.tries(op) and always_stays(kind)
        return known

    def listen(self, patterns: Sequence[RewritePattern]) -> None:
        """Have patterns report to this driver."""
        for pattern in patterns:
            if isinstance(pattern, Pattern):
                pattern.listener = self.hear

    def hear(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        """Record the match failure of a pattern on an op, and notify the instruments."""
        self.reasons.setdefault(op, {})[type(pattern).__name__] = reason
        for observer in self.observers:
            observer.pattern_missed(pattern, op, reason)

    def patterns_for(self, op: Operation) -> Sequence[RewritePattern]:
        """Return the patterns to try on an op: those that do not say that they are for others."""
        kind = type(op)
        if kind not in self._by_op:
            places = _places_for(self._types, kind)
            self._by_op[kind] = [self.patterns[place] for place in places]
        return self._by_op[kind]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if self.observers and are_finished(self.observers):
            return
        inserted: list[Operation] = []

        def stamp(new_op: Operation) -> None:
            hand_on_location(op, new_op)
            hand_on_mark(op, new_op)
            inserted.append(new_op)

        # xDSL reuses the rewriter for the whole walk, so the handler goes when this op is done.
        rewriter.operation_insertion_handler.append(stamp)
        try:
            self._rewrite(op, rewriter, inserted)
        except Exception as error:
            where = place(op.location)
            error.add_note(f"at '{op.name}' op" + (f", {where}" if where else ""))
            raise
        finally:
            rewriter.operation_insertion_handler.remove(stamp)

    def _rewrite(self, op: Operation, rewriter: PatternRewriter, inserted: list[Operation]) -> None:
        if is_dead(op):
            rewriter.erase(op)
            self._tell(Rewrite(RewriteKind.DEAD, op, None, ()))
            return
        if self.fold and self._try_fold(op, rewriter):
            self._tell(Rewrite(RewriteKind.FOLDED, op, None, inserted))
            return
        for pattern in self.patterns_for(op):
            if self.observers and any(each.skips(pattern, op) for each in self.observers):
                continue
            if not self._applied(pattern, op, rewriter, inserted):
                continue
            if rewriter.has_done_action:
                for new_op in inserted:  # what was built in its regions after it was inserted
                    hand_on_location(op, new_op)
                self._tell(Rewrite(RewriteKind.PATTERN, op, pattern, inserted))
                return
            if self.observers:
                self._notice_silence(pattern, op)

    def _applied(
        self,
        pattern: RewritePattern,
        op: Operation,
        rewriter: PatternRewriter,
        inserted: Sequence[Operation],
    ) -> bool:
        """Try a pattern; return False where it asks of open sizes what only numbers tell."""
        try:
            pattern.match_and_rewrite(op, rewriter)
        except UnknownSize as unknown:
            if inserted:
                raise GaweeError(Diagnostic.at(op, str(unknown), SIZES_HINT)) from unknown
            self.hear(pattern, op, str(unknown))
            return False
        except (OverflowError, PackError) as problem:  # a form was taken for a number
            if not has_open_sizes(op):
                raise
            text = "expected sizes that are numbers, got open ones"
            raise GaweeError(Diagnostic.at(op, text, SIZES_HINT)) from problem
        return True

    def last_rewrite(self, what: str) -> Diagnostic:
        names = dict.fromkeys(
            each.kind.value if each.pattern is None else f"'{type(each.pattern).__name__}'"
            for each in reversed(self._last)
        )
        text = f"{what}; fired last: {', '.join(names)}"
        hint = "a pattern must not match what it makes; --trace-patterns shows each rewrite"
        return Diagnostic.at(self._last[-1].op, text, hint)

    def _tell(self, rewrite: Rewrite) -> None:
        self._last.append(rewrite)
        for observer in self.observers:
            if rewrite.pattern is not None:
                observer.pattern_fired(rewrite.pattern, rewrite.op.name)
            observer.op_rewritten(rewrite)

    def _notice_silence(self, pattern: RewritePattern, op: Operation) -> None:
        """Tell the instruments of a pattern that is for an op and declined it without a reason."""
        name = type(pattern).__name__
        if isinstance(op, ops_of(type(pattern))) and name not in self.reasons.get(op, ()):
            for observer in self.observers:
                observer.pattern_missed(pattern, op, SILENT)

    def _try_fold(self, op: Operation, rewriter: PatternRewriter) -> bool:
        if self.ctx is None or not _may_fold(type(op)):
            return False
        try:
            folded = Folder(self.ctx).try_fold(op)
        except UnknownSize:
            return False
        if folded is None:
            return False
        values, new_ops = folded
        rewriter.replace(op, new_ops, values)
        return True


def _rewrite_once(module: ModuleOp, driver: Driver) -> None:
    """Try patterns on the ops that they are for, as the module has them now, and on no other."""
    wanted = tuple({each for pattern in driver.patterns for each in ops_of(type(pattern))})
    for op in [op for op in all_ops(module) if _is_one_of(type(op), wanted)]:
        driver.match_and_rewrite(op, PatternRewriter(op))


@dataclass(frozen=True)
class RewritePass(ModulePass, ABC):
    """A pass that is a table of patterns, and of the ops that may not survive it.

    Raises GaweeError that names each op of `removes` still there, its place, and the reasons
    collected from the patterns that declined it.
    """

    patterns: ClassVar[tuple[type[Pattern], ...]] = ()
    removes: ClassVar[tuple[type[Operation], ...]] = ()
    revisits: ClassVar[bool] = True
    """Whether patterns are tried on what patterns made, and dead ops erased.

    False where no pattern is for what another makes, or erases an op that one is for.
    """
    takes_open_sizes: ClassVar[bool] = False
    """Whether shapes may hold `OpenSize`; otherwise modules that have some are refused."""

    def make_patterns(self) -> Sequence[RewritePattern]:
        """Instantiate the table; a pass whose patterns take its options overrides this."""
        return [pattern() for pattern in self.patterns]

    def is_removed(self, op: Operation) -> bool:
        """Whether an op may not survive; a pass with a finer rule overrides this."""
        return _is_one_of(type(op), self.removes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = Driver(self.make_patterns(), ctx)
        if self.revisits:
            PatternWalk(driver).rewrite_module(op)
        else:
            _rewrite_once(op, driver)
        leftovers = self._leftovers(op)
        if leftovers and not are_finished(driver.observers):
            raise GaweeError(self._rejection(leftover, driver) for leftover in leftovers)

    def _leftovers(self, module: ModuleOp) -> Sequence[Operation]:
        if not self.removes and type(self).is_removed is RewritePass.is_removed:
            return ()
        return [inner for inner in all_ops(module) if self.is_removed(inner)]

    def _rejection(self, op: Operation, driver: Driver) -> Diagnostic:
        reasons = "; ".join(driver.reasons.get(op, {}).values())
        because = f": {reasons}" if reasons else ": no pattern rewrote it"
        return Diagnostic.at(op, f"cannot be removed by {self.name}{because}")


# A builder of ops that take the place of another one.


def located_builder(source: Operation, point: InsertPoint | None = None) -> Builder:
    """Return what inserts ops at a point, before an op where none is said, with that op's place."""
    builder = Builder(point or InsertPoint.before(source))
    builder.operation_insertion_handler = [lambda new: hand_on_location(source, new)]
    return builder
