"""Ops that compute each element: in f32 where operands are f16, rounded once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.folding import fold_constants
from gawee_dialect.dialect.types import dtype_name, element_type, tensor_type

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


class ComputedOp(EvaluatedOp, ABC):
    """An op that computes its result from the elements of its operands alone.

    f16 is computed in f32 and rounded once, at the end of the op, as PyTorch does on a CPU.
    """

    @abstractmethod
    def compute_all(self, operands: Sequence[Array]) -> Array:
        """Compute the result's elements, in any dtype; f16 operands come as float32."""

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        wide = [
            operand.astype(np.float32) if operand.dtype == np.float16 else operand
            for operand in operands
        ]
        dtype = np.dtype(dtype_name(element_type(self.output)))
        return np.asarray(self.compute_all(wide)).astype(dtype, copy=False)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op(constants) -> constant"""
        constant = fold_constants(self.operands, tensor_type(self.output), self.evaluate)
        return None if constant is None else (constant,)
