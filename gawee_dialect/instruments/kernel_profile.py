"""How long every kernel of a network takes as machine code, called one after the other."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.op_cost import op_work, trip_count
from gawee_dialect.analysis.work import Work, total
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import MAIN, find_function
from gawee_dialect.dialect.graph.scan import (
    blocks_of_kernels,
    is_batch_loop,
    is_step_loop,
    is_thread_loop,
)
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.instruments.check.parallel_writes import IndexValues
from gawee_dialect.instruments.profile import (
    Array,
    InterpreterProfile,
    NodeTime,
    by_node,
    name_of,
    timed,
)
from gawee_dialect.levels import Level, level_of, native_stages
from gawee_dialect.locations import hand_on_location, place
from gawee_dialect.passes.buffers.outline_kernels import base_name, node_groups

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.backend.jit import NativeModule
    from gawee_dialect.model import Model
    from gawee_dialect.parameters.given_inputs import Inputs

# Which kernels a recurrence runs at each step, and a clock that is read after each of them.
#
# The loop of a recurrence is one function. So that its kernels have times of their own, the module
# that is profiled calls a clock in the loop, which adds up how long each place took in all steps.

BEFORE = 0
"""The place of the clock for all that is not in a loop of steps."""


@dataclass(frozen=True)
class StepPart:
    """A kernel of a step: its place on the clock, and what is known of it before it is timed."""

    place: int
    time: NodeTime


def call_clock(module: ModuleOp, clock: str, places: int) -> Mapping[str, Sequence[StepPart]]:
    """Call a clock after each kernel in loops of steps; return these by function, in order.

    The module is one whose kernels are outlined and are kernels still. A function is left as it is
    where it has no such loop, where steps are not counted, and beyond so many places.
    """
    numbers = count(BEFORE + 1)
    found: dict[str, list[StepPart]] = {}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    for function in functions:
        ops = function.body.block.ops
        loops = [op for op in ops if is_step_loop(op) and not is_batch_loop(op)]
        parts = {op: part for loop in loops for op, part in _parts(function, loop, numbers)}
        if parts and next(reversed(parts.values())).place < places:
            found[function.sym_name.data] = _named_apart(parts.values())
            first = function.body.block.first_op
            assert first is not None
            _call(clock, BEFORE, InsertPoint.before(first), first)
            for op, part in parts.items():
                _call(clock, part.place, InsertPoint.after(op), op)
    if found:
        module.body.block.add_op(FuncOp.external(clock, [i64], []))
    return found


def _parts(
    function: FuncOp, loop: scf.ForOp, numbers: Iterator[int]
) -> Iterator[tuple[Operation, StepPart]]:
    """Yield the kernels of a step, each with its last op."""
    steps = trip_count(loop)
    for group in () if steps is None else list(node_groups(loop.body.block)):
        assert steps is not None
        work = total(each for each in map(op_work, group) if each is not None)
        # What a step touches, the next one finds.
        work = replace(
            work,
            flops=steps * work.flops,
            read_bytes=steps * work.read_bytes,
            write_bytes=steps * work.write_bytes,
        )
        # As in outline-kernels: others prepare for what has the most operands.
        main = max(reversed(group), key=lambda op: len(op.operands))
        where, name = place(main.location), function.sym_name.data
        time = NodeTime(name_of(main), base_name(main), 0.0, work, where, steps, name)
        yield group[-1], StepPart(next(numbers), time)


def _named_apart(parts: Iterable[StepPart]) -> list[StepPart]:
    """Number what is called alike."""
    names: Counter[str] = Counter()
    found: list[StepPart] = []
    for part in parts:
        what = part.time.what
        found.append(replace(part, time=replace(part.time, what=f"{what}_{names[what]}")))
        names[what] += 1
    return found


def _call(clock: str, number: int, where: InsertPoint, source: Operation) -> None:
    builder = Builder(where)
    constant = builder.insert(arith.ConstantOp(IntegerAttr(number, i64)))
    call = builder.insert(CallOp(clock, [constant.result], []))
    for op in (constant, call):
        hand_on_location(source, op)


def timed_parts(
    whole: NodeTime, parts: Sequence[StepPart], seconds: Sequence[float]
) -> Iterator[NodeTime]:
    """Yield the times of a function's kernels, and what of its own time is left beside them."""
    for part, each in zip(parts, seconds, strict=True):
        yield replace(part.time, seconds=each)
    rest = max(0.0, whole.seconds - sum(seconds))
    yield replace(whole, seconds=rest, work=Work())


Counters = Mapping[SSAValue, int]
"""Which part of a batch it is, and which thread's, by the counters of the loops around it."""


def calls_of(main: FuncOp) -> Iterable[tuple[CallOp, Counters]]:
    """Yield the calls of kernels in their order: those of a loop over a batch for each part.

    Where threads have parts of their own, these come one thread after the other.
    """
    yield from _calls(main.body.block, {})


def _calls(block: Block, counters: Counters) -> Iterator[tuple[CallOp, Counters]]:
    for op in block.ops:
        if isinstance(op, CallOp):
            yield op, counters
        elif is_batch_loop(op):
            yield from _calls_in(op.body.block, (op.lb, op.ub, op.step), counters)
        elif is_thread_loop(op):
            bounds = (op.lowerBound[0], op.upperBound[0], op.step[0])
            yield from _calls_in(op.body.block, bounds, counters)
        else:  # what decides is not looked at: each branch is run, and each step once
            for inner in blocks_of_kernels(op):
                yield from _calls(inner, counters)


def _calls_in(
    block: Block, bounds: Iterable[SSAValue], counters: Counters
) -> Iterator[tuple[CallOp, Counters]]:
    for number in range(*(_number(each, counters) for each in bounds)):
        yield from _calls(block, {**counters, block.args[0]: number})


def _number(index: SSAValue, counters: Counters) -> int:
    number = IndexValues(dict(counters)).number(index)
    assert number is not None
    return number


@dataclass(frozen=True)
class Addresses:
    """Where the values of `@main` are: its arguments, by index, and the constants of its code."""

    arrays: Mapping[int, Array]
    native: NativeModule

    def of(self, value: SSAValue, counters: Counters) -> int:
        """Return the address of what a kernel is called with: an argument, workspace, a constant.

        Of the part of a batch, it is its number.
        """
        if value in counters:
            return counters[value]
        owner = value.owner
        if isinstance(owner, memref.ViewOp):
            return self.of(owner.source, counters) + _number(owner.byte_shift, counters)
        if isinstance(owner, memref.GetGlobalOp):
            return self.native.address_of_global(owner.name_.root_reference.data)
        assert isinstance(value, BlockArgument)
        return self.arrays[value.index].ctypes.data


def show_symbols(module: ModuleOp) -> None:
    """Make the functions and constants of a module public, so that each has an address."""
    for op in module.ops:
        if isinstance(op, FuncOp):
            op.sym_visibility = None
        elif isinstance(op, memref.GlobalOp):
            op.sym_visibility = StringAttr("public")


def buffers_of(compiled: CompiledModel, named: Mapping[str, Array]) -> dict[int, Array]:
    """Return what `@main` is called with, by argument index: given arrays, or new memory."""
    from gawee_dialect.backend.memory import aligned_bytes

    prepared = compiled.prepared_values()
    arrays: dict[int, Array] = {}
    for buffer in compiled.signature.buffers:
        if buffer.role == "prepared":
            arrays[buffer.index] = prepared[buffer.name]
        elif buffer.role in ("output", "indices", "workspace"):
            arrays[buffer.index] = aligned_bytes(buffer.size)
        else:
            arrays[buffer.index] = np.ascontiguousarray(named[buffer.name])
    return arrays


@dataclass
class Outlined:
    """A module at the loops level whose kernels are functions, and what is known of these."""

    module: ModuleOp
    works: Mapping[str, Work] = field(default_factory=dict[str, Work])
    """The work of each function, which its loops no longer show."""

    steps: Mapping[str, Sequence[StepPart]] = field(default_factory=dict[str, Sequence[StepPart]])
    """The functions of recurrences, in which the clock is called."""


class KernelProfile:
    """Runs a network kernel by kernel, as `@main` would call them, and times each call."""

    def __init__(
        self,
        loops: Outlined,
        native: NativeModule,
        arrays: Mapping[int, Array],
    ) -> None:
        """Find what to call in `native`, which was compiled of `loops`.

        `arrays` are what `@main` is called with, by argument index: inputs, weights, outputs and
        workspace.
        """
        main = find_function(loops.module)
        assert main is not None
        self._native = native
        addresses = self._addresses = Addresses(arrays, native)  # arrays live as long as this
        calls = list(calls_of(main))
        self._pointers = [
            [addresses.of(value, counters) for value in op.arguments] for op, counters in calls
        ]
        self._parts = [timed(op, op.callee.string_value(), 0.0, loops.works) for op, _ in calls]
        self._steps = loops.steps

    def measure(self, runs: int) -> Sequence[NodeTime]:
        """Run the whole network several times; return each node's best time, in order."""
        functions = [
            ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(
                self._native.address(part.what)
            )
            for part, pointers in zip(self._parts, self._pointers, strict=True)
        ]
        best = list(self._parts)
        inside: dict[int, Sequence[float]] = {}
        for run in range(runs):
            for index, part in enumerate(self._parts):
                seconds = self._seconds(functions[index], self._pointers[index])
                steps = self._read_clock(part.what)
                if run == 0 or seconds < best[index].seconds:
                    best[index], inside[index] = replace(part, seconds=seconds), steps
        return by_node(
            time for index, part in enumerate(best) for time in self._told(part, inside[index])
        )

    def _seconds(self, function: Callable[..., None], pointers: Sequence[int]) -> float:
        start = perf_counter()
        function(*pointers)
        return perf_counter() - start

    def _read_clock(self, function: str) -> Sequence[float]:
        """Return the seconds of each part of a function's steps since the clock was read last."""
        if function not in self._steps:
            return ()
        from gawee_dialect.backend.step_clock import step_clock

        clock = step_clock()
        seconds = [clock.seconds(each.place) for each in self._steps[function]]
        clock.reset()
        return seconds

    def _told(self, whole: NodeTime, inside: Sequence[float]) -> Iterable[NodeTime]:
        parts = self._steps.get(whole.what)
        return (whole,) if parts is None else timed_parts(whole, parts, inside)


def work_of_functions(outlined: ModuleOp) -> dict[str, Work]:
    """Return the work of each private function of a module whose kernels are still kernels."""
    found: dict[str, Work] = {}
    for function in outlined.ops:
        if isinstance(function, FuncOp) and function.body.blocks:
            works = [op_work(op) for op in function.body.block.ops]
            if any(isinstance(op, StructuredKernel) for op in function.walk()):
                found[function.sym_name.data] = total(work for work in works if work is not None)
    return found


def lowered_to_loops(module: ModuleOp, passes: Sequence[ModulePass]) -> Outlined:
    """Take a copy of a module through the passes to loops, counting work while kernels are some."""
    from gawee_dialect.backend.step_clock import NAME, PLACES, has_clock
    from gawee_dialect.passes.buffers.outline_kernels import OutlineKernels
    from gawee_dialect.passes.pass_manager import run_passes
    from gawee_dialect.universe import make_context

    found = Outlined(module.clone())
    for each in passes:
        run_passes(make_context(), found.module, (each,))
        if isinstance(each, OutlineKernels):
            found.works = work_of_functions(found.module)
            found.steps = call_clock(found.module, NAME, PLACES) if has_clock() else {}
    return found


def profile_kernels(
    loops: Outlined,
    to_llvm: Sequence[ModulePass],
    parameters: Mapping[str, Array],
    inputs: Inputs,
    runs: int,
) -> Sequence[NodeTime]:
    """Time the kernels of a network; `@prepare` runs first and is not timed.

    `to_llvm` are the passes from loops to the llvm dialect, without threads.
    """
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.backend.program import compile_program
    from gawee_dialect.passes.pass_manager import run_passes
    from gawee_dialect.universe import make_context

    llvm = loops.module.clone()
    show_symbols(llvm)
    run_passes(make_context(), llvm, to_llvm)
    if loops.steps:
        from gawee_dialect.backend.step_clock import step_clock

        step_clock()  # what is loaded finds its address
    program = compile_program(llvm, MAIN)
    compiled = CompiledModel(program, parameters)
    arrays = buffers_of(compiled, {**parameters, **compiled.checked_inputs(inputs)})
    return KernelProfile(loops, program.load(), arrays).measure(runs)


def profile_model(
    model: Model, inputs: Inputs, level: Level, options: CodeOptions, runs: int
) -> Sequence[NodeTime]:
    """Time every node at a level, the best of some runs where it is native code.

    Sizes that are open are those of the inputs.
    """
    model = model.for_inputs(inputs)
    if level is Level.LLVM:
        stages = native_stages(replace(options, parallel=False), level_of(model.module))
        loops = lowered_to_loops(model.module, (*stages.to_tensors, *stages.to_loops))
        return profile_kernels(loops, stages.to_llvm, model.bound, inputs, runs)
    listener = InterpreterProfile()
    model.runner(level, listeners=(listener,))(inputs)
    return listener.times()
