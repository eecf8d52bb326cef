"""From loops-level MLIR text to native code and to arrays.

Processes that tests start import this: it needs nothing of pytest.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.loops.convert_scf_to_openmp import ConvertScfToOpenMP
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.universe import make_context

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
