"""Modules for the interpreter's tests: parsed from text, or one function built op by op."""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.interpreter import run_module
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.located_parser import LocatedParser


def parse(text: str) -> ModuleOp:
    """Parse and verify a module; ops have a place in `test.mlir`."""
    module = LocatedParser(make_context(), text, "test.mlir").parse_module()
    verify_module(module)
    return module


def run(text: str, **arguments: np.ndarray) -> list[np.ndarray]:
    """Run @main of a module in text form; returns the outputs in order."""
    return list(run_module(parse(text), arguments).values())


def tensor(array: np.ndarray) -> TensorType:
    """The tensor type of an array."""
    return TensorType(ELEMENT_TYPES[array.dtype.name], array.shape)


def apply(build: Callable[..., Operation], *arrays: np.ndarray | None) -> np.ndarray:
    """Run the op that `build` makes of one SSA value per array (None is handed on)."""
    present = [array for array in arrays if array is not None]
    function = FuncOp("main", ([tensor(array) for array in present], []))
    block = function.body.block
    values = iter(block.args)
    operands: Sequence[SSAValue | None] = [
        None if array is None else next(values) for array in arrays
    ]
    op = build(*operands)
    block.add_ops([op, ReturnOp(op.results[0])])
    function.function_type = type(function.function_type).from_lists(
        [argument.type for argument in block.args], [op.results[0].type]
    )
    module = ModuleOp([function])
    verify_module(module)
    named = {f"arg{index}": array for index, array in enumerate(present)}
    (result,) = run_module(module, named).values()
    return result


def random(shape: Sequence[int], dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Random elements: standard normal floats, or integers over the whole range of the type."""
    generator = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.floating):
        return generator.standard_normal(tuple(shape)).astype(dtype)
    if dtype == "bool":
        return generator.integers(0, 2, tuple(shape)).astype(bool)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, tuple(shape), dtype, endpoint=True)
