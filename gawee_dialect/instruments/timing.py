"""Where the time of a pipeline goes: seconds, size of the module and patterns fired, by pass."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.instruments.report import print_table
from gawee_dialect.passes.instrument import Instrument

if TYPE_CHECKING:
    from rich.table import Table


@dataclass
class TimedStep:
    """One step: a pass, at its depth in nested pipelines, or another phase of the tool."""

    name: str
    depth: int
    ops_before: int | None = None
    ops_after: int | None = None
    seconds: float = 0.0
    fired: Counter[str] = field(default_factory=Counter[str])
    statistics: dict[str, int] = field(default_factory=dict[str, int])


def count_ops(module: ModuleOp) -> int:
    """Return the number of ops in a module, the module itself not counted."""
    return sum(1 for _ in module.walk()) - 1


class Timing(Instrument):
    """Times every pass, verification after it included; `timing_table` shows the result."""

    def __init__(self) -> None:
        self.steps: list[TimedStep] = []
        self._open: list[tuple[TimedStep, float]] = []

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Time what is not a pass: reading, parsing, printing."""
        self._begin(TimedStep(name, len(self._open)))
        try:
            yield
        finally:
            self._end()

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._begin(TimedStep(module_pass.name, len(self._open), count_ops(module)))

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._end().ops_after = count_ops(module)

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._end()

    def pattern_fired(self, pattern: RewritePattern, op_name: str) -> None:
        if self._open:
            self._open[-1][0].fired[type(pattern).__name__] += 1

    def statistic(self, module_pass: ModulePass, what: str, value: int) -> None:
        if self._open:
            self._open[-1][0].statistics[what] = value

    def report(self) -> None:
        print_table(timing_table(self.steps, self.total))

    def _begin(self, step: TimedStep) -> None:
        self.steps.append(step)
        self._open.append((step, perf_counter()))

    def _end(self) -> TimedStep:
        step, started = self._open.pop()
        step.seconds = perf_counter() - started
        return step

    @property
    def total(self) -> float:
        """Seconds of all steps; those of a nested pipeline count once."""
        return sum(step.seconds for step in self.steps if step.depth == 0)


def add_flags(parser: ArgumentParser) -> None:
    """Add `--mlir-timing`."""
    parser.add_argument(
        "--mlir-timing", action="store_true", help="print a table of times to stderr"
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the timer, where `--mlir-timing` asks for it."""
    return (Timing(),) if arguments.mlir_timing else ()


def timing_table(steps: Sequence[TimedStep], total: float) -> "Table":
    """Return a table for `rich.print`: a row for each step, then the total."""
    # Imported here: runs without --timing do without rich.
    from rich.table import Table

    table = Table(title="Time by pass (with the verification after it)", title_justify="left")
    table.add_column("pass", no_wrap=True)
    for heading in ("seconds", "%", "ops before", "ops after"):
        table.add_column(heading, justify="right")
    table.add_column("patterns fired, statistics", overflow="fold")
    for step in steps:
        counts = (*step.fired.most_common(), *step.statistics.items())
        table.add_row(
            "  " * step.depth + step.name,
            f"{step.seconds:.4f}",
            f"{100 * step.seconds / total:.1f}",
            "" if step.ops_before is None else str(step.ops_before),
            "" if step.ops_after is None else str(step.ops_after),
            ", ".join(f"{name} {count}" for name, count in counts),
        )
    table.add_section()
    table.add_row("total", f"{total:.4f}", "100.0")
    return table
