"""How a check says which pass changed what is computed, and by which op."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.table import Table
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.instruments.check.blame import Culprit
from gawee_dialect.instruments.check.compare import Difference
from gawee_dialect.locations import node_name, place


@dataclass(frozen=True)
class Differing:
    """What differs: the name of the op that is to blame, and an element as it was and as it is."""

    op: str | None = None
    expected: object = None
    actual: object = None


class CheckFailure(GaweeError):
    """A pass that changed what the program computes: the pass, and the diagnostic about it."""

    def __init__(self, pass_name: str, diagnostic: Diagnostic, differing: Differing):
        super().__init__(diagnostic)
        self.pass_name = pass_name
        self.differing = differing


def failure(
    passes: Sequence[ModulePass],
    message: str,
    op: Operation | None = None,
    hint: str | None = None,
    differing: Differing | None = None,
) -> CheckFailure:
    """Blame the last of some passes; the module could not be run between them."""
    last, *others = (f"'{each.name}'" for each in reversed(passes))
    either = f" (or {', '.join(others)}, which could not be run)" if others else ""
    return CheckFailure(
        passes[-1].name,
        Diagnostic(
            f"pass {last}{either} {message}",
            None if op is None else place(op.location),
            None if op is None else node_name(op.location),
            hint,
        ),
        differing or Differing(None if op is None else op.name),
    )


def stopped_running(passes: Sequence[ModulePass], error: GaweeError) -> CheckFailure:
    """Blame the last pass for a program that ran before it and does not run after it."""
    first = error.diagnostics[0]
    blamed = failure(passes, f"left a module that cannot be run: {first.message}")
    located = replace(blamed.diagnostics[0], place=first.place, node=first.node, hint=first.hint)
    return CheckFailure(blamed.pass_name, located, blamed.differing)


def changed_outputs(
    passes: Sequence[ModulePass], function: str, changed: tuple[str, str]
) -> CheckFailure:
    """Blame the last pass for outputs of other names, shapes or dtypes: expected and actual."""
    expected, actual = changed
    return failure(
        passes, f"changed the outputs of '@{function}': expected {expected}, got {actual}"
    )


def blamed_op(culprit: Culprit) -> str:
    """Say which op differs first."""
    if culprit.difference is None:
        return "no op differs: the function returns another value"
    return f"first op that differs: {culprit.describe()}"


# The table that a check ends with: how far each pass moved the outputs.


@dataclass
class CheckStep:
    """One run: the pass before it, what it declares, what ran, and the largest differences."""

    name: str
    declared: str
    engine: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    """The largest difference as a part of its output's largest magnitude."""

    ulp: int | None = 0
    """None where a NaN or an infinity stands against a number, and for integers that differ."""

    seconds: float = 0.0
    note: str = ""
    place: str | None = None
    is_checked: bool = True
    """Whether what the pass left ran, as did what was there before it."""

    def add(self, found: Difference) -> None:
        """Take in the difference of one output."""
        self.absolute = max(self.absolute, found.absolute)
        self.relative = max(self.relative, found.relative)
        self.ulp = None if self.ulp is None or found.ulp is None else max(self.ulp, found.ulp)


def summary_table(steps: Sequence[CheckStep]) -> Table:
    """Return a table for `rich.print`: a row for each run."""
    title = "Outputs after each pass against those before it: the largest differences"
    table = Table(title=title, title_justify="left")
    table.add_column("pass", no_wrap=True)
    table.add_column("numerics", no_wrap=True)
    table.add_column("ran in", no_wrap=True)
    for heading in ("absolute", "relative", "ulp", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("", overflow="fold")
    for step in steps:
        measured = bool(step.declared and step.engine)
        table.add_row(
            step.name,
            step.declared,
            step.engine,
            f"{step.absolute:.3g}" if measured else "",
            f"{step.relative:.2g}" if measured else "",
            ("-" if step.ulp is None else str(step.ulp)) if measured else "",
            f"{step.seconds:.2f}",
            step.note,
        )
    return table


# What a static rule finds.


@dataclass(frozen=True)
class Violation:
    """What an op says of itself that is not so."""

    op: Operation
    message: str
