"""Schedules of ops of linalg: tiles as loops of the module, and the kernels inside of them.

    sch = schedule(model, level="linalg")
    sch["linalg.generic"].tile(d0=32).fuse("linalg.matmul")
    sch["linalg.matmul"].vectorize(d1=16)
    run = sch.model.compile(sch.code_options)

Loops over tiles are `scf.for` on slices of tensors; what is in them are ops of linalg, of which the
compiler forms kernels where all tiles have one size. So what other tools tile runs the same way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from html import escape
from itertools import groupby
from math import prod
from typing import Self

from xdsl.context import Context
from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.passes import ModulePass

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.dialect.kernels.schedule import Loop, Schedule
from gawee_dialect.dialect.types import element_bytes, is_tensor, tensor_shape, tensor_type
from gawee_dialect.instruments.profile import name_of
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.schedules.script import Script, Steps, parse_statement
from gawee_dialect.schedules.steps import IllegalStep, Nest, Step, as_written
from gawee_dialect.schedules.structured.boxes import Size, extents, num_parallel, shape_of
from gawee_dialect.schedules.structured.loops import LOOP, REDUCES, loop_name, loops_around
from gawee_dialect.schedules.structured.steps import Target, is_structured, take
from gawee_dialect.schedules.transform_dialect import run_transform_script
from gawee_dialect.scheduling.kernels import KernelSchedule, NetworkSchedule
from gawee_dialect.source import Source

OP = "gawee.op"
"""The attribute that says which op of the network an op is, or is a part of, while steps change
it."""


class OpSchedule(Steps):
    """One op of linalg, by its name, and the steps that were taken for it."""

    def __init__(self, network: "StructuredSchedule", name: str, description: str):
        self.network, self.description = network, description
        self.label = name
        """Its node, or its place, and a number where that has several ops."""

    @property
    def script(self) -> Script:
        """The steps so far: a value, which other ops may take."""
        return Script(tuple(step for name, step in self.network.program if name == self.label))

    @property
    def op(self) -> LinalgStructuredOperation:
        """The op as it is now; raises GaweeError where it is computed in several tiles."""
        return self.network.op(self.label)

    @property
    def kernel(self) -> KernelSchedule:
        """The kernel of a tile; raises GaweeError where there is none, or several."""
        return _kernel_of(self.network.kernels, self.label)

    @property
    def loops(self) -> Nest:
        """The loops over its dimensions: over tiles, then over the points of one."""
        whole, names = self.network.start(self.label), self.network.names(self.label)
        sizes = tuple(size if isinstance(size, int) else -1 for size in extents(whole))
        said = (str(loop_name(loop)).partition(" by ") for loop in loops_around(self.op))
        tiles = [Loop(names.index(dim), int(step)) for dim, _, step in said if dim in names]
        points = as_written(sizes).loops
        parallel = len(num_parallel(whole))
        schedule = Schedule((*tiles, *points))
        return Nest(sizes, parallel, len(whole.inputs), True, names, schedule)

    def then(self, *steps: Step) -> Self:
        """Take steps, all or none of them; raises GaweeError with the reason, at the op."""
        own = [(self.label, self.network.named(step)) for step in steps]
        self.network.take([*self.network.program, *own])
        return self

    def undo(self, count: int = 1) -> Self:
        """Take back the last steps; raises GaweeError where there are fewer, or others need it."""
        program = self.network.program
        own = [at for at, (name, _) in enumerate(program) if name == self.label]
        if not 0 <= count <= len(own):
            message = f"cannot undo {count} steps: expected at most {len(own)}"
            raise GaweeError(Diagnostic.at(self.op, message))
        gone = {*own[len(own) - count :]}
        self.network.take([each for at, each in enumerate(program) if at not in gone])
        return self

    def __str__(self) -> str:
        return f"{self.description}: {self.label}\n{loops_text(self.op)}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


Program = Sequence[tuple[str, Step]]
"""Steps in their order, each with the name of the op that it is about."""


def _of_kernels(program: Program) -> Iterator[tuple[str, Step]]:
    """Yield the steps about loops of kernels, and the names of dimensions in them."""
    others = [(name, step) for name, step in program if not is_structured(step)]
    meant = {name for name, step in others if step.name != "name"}
    return (each for each in others if each[0] in meant)


def _kernel_of(kernels: NetworkSchedule, name: str) -> KernelSchedule:
    """Return the kernel that computes an op, by itself or with others; raises GaweeError."""
    for kernel in kernels:
        if name in kernel.nodes or name in map(name_of, kernel.linalg_ops):
            return kernel
    return kernels[name]


@dataclass(frozen=True)
class TakeStep(ModulePass):
    """Take a step for an op of linalg, as a pass that can be proved."""

    name = "take-step"

    op: str
    step: Step
    names: tuple[str, ...]
    threads: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = _only(op, self.op)
        target = Target(found, self.names, lambda name: _whole(op, name), self.threads)
        try:
            take(self.step, target)
        except IllegalStep as error:
            raise GaweeError(Diagnostic.at(found, str(error))) from error


class StructuredSchedule:
    """The ops of linalg that a network is, with the steps taken for each."""

    def __init__(self, model: Model, options: CodeOptions):
        self.options = options
        self.program: Program = ()
        self._kernels: NetworkSchedule | None = None
        self._parameters, self._name = model.parameters, model.name
        self._start = model.lowered(Level.LINALG, options).clone()
        numbers: dict[str, int] = {}
        self._ops: dict[str, OpSchedule] = {}
        for op in self._start.walk():
            if not isinstance(op, LinalgStructuredOperation) or isinstance(op, FillOp):
                continue
            base = name_of(op)
            numbers[base] = numbers.get(base, -1) + 1
            name = f"{base}#{numbers[base]}" if numbers[base] else base
            op.attributes[OP] = StringAttr(name)
            op.location = NameLoc(StringAttr(name), op.location)
            self._ops[name] = OpSchedule(self, name, describe(op))
        self._module = self._start

    def __iter__(self) -> Iterator[OpSchedule]:
        return iter(self._ops.values())

    def __len__(self) -> int:
        return len(self._ops)

    def __getitem__(self, name: str) -> OpSchedule:
        """Return an op by its node, a pattern such as `linalg.matmul *`, or its name.

        Raises GaweeError.
        """
        if name in self._ops:
            return self._ops[name]
        found = self.select(name)
        if len(found) == 1:
            return found[0]
        listed = found or list(self)
        known = "; ".join(f"{each.description}: {each.label}" for each in listed)
        hint = f"ops: {known or 'none'}"
        raise GaweeError(Diagnostic(f"expected one op '{name}', got {len(found)}", hint=hint))

    def select(self, pattern: str) -> Sequence[OpSchedule]:
        """Return the ops whose description or name fits, such as `linalg.matmul *`."""
        return [
            each
            for each in self
            if fnmatchcase(each.description, pattern) or fnmatchcase(each.label, pattern)
        ]

    def op(self, name: str) -> LinalgStructuredOperation:
        """Return an op as it is now; raises GaweeError where it is computed in several tiles."""
        return _only(self._module, name)

    def named(self, step: Step) -> Step:
        """Return a step with the names of the ops that it means; raises GaweeError."""
        if step.name != "fuse":
            return step
        return replace(step, arguments=tuple(self[str(each)].label for each in step.arguments))

    def take(self, program: Program) -> None:
        """Take a program in the place of the one so far; raises GaweeError, and changes nothing."""
        is_longer = list(program[: len(self.program)]) == list(self.program)
        begin = len(self.program) if is_longer else 0
        module = (self._module if is_longer else self._start).clone()
        for at in range(begin, len(program)):
            if is_structured(program[at][1]):
                self._step(program, at).apply(Context(), module)
        verify_module(module)
        own = self._with_kernels(module, program) if list(_of_kernels(program)) else None
        self._module, self.program, self._kernels = module, tuple(program), own

    @property
    def kernels(self) -> NetworkSchedule:
        """The kernels that the tiles become, with the steps that are about their loops."""
        if self._kernels is None:
            self._kernels = self._with_kernels(self._module, self.program)
        return self._kernels

    def start(self, name: str) -> LinalgStructuredOperation:
        """Return an op as it was before all steps."""
        return _only(self._start, name)

    def names(self, name: str, program: Program | None = None) -> tuple[str, ...]:
        """Return what the dimensions of an op are called behind a program, or that so far."""
        names = tuple(f"d{dim}" for dim in range(self.start(name).get_num_loops()))
        for other, each in self.program if program is None else program:
            if other == name and each.name == "name":
                names = tuple(map(str, each.arguments))
        return names

    def _step(self, program: Program, at: int) -> TakeStep:
        name, step = program[at]
        names = self.names(name, program[:at])
        return TakeStep(name, step, names, self.options.machine.processor.cores)

    def run_transform(self, script: Source) -> None:
        """Have ops take what a script of MLIR's transform dialect says about them.

        Raises GaweeError, with its place, for an op that is not supported or that cannot be done;
        no op takes anything then.
        """

        def match(names: Sequence[str]) -> Sequence[OpSchedule]:
            every = "func.func" in names
            return [each for each in self if every or self.start(each.label).name in names]

        before = self.program
        try:
            run_transform_script(script, match)
        except GaweeError:
            self.take(before)
            raise

    def _with_kernels(self, module: ModuleOp, program: Program) -> NetworkSchedule:
        kernels = NetworkSchedule(self._model(module), self.options)
        for name, step in _of_kernels(program):
            _kernel_of(kernels, name).then(step)
        return kernels

    def _model(self, module: ModuleOp) -> Model:
        plain = module.clone()
        for op in plain.walk():
            for mark in (OP, LOOP, REDUCES):
                op.attributes.pop(mark, None)
        return Model(plain, self._parameters, self._name)

    @property
    def model(self) -> Model:
        """The network with its loops over tiles, at the linalg level."""
        return self._model(self._module)

    @property
    def code_options(self) -> CodeOptions:
        """How its code is made: the options, with the schedules of its kernels."""
        return replace(self.options, schedules=self.kernels.database())

    def prove(self) -> Sequence[tuple[str, Step, str]]:
        """Prove each step in exact arithmetic, as `--prove-each` does; return what is known of it.

        Steps about the loops of a kernel are proved on the kernel. Raises CheckFailure.
        """
        from gawee_dialect.instruments.prove.each import ProveEach, Verdict
        from gawee_dialect.passes.instrument import instrumented
        from gawee_dialect.passes.pass_manager import run_passes
        from gawee_dialect.universe import make_context

        module, found = self._start.clone(), list[tuple[str, Step, str]]()
        of_kernels = {name for name, _ in _of_kernels(self.program)}
        proved = {name: iter(self[name].kernel.prove()) for name in of_kernels}
        for at, (name, step) in enumerate(self.program):
            if not is_structured(step):
                rule = step, f"by rule: {step.rule}"
                found.append((name, *(next(proved[name]) if name in proved else rule)))
                continue
            prove = ProveEach()
            with instrumented(prove):
                run_passes(make_context(), module, (self._step(self.program, at),))
            notes = [each.note for each in prove.steps if each.verdict is Verdict.CHECKED]
            found.append((name, step, notes[0] if notes else Verdict.PROVED.value))
        return found

    def text(self) -> str:
        """Return the steps as a program in Python, which `run` takes."""
        chains = groupby(self.program, key=lambda each: each[0])
        lines = [f'sch["{name}"].{Script(tuple(s for _, s in steps))}\n' for name, steps in chains]
        return "".join(lines)

    def run(self, text: str) -> Self:
        """Take the steps of a program behind those so far; it is read, and no code of it is run.

        Raises GaweeError.
        """
        import ast

        program = list(self.program)
        try:
            for statement in ast.parse(text).body:
                if not isinstance(statement, ast.Expr):
                    raise IllegalStep(f"expected a chain of steps, got '{ast.unparse(statement)}'")
                name, script = parse_statement(statement.value)
                program += [(self[name].label, self.named(step)) for step in script.steps]
        except (SyntaxError, IllegalStep) as error:
            raise GaweeError(f"expected a program of steps: {error}") from error
        self.take(program)
        return self

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))


# Names.


def describe(op: LinalgStructuredOperation) -> str:
    """Say what an op is in a few words: `linalg.matmul 9x22 over 10 f32`."""
    sizes = dict[int, int]()
    maps = (attribute.data for attribute in op.get_indexing_maps())
    for value, map in zip(op.operands, maps, strict=True):
        shape = tensor_shape(value) if is_tensor(value.type) else ()
        for expr, size in zip(map.results, shape, strict=False):
            if isinstance(expr, AffineDimExpr):
                sizes[expr.position] = size
    parallel = num_parallel(op)
    rows = [str(size) for dim, size in sorted(sizes.items()) if dim in parallel]
    over = [str(size) for dim, size in sorted(sizes.items()) if dim not in parallel]
    words = [op.name, "x".join(rows) or "1", *(["over", "x".join(over)] if over else [])]
    return " ".join([*words, str(tensor_type(op.outputs[0]).element_type)])


def _named(module: ModuleOp, name: str) -> list[LinalgStructuredOperation]:
    ops = (op for op in module.walk() if op.attributes.get(OP) == StringAttr(name))
    return [op for op in ops if isinstance(op, LinalgStructuredOperation)]


def _whole(module: ModuleOp, name: str) -> LinalgStructuredOperation:
    """Return an op that is in no loops over tiles; raises IllegalStep."""
    for op in _named(module, name):
        if not loops_around(op):
            return op
    raise IllegalStep(f"expected a producer outside of loops over tiles, got '{name}'")


def _only(module: ModuleOp, name: str) -> LinalgStructuredOperation:
    ops = _named(module, name)
    if len(ops) != 1:
        message = f"expected one op '{name}', got {len(ops)}: it is computed in several tiles"
        raise GaweeError(Diagnostic.at(ops[0], message) if ops else message)
    return ops[0]


# What loops look like.


def loops_text(op: LinalgStructuredOperation) -> str:
    """Return the loops over tiles around an op, a line each, with what is read and made in each."""
    lines: list[str] = []
    around = loops_around(op)
    for depth, loop in enumerate(around):
        end, step = (constant_index(each) for each in (loop.ub, loop.step))
        count = "" if end is None or not step else f": {-(-end // step)} times"
        lines.append("  " * depth + f"for {loop_name(loop)}{count}")
        inner = around[depth + 1] if depth + 1 < len(around) else None
        for each in loop.body.block.ops:
            if isinstance(each, tensor.ExtractSliceOp | LinalgStructuredOperation):
                lines.append("  " * (depth + 1) + _value_text(each))
            elif each is inner:
                break
    return "\n".join(lines or [_value_text(op)])


def _value_text(op: Operation) -> str:
    value = op.results[0]
    what = "read" if isinstance(op, tensor.ExtractSliceOp) else op.name
    return f"{what} {value.name_hint or 'a tile'}: {_most_bytes(value)} B"


def _most_bytes(value: SSAValue) -> int:
    """Return how many bytes a tile has, the largest one."""
    return prod(map(_most, shape_of(value))) * element_bytes(tensor_type(value).element_type)


def _most(size: Size) -> int:
    if isinstance(size, int):
        return size
    assert isinstance(size.owner, affine.MinOp)  # of a tile: the rest, or a number
    steps = size.owner.map.data.results
    return min(each.value for each in steps if isinstance(each, AffineConstantExpr))
