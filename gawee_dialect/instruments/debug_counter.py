"""`--debug-counter`: of a pattern's rewrites only those with some numbers."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.rewrite_pass import Pattern

_COUNTER = re.compile(r"(\w+)=([1-9]\d*(?:-[1-9]\d*)?(?::[1-9]\d*(?:-[1-9]\d*)?)*)")


class DebugCounter(Instrument):
    """Lets a pattern do only its rewrites with given numbers, from 1 on; the others are left out.

    Whether a pattern would rewrite an op is seen on a copy of the module, each time.
    """

    def __init__(self, chunks: Mapping[str, Sequence[range]]) -> None:
        self.chunks = chunks
        self.counts: Counter[str] = Counter()
        self._tried: set[str] = set()
        self._left: set[tuple[str, Operation]] = set()
        """What was left out: it is visited again, and stays left out."""

    def skips(self, pattern: RewritePattern, op: Operation) -> bool:
        name = type(pattern).__name__
        self._tried.add(name)
        chunks = self.chunks.get(name)
        if chunks is None:
            return False
        if (name, op) in self._left:
            return True
        if not would_rewrite(pattern, op):
            return False
        self.counts[name] += 1
        if any(self.counts[name] in chunk for chunk in chunks):
            return False
        self._left.add((name, op))
        return True

    def report(self) -> None:
        left = Counter(name for name, _ in self._left)
        for name in self.chunks:
            done = self.counts[name] - left[name]
            text = f"debug-counter: {name}: {done} of {self.counts[name]} rewrites done"
            if name not in self._tried:
                text = did_you_mean(
                    name, self._tried, "--mlir-timing lists the patterns that fired"
                )
                text = f"debug-counter: {name}: no pattern of this name was tried\nhint: {text}"
            print(text, file=sys.stderr)


def would_rewrite(pattern: RewritePattern, op: Operation) -> bool:
    """Whether a pattern rewrites an op, tried on a copy of the module around it."""
    module = op
    while (outer := module.parent_op()) is not None:
        module = outer
    assert isinstance(module, ModuleOp)
    position = next(index for index, each in enumerate(module.walk()) if each is op)
    copy = module.clone()
    twin = next(each for index, each in enumerate(copy.walk()) if index == position)
    rewriter = PatternRewriter(twin)
    if not isinstance(pattern, Pattern):
        pattern.match_and_rewrite(twin, rewriter)
        return rewriter.has_done_action
    listener, pattern.listener = pattern.listener, _nobody
    try:
        pattern.match_and_rewrite(twin, rewriter)
    finally:
        pattern.listener = listener
    return rewriter.has_done_action


def _nobody(pattern: RewritePattern, op: Operation, reason: str) -> None:
    """Hear of nothing that is but tried."""


def _counter(text: str) -> tuple[str, Sequence[range]]:
    found = _COUNTER.fullmatch(text)
    if found is None:
        example = "expected PATTERN=CHUNKS, such as FoldIntoBias=1-3:7"
        raise ArgumentTypeError(f"{example}, got '{text}'")
    bounds = [chunk.partition("-") for chunk in found[2].split(":")]
    ranges = [range(int(first), int(last or first) + 1) for first, _, last in bounds]
    if not all(ranges):
        raise ArgumentTypeError(f"expected a chunk to end behind its first number, got '{text}'")
    return found[1], ranges


def add_flags(parser: ArgumentParser) -> None:
    """Add `--debug-counter`."""
    parser.add_argument(
        "--debug-counter",
        action="append",
        type=_counter,
        default=[],
        metavar="PATTERN=CHUNKS",
        help="of a pattern's rewrites do only those with these numbers, and leave out the others: "
        "FoldIntoBias=1-3:7; repeatable, and slow: each is tried on a copy first",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the counter, where `--debug-counter` asks for one."""
    chunks: Mapping[str, Sequence[range]] = dict(arguments.debug_counter)
    return (DebugCounter(chunks),) if chunks else ()
