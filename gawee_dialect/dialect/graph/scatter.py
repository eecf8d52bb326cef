"""Ops that write elements to positions that a tensor of indices names.

Indices are those of the gathers: a negative one counts from the end, and one that is none of its
axis is refused. Updates are applied in row-major order: without a reduction, the last one to a position stays. Of `max` and
`min`, NaN wins.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.gather import (
    IndexedOp,
    element_positions,
    require_indices_inside,
    require_named_axes,
    slice_positions,
)
from gawee_dialect.dialect.graph.movement import INDICES, ORDERED
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_axis,
    require_same_element,
    require_shape,
    tensor_shape,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array, Positions


class ScatterOp(IndexedOp, ABC):
    """What the scatters share: operands, and what becomes of what a position held before."""

    REDUCTIONS: ClassVar = ("none", "add", "mul", "max", "min")

    input = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    reduction = prop_def(StringAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @classmethod
    def require_reduction(cls, input: AnyTensor, updates: AnyTensor, reduction: str) -> None:
        """Raise VerifyException where the reduction is unknown or not defined on the elements."""
        require_same_element("updates", updates, input)
        require(
            reduction in cls.REDUCTIONS,
            f"unsupported reduction '{reduction}'; supported: {', '.join(cls.REDUCTIONS)}",
        )
        if reduction != "none":
            ORDERED.require("input", input.element_type)

    def written(self, input: Array, positions: tuple[Positions, ...], updates: Array) -> Array:
        """Apply updates to a copy of the input; raises IndexError where a position is wrong."""
        import numpy as np

        result = input.copy()
        combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        if self.reduction.data == "none":
            result[positions] = updates
        else:
            combine[self.reduction.data].at(result, positions, updates)
        return result

    def same(self) -> SSAValue | None:
        """gawee.scatter... %x (of no updates) -> %x"""
        return self.input if 0 in tensor_shape(self.updates) else None


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """The input with one element written for each index.

    result[i, indices[i, j, k], k] = updates[i, j, k], for axis 1 of three; with reduction `add` it
    is added to what is there.

    ```mlir
    %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "add" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
    ```

    Constraints:
      C1: indices are i32 or i64.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: indices have the input's rank, and but for the axis sizes that are not larger.
      C4: updates have the input's element type and the shape of the indices.
      C5: reduction is `none`, `add`, `mul`, `max` or `min`.
      C6: with `add`, elements are floats or signless integers of more than one bit.
      C7: constant indices are in range.
    """

    name = "gawee.scatter_elements"

    axis = prop_def(IntegerAttr.constr(I64))

    assembly_format = (
        "$input `,` $indices `,` $updates `axis` $axis `reduction` $reduction attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        indices: SSAValue,
        updates: SSAValue,
        *,
        axis: int = 0,
        reduction: str = "none",
    ):
        self.define([input, indices, updates], axis=axis, reduction=reduction)

    @classmethod
    def result_type(
        cls, input: AnyTensor, indices: AnyTensor, updates: AnyTensor, *, axis: int, reduction: str
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C6 fail."""
        INDICES.require("indices", indices.element_type)
        require_axis("axis", axis, input.get_num_dims())
        require_indices_inside(input, indices, axis)
        require_shape("updates", updates, indices.get_shape())
        cls.require_reduction(input, updates, reduction)
        return input

    @property
    def named_axes(self) -> Sequence[int]:
        return (self.axis.value.data % len(tensor_shape(self.input)),)

    def evaluate(self, *operands: Array) -> Array:
        input, indices, updates = operands
        return self.written(input, element_positions(indices, self.axis.value.data), updates)


@irdl_op_definition
class ScatterNdOp(ScatterOp):
    """The input with slices written, each at a position that is a row of the indices.

    The last axis of the indices spells positions along the input's first axes; axes that it does
    not name are written whole.

    ```mlir
    %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<5x3x7xf32>, tensor<4x2xi64>, tensor<4x7xf32>) -> tensor<5x3x7xf32>
    ```

    Constraints:
      C1: indices are i32 or i64.
      C2: the last axis of the indices names at least one axis of the input, and no more than there
          are.
      C3: updates have the input's element type, and a slice of the input for each row of indices.
      C4: reduction is `none`, `add`, `mul`, `max` or `min`.
      C5: with `add`, elements are floats or signless integers of more than one bit.
      C6: constant indices are in range.
    """

    name = "gawee.scatter_nd"

    BY_ROWS: ClassVar = True

    assembly_format = (
        "$input `,` $indices `,` $updates `reduction` $reduction attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, input: SSAValue, indices: SSAValue, updates: SSAValue, *, reduction: str = "none"
    ):
        self.define([input, indices, updates], reduction=reduction)

    @classmethod
    def result_type(
        cls, input: AnyTensor, indices: AnyTensor, updates: AnyTensor, *, reduction: str
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C5 fail."""
        INDICES.require("indices", indices.element_type)
        shape, where = input.get_shape(), indices.get_shape()
        require_named_axes(where, len(shape))
        require_shape("updates", updates, (*where[:-1], *shape[where[-1] :]))
        cls.require_reduction(input, updates, reduction)
        return input

    @property
    def named_axes(self) -> Sequence[int]:
        return indices_of(tensor_shape(self.indices)[-1])

    def evaluate(self, *operands: Array) -> Array:
        input, indices, updates = operands
        return self.written(input, slice_positions(indices, 0), updates)
