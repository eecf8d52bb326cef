"""From loops-level MLIR text to native code and to arrays: ours, and through stock MLIR."""

import ctypes
from collections.abc import Mapping

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import Target, make_machine, optimize, parse_llvm
from gawee_dialect.backend.signature import signature_of
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.convert_scf_to_openmp import ConvertScfToOpenMP
from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
from gawee_dialect.universe import make_context
from tests.upstream_mlir import run_mlir_opt, run_mlir_translate

Arrays = Mapping[str, NDArray[np.generic]]


def llvm_module(text: str, fast_math: str | None = None) -> ModuleOp:
    """Parse loops-level text and take it to the llvm dialect."""
    module = parse_mlir(make_context(), text, "test.mlir")
    if "scf.parallel" in text:
        ConvertScfToOpenMP().apply(make_context(), module)
    ConvertToLLVM(fast_math).apply(make_context(), module)
    module.verify()
    return module


def run_native(text: str, function: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    """Run a function of loops-level text through our own LLVM IR."""
    return CompiledModel(llvm_module(text), function=function).run(inputs)


def upstream_llvm_ir(module: ModuleOp) -> str:
    """Return the LLVM IR that stock mlir-opt and mlir-translate make of our llvm dialect."""
    return run_mlir_translate(run_mlir_opt(str(module)))


class UpstreamNative:
    """A module at the llvm level, compiled from upstream's LLVM IR of it."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        parsed = parse_llvm(upstream_llvm_ir(module))
        machine = make_machine(Target(), jit=True)
        optimize(parsed, machine, 1)
        self.engine = binding.create_mcjit_compiler(parsed, machine)
        self.engine.finalize_object()

    def call(self, function: str, named: Arrays) -> dict[str, NDArray[np.generic]]:
        """Call a function with its arguments by name; returns its outputs by name."""
        signature = signature_of(self.module, function)
        arrays: dict[str, NDArray[np.generic]] = {}
        workspace = np.zeros(signature.workspace_size + 64, np.uint8)
        pointers = (ctypes.c_void_p * len(signature.buffers))()
        for buffer in signature.buffers:
            if buffer.role == "workspace":
                pointers[buffer.index] = workspace.ctypes.data + -workspace.ctypes.data % 64
                continue
            given = buffer.name in named
            array = named[buffer.name] if given else np.zeros(buffer.shape, buffer.dtype)
            arrays[buffer.name] = np.ascontiguousarray(array)
            pointers[buffer.index] = arrays[buffer.name].ctypes.data
        address = self.engine.get_function_address(f"{function}_packed")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(pointers)
        return {
            buffer.name: arrays[buffer.name] for buffer in signature.of_role("output", "updated")
        }


def run_upstream(text: str, function: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    """Run a function of loops-level text through upstream's translation of our llvm dialect."""
    return UpstreamNative(llvm_module(text)).call(function, inputs)
