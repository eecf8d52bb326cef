"""The instrument behind reports: the module at every level, and what each pass did to it."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import TypedDict

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.instruments.explain_missed import DeclinedOps, Reasons
from gawee_dialect.instruments.function_texts import (
    FunctionText,
    FunctionTexts,
    key,
    prints_all,
    symbol_of,
)
from gawee_dialect.instruments.ir_diff import NOTHING, changed_functions, diff_lines
from gawee_dialect.instruments.report import source_place
from gawee_dialect.levels import Level, level_of
from gawee_dialect.passes.instrument import SILENT, Instrument, Rewrite
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.report.snapshot import (
    FunctionJson,
    Json,
    LevelJson,
    Origins,
    Snapshots,
    StepJson,
    is_external,
)
from gawee_dialect.upstream.printing import TextOptions

# What a pass changed in the text of functions, cut to a readable length.

SHOWN = 600
"""Lines of all diffs of a pass together; of what remains the report has the numbers alone."""

COMPARED = 8000
"""Lines of a function before and after a pass, beyond which they are not compared."""


class DiffJson(TypedDict):
    """A unified diff of a function; `cut` of its lines were left out, None of one not printed."""

    function: str
    lines: list[str]
    cut: int | None


class PassJson(TypedDict):
    """What a pass did."""

    name: str
    spec: str
    within: list[str]
    status: str
    errors: list[Json]
    diff: list[DiffJson]
    rewrites: list[Json]
    fused: list[Json]
    declined: list[Json]
    statistics: dict[str, int]


def diffs_json(
    before: Mapping[str, FunctionText], after: Mapping[str, FunctionText]
) -> list[DiffJson]:
    """Return a unified diff of every function that a pass changed; `cut` counts lines left out.

    It is None of a function that was not printed, of which there is no diff.
    """
    room = SHOWN
    found: list[DiffJson] = []
    for name in changed_functions(before, after):
        old, new = before.get(name, NOTHING), after.get(name, NOTHING)
        if old.unprinted or new.unprinted:
            found.append({"function": name, "lines": [], "cut": None})
            continue
        lines = _diff(old.text, new.text)
        found.append({"function": name, "lines": lines[:room], "cut": len(lines[room:])})
        room -= min(room, len(lines))
    return found


def _diff(old: str, new: str) -> list[str]:
    counts = old.count("\n") + bool(old), new.count("\n") + bool(new)
    if not all(counts) or sum(counts) > COMPARED:
        removed = [f"-{line}" for line in old.splitlines()]
        return [*removed, *(f"+{line}" for line in new.splitlines())]
    lines = list(diff_lines(old, new, ("before", "after")))
    return lines[2:]  # without the heading, which names no file here


# What processors run of a report's functions: their assembly, cut to a readable length.

LONGEST = 1500
"""Lines of a function that are kept."""

MOST = 20_000
"""Lines that are kept in all."""


class AssemblyJson(TypedDict):
    """A function's assembly; `cut` lines of it were left out."""

    function: str
    lines: list[str]
    cut: int


def assembly_json(functions: Mapping[str, Sequence[str]]) -> list[AssemblyJson]:
    """Return the assembly of functions, given by their lines, as the document has it."""
    room = MOST
    found: list[AssemblyJson] = []
    for name, lines in functions.items():
        kept = list(lines[: min(LONGEST, room)])
        found.append({"function": name, "lines": kept, "cut": len(lines) - len(kept)})
        room -= len(kept)
    return found


def called_from(name: str, functions: Sequence[FunctionJson]) -> list[str]:
    """Return the names of a function and of all that it calls, in their order; all without it."""
    known = {each["name"]: each for each in functions}
    if name not in known:
        return list(known)
    found = {name}
    pending = [name]
    while pending:
        new = {each for each in known[pending.pop()]["calls"] if each in known} - found
        found |= new
        pending += new
    return [each for each in known if each in found]


INPUT = "input"
"""The name of the module as it was read, beside those of the levels."""

LARGEST_CONSTANT = 16
"""Constants of more elements are elided."""

LARGE = 1000
"""Ops in private functions beyond which these are printed where a level ends, and not in between.
Kernels are such functions: to print them after each pass takes longer than the passes."""

STEPPED = 2000
"""Lines of the public functions up to which they are kept after each pass."""

TO_LOOPS = "-to-loops"
"""The end of names of passes each of which makes loops of some ops on buffers."""

AT_LOOPS = (
    *("hoist-allocas", "cse", "canonicalize", "expand-math", "convert-scf-to-openmp"),
    "split-prepare",
)
"""Passes of ours that leave loops: the level does not end before them."""

Fired = tuple[str, str | None, str]
"""A pattern, the place of its class, and the kind of a rewrite."""


class Recording(Instrument):
    """Collects what a report shows of one module.

    Modules that follow it, copies for another part of a pipeline, continue its story.
    """

    def __init__(self) -> None:
        self._levels: list[LevelJson] = []
        self.passes: list[PassJson] = []
        self.seconds: list[float] = []
        self.steps: list[StepJson] = []
        """The public functions after each pass that changed them, as far as they are short."""
        self.origins = Origins()
        self._public = Snapshots(self.origins)
        self._snapshots = Snapshots(self.origins)
        self._texts = FunctionTexts(TextOptions())
        self._module: ModuleOp | None = None
        self._before: Mapping[str, FunctionText] = {}
        self._level = self._highest = Level.GAWEE
        self._due: ModuleOp | None = None
        self._last_change = 0
        self._llvm: Mapping[str, str] = {}
        self._assembly: Mapping[str, Sequence[str]] | None = None
        self._started = 0.0
        self._pipelines: list[str] = []
        self._declined = DeclinedOps()
        self._reset()

    def _reset(self) -> None:
        self._fired: dict[Fired, Counter[tuple[str, tuple[int, ...]]]] = {}
        self._fused: list[Json] = []
        self._statistics: dict[str, int] = {}

    @property
    def levels(self) -> Sequence[LevelJson]:
        """The module as it was read, then the last state of each level so far."""
        self._keep_level()
        return self._levels

    def add_level(self, level: LevelJson) -> None:
        """Add a level that is not that of a module: a graph as its file has it."""
        self._levels.append(level)

    @property
    def assembly(self) -> list[AssemblyJson] | None:
        """The assembly of what the network runs, where code was made."""
        if self._assembly is None or not self.levels:
            return None
        names = called_from(MAIN, self._levels[-1]["functions"])
        known = self._assembly
        return assembly_json({name: known[name] for name in names if name in known})

    def start(self, module: ModuleOp) -> None:
        """Take a module as it is before any pass."""
        self._keep_level()
        self._module = module
        self._texts = FunctionTexts(TextOptions(elide_larger_than=LARGEST_CONSTANT))
        self._before = self._texts.of(module)
        if not self._levels:
            self._level = self._highest = level_of(module)
            self._snapshot(module, INPUT, self._before)

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self.start(module)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if module is not self._module:
            self.start(module)
        self._declined.begin()
        if isinstance(module_pass, Pipeline):
            self._pipelines.append(module_pass.name)
            return
        if not (self._stays_at_loops(module_pass) and is_large(module)):
            self._keep_level()
        self._reset()
        self._texts.note()
        self._started = perf_counter()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._end(module_pass, module, ())

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._end(module_pass, module, current_errors())

    def _end(self, module_pass: ModulePass, module: ModuleOp, errors: Sequence[Json]) -> None:
        seconds = perf_counter() - self._started
        reasons = self._declined.end()
        if isinstance(module_pass, Pipeline):
            self._pipelines.pop()
            return
        self.seconds.append(seconds)
        # What a failed pass left may not be printable in the form of its ops.
        is_printed = is_external if is_large(module) else prints_all
        after = self._before if errors else self._texts.of(module, is_printed)
        names = changed_functions(self._before, after)
        changed = bool(names)
        self.passes.append(
            {
                "name": module_pass.name,
                "spec": str(module_pass.spec()),
                "within": list(self._pipelines),
                "status": "failed" if errors else "changed" if changed else "unchanged",
                "errors": list(errors),
                "diff": diffs_json(self._before, after),
                "rewrites": [self._rewrites(fired) for fired in self._fired],
                "fused": self._fused,
                "declined": self._reasons(reasons, module),
                "statistics": self._statistics,
            }
        )
        self._before = after
        if changed:
            if not self._stays_at_loops(module_pass):
                self._level = self._reached(level_of(module), module_pass)
            self._due, self._last_change = module, len(self.passes)
            self._keep_step(module, set(names), after)
        elif errors:
            self._due = None  # it is no longer as the pass before left it

    def _keep_step(
        self, module: ModuleOp, changed: set[str], texts: Mapping[str, FunctionText]
    ) -> None:
        """Keep the public functions as a pass left them, where it changed one of them."""
        public = [key(op, at) for at, op in enumerate(module.ops) if is_external(op)]
        lines = sum(texts[name].text.count("\n") for name in public)
        if changed.isdisjoint(public) or lines > STEPPED:
            return
        functions = self._public.functions(module, texts, is_external)
        step: StepJson = {
            "number": len(self.passes) - 1,
            "level": self._level.value,
            "functions": functions,
        }
        self.steps.append(step)

    def _stays_at_loops(self, module_pass: ModulePass) -> bool:
        name = module_pass.name
        return self._level is Level.LOOPS and (name in AT_LOOPS or name.endswith(TO_LOOPS))

    def _reached(self, level: Level, module_pass: ModulePass) -> Level:
        """Return the level that a module is at, or on the way to, if it is between two."""
        if level is Level.BUFFERS and module_pass.name.endswith(TO_LOOPS):
            level = Level.LOOPS
        if level.order >= self._highest.order:
            self._highest = level
            return level
        later = [each for each in Level if each.order > self._highest.order]
        return later[0] if later else self._highest

    def _keep_level(self) -> None:
        """Keep the module as it is now, where a pass has changed it, as the last of its level."""
        module, self._due = self._due, None
        if module is None:
            return
        if any(text.unprinted for text in self._before.values()):
            self._before = self._texts.print_rest(
                module, lambda op: symbol_of(op) not in self._llvm
            )
        # Private functions that were compiled are shown as the LLVM IR that they were compiled of.
        private = {symbol_of(op) for op in module.ops if _is_private(op)}
        compiled = {f"@{name}": text for name, text in self._llvm.items() if name in private}
        llvm = {name: FunctionText(text) for name, text in compiled.items()}
        self._snapshot(module, self._level.value, {**self._before, **llvm})

    def _snapshot(self, module: ModuleOp, name: str, texts: Mapping[str, FunctionText]) -> None:
        """Keep the module as the last one of its level."""
        if self._levels and self._levels[-1]["name"] == name:
            self._levels.pop()
        self._levels.append(
            {
                "name": name,
                "level": self._level.value,
                "passes": self._last_change,
                "functions": self._snapshots.functions(module, texts),
            }
        )

    def needs_verified(self) -> bool:
        return False  # a report shows the run as it is without one

    def wants_assembly(self) -> bool:
        return True

    def code_compiled(
        self, module: ModuleOp, llvm: Mapping[str, str], assembly: Mapping[str, Sequence[str]]
    ) -> None:
        self._assembly = assembly
        if module is self._due:
            self._llvm = llvm

    def op_rewritten(self, rewrite: Rewrite) -> None:
        self._declined.rewritten(rewrite.op)
        pattern = rewrite.pattern
        name = rewrite.kind.value if pattern is None else type(pattern).__name__
        where = None if pattern is None else source_place(type(pattern))
        sources = tuple(self.origins.numbers(rewrite.op.location))
        counts = self._fired.setdefault((name, where, rewrite.kind.value), Counter())
        counts[rewrite.op.name, sources] += 1

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        if isinstance(pattern, Pattern) or reason != SILENT:
            self._declined.declined(pattern, op, reason)

    def ops_fused(self, pattern: RewritePattern, op: Operation, into: Operation) -> None:
        parts, whole = (self.origins.numbers(each.location) for each in (op, into))
        self.origins.fuse(parts, whole)
        self._fused.append(
            {
                "op": op.name,
                "sources": parts,
                "into": into.name,
                "into_sources": whole,
                "pattern": type(pattern).__name__,
            }
        )

    def statistic(self, module_pass: ModulePass, what: str, value: int) -> None:
        self._statistics[what] = value

    def _rewrites(self, fired: Fired) -> Json:
        name, where, kind = fired
        counts = self._fired[fired]
        return {
            "pattern": name,
            "place": where,
            "kind": kind,
            "count": counts.total(),
            "ops": [
                {"name": op, "sources": list(sources), "count": count}
                for (op, sources), count in counts.items()
            ],
        }

    def _reasons(self, reasons: Reasons, module: ModuleOp) -> list[Json]:
        if not reasons:
            return []
        return [
            {
                "name": op.name,
                "sources": self.origins.numbers(op.location),
                "reasons": [
                    {
                        "pattern": type(pattern).__name__,
                        "place": source_place(type(pattern)),
                        "reason": reason,
                    }
                    for pattern, reason in reasons[op].items()
                ],
            }
            for op in module.walk()
            if op in reasons
        ]


def is_large(module: ModuleOp) -> bool:
    """Whether the private functions of a module take long to print."""
    ops = (op for function in module.ops if _is_private(function) for op in function.walk())
    return next(islice(ops, LARGE, None), None) is not None


def _is_private(op: Operation) -> bool:
    return not is_external(op)


def current_errors() -> list[Json]:
    """Return what the exception that is being handled says; nothing where there is none."""
    error = sys.exception()
    if error is None:
        return []
    if not isinstance(error, GaweeError):
        return [error_json(Diagnostic(f"{type(error).__name__}: {first_line(error)}"))]
    return [error_json(each) for each in error.diagnostics]


def error_json(found: Diagnostic) -> Json:
    """Return a message as the document has it."""
    return {
        "message": found.message,
        "place": found.place,
        "node": found.node,
        "hint": found.hint,
    }
