"""Ops compiled by way of kernels, in the ways that a user can ask for, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType, bf16
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import Target
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.passes.tensors.assign_schedules import loop_order
from gawee_dialect.target.description import HOST
from gawee_dialect.target.machine import find_processor

if TYPE_CHECKING:
    import torch  # absent on machines without that oracle

Array = NDArray[Any]
Build = Callable[..., SSAValue | Sequence[SSAValue]]
"""Inserts ops on some values, and returns what they compute."""


@dataclass(frozen=True)
class Way:
    """A way to compile: vectors of a processor, algorithms, threads."""

    target: str = HOST
    algorithms: str = "fast"
    threads: int = 1

    def lowered(self, module: ModuleOp) -> ModuleOp:
        """Return the module at the llvm level; every kernel, however small, is shared.

        It is verified at the end: to verify after each pass, as IR tests do, is a third of the time.
        """
        options = CodeOptions(algorithms=self.algorithms, target=self.target)
        with patch.object(loop_order, "WORTH_A_TEAM", 0):
            lowered = lower_to(module, Level.LLVM, options, verify_each=False)
        verify_module(lowered)
        return lowered

    def run(self, module: ModuleOp, arrays: Sequence[Array], parameters: int) -> list[Array]:
        """Compile a module for it and call it; the last so many arrays are parameters."""
        names = [f"arg{index}" for index in range(len(arrays))]
        first = len(arrays) - parameters
        named = list(zip(names, arrays, strict=True))
        target = None if self.target == HOST else Target.of(find_processor(self.target))
        model = CompiledModel(
            self.lowered(module), dict(named[first:]), target=target, num_threads=self.threads
        )
        return list(model.run(dict(named[:first])).values())


WIDE, NARROW = Way(), Way("haswell")
"""This machine's vectors, of 512 bits where it has them, and such of 256."""
WAYS = (WIDE, NARROW, Way(threads=2), Way("haswell", threads=2))
EXACT, PLAIN = Way(algorithms="exact", threads=2), Way(algorithms="plain")


def module_of(build: Build, arrays: Sequence[Array], parameters: int = 0) -> ModuleOp:
    """Make `@main` of what `build` inserts, one argument an array, the last ones parameters."""
    elements = {**ELEMENT_TYPES, "bfloat16": bf16}
    types = [TensorType(elements[array.dtype.name], array.shape) for array in arrays]
    function = FuncOp("main", (types, ()))
    with ImplicitBuilder(function.body):
        built = build(*function.args)
        ReturnOp(*([built] if isinstance(built, SSAValue) else built))
    function.update_function_type()
    first = len(arrays) - parameters
    kinds = ["input" if index < first else "parameter" for index in range(len(arrays))]
    function.arg_attrs = ArrayAttr(
        DictionaryAttr({f"gawee.{kind}": StringAttr(f"arg{index}")})
        for index, kind in enumerate(kinds)
    )
    module = ModuleOp([function])
    module.verify()
    return module


# Sums of up to some hundred terms in another order, products rounded with their sum. f16 is summed
# in f32, as by PyTorch, and rounded once or, with a bias, twice.
TOLERANCE = {"float32": 2e-5, "float64": 1e-13, "float16": 2e-3}


def check(
    build: Build,
    arrays: Sequence[Array],
    expected: torch.Tensor | Sequence[torch.Tensor],
    way: Way,
    *,
    parameters: int = 0,
    tolerance: float | None = None,
) -> None:
    """Compare with PyTorch: floats to a part of the largest number or of one, others exactly."""
    results = way.run(module_of(build, arrays, parameters), arrays, parameters)
    tensors = expected if isinstance(expected, Sequence) else [expected]
    for result, tensor in zip(results, tensors, strict=True):
        wanted = tensor.numpy()
        assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
        allowed = TOLERANCE.get(wanted.dtype.name, 0) if tolerance is None else tolerance
        scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1) if allowed else 1
        np.testing.assert_allclose(result, wanted, rtol=0, atol=allowed * scale)


def small(seed: int, *shape: int, dtype: str = "float32") -> Array:
    """Draw standard normal floats, small integers, or bits."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if np.issubdtype(np.dtype(dtype), np.integer):
        return generator.integers(1, 40, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)
