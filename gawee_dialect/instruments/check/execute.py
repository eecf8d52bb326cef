"""Run a function of a module at whatever level the module has reached."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod
from typing import TypeGuard

import numpy as np
from xdsl.dialects import llvm, memref, omp, scf
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.analysis.index_bounds import constant_index, index_bounds
from gawee_dialect.analysis.op_cost import called_by
from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.entry import MAIN, PREPARE, find_function
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.native_run import NativeCalls, NativeProgram
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import check_implemented
from gawee_dialect.interpreter.run import Program
from gawee_dialect.interpreter.scf import limited_rounds
from gawee_dialect.upstream.equivalence import are_equivalent

LARGEST_INTERPRETED = 10_000
"""Scalar operations in loops: up to a second in the interpreter; beyond, native code is faster."""


MOST_ROUNDS = 100_000
"""An `scf.while` that goes round more often is taken for one without end: some seconds."""


class Engine(StrEnum):
    """What executes a module."""

    INTERPRETER = "interpreter"
    NATIVE = "native"


class CannotRun(Exception):
    """A module that no engine takes: it has ops of no level that can be run."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))


def is_array(value: object) -> TypeGuard[Array]:
    """Whether a value of the interpreter is an array, and not a scalar."""
    return isinstance(value, np.ndarray)


@dataclass(frozen=True)
class Plan:
    """How a function of a module is run: the engine, and the module that it takes."""

    engine: Engine
    module: ModuleOp
    function: str
    overwritten: tuple[str, ...]
    """Arguments that the function leaves its results in."""

    kernels: ModuleOp | None = None
    """Where a copy of loops runs natively: the loops, whose functions can be called one by one."""

    called: ModuleOp | None = None
    """What the functions are called of, where that is not `kernels` but another module."""

    native: Sequence[InterpreterFunctions] = ()
    """What calls the C that the module brings."""

    program: NativeProgram | None = None
    """What runs natively."""

    def run(self, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Run on each data set in turn; returns the outputs by name.

        What one run leaves in memory the next one finds. Raises GaweeError where the program goes
        wrong, or writes what belongs to its caller.
        """
        if self.program is None:
            return self._interpret(self.module, data_sets)
        outputs = self.program.run(self.function, data_sets)
        return [
            {**self._untouched(data.arrays), **each}
            for data, each in zip(data_sets, outputs, strict=True)
        ]

    @property
    def is_observable(self) -> bool:
        """Whether values inside the function can be seen."""
        return self.engine is Engine.INTERPRETER or self.kernels is not None

    @property
    def observed(self) -> ModuleOp:
        """The module whose ops `observe` runs."""
        return self.module if self.kernels is None else self.kernels

    @property
    def machine_code(self) -> ModuleOp:
        """What runs natively, at the llvm level."""
        return self.module

    def observe(self, data_sets: Sequence[DataSet], listener: Interpreter.Listener) -> None:
        """Run with a listener that sees every op of the function; raises GaweeError."""
        if self.kernels is None:
            self._interpret(self.module, data_sets, (listener,))
            return
        calls = Context().run(NativeCalls, self.called or self.kernels)
        self._interpret(self.kernels, data_sets, (listener,), (calls,))

    def calling(self, other: "Plan") -> "Plan | None":
        """Return the plan that calls the kernels of another module in the place of its own.

        So what machine code computes is seen call by call. None where this one has no kernels.
        """
        if not _is_made_of_calls(self.observed, self.function):
            return None
        return replace(self, kernels=self.observed, called=other.module)

    def recorded(self, value: object) -> Array | None:
        """Return a value of the run as an array that can be compared; None of what is none."""
        return value if is_array(value) else None

    def _untouched(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """Return the contents of the buffers to be overwritten, in case nothing writes them now."""
        return {name: arguments[name] for name in self.overwritten}

    def _interpret(
        self,
        module: ModuleOp,
        data_sets: Sequence[DataSet],
        listeners: Sequence[Interpreter.Listener] = (),
        implementations: Sequence[InterpreterFunctions] = (),
    ) -> Sequence[dict[str, Array]]:
        implementations = (*self.native, *implementations)
        program = Program(module, self.function, listeners, implementations)
        outputs: list[dict[str, Array]] = []
        for data in data_sets:
            with unwritten_memory(data.unwritten), limited_rounds(MOST_ROUNDS):
                found = program.run(data.arrays)
            outputs.append({**self._untouched(data.arrays), **found})
        return outputs


def plan_run(module: ModuleOp, function: str, overwritten: tuple[str, ...] = ()) -> Plan:
    """Choose how to run a function, as `plan_runs` does; raises CannotRun."""
    return plan_runs(module, {function: overwritten})[function]


def plan_runs(
    module: ModuleOp,
    functions: Mapping[str, tuple[str, ...]],
    last: NativeProgram | None = None,
) -> dict[str, Plan]:
    """Choose how to run functions, by name, and what each overwrites; the module is the plans' own.

    1. A function of the llvm dialect runs natively.
    2. Tensors, buffers and small loops are interpreted.
    3. A copy of large loops, or of what only the back end has, is lowered by the reference
       passes and runs natively.

    All functions that run natively are of one program: of `last` where that is the same module.
    Raises CannotRun.
    """
    native, programs = _native_code(module), _Programs(module, last)
    plans: dict[str, Plan] = {}
    for function, overwritten in functions.items():
        if _llvm_function(module, function) is not None:
            plans[function] = _native_plan(programs.of(module), function, overwritten)
            continue
        problem = not_interpretable(module, function)
        if problem is None:
            plans[function] = Plan(Engine.INTERPRETER, module, function, overwritten, native=native)
            continue
        plan = _native_plan(programs.lowered(problem), function, overwritten)
        kernels = module if _is_made_of_calls(module, function) else None
        plans[function] = replace(plan, kernels=kernels)
    return plans


class _Programs:
    """The machine code of a module, made once for all of its functions."""

    def __init__(self, module: ModuleOp, last: NativeProgram | None) -> None:
        self._module, self._last = module, last
        self._lowered: NativeProgram | None = None

    def of(self, module: ModuleOp) -> NativeProgram:
        """Return the program of a module at the llvm level."""
        if self._last is None or not are_equivalent(module, self._last.module, {}):
            self._last = NativeProgram(module)
        return self._last

    def lowered(self, problem: Diagnostic) -> NativeProgram:
        """Return the program of the module when it is lowered; raises CannotRun with a problem."""
        if self._lowered is None:
            self._lowered = self.of(_lowered(self._module, problem))
        return self._lowered


def _native_code(module: ModuleOp) -> Sequence[InterpreterFunctions]:
    """Return what calls the C that a module brings; raises CannotRun where that is not allowed."""
    if not sources_of(module):
        return ()
    from gawee_dialect.backend.native_code import native_implementations

    try:
        return native_implementations(module)
    except GaweeError as error:
        raise CannotRun(error.diagnostics[0]) from error


def _is_made_of_calls(module: ModuleOp, name: str) -> bool:
    """Whether a function is interpreted fast where each kernel that it calls is native."""
    function = find_function(module, name)
    if function is None or len(function.body.blocks) != 1:
        return False
    calls = [op for op in function.body.block.ops if isinstance(op, CallOp)]
    if not calls:
        return False
    own = (op for op in function.body.block.ops if not isinstance(op, CallOp))
    kernels = all(isa(value.type, MemRefType) for op in calls for value in op.arguments)
    return kernels and scalar_operations(module, own) <= LARGEST_INTERPRETED


def _native_plan(program: NativeProgram, function: str, overwritten: tuple[str, ...]) -> Plan:
    """Plan to run a function of the llvm dialect; raises CannotRun where it takes scalars."""
    # The back end needs LLVM: only what runs natively pays for the import.
    from gawee_dialect.backend.signature import signature_of

    try:
        signature_of(program.module, function)
    except GaweeError as error:
        raise CannotRun(error.diagnostics[0]) from error
    except VerifyException as error:
        raise CannotRun(Diagnostic(first_line(error))) from error
    return Plan(Engine.NATIVE, program.module, function, overwritten, program=program)


def not_interpretable(module: ModuleOp, function: str) -> Diagnostic | None:
    """Say why the interpreter does not run a function; None where it does, in about a second."""
    functions = [found for name in _run_with(function) if (found := find_function(module, name))]
    try:
        check_implemented(module, functions)
    except GaweeError as error:
        return error.diagnostics[0]
    bodies = [each.body.block.ops for each in functions if each.body.blocks]
    operations = sum(scalar_operations(module, ops) for ops in bodies)
    if operations <= LARGEST_INTERPRETED:
        return None
    return Diagnostic(f"too large for the interpreter: {operations} scalar operations")


def _run_with(function: str) -> tuple[str, ...]:
    return (PREPARE, MAIN) if function == MAIN else (function,)


def _llvm_function(module: ModuleOp, name: str) -> llvm.FuncOp | None:
    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp))
    return next((function for function in functions if function.sym_name.data == name), None)


def _lowered(module: ModuleOp, problem: Diagnostic) -> ModuleOp:
    """Return a copy of loops at the llvm level; raises CannotRun where they cannot get there."""
    passes = _rest_of_the_pipeline(module)
    if not passes:
        raise CannotRun(problem)
    try:
        # A context of its own: the instruments of this one watch the user's passes, not these.
        return Context().run(_lowered_by_reference, module, passes)
    except GaweeError as error:
        raise CannotRun(problem) from error


def _lowered_by_reference(module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp:
    from gawee_dialect.universe import make_context

    lowered, ctx = module.clone(), make_context()
    for module_pass in passes:
        module_pass.apply(ctx, lowered)
    return lowered


def _rest_of_the_pipeline(module: ModuleOp) -> Sequence[ModulePass]:
    """Return the passes that make native code of loops; none for what has none."""
    kinds = {type(op) for op in module.walk()}
    if kinds & {memref.LoadOp, memref.StoreOp}:
        return _passes_from_buffers(kinds)
    # Loops on tensors, as scatter has them.
    return _passes_from_tensors() if scf.ForOp in kinds else ()


def _passes_from_buffers(kinds: Collection[type[Operation]]) -> Sequence[ModulePass]:
    from gawee_dialect.passes.buffers.lower_linalg_to_loops import LowerLinalgToLoops
    from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM

    if any(issubclass(each, LinalgStructuredOperation) for each in kinds):
        return (LowerLinalgToLoops(), ConvertToLLVM())
    return (ConvertToLLVM(),)


def _passes_from_tensors() -> Sequence[ModulePass]:
    from gawee_dialect.passes.pipelines import kernels_to_loops, loops_to_llvm

    return (*kernels_to_loops(), *loops_to_llvm(parallel=False, expand_math=False))


def scalar_operations(module: ModuleOp, ops: Iterable[Operation]) -> int:
    """Estimate the ops that run one by one; an op on whole arrays counts as one.

    A loop whose bounds are not known counts as larger than the interpreter takes. A function that
    calls itself counts as one op: the interpreter says that it never ends, code would crash.
    """
    return sum(_scalar_operations_of(module, op) for op in ops)


def _scalar_operations_of(module: ModuleOp, op: Operation) -> int:
    if isinstance(op, scf.ForOp):
        return 1 + _trips(op.lb, op.ub, op.step) * scalar_operations(module, op.body.block.ops)
    if isinstance(op, scf.ParallelOp):
        return 1 + _nest_trips(op) * scalar_operations(module, op.body.block.ops)
    if isinstance(op, scf.IfOp):
        branches = (region.block.ops for region in op.regions if region.blocks)
        return 1 + max(scalar_operations(module, ops) for ops in branches)
    if isinstance(op, CallOp):
        callee = SymbolTable.lookup_symbol(module, op.callee)
        ends = isinstance(callee, FuncOp) and callee not in called_by(callee)
        if isinstance(callee, FuncOp) and callee.body.blocks and ends:
            return 1 + scalar_operations(module, callee.body.block.ops)
    blocks = (block for region in op.regions for block in region.blocks)
    if isinstance(op, omp.ParallelOp | omp.WsLoopOp | omp.LoopNestOp):
        trips = _nest_trips(op) if isinstance(op, omp.LoopNestOp) else 1
        return 1 + trips * sum(scalar_operations(module, block.ops) for block in blocks)
    return 1


def _nest_trips(op: omp.LoopNestOp | scf.ParallelOp) -> int:
    return prod(map(_trips, op.lowerBound, op.upperBound, op.step))


def _trips(first: SSAValue, end: SSAValue, step: SSAValue) -> int:
    """Return the most trips that a loop of some lower bound, upper bound and step may have."""
    (lower, _), (_, upper), width = index_bounds(first), index_bounds(end), constant_index(step)
    if lower is None or upper is None or width is None:
        return LARGEST_INTERPRETED
    return len(range(lower, upper, width))
