"""`--opt-bisect-limit`: the pipeline up to its N-th rewrite, and no further."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.report import op_name, pattern_name
from gawee_dialect.locations import node_name, place
from gawee_dialect.passes.instrument import Instrument, Rewrite
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.upstream.equivalence import are_equivalent

NO_LIMIT = -1


@dataclass(frozen=True)
class CountedRewrite:
    """A rewrite, or all that a pass did which has no patterns."""

    pass_name: str
    cause: str
    """The pattern and its place, `folded`, `dead`, or that it is a whole pass."""
    op: str = ""
    """The op's name, place and node."""
    op_name: str = ""
    place: str | None = None
    node: str | None = None

    def __str__(self) -> str:
        what = f" on {self.op}" if self.op else ""
        return f"{self.cause}{what}, in {self.pass_name}"


class RewriteLimit(Instrument):
    """Numbers the rewrites of the driver, and stops the pipeline after the last that is allowed.

    What a pass does that our driver does not is one step, which is done as a whole or not at all.
    """

    def __init__(self, limit: int = NO_LIMIT) -> None:
        self.limit = limit
        self.steps: list[CountedRewrite] = []
        self._running: list[str] = []
        self._before: tuple[int, ModuleOp] | None = None

    def is_finished(self) -> bool:
        return self.limit != NO_LIMIT and len(self.steps) >= self.limit

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.append(module_pass.name)
        if not isinstance(module_pass, Pipeline):
            self._before = len(self.steps), module.clone()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()
        if self._before is None or isinstance(module_pass, Pipeline):
            return
        count, copy = self._before
        if len(self.steps) == count and not are_equivalent(module, copy, {}):
            self.steps.append(CountedRewrite(module_pass.name, "the pass as a whole"))

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()

    def op_rewritten(self, rewrite: Rewrite) -> None:
        cause = rewrite.kind.value if rewrite.pattern is None else pattern_name(rewrite.pattern)
        op, running = rewrite.op, self._running[-1] if self._running else ""
        where, node = place(op.location), node_name(op.location)
        self.steps.append(CountedRewrite(running, cause, op_name(op), op.name, where, node))

    def report(self) -> None:
        count = len(self.steps)
        all_done = f"rewrites in all: {count}, the last"
        how = f"stopped at rewrite {count}" if self.is_finished() else all_done
        last = f": {self.steps[-1]}" if self.steps else ""
        print(f"opt-bisect: {how}{last}", file=sys.stderr)


def _limit(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = NO_LIMIT - 1
    if number < NO_LIMIT:
        raise ArgumentTypeError(f"expected a count of rewrites, or -1 for all, got '{text}'")
    return number


def add_flags(parser: ArgumentParser) -> None:
    """Add `--opt-bisect-limit`."""
    parser.add_argument(
        "--opt-bisect-limit",
        type=_limit,
        metavar="N",
        help="stop the pipeline after its N-th rewrite, print the module as it is then, and name "
        "that rewrite on stderr; -1 to count all",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return what stops the pipeline, where `--opt-bisect-limit` asks for it."""
    limit: int | None = arguments.opt_bisect_limit
    return () if limit is None else (RewriteLimit(limit),)
