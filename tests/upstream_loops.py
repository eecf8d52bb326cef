"""From loops-level MLIR text to native code and to arrays, through stock MLIR."""

import ctypes
from collections.abc import Mapping

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType, ModuleOp

from gawee_dialect.backend.jit import Target, optimized_text
from gawee_dialect.backend.signature import signature_of
from gawee_dialect.dialect.entry import ArgumentKind, entry_arguments, find_function
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.frontends.mlir_text import print_mlir
from tests.loops_level import llvm_module
from tests.upstream_mlir import describe, jit_of, run_mlir_opt, run_mlir_translate

WRITTEN = (ArgumentKind.OUTPUT, ArgumentKind.INDICES, ArgumentKind.WORKSPACE)
"""Arguments that a function writes before it reads them."""

Arrays = Mapping[str, NDArray[np.generic]]


def upstream_llvm_ir(module: ModuleOp) -> str:
    """Return the LLVM IR that stock mlir-opt and mlir-translate make of our llvm dialect."""
    return run_mlir_translate(run_mlir_opt(str(module)))


class UpstreamNative:
    """A module at the llvm level, compiled from upstream's LLVM IR of it."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        target = Target(opt_level=1).resolved()
        parsed, machine = optimized_text(upstream_llvm_ir(module), target, jit=True)
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


UPSTREAM_PASSES = (
    # Of a parallel loop run in order, else every iteration would take stack buffers of its own.
    "func.func(scf-parallel-for-to-nested-fors,buffer-loop-hoisting)",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "func.func(llvm-request-c-wrappers)",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "convert-index-to-llvm",
    "reconcile-unrealized-casts",
)
"""Upstream's passes from loops over vectors to the llvm dialect; a parallel loop runs in order."""


class UpstreamLoops:
    """A module at the loops level, lowered and compiled by upstream's passes alone."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        passes = f"--pass-pipeline=builtin.module({','.join(UPSTREAM_PASSES)})"
        lowered = run_mlir_opt(print_mlir(module), passes)
        self.engine = jit_of(run_mlir_translate(lowered))

    def call(self, function: str, named: Arrays) -> dict[str, NDArray[np.generic]]:
        """Call a function with its arguments by name; returns its outputs by name."""
        op = find_function(self.module, function)
        assert op is not None
        arrays: dict[str, NDArray[np.generic]] = {}
        outputs: list[str] = []
        descriptors: list[ctypes.Structure] = []
        for each in entry_arguments(op):
            assert isinstance(each.type, MemRefType)
            dtype, shape = dtype_name(each.type.element_type), each.type.get_shape()
            given = each.kind not in WRITTEN
            array = np.array(named[each.name]) if given else np.zeros(shape, dtype)
            arrays[each.name] = np.ascontiguousarray(array)
            descriptors.append(describe(arrays[each.name]))
            outputs += [each.name] if each.kind is ArgumentKind.OUTPUT else []
        address = self.engine.get_function_address(f"_mlir_ciface_{function}")
        pointers = [ctypes.cast(ctypes.byref(each), ctypes.c_void_p) for each in descriptors]
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(address)(*pointers)
        return {name: arrays[name] for name in outputs}


def run_upstream(text: str, function: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    """Run a function of loops-level text through upstream's translation of our llvm dialect."""
    return UpstreamNative(llvm_module(text)).call(function, inputs)
