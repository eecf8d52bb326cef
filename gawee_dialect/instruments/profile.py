"""How long every graph node takes, in the interpreter or as machine code, and what it could take.

What ran, an op or a kernel, says how many FLOPs and bytes the node is; the processor's limits say
how long that takes at least.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import BlockArgument, Operation, SSAValue

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import Work, total
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.structured_kernel import StructuredKernel
from gawee_dialect.hints import isa
from gawee_dialect.locations import node_name, place
from gawee_dialect.target.description import GIGA, Limit, Processor

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from gawee_dialect.backend.compiled import CompiledModel

Array = NDArray[np.generic]


@dataclass
class NodeTime:
    """Seconds spent on one node, the best of all runs, and which op or kernel took most of them.

    `work` is None where a part of what ran has no known work. `place` tells nodes of a name apart.
    """

    node: str
    what: str
    seconds: float
    work: Work | None = None
    place: str | None = None

    @property
    def gflops(self) -> float | None:
        """Billions of FLOPs a second."""
        return self._rate(None if self.work is None else self.work.flops)

    @property
    def gbytes(self) -> float | None:
        """Billions of bytes read and written a second."""
        return self._rate(None if self.work is None else self.work.bytes)

    def _rate(self, amount: int | None) -> float | None:
        return None if amount is None or self.seconds <= 0 else amount / self.seconds / 1e9

    def limit(self, processor: Processor) -> Limit | None:
        """Return the least time that the node's work can take; None where there is no work."""
        work = self.work
        return None if work is None or not work.bytes else limit_of(work, processor)

    def percent_of_limit(self, processor: Processor) -> float | None:
        """Return the limit as a part of the measured time: 100 is as fast as can be."""
        limit = self.limit(processor)
        return None if limit is None or self.seconds <= 0 else 100 * limit.seconds / self.seconds

    def to_json(self, processor: Processor) -> dict[str, object]:
        """Return what is known of the node as `json.dumps` takes it."""
        work, limit = self.work, self.limit(processor)
        return {
            "node": self.node,
            "place": self.place,
            "what": self.what,
            "seconds": self.seconds,
            "flops": None if work is None else work.flops,
            "read_bytes": None if work is None else work.read_bytes,
            "write_bytes": None if work is None else work.write_bytes,
            "intensity": None if work is None else work.intensity,
            "predicted_seconds": None if limit is None else limit.seconds,
            "bound": None if limit is None else limit.bound,
            "gflops_per_second": self.gflops,
            "gbytes_per_second": self.gbytes,
            "percent_of_limit": self.percent_of_limit(processor),
        }


def processor_json(processor: Processor) -> dict[str, object]:
    """Return the limits that percentages are of as `json.dumps` takes them."""
    return {
        "target": processor.name,
        "cpu": processor.cpu,
        "source": processor.source,
        "vector_bits": processor.vector_bits,
        "gflops_per_second": processor.flops() / GIGA,
        "memories": [
            {"name": each.name, "bytes": each.size, "gbytes_per_second": each.bandwidth / GIGA}
            for each in processor.memories
        ],
    }


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit to show parts of a time in, and how many of it a second has."""
    return ("us", 1e6) if seconds < 2e-3 else ("ms", 1e3)


def by_node(parts: Iterable[NodeTime]) -> list[NodeTime]:
    """Add up what ran for each node; nodes are in the order in which they first ran."""
    nodes: dict[tuple[str, str | None], list[NodeTime]] = {}
    for part in parts:
        nodes.setdefault((part.node, part.place), []).append(part)
    return [_together(group) for group in nodes.values()]


def _together(parts: Sequence[NodeTime]) -> NodeTime:
    # What computes names the node, though a constant that is made first may take longer.
    longest = max(
        parts, key=lambda part: (part.work is not None and part.work.flops > 0, part.seconds)
    )
    works = [part.work for part in parts if part.work is not None]
    work = total(works) if len(works) == len(parts) else None
    return replace(longest, seconds=sum(part.seconds for part in parts), work=work)


def timed(
    op: Operation, what: str, seconds: float, known: Mapping[str, Work] | None = None
) -> NodeTime:
    """Return the time of an op with the node that it is of, and its work.

    `known` is the work of functions by name: of kernels, whose loops no longer tell it.
    """
    work = (known or {}).get(what) or op_work(op)
    if work is None and not isinstance(op, CallOp | scf.ForOp):
        work = Work()  # a view, a constant: nothing, rather than unknown
    return NodeTime(name_of(op), what, seconds, work, place(op.location))


def name_of(op: Operation) -> str:
    """Return the node an op comes from, else its place, else its name."""
    return node_name(op.location) or place(op.location) or op.name


class InterpreterProfile(Interpreter.Listener):
    """Times every op of the entry function's body; ops of one node are added up."""

    def __init__(self) -> None:
        self._times: list[NodeTime] = []
        self._started: list[float] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._started.append(perf_counter())

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        seconds = perf_counter() - self._started.pop()
        if not self._started:  # ops inside another op are part of its time
            self._times.append(timed(op, op.name, seconds))

    def times(self) -> Sequence[NodeTime]:
        """Return the nodes in the order in which they first ran."""
        return by_node(self._times)


def address_of(value: SSAValue, arrays: Mapping[int, Array]) -> int:
    """Return the address of what `@main` calls a kernel with: an argument, or workspace."""
    owner = value.owner
    if isinstance(owner, memref.ViewOp):
        offset = owner.byte_shift.owner
        assert isinstance(offset, arith.ConstantOp)
        assert isa(offset.value, IntegerAttr)
        return address_of(owner.source, arrays) + offset.value.value.data
    assert isinstance(value, BlockArgument)
    return arrays[value.index].ctypes.data


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


class KernelProfile:
    """Runs a network kernel by kernel, as `@main` would call them, and times each call."""

    def __init__(
        self,
        loops: ModuleOp,
        arrays: Mapping[int, Array],
        known: Mapping[str, Work] | None,
        to_llvm: Sequence[ModulePass],
    ):
        """Compile the module's kernels by the passes from loops to the llvm dialect.

        `loops` is a module at the loops level whose kernels are outlined; `arrays` are what
        `@main` is called with, by argument index: inputs, weights, outputs and workspace.
        """
        from gawee_dialect.backend.jit import NativeModule
        from gawee_dialect.passes.pass_manager import run_passes
        from gawee_dialect.universe import make_context

        module = loops.clone()
        main = find_function(module)
        assert main is not None
        for function in (op for op in module.ops if isinstance(op, FuncOp)):
            function.sym_visibility = None  # so that each kernel has an address
        self._arrays = arrays  # they have to live as long as this
        calls = [op for op in main.body.block.ops if isinstance(op, CallOp)]
        self._pointers = [[address_of(value, arrays) for value in op.arguments] for op in calls]
        self._parts = [timed(op, op.callee.string_value(), 0.0, known) for op in calls]
        run_passes(make_context(), module, to_llvm)
        self._native = NativeModule(module)

    def measure(self, runs: int) -> Sequence[NodeTime]:
        """Run the whole network several times; return each node's best time, in order."""
        functions = [
            ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(
                self._native.address(part.what)
            )
            for part, pointers in zip(self._parts, self._pointers, strict=True)
        ]
        best = [float("inf")] * len(functions)
        for _ in range(runs):
            for index, (function, pointers) in enumerate(
                zip(functions, self._pointers, strict=True)
            ):
                start = perf_counter()
                function(*pointers)
                best[index] = min(best[index], perf_counter() - start)
        parts = zip(self._parts, best, strict=True)
        return by_node(replace(part, seconds=seconds) for part, seconds in parts)


def work_of_functions(outlined: ModuleOp) -> dict[str, Work]:
    """Return the work of each private function of a module whose kernels are still kernels."""
    found: dict[str, Work] = {}
    for function in outlined.ops:
        if isinstance(function, FuncOp) and function.body.blocks:
            works = [op_work(op) for op in function.body.block.ops]
            if any(isinstance(op, StructuredKernel) for op in function.walk()):
                found[function.sym_name.data] = total(work for work in works if work is not None)
    return found


def profile_kernels(
    loops: ModuleOp,
    parameters: Mapping[str, Array],
    inputs: Mapping[str, Array],
    runs: int,
    known: Mapping[str, Work] | None = None,
    to_llvm: Sequence[ModulePass] | None = None,
) -> Sequence[NodeTime]:
    """Time the kernels of a module at the loops level; @prepare runs first and is not timed.

    `to_llvm` are the passes from there to the llvm dialect, without threads.
    """
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.passes.pass_manager import run_passes
    from gawee_dialect.passes.pipelines import loops_to_llvm
    from gawee_dialect.universe import make_context

    llvm = loops.clone()
    passes = loops_to_llvm(parallel=False) if to_llvm is None else to_llvm
    run_passes(make_context(), llvm, passes)
    compiled = CompiledModel(llvm, parameters)
    arrays = buffers_of(compiled, {**parameters, **inputs})
    return KernelProfile(loops, arrays, known, passes).measure(runs)
