"""One gawee op at every level: interpreted as it is and as linalg, and as native code, twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.upstream_mlir import find_upstream_tools, run_upstream

if TYPE_CHECKING:
    import torch  # absent on machines without that oracle

Make = Callable[..., Operation]
Arrays = Sequence[NDArray[Any]]

LEVELS = ("gawee", "linalg", "loops", "native", "upstream")
"""Where an op runs: our interpreter at three levels, our native code, and upstream's."""


def module_of(make: Make, arrays: Arrays) -> ModuleOp:
    """Build `@main` with one argument an array, which returns all that one op computes."""
    types = [TensorType(ELEMENT_TYPES[array.dtype.name], array.shape) for array in arrays]
    function = FuncOp("main", (types, ()))
    with ImplicitBuilder(function.body):
        ReturnOp(*make(*function.args).results)
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return module


def lowered(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Run passes on a copy of a module, and verify what comes out."""
    result = module.clone()
    run_passes(make_context(), result, parse_passes(pipeline, all_passes()))
    result.verify()
    return result


def run_at(level: str, module: ModuleOp, arrays: Arrays) -> list[NDArray[Any]]:
    """Run a module at one level, lowered without any simplification before."""
    named = {f"arg{index}": array for index, array in enumerate(arrays)}
    linalg = lowered(module, "lower-to-linalg")
    match level:
        case "gawee":
            return list(run_module(module, named).values())
        case "linalg":
            return list(run_module(linalg, named).values())
        case "loops":
            return list(run_module(lowered(linalg, LOOPS), named).values())
        case "native":
            native = CompiledModel(lowered(linalg, f"{LOOPS},convert-to-llvm"))
            return list(native.run(named).values())
        case _:
            return run_upstream(str(linalg), arrays)


LOOPS = "bufferize,outline-kernels,plan-memory,lower-linalg-to-loops"


def check_at(level: str, make: Make, arrays: Arrays, expected: Sequence[torch.Tensor]) -> None:
    """Run an op at one level; what it computes must equal PyTorch's results, bit for bit."""
    if level == "upstream" and find_upstream_tools() is None:
        return
    results = run_at(level, module_of(make, arrays), arrays)

    for actual, wanted in zip(results, expected, strict=True):
        assert actual.dtype == wanted.numpy().dtype
        np.testing.assert_array_equal(actual, wanted.numpy(), err_msg=level)


def elements(seed: int, *shape: int, dtype: str) -> NDArray[Any]:
    """Draw elements: floats of both signs, integers of the whole range, and booleans."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if np.issubdtype(np.dtype(dtype), np.integer):
        info = np.iinfo(dtype)
        return generator.integers(info.min, info.max, shape, dtype, endpoint=True)
    return generator.standard_normal(shape).astype(dtype)
