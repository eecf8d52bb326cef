"""How a check says which pass changed what is computed, and by which op, of machine code too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.table import Table
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.instruments.check.blame import Culprit, op_text
from gawee_dialect.instruments.check.compare import Difference
from gawee_dialect.instruments.check.execute import Plan
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


@dataclass(frozen=True)
class ChangedOp:
    """Two ops of the llvm dialect in the same place; None where one function ends before it."""

    function: str
    before: Operation | None
    after: Operation | None

    @property
    def text(self) -> str:
        """Say what was changed: `'llvm.fmul' in '@conv_0', now 'llvm.fadd'`."""
        before = "the end" if self.before is None else op_text(self.before)
        after = "the end" if self.after is None else op_text(self.after)
        now = "with other operands or attributes" if before == after else after
        return f"{before} in '@{self.function}', now {now}"


def blamed_code(culprit: Culprit | None, changed: ChangedOp | None) -> str:
    """Say which op differs first, and which of the machine code is another; empty of neither."""
    if culprit is None:
        return "" if changed is None else f"first op that the pass changed: {changed.text}"
    inside = "" if changed is None else f"; the pass changed {changed.text}"
    return f"{blamed_op(culprit)}{inside}"


def blamed_name(culprit: Culprit | None, changed: ChangedOp | None) -> str | None:
    """Return the name of the op that `blamed_code` says first."""
    if culprit is not None and culprit.difference is not None:
        return culprit.before.name
    return None if changed is None or changed.before is None else changed.before.name


def changed_op(before: Plan, after: Plan, culprit: Culprit | None = None) -> ChangedOp | None:
    """Return the first op of the llvm dialect that is another one; None where all are the same.

    Where a culprit calls a kernel, that kernel's ops are looked at alone. None where values inside
    the function can be seen.
    """
    if after.is_observable:
        return None
    old, new = _functions(before.machine_code), _functions(after.machine_code)
    called = None if culprit is None else _callee(culprit.before)
    names = [name for name in old if name in new and called in (None, name)]
    found = (_first_change(name, old[name], new[name]) for name in names)
    return next((each for each in found if each is not None), None)


def _functions(module: ModuleOp) -> dict[str, llvm.FuncOp]:
    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp) and op.body.blocks)
    return {function.sym_name.data: function for function in functions}


def _callee(op: Operation) -> str | None:
    callee = op.properties.get("callee")
    return None if callee is None else str(callee).removeprefix("@").strip('"')


def _first_change(name: str, before: llvm.FuncOp, after: llvm.FuncOp) -> ChangedOp | None:
    same: dict[SSAValue | Block, SSAValue | Block] = {}
    for old, new in zip(before.body.blocks, after.body.blocks, strict=False):
        same[old] = new
        same |= zip(old.args, new.args, strict=False)
    for old, new in zip_longest(_ops(before), _ops(after)):
        if old is None or new is None or not _is_same(old, new, same):
            return ChangedOp(name, old, new)
        same |= zip(old.results, new.results, strict=True)
    return None


def _ops(function: llvm.FuncOp) -> Iterator[Operation]:
    return (op for block in function.body.blocks for op in block.ops)


def _is_same(
    old: Operation, new: Operation, same: dict[SSAValue | Block, SSAValue | Block]
) -> bool:
    """Whether two ops are equal, with values and blocks that stand for each other."""

    def match(left: Sequence[SSAValue | Block], right: Sequence[SSAValue | Block]) -> bool:
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same.get(a, b) is b for a, b in pairs)

    types = [each.type for each in old.results] == [each.type for each in new.results]
    attributes = (old.properties, old.attributes) == (new.properties, new.attributes)
    named = old.name == new.name and types and attributes
    return named and match(old.operands, new.operands) and match(old.successors, new.successors)
