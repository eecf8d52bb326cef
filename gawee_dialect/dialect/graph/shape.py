"""Ops that move elements without computing on them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.movement import MovementOp, ViewOp
from gawee_dialect.dialect.size_list import SIZE_LIST, Sizes
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_non_negative,
    require_same_element,
    shape_text,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


@irdl_op_definition
class IdentityOp(ViewOp):
    """The input itself: what Identity and inference-time Dropout modules mean.

    ```mlir
    %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "gawee.identity"

    input = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue):
        self.define([input])

    @staticmethod
    def result_type(input: AnyTensor) -> AnyTensor:
        """Return the input's type."""
        return input


@irdl_op_definition
class FlattenOp(ViewOp, HasCanonicalizationPatternsInterface):
    """Join the axes start_dim to end_dim (both included) into one, in row-major order.

    Negative axes count from the end. A scalar becomes a vector of one element.

    ```mlir
    %y = gawee.flatten %x start_dim 1 end_dim -1 : (tensor<2x3x5x7xf32>) -> tensor<2x105xf32>
    ```

    Constraints:
      C1: start_dim and end_dim are axes of the input.
      C2: start_dim does not come after end_dim.
    """

    name = "gawee.flatten"

    input = operand_def(TensorType)
    start_dim = prop_def(IntegerAttr.constr(I64))
    end_dim = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `start_dim` $start_dim `end_dim` $end_dim attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, start_dim: int = 1, end_dim: int = -1):
        self.define([input], start_dim=start_dim, end_dim=end_dim)

    @staticmethod
    def result_type(input: AnyTensor, *, start_dim: int, end_dim: int) -> AnyTensor:
        """Return the flattened type; raises VerifyException where C1 or C2 fail."""
        shape = input.get_shape() or (1,)
        rank = len(shape)
        for what, dim in (("start_dim", start_dim), ("end_dim", end_dim)):
            require(-rank <= dim < rank, f"expected {what} from {-rank} to {rank - 1}, got {dim}")
        start, end = start_dim % rank, end_dim % rank
        require(
            start <= end, f"expected start_dim ({start_dim}) not to come after end_dim ({end_dim})"
        )
        joined = prod(shape[start : end + 1])
        return TensorType(input.element_type, (*shape[:start], joined, *shape[end + 1 :]))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.shape import (
            FlattenOfFlatten,
            FlattenOfReshape,
        )

        return (FlattenOfFlatten(), FlattenOfReshape())


@irdl_op_definition
class ReshapeOp(ViewOp, HasCanonicalizationPatternsInterface):
    """The same elements, in row-major order, under another shape.

    ```mlir
    %y = gawee.reshape %x shape [3, 1, 1] : (tensor<3xf32>) -> tensor<3x1x1xf32>
    ```

    Constraints:
      C1: sizes are not negative and have the input's number of elements.
    """

    name = "gawee.reshape"

    input = operand_def(TensorType)
    shape = prop_def(SIZE_LIST)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$input `shape` custom<Sizes>($shape) attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, shape: Sequence[int]):
        self.define([input], shape=shape)

    @staticmethod
    def result_type(input: AnyTensor, *, shape: Sequence[int]) -> AnyTensor:
        """Return the reshaped type; raises VerifyException where C1 fails."""
        require_non_negative("shape", shape)
        elements = prod(input.get_shape())
        require(
            prod(shape) == elements,
            f"expected shape {shape_text(shape)} ({prod(shape)} elements) to keep the "
            f"{elements} elements of the input",
        )
        return TensorType(input.element_type, shape)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.shape import ReshapeOfView

        return (ReshapeOfView(),)


@irdl_op_definition
class CatOp(MovementOp):
    """Concatenate tensors along one axis; a negative axis counts from the end.

    ```mlir
    %z = gawee.cat %x, %y dim 1 : (tensor<2x3x5xf32>, tensor<2x4x5xf32>) -> tensor<2x7x5xf32>
    ```

    Constraints:
      C1: there is at least one input, none of them a scalar.
      C2: element types are equal.
      C3: dim is an axis of the inputs.
      C4: ranks are equal, and so are all sizes but those along dim.
    """

    name = "gawee.cat"

    inputs = var_operand_def(TensorType)
    dim = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)"

    def __init__(self, inputs: Sequence[SSAValue], *, dim: int = 0):
        self.define([inputs], dim=dim)

    @staticmethod
    def result_type(inputs: Sequence[AnyTensor], *, dim: int) -> AnyTensor:
        """Return the concatenated type; raises VerifyException where C1 to C4 fail."""
        require(len(inputs) >= 1, "expected at least one input, got none")
        first = inputs[0]
        rank = first.get_num_dims()
        require(rank >= 1, f"expected inputs of rank 1 or more, got a scalar ('{first}')")
        require(-rank <= dim < rank, f"expected dim from {-rank} to {rank - 1}, got {dim}")
        axis = dim % rank

        def off_axis(shape: tuple[int, ...]) -> tuple[int, ...]:
            return shape[:axis] + shape[axis + 1 :]

        for index, type in enumerate(inputs):
            require_same_element(f"input #{index}", type, first, "input #0")
            same_rank = type.get_num_dims() == rank
            require(
                same_rank and off_axis(type.get_shape()) == off_axis(first.get_shape()),
                f"expected input #{index} ({shape_text(type.get_shape())}) to match "
                f"input #0 ({shape_text(first.get_shape())}) off axis {dim}",
            )
        sizes = list(first.get_shape())
        sizes[axis] = sum(type.get_shape()[axis] for type in inputs)
        return TensorType(first.element_type, sizes)

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        return np.concatenate(operands, axis=self.dim.value.data)

    def same(self) -> SSAValue | None:
        """gawee.cat %x -> %x"""
        return self.inputs[0] if len(self.inputs) == 1 else None
