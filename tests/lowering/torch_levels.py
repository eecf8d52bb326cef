"""Several ops of one function at every level that runs: the graph, linalg, loops, machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import Target
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import Level, lower_to

if TYPE_CHECKING:
    import torch  # absent on machines without that oracle

Array = NDArray[Any]
Make = Callable[..., GaweeOp]

LEVELS = tuple(Level)
FAST_LEVELS = (Level.GAWEE, Level.LINALG, Level.LLVM)
"""Every level but the loops, which are interpreted element by element."""

QUICKLY = Target(opt_level=1)
"""Of native code that runs once."""


def module_of(makes: Sequence[Make], arrays: Sequence[Array]) -> ModuleOp:
    """Build `@main` with one argument an array, which returns what each of `makes` makes of them."""
    types = [TensorType(ELEMENT_TYPES[array.dtype.name], array.shape) for array in arrays]
    function = FuncOp("main", (types, ()))
    with ImplicitBuilder(function.body):
        ReturnOp(*(make(*function.args).output for make in makes))
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return module


def run_levels(
    makes: Sequence[Make], arrays: Sequence[Array], levels: Sequence[Level] = LEVELS
) -> dict[Level, list[Array]]:
    """Return what each of `makes` computes of the arrays, at each level."""
    module = module_of(makes, arrays)
    inputs = {f"arg{index}": array for index, array in enumerate(arrays)}
    return {level: run_at(module, inputs, level) for level in levels}


def run_at(module: ModuleOp, inputs: Mapping[str, Array], level: Level) -> list[Array]:
    """Lower a module to a level and run it; returns the outputs in order."""
    lowered = lower_to(module, level)
    if level is Level.LLVM:
        return list(CompiledModel(lowered, target=QUICKLY).run(inputs).values())
    return list(run_module(lowered, inputs).values())


# Elementary functions are within a few units in the last place everywhere, and sums of some dozen
# terms are taken in another order. f16 is computed in f32 and rounded, here and in PyTorch.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 2e-3}


def check_result(actual: Array, expected: torch.Tensor, case: str = "") -> None:
    """Compare with PyTorch: floats relatively to a value or to one, anything else exactly."""
    wanted = expected.numpy()
    assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape), case
    tolerance = TOLERANCE.get(wanted.dtype.name, 0)
    np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance, err_msg=case)


def check_levels(
    makes: Mapping[str, Make],
    arrays: Sequence[Array],
    expected: Mapping[str, torch.Tensor],
    levels: Sequence[Level] = LEVELS,
) -> None:
    """Compare what ops compute at each level with PyTorch's results of the same names."""
    for level, results in run_levels(list(makes.values()), arrays, levels).items():
        for name, result in zip(makes, results, strict=True):
            check_result(result, expected[name], f"{name} at {level}")
