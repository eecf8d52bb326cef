"""How long every graph node takes, in the interpreter or as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.locations import node_name, place

Array = NDArray[np.generic]


@dataclass
class NodeTime:
    """Seconds spent on one node, the best of all runs, and the op or kernel that ran."""

    node: str
    what: str
    seconds: float


def name_of(op: Operation) -> str:
    """Return the node an op comes from, else its place, else its name."""
    return node_name(op.location) or place(op.location) or op.name


class InterpreterProfile(Interpreter.Listener):
    """Times every op of the entry function's body; ops of one node are added up."""

    def __init__(self) -> None:
        self._times: dict[str, NodeTime] = {}
        self._started: list[float] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._started.append(perf_counter())

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        seconds = perf_counter() - self._started.pop()
        if not self._started:  # ops inside another op are part of its time
            node = name_of(op)
            time = self._times.setdefault(node, NodeTime(node, op.name, 0.0))
            time.seconds += seconds

    def times(self) -> Sequence[NodeTime]:
        """Return the nodes in the order in which they first ran."""
        return list(self._times.values())


class KernelProfile:
    """Runs a network kernel by kernel, as `@main` would call them, and times each call."""

    def __init__(self, loops: ModuleOp, arrays: Mapping[int, Array]):
        """Compile the module's kernels.

        `loops` is a module at the loops level whose kernels are outlined; `arrays` are what
        `@main` is called with, by argument index: inputs, weights, outputs and workspace.
        """
        from gawee_dialect.backend.jit import NativeModule
        from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
        from gawee_dialect.universe import make_context

        module = loops.clone()
        main = find_function(module)
        assert main is not None
        for function in (op for op in module.ops if isinstance(op, FuncOp)):
            function.sym_visibility = None  # so that each kernel has an address
        self._arrays = arrays
        calls = [op for op in main.body.block.ops if isinstance(op, CallOp)]
        self._pointers = [[self._pointer(value) for value in op.arguments] for op in calls]
        self._kernels = [op.callee.string_value() for op in calls]
        self._nodes = [name_of(op) for op in calls]
        ConvertToLLVM().apply(make_context(), module)
        self._native = NativeModule(module)

    def _pointer(self, value: SSAValue) -> int:
        owner = value.owner
        if isinstance(owner, memref.ViewOp):
            offset = owner.byte_shift.owner
            assert isinstance(offset, arith.ConstantOp)
            assert isa(offset.value, IntegerAttr)
            return self._pointer(owner.source) + offset.value.value.data
        assert isinstance(value, BlockArgument)
        return self._arrays[value.index].ctypes.data

    def measure(self, runs: int) -> Sequence[NodeTime]:
        """Run the whole network several times; return each node's best time, in order."""
        functions = [
            ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(self._native.address(name))
            for name, pointers in zip(self._kernels, self._pointers, strict=True)
        ]
        best = [float("inf")] * len(functions)
        for _ in range(runs):
            for index, (function, pointers) in enumerate(
                zip(functions, self._pointers, strict=True)
            ):
                start = perf_counter()
                function(*pointers)
                best[index] = min(best[index], perf_counter() - start)
        return [
            NodeTime(node, kernel, seconds)
            for node, kernel, seconds in zip(self._nodes, self._kernels, best, strict=True)
        ]


def profile_kernels(
    loops: ModuleOp, parameters: Mapping[str, Array], inputs: Mapping[str, Array], runs: int
) -> Sequence[NodeTime]:
    """Time the kernels of a module at the loops level; @prepare runs first and is not timed."""
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.backend.memory import aligned_bytes
    from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
    from gawee_dialect.universe import make_context

    llvm = loops.clone()
    ConvertToLLVM().apply(make_context(), llvm)
    compiled = CompiledModel(llvm, parameters)
    named = {**parameters, **inputs}
    prepared = compiled.prepared_values()
    arrays: dict[int, Array] = {}
    for buffer in compiled.signature.buffers:
        if buffer.role == "prepared":
            arrays[buffer.index] = prepared[buffer.name]
        elif buffer.role in ("output", "workspace"):
            arrays[buffer.index] = aligned_bytes(buffer.size)
        else:
            arrays[buffer.index] = np.ascontiguousarray(named[buffer.name])
    return KernelProfile(loops, arrays).measure(runs)
