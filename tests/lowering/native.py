"""One gawee op to native code: built, lowered by our pass, compiled by upstream's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from tests.upstream_mlir import run_upstream

if TYPE_CHECKING:
    import torch  # absent on machines without that oracle

Make = Callable[..., GaweeOp]


def one_op_module(make: Make, arrays: Sequence[NDArray[Any]]) -> ModuleOp:
    """Build `@main` with one argument an array, which returns what `make` makes of them."""
    types = [TensorType(ELEMENT_TYPES[array.dtype.name], array.shape) for array in arrays]
    function = FuncOp("main", (types, ()))
    with ImplicitBuilder(function.body):
        op = make(*function.args)
        ReturnOp(op.output)
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return module


def lowered_text(module: ModuleOp) -> str:
    """Lower a module in place; return its text."""
    LowerToLinalg().apply(Context(), module)
    module.verify()
    return str(module)


def run_native(make: Callable[..., GaweeOp], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return what one op computes after `lower-to-linalg` and upstream's compilation."""
    (result,) = run_upstream(lowered_text(one_op_module(make, arrays)), arrays)
    return result


def numbers(seed: int, *shape: int, dtype: str = "float32") -> NDArray[Any]:
    """Draw normal floats, or integers over the type's whole range."""
    generator = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.integer):
        info = np.iinfo(dtype)
        return generator.integers(info.min, info.max, shape, dtype, endpoint=True)
    return generator.standard_normal(shape).astype(dtype)


# f32 and f64: sums of up to a few hundred products in another order than PyTorch's. f16: PyTorch
# adds up in f32, the lowering in f16.
TOLERANCE = {"float32": 1e-5, "float64": 1e-13, "float16": 1e-2}


def assert_close(actual: NDArray[Any], expected: torch.Tensor) -> None:
    """Compare floats to a part of the largest value expected, anything else exactly."""
    wanted = expected.numpy()
    assert actual.dtype == wanted.dtype
    if wanted.dtype.name not in TOLERANCE:
        np.testing.assert_array_equal(actual, wanted)
        return
    tolerance = TOLERANCE[wanted.dtype.name]
    scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0)
    np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance * scale)
