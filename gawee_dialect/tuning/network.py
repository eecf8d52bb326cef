"""A network that runs kernel by kernel, with one kernel in another version where it is measured.

A candidate for a kernel is compiled alone: the kernel is a network of its own.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import NativeModule
from gawee_dialect.backend.memory import aligned_bytes
from gawee_dialect.backend.openmp import call_in_team
from gawee_dialect.backend.program import compile_program
from gawee_dialect.backend.signature import Buffer
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import MAIN, find_function, output_attributes
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Schedule, ScheduleAttr
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.instruments.kernel_profile import (
    Addresses,
    buffers_of,
    calls_of,
    show_symbols,
)
from gawee_dialect.instruments.profile import name_of
from gawee_dialect.levels import native_stages
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.outline_kernels import OutlineKernels
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.cse import CommonSubexpressionElimination
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import kernels_to_loops, loops_to_llvm
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules
from gawee_dialect.passes.tensors.hoist_parameter_computation import HoistParameterComputation
from gawee_dialect.schedules.keys import Decision, mark_of
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


@dataclass(frozen=True)
class KernelBuffer:
    """A buffer that a kernel of the network works on: which argument of its function, what type."""

    argument: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class KernelFunction:
    """What is known of an outlined kernel: its keys, and the buffers that it reads and writes."""

    keys: Mapping[Decision, str]
    inputs: Sequence[KernelBuffer]
    output: KernelBuffer | None


@dataclass
class Call:
    """A call of a kernel's function, in the order in which `@main` makes them."""

    node: str
    kernel: KernelFunction | None
    function: Callable[..., None]
    addresses: Sequence[int]


class TunedNetwork:
    """A compiled network, its weights and inputs, and each of its calls as a function."""

    def __init__(
        self,
        kernels: ModuleOp,
        parameters: Mapping[str, Array],
        inputs: Mapping[str, Array],
        threads: int,
        passes: Sequence[Insertion] = (),
    ):
        """Compile a module of scheduled kernels, whose keys are written on them; raises GaweeError.

        `parameters` and `inputs` are what `CompiledModel` takes.
        """
        module = kernels.clone()
        known: dict[str, KernelFunction] = {}
        stages = native_stages(CodeOptions(parallel=threads > 1, passes=tuple(passes)))
        for each in stages.to_loops:
            run_passes(make_context(), module, (each,))
            if isinstance(each, OutlineKernels):
                known = kernel_functions(module)
        main = find_function(module)
        assert main is not None
        called = list(calls_of(main))
        nodes = [(op.callee.string_value(), name_of(op)) for op, _ in called]
        buffers = [(list(op.arguments), counters) for op, counters in called]
        show_symbols(module)
        lowered = module.clone()
        run_passes(make_context(), lowered, stages.to_llvm)
        program = compile_program(lowered, MAIN)
        self._compiled = CompiledModel(program, parameters, num_threads=threads)
        self._native = program.load()
        arrays = buffers_of(self._compiled, {**parameters, **inputs})
        addresses = self._addresses = Addresses(arrays, self._native)  # arrays live as long as this
        self._threads = threads
        self.calls = [
            Call(
                node,
                known.get(name),
                self._function(name, len(values)),
                [addresses.of(value, counters) for value in values],
            )
            for (name, node), (values, counters) in zip(nodes, buffers, strict=True)
        ]

    def _function(self, name: str, arguments: int) -> Callable[..., None]:
        types = [ctypes.c_void_p] * arguments
        return ctypes.CFUNCTYPE(None, *types)(self._native.address(name))

    def calls_of(self, decision: Decision, key: str) -> list[int]:
        """Return the positions of the calls of a kernel."""
        return [
            index
            for index, call in enumerate(self.calls)
            if call.kernel is not None and call.kernel.keys.get(decision) == key
        ]

    def times(self, runs: int) -> Sequence[float]:
        """Return the seconds that each call takes, the best of some runs of the whole network."""
        best = [float("inf")] * len(self.calls)

        def run() -> None:
            for index, call in enumerate(self.calls):
                start = perf_counter()
                call.function(*call.addresses)
                best[index] = min(best[index], perf_counter() - start)

        for _ in range(runs):
            self._in_team(run, self._native)
        return best

    def seconds(self, candidate: StandaloneKernel, places: Sequence[int]) -> float:
        """Run the network once, with a candidate before some calls; return its mean time a call.

        The network's own kernels run before it, so that caches hold what they will hold; behind it
        runs the kernel that it is an alternative to, so that the network goes on with its values.
        """
        calls = {index: _Substitute(candidate, self.calls[index]) for index in places}
        total = 0.0

        def run() -> None:
            nonlocal total
            for index, call in enumerate(self.calls):
                substitute = calls.get(index)
                if substitute is not None:
                    substitute.produce_inputs()
                    start = perf_counter()
                    candidate.call(*substitute.addresses)
                    total += perf_counter() - start
                call.function(*call.addresses)

        self._in_team(run, self._native, candidate.native)
        return total / len(places)

    def _in_team(self, run: Callable[[], None], *code: NativeModule) -> None:
        runtime = next((each.runtime for each in code if each.runtime is not None), None)
        if runtime is None:
            run()
        else:
            call_in_team(lambda _: run(), None, self._threads, runtime)


class _Substitute:
    """What a candidate is called with in the place of one call of the network.

    It works on the network's buffers where they have the same types: the network stores the input
    of an algorithm with another halo otherwise.
    """

    def __init__(self, candidate: StandaloneKernel, call: Call):
        assert call.kernel is not None
        self.addresses = candidate.addresses()
        self._own: list[Array] = []
        free = list(call.kernel.inputs)
        for index, buffer in enumerate(candidate.buffers):
            place: KernelBuffer | None = None
            if buffer.role == "input":
                like = (each for each in free if _is_like(each, buffer.shape, buffer.dtype))
                place = next(like, None)
                if place is None:
                    self._own.append(candidate.arrays[index])
                else:
                    free.remove(place)
            elif buffer.role == "output" and call.kernel.output is not None:
                output = call.kernel.output
                place = output if _is_like(output, buffer.shape, buffer.dtype) else None
            if place is not None:
                self.addresses[index] = call.addresses[place.argument]

    def produce_inputs(self) -> None:
        """Write what no kernel of the network writes, as one would do just before."""
        for array in self._own:
            np.copyto(array, array.copy())


def _is_like(place: KernelBuffer, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> bool:
    return place.shape == shape and place.dtype == dtype


def kernel_functions(outlined: ModuleOp) -> dict[str, KernelFunction]:
    """Return what is known of each private function that is one kernel with a key."""
    found: dict[str, KernelFunction] = {}
    for function in outlined.ops:
        if not isinstance(function, FuncOp) or not function.body.blocks:
            continue
        ops = [op for op in function.body.block.ops if isinstance(op, StructuredKernel)]
        if len(ops) == 1:
            found[function.sym_name.data] = _kernel_function(ops[0])
    return found


def _kernel_function(op: StructuredKernel) -> KernelFunction:
    keys = {each: mark_of(op.attributes, each) for each in Decision}
    places = [_place(value) for value in op.inputs]
    return KernelFunction(
        {decision: key for decision, key in keys.items() if key is not None},
        [place for place in places if place is not None],
        _place(op.target),
    )


def _place(value: SSAValue) -> KernelBuffer | None:
    """Return which argument a buffer is; None for a part of one, or a constant."""
    if not isinstance(value, BlockArgument) or not isa(value.type, MemRefType[Attribute]):
        return None
    type = value.type
    return KernelBuffer(value.index, type.get_shape(), np.dtype(dtype_name(type.element_type)))
