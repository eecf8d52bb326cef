"""Ops that read or write elements at positions that a tensor of indices names.

A negative index counts from the end. An index that is none of its axis is refused: by the verifier
where it is a constant, by the interpreter, and by native code, which `check-indices` keeps inside
the tensor. Only where it trusts indices, what it reads is not specified.

Updates of a scatter are applied in row-major order: without a reduction, the last one to a position
stays. Of `max` and `min`, NaN wins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.movement import INDICES, ORDERED, MovementOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_axis,
    require_same_element,
    require_shape,
    shape_text,
    tensor_shape,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array, Positions


class IndexedOp(MovementOp, ABC):
    """An op that finds elements of its input by the numbers in a tensor of indices."""

    BY_ROWS: ClassVar[bool] = False
    """Whether the last axis of the indices spells several axes, one in each column."""

    @property
    def indexed(self) -> SSAValue:
        """The input, the first operand: xDSL has a class declare all of its operands."""
        return self.operands[0]

    @property
    def positions(self) -> SSAValue:
        """The indices, the second operand."""
        return self.operands[1]

    @property
    @abstractmethod
    def named_axes(self) -> Sequence[int]:
        """The axes of the input that indices name, counted from 0, in the order of columns."""

    @property
    def named_sizes(self) -> tuple[int, ...]:
        """The sizes of the named axes."""
        shape = tensor_shape(self.indexed)
        return tuple(shape[axis] for axis in self.named_axes)

    def verify_(self) -> None:
        super().verify_()
        constant = self.positions.owner
        if not isinstance(constant, ConstantOp) or 0 in tensor_shape(self.positions):
            return
        columns = array_of(constant.value).reshape(-1, len(self.named_axes)).T
        for axis, size, column in zip(self.named_axes, self.named_sizes, columns, strict=True):
            for index in (int(column.min()), int(column.max())):
                require(
                    -size <= index < size,
                    f"expected constant index {index} to be one of axis {axis} of size {size}",
                )


class AxisGatherOp(IndexedOp, ABC):
    """A gather whose indices are positions along one axis."""

    input = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, indices: SSAValue, *, axis: int = 0):
        self.define([input, indices], axis=axis)

    @property
    def named_axes(self) -> Sequence[int]:
        return (self.axis.value.data % len(tensor_shape(self.input)),)


@irdl_op_definition
class GatherOp(AxisGatherOp, HasCanonicalizationPatternsInterface):
    """Slices of the input along one axis, which the axes of the indices take the place of.

    With axis 0 of a table this is an embedding: one row for each index.

    ```mlir
    %y = gawee.gather %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<4x1xi64>) -> tensor<2x4x1x3xf32>
    ```

    Constraints:
      C1: indices are i32 or i64.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: constant indices are in range.
    """

    name = "gawee.gather"

    @staticmethod
    def result_type(input: AnyTensor, indices: AnyTensor, *, axis: int) -> AnyTensor:
        """Return the gathered type; raises VerifyException where C1 or C2 fail."""
        INDICES.require("indices", indices.element_type)
        shape = input.get_shape()
        axis = require_axis("axis", axis, len(shape))
        return TensorType(
            input.element_type, (*shape[:axis], *indices.get_shape(), *shape[axis + 1 :])
        )

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        return np.take(operands[0], operands[1].astype(np.int64), axis=self.axis.value.data)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.shape import GatherOfRows

        return (GatherOfRows(),)


@irdl_op_definition
class GatherElementsOp(AxisGatherOp):
    """One element of the input for each index: its position, but for the axis that the index names.

    result[i, j, k] = input[i, indices[i, j, k], k], for axis 1 of three.

    ```mlir
    %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4x3xi64>) -> tensor<2x4x3xf32>
    ```

    Constraints:
      C1: indices are i32 or i64.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: indices have the input's rank, and but for the axis sizes that are not larger.
      C4: constant indices are in range.
    """

    name = "gawee.gather_elements"

    @staticmethod
    def result_type(input: AnyTensor, indices: AnyTensor, *, axis: int) -> AnyTensor:
        """Return the gathered type; raises VerifyException where C1 to C3 fail."""
        INDICES.require("indices", indices.element_type)
        require_axis("axis", axis, input.get_num_dims())
        require_indices_inside(input, indices, axis)
        return TensorType(input.element_type, indices.get_shape())

    def evaluate(self, *operands: Array) -> Array:
        return operands[0][element_positions(operands[1], self.axis.value.data)]


@irdl_op_definition
class GatherNdOp(IndexedOp):
    """Slices of the input, each at a position that is a row of the indices.

    The last axis of the indices spells positions along the input's axes from batch_dims on; the
    first batch_dims axes of both go together. Axes that no index names are taken whole.

    ```mlir
    %y = gawee.gather_nd %x, %i batch_dims 1 : (tensor<2x5x3x7xf32>, tensor<2x4x2xi64>) -> tensor<2x4x7xf32>
    ```

    Constraints:
      C1: indices are i32 or i64.
      C2: batch_dims is not negative, and less than the rank of the indices.
      C3: the first batch_dims sizes of input and indices are equal.
      C4: the last axis of the indices names at least one axis of the input, and no more than there
          are after batch_dims.
      C5: constant indices are in range.
    """

    name = "gawee.gather_nd"

    BY_ROWS: ClassVar = True

    input = operand_def(TensorType)
    indices = operand_def(TensorType)
    batch_dims = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $indices `batch_dims` $batch_dims attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, indices: SSAValue, *, batch_dims: int = 0):
        self.define([input, indices], batch_dims=batch_dims)

    @staticmethod
    def result_type(input: AnyTensor, indices: AnyTensor, *, batch_dims: int) -> AnyTensor:
        """Return the gathered type; raises VerifyException where C1 to C4 fail."""
        INDICES.require("indices", indices.element_type)
        shape, where = input.get_shape(), indices.get_shape()
        require(
            0 <= batch_dims < len(where),
            f"expected batch_dims from 0 to less than the rank of the indices ({len(where)}), "
            f"got {batch_dims}",
        )
        require(
            shape[:batch_dims] == where[:batch_dims],
            f"expected input ({shape_text(shape)}) and indices ({shape_text(where)}) to agree in "
            f"the first {batch_dims} sizes",
        )
        require_named_axes(where, len(shape) - batch_dims)
        return TensorType(input.element_type, (*where[:-1], *shape[batch_dims + where[-1] :]))

    @property
    def named_axes(self) -> Sequence[int]:
        first = self.batch_dims.value.data
        return range(first, first + tensor_shape(self.indices)[-1])

    def evaluate(self, *operands: Array) -> Array:
        input, indices = operands
        return input[slice_positions(indices, self.batch_dims.value.data)]


def require_indices_inside(input: AnyTensor, indices: AnyTensor, axis: int) -> None:
    """Raise VerifyException unless indices, but for one axis, are no larger than the input."""
    shape, where = input.get_shape(), indices.get_shape()
    fits = len(shape) == len(where) and all(
        index == axis % len(shape) or small <= large
        for index, (small, large) in enumerate(zip(where, shape, strict=True))
    )
    require(
        fits,
        f"expected indices ({shape_text(where)}) of the input's rank and, off axis {axis}, not "
        f"larger than the input ({shape_text(shape)})",
    )


def require_named_axes(indices: Sequence[int], most: int) -> None:
    """Raise VerifyException unless the last axis of indices names 1 to `most` axes."""
    require(
        len(indices) >= 1 and 1 <= indices[-1] <= most,
        f"expected indices ({shape_text(indices)}) to name 1 to {most} axes of the input with "
        f"their last axis",
    )


def element_positions(indices: Array, axis: int) -> tuple[Positions, ...]:
    """Return an array of positions for each axis: the indices themselves along `axis`."""
    import numpy as np

    positions: list[Positions] = list(np.indices(indices.shape, np.int64, sparse=True))
    positions[axis] = indices.astype(np.int64)
    return tuple(positions)


def slice_positions(indices: Array, batch_dims: int) -> tuple[Positions, ...]:
    """Return an array of positions for each axis that rows of indices name, batch axes first."""
    import numpy as np

    rows = indices.shape[:-1]
    batch: Sequence[Positions] = np.indices(rows, np.int64, sparse=True)[:batch_dims]
    named: Positions = np.moveaxis(indices.astype(np.int64), -1, 0)
    return (*batch, *named)


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
