"""Why ops are as they are: the patterns that were tried on each, the guard that failed, and what
became part of what."""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.dialect.operation import KEEP
from gawee_dialect.instruments.report import op_name, pattern_name
from gawee_dialect.passes.instrument import SILENT, Instrument, Rewrite
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.passes.rewrite_pass import Pattern

NO_PATTERN = "no pattern of this pass is for it"

Reasons = dict[Operation, dict[RewritePattern, str]]


class DeclinedOps:
    """Why patterns declined ops, for each of the passes that run inside each other."""

    def __init__(self) -> None:
        self._open: list[Reasons] = []

    def begin(self) -> None:
        """Note that a pass begins."""
        self._open.append({})

    def declined(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        """Note why a pattern left an op."""
        if self._open:
            self._open[-1].setdefault(op, {})[pattern] = reason

    def rewritten(self, op: Operation) -> None:
        """Forget an op: what was said of it as it was no longer holds."""
        if self._open:
            self._open[-1].pop(op, None)

    def end(self) -> Reasons:
        """Note that a pass ends, and return the reasons that were given in it."""
        return self._open.pop()


@dataclass(frozen=True)
class Explanation:
    """An op that a pass left: its name, place and node, and a line for each pattern tried."""

    op: str
    tried: tuple[str, ...]


class ExplainMissed(Instrument):
    """Collects, by pass, the ops that patterns declined and that are there when it ends.

    `names` limits this to ops of some names; of those, the ones that no pattern is for are named
    too, and what patterns declined without a reason.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.explanations: dict[str, list[Explanation]] = {}
        self._names = frozenset(names)
        self.fusions: dict[str, list[Explanation]] = {}
        """What became part of another op, by pass."""
        self._declined = DeclinedOps()
        self._fused: list[Explanation] = []
        self._runs: Counter[str] = Counter()

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._declined.begin()

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        ours = isinstance(pattern, Pattern)
        wanted = op.name in self._names if self._names else ours or reason != SILENT
        if wanted:
            self._declined.declined(pattern, op, reason)

    def op_rewritten(self, rewrite: Rewrite) -> None:
        self._declined.rewritten(rewrite.op)

    def ops_fused(self, pattern: RewritePattern, op: Operation, into: Operation) -> None:
        if not self._names or {op.name, into.name} & self._names:
            how = f"into {op_name(into)}, by {pattern_name(pattern)}"
            self._fused.append(Explanation(op_name(op), (how,)))

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        reasons = self._declined.end()
        if isinstance(module_pass, Pipeline):
            return
        name = module_pass.name
        self._runs[name] += 1
        title = name if self._runs[name] == 1 else f"{name} (run {self._runs[name]})"
        if self._fused:
            self.fusions[title], self._fused = self._fused, []
        found = [self._explain(op, reasons) for op in module.walk() if self._is_told(op, reasons)]
        if found:
            self.explanations[title] = found

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self.after_pass(module_pass, module)

    def _is_told(self, op: Operation, reasons: Reasons) -> bool:
        return op in reasons or op.name in self._names

    def _explain(self, op: Operation, reasons: Reasons) -> Explanation:
        tried: Mapping[RewritePattern, str] = reasons.get(op, {})
        lines = tuple(f"{pattern_name(pattern)}: {reason}" for pattern, reason in tried.items())
        return Explanation(op_name(op), lines or (NO_PATTERN,))

    def report(self) -> None:
        for title, fusions in self.fusions.items():
            _print(f"fused in {title} (an op marked '{KEEP}' is left alone)", fusions)
        for title, explanations in self.explanations.items():
            _print(f"missed in {title}", explanations)
        if not self.explanations:
            which = f" of {', '.join(sorted(self._names))}" if self._names else ""
            print(f"missed: no op{which} was declined", file=sys.stderr)


def _print(title: str, explanations: Sequence[Explanation]) -> None:
    print(f"{title}:", file=sys.stderr)
    for explanation in explanations:
        print(f"  {explanation.op}", file=sys.stderr)
        for line in explanation.tried:
            print(f"    {line}", file=sys.stderr)


def add_flags(parser: ArgumentParser) -> None:
    """Add `--explain-missed`."""
    parser.add_argument(
        "--explain-missed",
        nargs="?",
        const="",
        metavar="OP,...",
        help="print to stderr, by pass, why patterns declined ops, and which ops became part of "
        "others; with '=OP', of those ops alone",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return what collects reasons, where `--explain-missed` asks for it."""
    if arguments.explain_missed is None:
        return ()
    return (ExplainMissed(tuple(filter(None, arguments.explain_missed.split(",")))),)
