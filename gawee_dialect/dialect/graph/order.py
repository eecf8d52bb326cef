"""Ops that put elements in order along one axis, and keep one of those that overlap.

Order is stable: of equal elements the one with the lower index comes first, ascending and
descending alike. NaN counts as greater than every other element, and 0.0 equals -0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import I64, BoolAttr, IntegerAttr, IntegerType, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.movement import ORDERED, MovementOp, integer
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.types import (
    BOOLEANS,
    AnyTensor,
    require,
    require_axis,
    require_shape,
    tensor_shape,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


@irdl_op_definition
class SortOp(InferredOp):
    """The elements in order along an axis, and the index along it that each came from.

    ```mlir
    %v, %i = gawee.sort %x axis 1 descending false : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xi64>)
    ```

    Constraints:
      C1: elements are floats or signless integers of more than one bit.
      C2: axis is an axis of the input; a negative one counts from the end.
    """

    name = "gawee.sort"

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(I64))
    descending = prop_def(IntegerAttr.constr(IntegerType(1)))
    values = result_def(TensorType)
    indices = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `axis` $axis `descending` $descending attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, axis: int = -1, descending: bool = False):
        super().__init__(
            operands=[input],
            properties={"axis": integer(axis), "descending": BoolAttr.from_bool(descending)},
            result_types=self.shape_rule(tensor_type(input), axis=axis),
        )

    @staticmethod
    def shape_rule(input: AnyTensor, *, axis: int) -> Sequence[AnyTensor]:
        """Return the types of values and indices; raises VerifyException where C1 or C2 fail."""
        ORDERED.require("input", input.element_type)
        require_axis("axis", axis, input.get_num_dims())
        return input, TensorType(i64, input.get_shape())

    def inferred_types(self) -> Sequence[AnyTensor]:
        return self.shape_rule(tensor_type(self.input), axis=self.axis.value.data)

    def ordered_axis(self) -> int:
        """Return the axis, counted from 0."""
        return self.axis.value.data % len(tensor_shape(self.input))


@irdl_op_definition
class TopKOp(InferredOp):
    """The k largest or smallest elements along an axis, in order, and their indices along it.

    The largest come in descending order, the smallest in ascending order.

    ```mlir
    %v, %i = gawee.top_k %x k 3 axis -1 largest true : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```

    Constraints:
      C1: elements are floats or signless integers of more than one bit.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: k is from 0 to the input's size along the axis.
    """

    name = "gawee.top_k"

    input = operand_def(TensorType)
    k = prop_def(IntegerAttr.constr(I64))
    axis = prop_def(IntegerAttr.constr(I64))
    largest = prop_def(IntegerAttr.constr(IntegerType(1)))
    values = result_def(TensorType)
    indices = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `k` $k `axis` $axis `largest` $largest attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, k: int, axis: int = -1, largest: bool = True):
        super().__init__(
            operands=[input],
            properties={
                "k": integer(k),
                "axis": integer(axis),
                "largest": BoolAttr.from_bool(largest),
            },
            result_types=self.shape_rule(tensor_type(input), k=k, axis=axis),
        )

    @staticmethod
    def shape_rule(input: AnyTensor, *, k: int, axis: int) -> Sequence[AnyTensor]:
        """Return the types of values and indices; raises VerifyException where C1 to C3 fail."""
        ORDERED.require("input", input.element_type)
        shape = list(input.get_shape())
        axis = require_axis("axis", axis, len(shape))
        require(
            0 <= k <= shape[axis], f"expected k from 0 to the axis's size {shape[axis]}, got {k}"
        )
        shape[axis] = k
        return TensorType(input.element_type, shape), TensorType(i64, shape)

    def inferred_types(self) -> Sequence[AnyTensor]:
        return self.shape_rule(
            tensor_type(self.input), k=self.k.value.data, axis=self.axis.value.data
        )

    def ordered_axis(self) -> int:
        """Return the axis, counted from 0."""
        return self.axis.value.data % len(tensor_shape(self.input))


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
