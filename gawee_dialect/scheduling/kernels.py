"""The kernels of a network by name, and the steps that change their loops.

What steps make is `#gawee.schedule` on kernels, which is what the compiler chooses by itself, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from html import escape
from itertools import pairwise
from math import ceil, prod
from pathlib import Path
from typing import Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation

from gawee_dialect.analysis.kernel_kind import KernelKind, kernel_kind
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.scan import scheduled_blocks
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.evaluation.evaluator import Build
from gawee_dialect.evaluation.search import Space
from gawee_dialect.instruments.profile import name_of
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules, accesses_of
from gawee_dialect.passes.tensors.form_kernels.from_linalg import reduced, trip_counts
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.schedules.database import Choice, Database, Entry
from gawee_dialect.schedules.file import program_text
from gawee_dialect.schedules.keys import Decision, describe, mark_of, schedule_key
from gawee_dialect.schedules.script import Script, Steps, behind, script_of
from gawee_dialect.schedules.steps import IllegalStep, Nest, Step
from gawee_dialect.schedules.transform_dialect import (
    fused_ops,
    run_transform_script,
    transform_script,
)
from gawee_dialect.source import Source
from gawee_dialect.target.description import KIB, MIB
from gawee_dialect.tuning.lowering import Lowering, ops_by_key
from gawee_dialect.whole_file import write_file

ALGORITHM = "algorithm"
"""The step that is taken before all others: it decides which loops there are."""


class KernelSchedule(Steps):
    """One distinct kernel of a network, and the steps that were taken for it."""

    def __init__(self, network: "NetworkSchedule", written: KernelOp):
        self.network = network
        self.written = written
        """The kernel before another algorithm computes it."""
        self.op: StructuredKernel = written
        """What computes it now, on tensors that have layouts."""
        self.nodes: Sequence[str] = ()
        self.script = Script()
        """The steps so far: a value, which other kernels may take."""

    @property
    def label(self) -> str:
        """The first node that it computes."""
        return self.nodes[0]

    @property
    def description(self) -> str:
        """What the kernel is, in a few words."""
        return describe(self.written)

    @property
    def kind(self) -> KernelKind:
        """What the kernel is by its maps and regions."""
        return kernel_kind(self.written)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many points each dimension has, by its name."""
        nest = self.loops if isinstance(self.op, KernelOp) else Nest.of(self.written)
        return dict(zip(nest.names, nest.sizes, strict=True))

    @property
    def loops(self) -> Nest:
        """The loops behind all steps; raises GaweeError where no loops compute the kernel."""
        return behind(self.script, self._kernel())

    def _kernel(self) -> KernelOp:
        if isinstance(self.op, KernelOp):
            return self.op
        hint = 'the step algorithm("direct") makes loops of it'
        raise GaweeError(Diagnostic.at(self.op, "has no loops that steps change", hint))

    def then(self, *steps: Step) -> Self:
        """Take steps, all or none of them; raises GaweeError with the reason, at the kernel.

        Another algorithm takes the place of one that was the only step.
        """
        own = self.script.steps
        if len(own) == 1 and own[0].name == ALGORITHM and steps and steps[0].name == ALGORITHM:
            own = ()
        return self._take(Script((*own, *steps)))

    def _take(self, script: Script) -> Self:
        later = [step for step in script.steps[1:] if step.name == ALGORITHM]
        if later:
            message = f"cannot take the step {later[0]}: expected it before all others"
            raise GaweeError(Diagnostic.at(self.op, message))
        was, self.script = self.script, script
        try:
            if self.chosen_algorithm(script) != self.chosen_algorithm(was):
                self.network.lower()
            elif len(script.steps) != (self.chosen_algorithm(script) is not None):
                behind(script, self._kernel())
        except GaweeError:
            self.script = was
            raise
        return self

    @staticmethod
    def chosen_algorithm(script: Script) -> Step | None:
        """Return the step that asks for an algorithm, where there is one."""
        first = script.steps[0] if script.steps else None
        return first if first is not None and first.name == ALGORITHM else None

    def undo(self, count: int = 1) -> Self:
        """Take back the last steps; raises GaweeError where there are fewer."""
        if not 0 <= count <= len(self.script.steps):
            message = f"cannot undo {count} steps: expected at most {len(self.script.steps)}"
            raise GaweeError(Diagnostic.at(self.op, message))
        return self._take(Script(self.script.steps[: len(self.script.steps) - count]))

    def apply_to(
        self, kind: str | None = None, where: "Where | None" = None
    ) -> Sequence["KernelSchedule"]:
        """Have other kernels take these steps in the place of theirs; return them.

        They are those of a kind, such as `matmul`, and for which `where` is true. None takes any
        where one cannot: raises GaweeError with each reason.
        """
        others = [each for each in self.network.select(kind, where) if each is not self]
        return self.network.apply(self.script, others)

    def transform_script(self) -> str:
        """Return the loops as a script that upstream's `mlir-opt` runs on the network in linalg.

        Raises GaweeError for what MLIR's transform dialect has no op for.
        """
        op = self._kernel()
        if not self.linalg_ops:
            message = "is no op of linalg with the dimensions of the kernel"
            raise GaweeError(Diagnostic.at(op, message))
        try:
            return transform_script(self.linalg_ops, self.loops, self.network.linalg)
        except IllegalStep as error:
            raise GaweeError(Diagnostic.at(op, str(error))) from error

    @property
    def linalg_ops(self) -> Sequence[Operation]:
        """The op that the kernel was in `network.linalg`, and those that it computes with it.

        There are none where it has other dimensions than an op.
        """
        others = {name for each in self.network for name in each.nodes} - {*self.nodes}
        written = list(self.written.sizes), self.written.num_parallel
        for root in self.network.linalg.walk():
            if isinstance(root, LinalgStructuredOperation):
                ops = fused_ops(root, lambda each: name_of(each) not in others)
                loops = trip_counts(root), reduced(root).count(False)
                if loops == written and not {*self.nodes}.isdisjoint(map(name_of, ops)):
                    return ops
        return ()

    def space(self, steps: Callable[..., Script], **knobs: Sequence[object]) -> Space[Build]:
        """Return the network with each program that `steps` makes of knobs' values, in this kernel.

        A point is illegal where the kernel cannot take its steps.
        """

        def build(**values: object) -> Build:
            network, was = self.network, self.script
            self._take(steps(**values))
            options = replace(network.options, schedules=network.database())
            self._take(was)
            return Build(network.model, options)

        return Space(build, knobs)

    def __str__(self) -> str:
        if not isinstance(self.op, KernelOp):
            return f"{self.description}: {', '.join(self.nodes)}\n{self.op.algorithm}"
        return f"{self.description}: {', '.join(self.nodes)}\n{nest_text(self.op, self.loops)}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def prove(self) -> Sequence[tuple[Step, str]]:
        """Prove each step on the kernel in exact arithmetic; return what is known of each.

        The kernel is lowered to loops as it is behind each step, and both are run on numbers modulo
        primes, as `--prove-each` does. A step that changes no loop is right by its rule. Raises
        CheckFailure where loops compute other numbers than the kernel says.
        """
        from gawee_dialect.instruments.prove.each import ProveEach, Verdict
        from gawee_dialect.passes.instrument import instrumented
        from gawee_dialect.passes.pass_manager import run_passes
        from gawee_dialect.tuning.network import passes_to_loops, scheduled
        from gawee_dialect.universe import make_context

        op, cpu = self._kernel(), self.network.cpu
        known = [each.is_parameter for each in accesses_of(op, ParameterAnalysis()).inputs]
        found: list[tuple[Step, str]] = []
        nests = list(self.script.nests(op))
        for number, (before, nest) in enumerate(pairwise(nests)):
            step = self.script.steps[number]
            if before.says_the_same(nest):
                found.append((step, f"by rule: {step.rule}"))
                continue
            so_far = Entry(schedule_key(op, known), cpu, Script(self.script.steps[: number + 1]))
            assign = AssignSchedules(
                schedules=Database([so_far]), target=self.network.options.target
            )
            prove = ProveEach()
            with instrumented(prove):
                module = scheduled(op, known, None)
                run_passes(make_context(), module, (assign, *passes_to_loops()))
            notes = [each.note for each in prove.steps if each.verdict is Verdict.CHECKED]
            found.append((step, notes[0] if notes else Verdict.PROVED.value))
        return found


Where = Callable[[KernelSchedule], bool]
"""Which kernels are meant: by their sizes, names or operands."""


class NetworkSchedule:
    """The distinct kernels of a network that run each time, with the steps taken for each."""

    def __init__(self, model: Model, options: CodeOptions):
        self.model, self.options = model, options
        self.cpu = options.machine.processor.cpu
        self._lowering = Lowering(model.module, options.machine, options.passes, options)
        self._kernels: dict[object, KernelSchedule] = {}
        self._keys: dict[object, str] = {}
        self.lower()
        self._take_given()

    @cached_property
    def linalg(self) -> ModuleOp:
        """The network in linalg, which scripts of MLIR's transform dialect are about."""
        return self.model.lowered(Level.LINALG, self.options)

    # The kernels.

    def __iter__(self) -> Iterator[KernelSchedule]:
        return iter(self._kernels.values())

    def __len__(self) -> int:
        return len(self._kernels)

    def __getitem__(self, name: str) -> KernelSchedule:
        """Return the kernel of a node, by its name, a pattern such as `*conv1`, or a key.

        Where a node has several, it is the one that is no copy. Raises GaweeError.
        """
        found = [each for each in self if self._is_called(each, name)]
        computing = [each for each in found if each.kind is not KernelKind.COPY]
        if len(computing or found) == 1:
            return (computing or found)[0]
        listed = found or list(self)
        known = "; ".join(f"{each.description}: {', '.join(each.nodes)}" for each in listed)
        hint = f"kernels: {known or 'none'}"
        raise GaweeError(Diagnostic(f"expected one kernel '{name}', got {len(found)}", hint=hint))

    def _is_called(self, kernel: KernelSchedule, name: str) -> bool:
        texts = (*kernel.nodes, kernel.description, *self.keys_of(kernel).values())
        return any(text == name or fnmatchcase(text, name) for text in texts)

    @staticmethod
    def keys_of(kernel: KernelSchedule) -> Mapping[Decision, str]:
        """Return what a kernel is called in a database, for each decision about it."""
        keys = {each: mark_of(kernel.op.attributes, each) for each in Decision}
        return {decision: key for decision, key in keys.items() if key is not None}

    def select(self, kind: str | None = None, where: Where | None = None) -> list[KernelSchedule]:
        """Return the kernels of a kind, such as `conv`, for which `where` is true."""
        return [
            each
            for each in self
            if (kind is None or each.kind == kind) and (where is None or where(each))
        ]

    def apply(self, script: Script, kernels: Sequence[KernelSchedule]) -> Sequence[KernelSchedule]:
        """Have kernels take a program in the place of theirs, all or none; raises GaweeError."""
        were = [(kernel, kernel.script) for kernel in kernels]
        problems: list[Diagnostic] = []
        for kernel in kernels:
            try:
                kernel.undo(len(kernel.script.steps)).then(*script.steps)
            except GaweeError as error:
                problems += error.diagnostics
        if problems:
            for kernel, old in were:
                kernel.undo(len(kernel.script.steps)).then(*old.steps)
            raise GaweeError(problems)
        return kernels

    def run_transform(self, script: Source) -> None:
        """Have kernels take what a script of MLIR's transform dialect says about ops of linalg.

        Raises GaweeError, with its place, for an op that is not supported or that loops cannot do;
        no kernel takes anything then.
        """

        def match(names: Sequence[str]) -> Sequence[KernelSchedule]:
            owners = {op: kernel for kernel in self for op in kernel.linalg_ops}
            if "func.func" in names:
                return list(dict.fromkeys(owners.values()))
            return [owners[op] for op in self.linalg.walk() if op.name in names and op in owners]

        were = [(kernel, kernel.script) for kernel in self]
        try:
            run_transform_script(script, match)
        except GaweeError:
            for kernel, old in were:
                kernel.script = old
            raise

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    # What the compiler makes of it.

    def lower(self) -> None:
        """Give tensors their layouts anew, as the chosen algorithms read them; raises GaweeError.

        Steps that were taken stay; they are checked on what the kernels are now.
        """
        chosen = [
            Entry(key, self.cpu, Script((step,)), "the step algorithm(...)")
            for key, step in self._algorithms()
        ]
        given = self.options.schedules.entries
        module = self._lowering.with_layouts(Database([*given, *chosen]))
        written, distinct = self._lowering.with_choice(), _distinct(module)
        self._check_steps(distinct)
        old, self._kernels, self._module = self._kernels, {}, module
        for identity, ops in distinct.items():
            op = written.get(str(identity), ops[0])
            assert isinstance(op, KernelOp)
            kernel = old.get(identity) or KernelSchedule(self, op)
            kernel.op, kernel.nodes = ops[0], list(dict.fromkeys(map(name_of, ops)))
            self._kernels[identity] = kernel

    def _check_steps(self, kernels: Mapping[object, Sequence[StructuredKernel]]) -> None:
        """Raise GaweeError where steps were taken that what kernels are now cannot take."""
        for identity, kernel in self._kernels.items():
            op = kernels[identity][0] if identity in kernels else None
            loops = [step for step in kernel.script.steps if step.name != ALGORITHM]
            if loops and isinstance(op, KernelOp):
                behind(kernel.script, op)
            elif loops:
                message = "is another kernel by the algorithms: choose these before other steps"
                raise GaweeError(Diagnostic.at(kernel.op, message))

    def _algorithms(self) -> Iterator[tuple[str, Step]]:
        for kernel in self:
            step = kernel.chosen_algorithm(kernel.script)
            if step is not None:
                key = self.keys_of(kernel).get(Decision.ALGORITHM)
                if key is None:
                    message = f"cannot take the step {step}: expected a kernel that has a choice"
                    raise GaweeError(Diagnostic.at(kernel.op, message))
                yield key, step

    def _take_given(self) -> None:
        for kernel in self:
            keys = self.keys_of(kernel)
            found = (self.options.schedules.find(key, self.cpu) for key in keys.values())
            for entry in found:
                if entry is not None:
                    kernel.script += _as_script(entry.choice, kernel.op)

    def assign(self) -> Self:
        """Take what the compiler chooses for every kernel for which no steps were taken."""
        scheduled = self._lowering.scheduled(self._module, self.database())
        final = ops_by_key(scheduled, Decision.SCHEDULE, scheduled_blocks)
        for kernel in self:
            key = self.keys_of(kernel).get(Decision.SCHEDULE)
            op = kernel.op
            if kernel.script.steps:
                continue
            first = self._algorithm_step(kernel)
            steps = Script() if first is None else Script((first,))
            if isinstance(op, KernelOp) and key in final:
                new = final[key][0]
                assert isinstance(new, KernelOp)
                assert new.schedule is not None
                steps += script_of(op, new.schedule.data)
            kernel.script = steps
        return self

    def _algorithm_step(self, kernel: KernelSchedule) -> Step | None:
        if Decision.ALGORITHM not in self.keys_of(kernel):
            return None
        return _algorithm_step(kernel.op.algorithm)

    def entries(self) -> Iterator[Entry]:
        """Yield what steps say, as entries of a database: algorithms, then loops."""
        for decision in Decision:
            for kernel in self:
                first = kernel.chosen_algorithm(kernel.script)
                number = first is not None
                steps = kernel.script.steps
                own = steps[:number] if decision is Decision.ALGORITHM else steps[number:]
                key = self.keys_of(kernel).get(decision)
                if own and key is not None:
                    facts = {"kernel": kernel.description, "nodes": ", ".join(kernel.nodes)}
                    yield Entry(key, self.cpu, Script(own), "the schedule in Python", facts=facts)

    def database(self) -> Database:
        """Return what steps say, for `CodeOptions(schedules=...)`, before what was given."""
        return Database([*self.options.schedules.entries, *self.entries()])

    def module(self) -> ModuleOp:
        """Return the network with its kernels scheduled: what the compiler goes on with."""
        return self._lowering.scheduled(self._module, self.database())

    def text(self) -> str:
        """Return the steps as a program in Python, which `read_schedules` reads from a `.py`."""
        return program_text(self.entries(), self.cpu)

    def save(self, path: str | Path) -> Path:
        """Write the steps as a program in Python; returns the path, raises OSError."""
        return write_file(Path(path), self.text())


def _distinct(module: ModuleOp) -> Mapping[object, list[StructuredKernel]]:
    """Return the kernels that run each time, by what they stay known by when layouts change."""
    main = find_function(module)
    assert main is not None
    found: dict[object, list[StructuredKernel]] = {}
    numbers: dict[object, int] = {}
    by_key: dict[str, object] = {}
    analysis = ParameterAnalysis()
    for op in (op for block in scheduled_blocks(main) for op in block.ops):
        if not isinstance(op, StructuredKernel) or analysis.is_known_early(op.results[0]):
            continue
        algorithm = mark_of(op.attributes, Decision.ALGORITHM)
        key = mark_of(op.attributes, Decision.SCHEDULE)
        if algorithm is None and key is None:
            continue
        if algorithm is not None:
            identity: object = algorithm
        elif key in by_key:
            identity = by_key[key]
        else:
            named = name_of(op), describe(op) if isinstance(op, KernelOp) else op.name
            numbers[named] = numbers.get(named, -1) + 1
            identity = by_key[key or ""] = (*named, numbers[named])
        found.setdefault(identity, []).append(op)
    return found


def _as_script(choice: Choice, op: StructuredKernel) -> Script:
    if isinstance(choice, Script):
        return choice
    if isinstance(choice, Algorithm):
        return Script((_algorithm_step(choice),))
    assert isinstance(op, KernelOp)  # only loops have a key for a schedule
    return script_of(op, choice)


def _algorithm_step(chosen: Algorithm) -> Step:
    numbers = [(key, value) for key, value in chosen.form().items() if key != ALGORITHM]
    return Step(ALGORITHM, (chosen.name,), tuple((k, v) for k, v in numbers if isinstance(v, int)))


# What a nest looks like.


def nest_text(op: KernelOp, nest: Nest) -> str:
    """Return the loops of a kernel, a line each: what is walked, and the bytes that it touches."""
    values = (*op.inputs, op.target)
    names = [value.name_hint or f"input {number}" for number, value in enumerate(op.inputs)]
    rows = [["touches", *names, "output"]]
    schedule = nest.schedule
    for depth, loop in enumerate(schedule.loops):
        extents = nest.extents(depth)
        count = ceil(extents[loop.dim] / loop.step)
        by = f" by {loop.step}" if loop.step > 1 else ""
        shared = ", shared by threads" if depth < schedule.parallel else ""
        text = f"for {nest.names[loop.dim]} in {extents[loop.dim]}{by}: {count} times{shared}"
        rows.append(["  " * depth + text, *_touched(op, nest, extents)])
    extents = nest.extents(len(schedule.loops))
    rows.append(
        ["  " * len(schedule.loops) + _tile_text(nest, extents), *_touched(op, nest, extents)]
    )
    widths = [max(len(row[column]) for row in rows) for column in range(len(values) + 1)]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    if schedule.tiles is not None:
        lines.append(f"products of tiles of {nest.loop_name(schedule.tiles)}")
    if schedule.prefetch is not None:
        along = nest.names[schedule.prefetch.dim]
        lines.append(f"prefetch {names[schedule.prefetch.input]} along {along}")
    lines += [f"pack {names[index]}" for index in nest.packed]
    more = (f"{nest.names[at]} from {op.sizes[at]} to {nest.sizes[at]}" for at in nest.padded)
    lines += [f"pad {each}" for each in more]
    return "\n".join(lines)


def _tile_text(nest: Nest, extents: Sequence[int]) -> str:
    vector = nest.schedule.vector
    counts: list[str] = []
    accumulators = 1
    for dim, size in enumerate(extents):
        if size == 1:
            continue
        is_vector = vector is not None and vector.dim == dim
        lanes = vector.step if vector is not None and is_vector else 1
        accumulators *= ceil(size / lanes)
        counts.append(
            f"{size} {nest.names[dim]}" + (f" in vectors of {lanes}" if is_vector else "")
        )
    kind = "vectors" if vector is not None else "numbers"
    return f"tile of {' x '.join(counts) or 'one point'}: {accumulators} {kind}"


def _touched(op: KernelOp, nest: Nest, extents: Sequence[int]) -> list[str]:
    """Return the bytes of each operand that points of so many of each dimension are about."""
    found: list[str] = []
    extents = nest.as_written(extents)
    for value, map in zip((*op.inputs, op.target), op.maps, strict=True):
        ranges = [value_range(expr, extents) for expr in map.results]
        size = prod(most - least + 1 for least, most in ranges) * element_bytes(element_of(value))
        found.append(_bytes_text(size))
    return found


def _bytes_text(size: int) -> str:
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} B"
