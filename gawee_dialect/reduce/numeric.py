"""The failure of a wrong pass: outputs differ before and after it, on seeded data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.elementwise import SqrtOp
from gawee_dialect.dialect.entry import PREPARE, ArgumentKind, find_function
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.types import dtype_name, is_tensor
from gawee_dialect.interpreter import run_module
from gawee_dialect.interpreter.signature import Signature
from gawee_dialect.reduce.draft import reducible_function
from gawee_dialect.reduce.failure import Failure, transformed

Array = NDArray[np.generic]


def seeded_arrays(module: ModuleOp, function: FuncOp, seed: int) -> dict[str, Array]:
    """Return an array for every argument of a function, and of `@prepare` where there is one.

    An array depends on its argument's name, type and the seed alone. Weights are scaled by what
    they sum over, so that deep networks stay finite, and what a root is taken of is positive.
    """
    prepare = find_function(module, PREPARE)
    called = [function] if prepare is None or prepare is function else [function, prepare]
    arrays: dict[str, Array] = {}
    for each in called:
        for argument in Signature.of(each).inputs:
            if argument.kind is ArgumentKind.PREPARED or not is_tensor(argument.type):
                continue
            shape = argument.type.get_shape()
            dtype = np.dtype(dtype_name(argument.type.element_type))
            generator = np.random.default_rng((seed, crc32(argument.name.encode())))
            array = _numbers(generator, shape, dtype)
            if _rooted(each.body.block.args[argument.index]):
                array = np.abs(array) + dtype.type(1) / dtype.type(2)
            elif argument.kind is ArgumentKind.PARAMETER and len(shape) > 1 and dtype.kind == "f":
                array = array / dtype.type(sqrt(max(1, prod(shape[1:]))))
            arrays[argument.name] = array
    return arrays


def _numbers(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> Array:
    if dtype.kind == "f":
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def _rooted(value: SSAValue) -> bool:
    """Whether a square root is taken of a value: whether an op reads it as its variance."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, SqrtOp) or (isinstance(op, BatchNormOp) and value is op.variance):
            return True
    return False


@dataclass
class NumericDifference(Failure):
    """What a function returns is another after a pipeline, by more than a share of its range."""

    passes: Sequence[ModulePass]
    seed: int = 0
    rtol: float = 1e-4
    atol: float = 1e-6
    verify_each: bool = True

    def describe(self) -> str:
        return "outputs differ"

    def holds(self, module: ModuleOp) -> bool:
        try:
            return self.differs(module)
        except GaweeError:
            return False

    def differs(self, module: ModuleOp) -> bool:
        """Say whether outputs differ; raises GaweeError where a side cannot be run."""
        function = reducible_function(module)
        if function is None:
            return False
        name = function.sym_name.data
        arrays = seeded_arrays(module, function, self.seed)
        before = run_module(module, arrays, function=name)
        after = transformed(module, self.passes, self.verify_each)
        return not self._agree(before, run_module(after, arrays, function=name))

    def _agree(self, before: Mapping[str, Array], after: Mapping[str, Array]) -> bool:
        if list(before) != list(after):
            return False
        return all(self._close(before[name], after[name]) for name in before)

    def _close(self, before: Array, after: Array) -> bool:
        if before.shape != after.shape or before.dtype != after.dtype:
            return False
        if before.dtype.kind != "f":
            return bool(np.array_equal(before, after))
        one, other = before.astype(np.float64), after.astype(np.float64)
        finite = np.abs(one[np.isfinite(one)])
        allowed = self.atol + self.rtol * float(finite.max(initial=0.0))
        return bool(np.allclose(one, other, rtol=0.0, atol=allowed, equal_nan=True))
