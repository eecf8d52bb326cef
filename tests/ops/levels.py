"""One op at every level: its NumPy meaning, its lowering interpreted, and native code of ours."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.lowering.native import assert_close, one_op_module

Array = NDArray[np.generic]


def passed(module: ModuleOp, passes: str) -> ModuleOp:
    """Return a copy of a module after passes."""
    result = module.clone()
    run_passes(make_context(), result, parse_passes(passes, all_passes()))
    result.verify()
    return result


def run_levels(make: Callable[..., GaweeOp], *arrays: Array) -> dict[str, Array]:
    """Return what one op computes, by level."""
    module = one_op_module(make, arrays)
    named = {f"arg{index}": array for index, array in enumerate(arrays)}
    results = {
        "gawee": run_module(module, named),
        "linalg": run_module(passed(module, "lower-to-linalg"), named),
    }
    compiled = CompiledModel(passed(module, "gawee-to-llvm"), function="main")
    results["native"] = compiled.run(named)
    return {level: result for level, outputs in results.items() for result in outputs.values()}


def check_levels(make: Callable[..., GaweeOp], arrays, expected) -> None:
    """Compare one op at every level with what PyTorch computes."""
    for level, result in run_levels(make, *arrays).items():
        try:
            assert_close(result, expected)
        except AssertionError as error:
            raise AssertionError(f"at level {level}: {error}") from None
