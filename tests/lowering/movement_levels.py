"""A module at every level: interpreted as it is, as linalg and as loops, and as native code."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.lowering.torch_levels import QUICKLY
from tests.upstream_mlir import run_upstream

LEVELS = ("gawee", "linalg", "loops", "native", "upstream")
"""Where a module runs: our interpreter at three levels, our native code, and upstream's."""

LOOPS = "bufferize,outline-kernels,plan-memory,lower-linalg-to-loops"


def lowered(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Run passes on a copy of a module, and verify what comes out."""
    result = module.clone()
    run_passes(make_context(), result, parse_passes(pipeline, all_passes()))
    result.verify()
    return result


def run_at(level: str, module: ModuleOp, named: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """Run a module at one level, lowered without any simplification before; results in order."""
    linalg = lowered(module, "lower-to-linalg")
    match level:
        case "gawee":
            return list(run_module(module, named).values())
        case "linalg":
            return list(run_module(linalg, named).values())
        case "loops":
            return list(run_module(lowered(linalg, LOOPS), named).values())
        case "native":
            native = CompiledModel(lowered(linalg, f"{LOOPS},convert-to-llvm"), target=QUICKLY)
            return list(native.run(named).values())
        case _:
            return run_upstream(str(linalg), list(named.values()))
