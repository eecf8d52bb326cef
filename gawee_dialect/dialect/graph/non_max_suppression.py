"""Keeping one of those that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.movement import MovementOp
from gawee_dialect.dialect.types import (
    BOOLEANS,
    AnyTensor,
    require,
    require_shape,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


@irdl_op_definition
class NonMaxSuppressionOp(MovementOp):
    """Greedy non-maximum suppression: of candidates in order, the best one first, those are kept
    that no kept one before them overlaps.

    kept[..., j] = candidates[..., j] and not any(i < j) (kept[..., i] and overlaps[..., i, j])

    ```mlir
    %y = gawee.non_max_suppression %c, %o : (tensor<2x5xi1>, tensor<2x5x5xi1>) -> tensor<2x5xi1>
    ```

    Constraints:
      C1: elements are booleans.
      C2: candidates have an axis, the last one, along which they are in order.
      C3: overlaps have the candidates' shape, and their last size once more.
    """

    name = "gawee.non_max_suppression"

    candidates = operand_def(TensorType)
    overlaps = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$candidates `,` $overlaps attr-dict `:` functional-type(operands, results)"

    def __init__(self, candidates: SSAValue, overlaps: SSAValue):
        self.define([candidates, overlaps])

    @staticmethod
    def result_type(candidates: AnyTensor, overlaps: AnyTensor) -> AnyTensor:
        """Return the candidates' type; raises VerifyException where C1 to C3 fail."""
        BOOLEANS.require("candidates", candidates.element_type)
        BOOLEANS.require("overlaps", overlaps.element_type)
        shape = candidates.get_shape()
        require(len(shape) >= 1, "expected candidates of rank 1 or more, got rank 0")
        require_shape("overlaps", overlaps, (*shape, *shape[-1:]))
        return candidates

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        kept, overlaps = (np.array(each, np.bool_) for each in operands)
        for index in range(kept.shape[-1] - 1):
            kept[..., index + 1 :] &= ~(kept[..., index, None] & overlaps[..., index, index + 1 :])
        return kept
