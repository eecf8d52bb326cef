"""Observers of passes and patterns.

Tools install instruments around a pipeline; the pass driver calls them at each event. An instrument
overrides the events that it observes.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

SILENT = "no reason given"
"""What instruments hear of a pattern that declines without a word, as xDSL's own do."""


class RewriteKind(StrEnum):
    """What the driver did with an op."""

    PATTERN = "pattern"
    FOLDED = "folded"
    DEAD = "dead"


@dataclass(frozen=True)
class Rewrite:
    """An op that was rewritten, and the ops inserted for it.

    The op may be erased by now: its name and location can be read, nothing else.
    """

    kind: RewriteKind
    op: Operation
    pattern: RewritePattern | None
    inserted: Sequence[Operation]


class Instrument:
    """Sees every pass, and every pattern that fires or declines.

    One instrument may see several modules, one pipeline after another (`--split-input-file`).
    """

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Called before the first pass of a module, with the passes that will run."""

    def after_pipeline(self, module: ModuleOp) -> None:
        """Called after the last pass of a module, unless one failed."""

    def report(self) -> None:
        """Called once, after the last module or the first failure: the time to print."""

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Called before a pass runs."""

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Called after a pass ran without an error, and its result verified."""

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Called after a pass raised, or left a module that does not verify."""

    def pattern_fired(self, pattern: RewritePattern, op_name: str) -> None:
        """Called after a pattern rewrote an op; the op itself may be gone."""

    def op_rewritten(self, rewrite: Rewrite) -> None:
        """Called after an op was rewritten by a pattern, folded, or erased as nothing reads it."""

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        """Called when a pattern declines an op of the kind it is for.

        The reason is SILENT where the pattern gave none.
        """

    def ops_fused(self, pattern: RewritePattern, op: Operation, into: Operation) -> None:
        """Called before a pattern makes an op part of another."""

    def needs_verified(self) -> bool:
        """Whether modules must verify after each pass, also after those that are trusted to."""
        return True

    def wants_assembly(self) -> bool:
        """Whether `code_compiled` is to be called."""
        return False

    def code_compiled(
        self, module: ModuleOp, llvm: Mapping[str, str], assembly: Mapping[str, Sequence[str]]
    ) -> None:
        """Called after a module was compiled, with the LLVM IR and the assembly of its functions.

        The assembly of a function is its lines. Only where an instrument needs it.
        """

    def is_finished(self) -> bool:
        """Whether nothing more is to be rewritten, and no further pass to run."""
        return False

    def skips(self, pattern: RewritePattern, op: Operation) -> bool:
        """Whether a pattern is to leave an op, which it may be one for."""
        return False

    def statistic(self, module_pass: ModulePass, what: str, value: int) -> None:
        """Called when a pass reports a number about its work."""


_installed: ContextVar[Sequence[Instrument]] = ContextVar("instruments", default=())


def instruments() -> Sequence[Instrument]:
    """Return the instruments that are installed."""
    return _installed.get()


@contextmanager
def instrumented(*new: Instrument) -> Generator[None]:
    """Install instruments, beside those that already are, for the time of a with block."""
    token = _installed.set((*_installed.get(), *new))
    try:
        yield
    finally:
        _installed.reset(token)


def tell(event: Callable[[Instrument], None]) -> None:
    """Have every instrument hear an event; what passes it runs itself meanwhile is not observed."""
    for instrument in instruments():
        token = _installed.set(())
        try:
            event(instrument)
        finally:
            _installed.reset(token)


def are_finished(observers: Sequence[Instrument]) -> bool:
    """Whether one of some instruments stops the pipeline."""
    return any(observer.is_finished() for observer in observers)


def report_statistic(module_pass: ModulePass, what: str, value: int) -> None:
    """Tell the instruments a number about a pass's work: `workspace bytes`, 4096."""
    tell(lambda instrument: instrument.statistic(module_pass, what, value))
