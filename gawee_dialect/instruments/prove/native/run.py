"""Run a function of the llvm dialect on exact numbers, as machine code."""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.jit import NativeModule, Target, compile_object
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.backend.memory import aligned_bytes
from gawee_dialect.backend.openmp import call_in_team
from gawee_dialect.backend.signature import Buffer, Signature, llvm_function, signature_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN, PREPARE
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.instruments.check.isolated import run_isolated
from gawee_dialect.instruments.prove.native.rewriting import (
    ExactModule,
    stretched,
    stretched_numbers,
)
from gawee_dialect.instruments.prove.native.types import DOUBLE, PARTS, Memory
from gawee_dialect.instruments.prove.not_provable import NotProvable
from gawee_dialect.instruments.prove.numbers import Numbers, as_array
from gawee_dialect.interpreter.arrays import Array

OPT_LEVEL = 1
THREADS = 2
"""So that what threads share out is shared."""


@dataclass(frozen=True)
class ExactProgram:
    """Machine code of a module on exact numbers."""

    native: NativeModule
    signatures: Mapping[str, Signature]
    memory: Memory

    def run(self, given: Mapping[str, Array]) -> dict[str, Array]:
        """Call the functions in order; returns outputs of floats as their four parts."""
        outputs: dict[str, NDArray[np.uint8]] = {}
        buffers: tuple[Buffer, ...] = ()
        for name, signature in self.signatures.items():
            prepared, outputs, buffers = outputs, {}, signature.buffers
            pointers = (ctypes.c_void_p * max(1, len(buffers)))()
            kept: list[NDArray[np.uint8]] = []
            for buffer in buffers:
                bytes = self._bytes(buffer, given, prepared)
                pointers[buffer.index] = bytes.ctypes.data
                kept.append(bytes)
                if buffer.role in ("output", "updated"):
                    outputs[buffer.name] = bytes
            function = self.native.function(f"{name}_packed")
            if self.native.runtime is None:
                function(pointers)
            else:
                call_in_team(function, pointers, THREADS, self.native.runtime)
        return {
            each.name: self._array(each, outputs[each.name])
            for each in buffers
            if each.name in outputs
        }

    def _bytes(
        self, buffer: Buffer, given: Mapping[str, Array], prepared: Mapping[str, NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        if buffer.role == "prepared":
            return prepared[buffer.name]
        size = buffer.size * self.memory.factor
        bytes = aligned_bytes(size)[:size]
        if buffer.role in ("output", "workspace", "indices"):
            bytes.fill(0xFF)
            return bytes
        array = given[buffer.name]
        if isinstance(array, Numbers):
            bytes[...] = stretched_numbers(array, buffer.dtype.itemsize, self.memory)
        else:
            bytes[...] = stretched(array, self.memory)
        return bytes

    def _array(self, buffer: Buffer, bytes: NDArray[np.uint8]) -> Array:
        size = buffer.dtype.itemsize
        if buffer.dtype.kind == "f":
            doubles = bytes.view(np.float64).reshape(-1, self.memory.factor * size // DOUBLE)
            return np.ascontiguousarray(doubles[:, :PARTS].T).reshape(PARTS, *buffer.shape)
        elements = bytes.reshape(-1, self.memory.factor * size)[:, :size]
        return np.ascontiguousarray(elements).view(buffer.dtype).reshape(buffer.shape)


def compile_exactly(module: ModuleOp, function: str) -> ExactProgram:
    """Compile a module of the llvm dialect, which is rewritten; raises NotProvable."""
    if sources_of(module):
        raise NotProvable(Diagnostic("no exact meaning of C that a module brings"))
    signatures = _signatures(module, function)
    dtypes = [each.dtype for signature in signatures.values() for each in signature.buffers]
    memory = Memory.of(module, dtypes)
    exact = ExactModule(module, memory)
    target = Target(opt_level=OPT_LEVEL).resolved()
    text = llvm_text(exact.module, target.function_attributes())
    code = compile_object(f"{text}\n{exact.library.text()}", target)
    return ExactProgram(NativeModule(code, target), signatures, memory)


def _signatures(module: ModuleOp, function: str) -> dict[str, Signature]:
    names = (PREPARE, MAIN) if function == MAIN else (function,)
    try:
        found = {
            name: signature_of(module, name)
            for name in names
            if name == function or llvm_function(module, name) is not None
        }
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error
    if not found[function].of_role("prepared"):
        found = {function: found[function]}
    for signature in found.values():
        for each in signature.buffers:
            if each.dtype.name == "bfloat16":
                raise NotProvable(Diagnostic("no exact meaning of the bits of bf16"))
    return found


def run_natively(
    module: ModuleOp, arguments: Mapping[str, Array], function: str
) -> dict[str, Array]:
    """Run a function of the llvm dialect; the module is rewritten.

    Returns outputs by name: exact numbers of floats. Raises NotProvable, and GaweeError where the
    program goes wrong.
    """
    program = compile_exactly(module, function)
    signature = program.signatures[function]
    results = run_isolated(lambda: program.run(arguments))
    outputs: dict[str, Array] = {}
    for buffer in signature.of_role("output", "updated"):
        array = results[buffer.name]
        exact = buffer.dtype.kind == "f"
        outputs[buffer.name] = (
            as_array(Numbers(array.astype(np.float64), buffer.dtype)) if exact else array
        )
    return outputs
