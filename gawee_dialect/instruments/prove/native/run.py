"""Run functions of the llvm dialect on exact numbers, as machine code."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.entry import MAIN, PREPARE
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.instruments.check.native_run import Bytes, GuardedMemory, run_isolated
from gawee_dialect.instruments.prove.inputs import worst_names
from gawee_dialect.instruments.prove.lowered import Piece, pieces_of
from gawee_dialect.instruments.prove.native.rewriting import (
    ExactModule,
    stretched,
    stretched_numbers,
)
from gawee_dialect.instruments.prove.native.writer import DOUBLE, PARTS, Memory, joined
from gawee_dialect.instruments.prove.numbers import Numbers, as_array, is_float
from gawee_dialect.instruments.prove.residues import NotProvable
from gawee_dialect.interpreter.arrays import Array, array_shape, dtype_of, shaped_type
from gawee_dialect.interpreter.functions import OpFunctions

if TYPE_CHECKING:
    from gawee_dialect.backend.signature import Buffer, Signature


# Machine code of a module on exact numbers, a function at a time.
#
# A pass changes few functions: the code of the others is what it was.

KEPT_OBJECTS = 1024
"""How many functions are kept compiled."""

OPT_LEVEL = 1
"""What runs once need not be optimised."""


@lru_cache(maxsize=KEPT_OBJECTS)
def _object(text: str) -> tuple[bytes, tuple[str, ...]]:
    """Compile LLVM IR; returns the object file, and the names that it does not define."""
    from gawee_dialect.backend.jit import Target, compile_object

    made = compile_object(text, Target(opt_level=OPT_LEVEL))
    return made.code, made.external


def _objects(exact: ExactModule) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield the object files of a module's functions, and of those of the library."""
    from gawee_dialect.backend.jit import Target
    from gawee_dialect.backend.llvm_text import llvm_text

    library, codes = exact.library, exact.codes(Target().resolved().function_attributes())
    known = dict(library.declarations)
    for name, op in exact.declared.items():
        known[name] = llvm_text(ModuleOp([op.clone()])).strip()
    for each in (*codes, *library.definitions.values()):
        known |= each.defines
    for each in codes:
        yield _object(joined([each], known))
    for group in library.groups(name for each in codes for name in each.needs):
        yield _object(joined(group, known))


class ExactCode:
    """Machine code on exact numbers in this process; it lives as long as this object."""

    def __init__(self, exact: ExactModule):
        """Compile a module; raises GaweeError where LLVM rejects it."""
        from llvmlite import binding

        from gawee_dialect.backend import openmp
        from gawee_dialect.backend.jit import Target, initialize, make_machine, parse_llvm

        initialize()
        target = Target(opt_level=OPT_LEVEL)
        objects = list(_objects(exact))
        external = {name for _, names in objects for name in names}
        with openmp.linked(tuple(external)) as runtime:
            self.runtime = runtime
            """What starts the threads of parallel regions, None where there are none."""
            self._engine = binding.create_mcjit_compiler(
                parse_llvm(""), make_machine(target, jit=True)
            )
            for code, _ in objects:
                self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self._engine.get_function_address(name)


UNWRITTEN = 0xFF
"""The byte of uninitialized memory: doubles of it are NaN."""

GUARD = 1 << 14
"""Bytes before and after each buffer: those of the widest vector, and of some rows."""

THREADS = 2
"""So that what threads share out is shared."""


def bytes_of(array: Array, memory: Memory) -> Bytes:
    """Return the bytes of numbers, or of plain elements."""
    if isinstance(array, Numbers):
        return stretched_numbers(array, array.dtype.itemsize, memory)
    return stretched(np.asarray(array), memory)


def array_of(
    bytes: Bytes, shape: Sequence[int], dtype: np.dtype[np.generic], memory: Memory
) -> Array:
    """Return the numbers, or the plain elements, that bytes hold."""
    if is_float(dtype):
        size = memory.factor * dtype.itemsize
        doubles = bytes.view(np.float64).reshape(-1, size // DOUBLE)
        parts = np.ascontiguousarray(doubles[:, :PARTS].T).reshape(PARTS, *shape)
        return as_array(Numbers(parts, dtype))
    elements = np.ascontiguousarray(bytes.reshape(-1, memory.factor)[:, 0])
    return elements.view(dtype).reshape(shape)


def argument_memory(size: int) -> GuardedMemory:
    """Return memory of an argument; uninitialized bytes are NaN in all parts."""
    return GuardedMemory(size, GUARD, lambda part: part.fill(UNWRITTEN))


@dataclass(frozen=True)
class ExactFunctions:
    """Machine code of a module on exact numbers, and what its functions take."""

    code: ExactCode
    memory: Memory

    def call(self, name: str, arguments: Sequence[GuardedMemory]) -> None:
        """Call a function with buffers; raises GaweeError where it writes outside of them."""
        from gawee_dialect.backend.openmp import call_in_team

        pointers = (ctypes.c_void_p * max(1, len(arguments)))()
        for index, buffer in enumerate(arguments):
            pointers[index] = buffer.bytes.ctypes.data
        native = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(f"{name}_packed"))
        if self.code.runtime is None:
            native(pointers)
        else:
            call_in_team(native, pointers, THREADS, self.code.runtime)
        for index, buffer in enumerate(arguments):
            if not buffer.is_intact:
                raise GaweeError(f"'@{name}' writes outside of its argument {index}")

    def run(
        self, signatures: "Mapping[str, Signature]", given: Mapping[str, Array]
    ) -> dict[str, Bytes]:
        """Call functions in order, each with what the one before has made; returns outputs."""
        outputs: dict[str, GuardedMemory] = {}
        for name, signature in signatures.items():
            prepared = outputs
            arguments = [self._argument(each, given, prepared) for each in signature.buffers]
            self.call(name, arguments)
            written = _written_buffers(signature).items()
            outputs = {name: arguments[each.index] for name, each in written}
        return {name: each.bytes for name, each in outputs.items()}

    def _argument(
        self, buffer: "Buffer", given: Mapping[str, Array], prepared: Mapping[str, GuardedMemory]
    ) -> GuardedMemory:
        if buffer.role == "prepared":
            return prepared[buffer.name]
        made = argument_memory(buffer.size * self.memory.factor)
        if buffer.role not in ("output", "workspace", "indices"):
            made.bytes[...] = bytes_of(given[buffer.name], self.memory)
        return made


def compile_exactly(
    module: ModuleOp, pieces: Sequence[Piece], dtypes: Sequence[np.dtype[np.generic]] = ()
) -> ExactFunctions:
    """Compile a module of which the pieces are known; raises NotProvable."""
    if sources_of(module):
        raise NotProvable(Diagnostic("no exact meaning of C that a module brings"))
    if any(each.name == "bfloat16" for each in dtypes):
        raise NotProvable(Diagnostic("no exact meaning of the bits of bf16"))
    memory = Memory.of(any(each.has_halves for each in pieces), dtypes)
    return ExactFunctions(ExactCode(ExactModule(pieces, memory)), memory)


def _signatures(pieces: Sequence[Piece], function: str) -> "dict[str, Signature]":
    from gawee_dialect.backend.signature import signature_of

    modules: dict[str, ModuleOp] = {}
    for op in (op for each in pieces for op in each.ops.values()):
        module = op.parent_op()
        if isinstance(op, llvm.FuncOp) and op.body.blocks and isinstance(module, ModuleOp):
            modules[op.sym_name.data] = module
    try:
        found = {function: signature_of(modules.get(function, ModuleOp([])), function)}
        if found[function].of_role("prepared") and PREPARE in modules:
            return {PREPARE: signature_of(modules[PREPARE], PREPARE), MAIN: found[function]}
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error
    except VerifyException as error:
        raise NotProvable(Diagnostic(first_line(error))) from error
    return found


def run_natively(
    module: ModuleOp,
    pieces: Sequence[Piece],
    arguments: Sequence[Mapping[str, Array]],
    function: str,
) -> Sequence[dict[str, Array]]:
    """Run a function of loops or of the llvm dialect on each of some arguments.

    Returns outputs by name: exact numbers of floats. Raises NotProvable, and GaweeError where the
    program goes wrong.
    """
    signatures = _signatures(pieces, function)
    if any(each.sizes for each in signatures.values()):
        raise NotProvable(Diagnostic("loops of open sizes"))
    buffers = [each for signature in signatures.values() for each in signature.buffers]
    functions = compile_exactly(module, pieces, [each.dtype for each in buffers])

    def run() -> dict[str, Array]:
        runs = (functions.run(signatures, each).items() for each in arguments)
        return {f"{index} {name}": out for index, outs in enumerate(runs) for name, out in outs}

    results = run_isolated(run)
    written = _written_buffers(signatures[function]).items()
    return [
        {name: _written(each, results[f"{index} {name}"], functions) for name, each in written}
        for index in range(len(arguments))
    ]


def _written_buffers(signature: "Signature") -> "dict[str, Buffer]":
    """Return what a function writes for its caller, by name: its index checks too."""
    told = signature.of_role("indices")
    named = dict(zip(worst_names(len(told)), told, strict=True))
    return {each.name: each for each in signature.of_role("output", "updated")} | named


def _written(buffer: "Buffer", found: Array, functions: ExactFunctions) -> Array:
    return array_of(found.view(np.uint8), buffer.shape, buffer.dtype, functions.memory)


# Calls of kernels on exact numbers as machine code, in a function that is interpreted otherwise.
#
# So what each node of a network computes can be seen at the level of loops.


@register_impls
class ExactCalls(OpFunctions):
    """An implementation of `func.call` that runs the callee natively, in and out by copies."""

    def __init__(self, module: ModuleOp) -> None:
        """Compile the functions of a module at the loops level; raises NotProvable."""
        callable_ones = module.clone()
        for function in callable_ones.ops:
            if isinstance(function, FuncOp):
                function.sym_visibility = None  # so that each kernel can be called
        self._functions = compile_exactly(callable_ones, [*pieces_of(callable_ones).values()])

    @impl(CallOp)
    def call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        callee = SymbolTable.lookup_symbol(interpreter.module, op.callee)
        assert isinstance(callee, FuncOp)
        name, memory = callee.sym_name.data, self._functions.memory
        buffers = [guarded(bytes_of(array, memory)) for array in args]

        def run() -> dict[str, Array]:
            self._functions.call(name, buffers)
            return {str(index): each.bytes for index, each in enumerate(buffers)}

        for value, array, after in zip(op.arguments, args, run_isolated(run).values(), strict=True):
            shape, dtype = array_shape(shaped_type(value)), dtype_of(value.type)
            array[...] = array_of(_as_bytes(after), shape, dtype, memory)
        return ()


def guarded(bytes: Bytes) -> GuardedMemory:
    """Return a copy of bytes that are an argument."""
    made = argument_memory(bytes.size)
    made.bytes[...] = bytes
    return made


def _as_bytes(array: Array) -> Bytes:
    return array.view("uint8")
