"""One kernel as a network of its own, so that a candidate for it is compiled alone."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.utils.hints import isa

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.memory import aligned_bytes
from gawee_dialect.backend.program import compile_program
from gawee_dialect.backend.signature import Buffer
from gawee_dialect.dialect.entry import MAIN, output_attributes
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Schedule, ScheduleAttr
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import kernels_to_loops, loops_to_llvm
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules
from gawee_dialect.passes.tensors.hoist_parameter_computation import HoistParameterComputation
from gawee_dialect.target.description import HOST
from gawee_dialect.universe import make_context

Array = NDArray[np.generic]
SCALE = 0.1
"""Of random elements: sums of thousands of products stay far from what overflows or underflows."""

INPUT, PARAMETER = "x", "w"
"""What arguments are called, with their number behind it."""


def scheduled(op: KernelOp, is_parameter: Sequence[bool], schedule: Schedule | None) -> ModuleOp:
    """Return a module whose `@main` is one kernel, run as a schedule says; None for none yet."""
    builder = _Function(dict(zip(op.inputs, is_parameter, strict=True)))
    new = op.clone(builder.values)
    new.schedule = None if schedule is None else ScheduleAttr(schedule)
    return builder.finish(op, new)


def computed_by(op: StructuredKernel, algorithm: Algorithm) -> ModuleOp:
    """Return a module whose `@main` is one kernel, computed by the op's algorithm as chosen."""
    builder = _Function(dict.fromkeys(op.inputs, False))
    types = op.packed_types(algorithm)
    packed = [builder.argument(type, is_parameter=True) for type in types]
    result = op.target.type
    assert isa(result, TensorType[Attribute])
    inputs = [builder.values[value] for value in op.inputs]
    return builder.finish(op, op.with_operands(inputs, result, packed=packed, algorithm=algorithm))


class _Function:
    """A `@main` under construction: an argument for each operand of what it will compute."""

    def __init__(self, operands: Mapping[SSAValue, bool]):
        self.marks: list[DictionaryAttr] = []
        self.function = FuncOp(MAIN, ((), ()))
        self.values: dict[SSAValue, SSAValue] = {
            value: self.argument(value.type, is_parameter=known)
            for value, known in operands.items()
        }

    def argument(self, type: Attribute, *, is_parameter: bool) -> SSAValue:
        """Add an argument; parameters may be stored as the schedule needs them."""
        block = self.function.body.block
        number = len(block.args)
        kind, letter = ("parameter", PARAMETER) if is_parameter else ("input", INPUT)
        self.marks.append(DictionaryAttr({f"gawee.{kind}": StringAttr(f"{letter}{number}")}))
        return block.insert_arg(type, number)

    def finish(self, source: StructuredKernel, op: StructuredKernel) -> ModuleOp:
        """Return the module in which the function computes and returns what an op does."""
        insert = Builder(InsertPoint.at_end(self.function.body.block)).insert
        insert(op)
        insert(ReturnOp(*op.results))
        hand_on_location(source, self.function)
        self.function.update_function_type()
        self.function.arg_attrs = ArrayAttr(self.marks)
        self.function.res_attrs = output_attributes(["y"])
        return ModuleOp([self.function])


def passes_to_loops() -> Sequence[ModulePass]:
    """Return the passes that a network's kernels go through behind `assign-schedules`."""
    return (
        CanonicalizePass(),
        CommonSubexpressionElimination(),
        HoistParameterComputation(),
        *kernels_to_loops(),
    )


def passes_to_llvm(threads: int) -> Sequence[ModulePass]:
    """Return the passes that a network's kernels go through once they have schedules."""
    return (
        AssignSchedules(),  # weights in the order in which the schedule reads them
        *passes_to_loops(),
        *loops_to_llvm(parallel=threads > 1, target=HOST),
    )


@dataclass
class Operand:
    """Memory that a standalone kernel works on; `address` may be set to a network's."""

    buffer: Buffer
    own: Array


class StandaloneKernel:
    """A compiled kernel, called on memory of its own or on a network's."""

    def __init__(self, module: ModuleOp, threads: int = 1, *, seed: int = 0):
        """Compile a module that `scheduled` or `computed_by` made; raises GaweeError."""
        run_passes(make_context(), module, passes_to_llvm(threads))
        program = compile_program(module, MAIN)
        generator = np.random.default_rng(seed)
        signature = program.signatures[MAIN]
        every = [each for one in program.signatures.values() for each in one.buffers]
        given = {each.name: each for each in every if each.role in ("input", "parameter")}
        arrays = {name: _random(given[name], generator) for name in sorted(given)}
        parameters = {name: array for name, array in arrays.items() if name[0] == PARAMETER}
        self._keep = CompiledModel(program, parameters, num_threads=1)
        prepared = self._keep.prepared_values()
        self.arrays: list[Array] = []
        for buffer in signature.buffers:
            if buffer.role == "prepared":
                self.arrays.append(prepared[buffer.name])
            elif buffer.role in ("output", "workspace"):
                self.arrays.append(_like(buffer))
            else:
                self.arrays.append(arrays[buffer.name])
        self.buffers = signature.buffers
        self.native = program.load()
        types = [ctypes.c_void_p] * len(self.arrays)
        function = ctypes.CFUNCTYPE(None, *types)(self.native.address(MAIN))
        self.call: Callable[..., None] = function
        """The compiled function, on addresses."""

    def addresses(self) -> list[int]:
        """Return the addresses of its own memory, in the order of arguments."""
        return [array.ctypes.data for array in self.arrays]

    def output(self) -> Array:
        """Return what the kernel computes of random inputs, which are those of its alternatives."""
        self.call(*self.addresses())
        return next(
            array
            for buffer, array in zip(self.buffers, self.arrays, strict=True)
            if buffer.role == "output"
        )


def _like(buffer: Buffer) -> Array:
    return aligned_bytes(buffer.size)[: buffer.size].view(buffer.dtype).reshape(buffer.shape)


def _random(buffer: Buffer, generator: np.random.Generator) -> Array:
    array = _like(buffer)
    array[...] = (SCALE * generator.standard_normal(buffer.shape)).astype(buffer.dtype)
    return array
