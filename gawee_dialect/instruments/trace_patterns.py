"""Each rewrite as a line, when it happens: the pass, the pattern, the op, and what it became."""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.report import op_name, pattern_name
from gawee_dialect.passes.instrument import Instrument, Rewrite, RewriteKind


class TracePatterns(Instrument):
    """Prints a line for every rewrite by a pattern, every fold and every dead op.

    Patterns that no driver of ours applies, as in xDSL's own passes, are not seen.
    """

    def __init__(self) -> None:
        self._running: list[str] = []

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.append(module_pass.name)

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()

    def op_rewritten(self, rewrite: Rewrite) -> None:
        where = f"{self._running[-1]}: " if self._running else ""
        print(f"{where}{_cause(rewrite)}: {op_name(rewrite.op)}{_effect(rewrite)}", file=sys.stderr)


def _cause(rewrite: Rewrite) -> str:
    return rewrite.kind if rewrite.pattern is None else pattern_name(rewrite.pattern)


def _effect(rewrite: Rewrite) -> str:
    if rewrite.kind is RewriteKind.DEAD:
        return ""
    if rewrite.inserted:
        counts = Counter(op.name for op in rewrite.inserted)
        made = (f"{name} x{count}" if count > 1 else name for name, count in counts.items())
        return f" -> {', '.join(made)}"
    return " -> values that were there" if rewrite.op.parent is None else " -> changed in place"


def add_flags(parser: ArgumentParser) -> None:
    """Add `--trace-patterns`."""
    parser.add_argument(
        "--trace-patterns",
        action="store_true",
        help="print each rewrite to stderr: pass, pattern with file:line, op with place and node, "
        "new ops",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the tracer, where `--trace-patterns` asks for it."""
    return (TracePatterns(),) if arguments.trace_patterns else ()
