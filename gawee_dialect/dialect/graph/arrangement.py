"""Ops that arrange all elements of a tensor anew: transposed, repeated, reversed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import index_names
from gawee_dialect.dialect.graph.elementwise import broadcast_indices
from gawee_dialect.dialect.graph.movement import MovedOp, limited, moved
from gawee_dialect.dialect.size_list import SIZE_LIST, Sizes
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_length,
    require_non_negative,
    resolved_axes,
    shape_text,
    tensor_shape,
)


@irdl_op_definition
class TransposeOp(MovedOp, HasCanonicalizationPatternsInterface):
    """The axes in another order: axis i of the result is axis permutation[i] of the input.

    ```mlir
    %y = gawee.transpose %x permutation [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
    ```

    Constraints:
      C1: permutation names every axis of the input once, counted from 0.
    """

    name = "gawee.transpose"

    input = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `permutation` $permutation attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, permutation: Sequence[int]):
        self.define([input], permutation=permutation)

    @staticmethod
    def result_type(input: AnyTensor, *, permutation: Sequence[int]) -> AnyTensor:
        """Return the transposed type; raises VerifyException where C1 fails."""
        shape = input.get_shape()
        require(
            sorted(permutation) == list(range(len(shape))),
            f"expected permutation of the axes 0 to {len(shape) - 1}, got {list(permutation)}",
        )
        return TensorType(input.element_type, [shape[axis] for axis in permutation])

    def equation(self) -> str:
        order = self.permutation.get_values()
        names = index_names(len(order))
        return f"y[{', '.join(names[axis] for axis in order)}] = x[{', '.join(names)}]"

    def same(self) -> SSAValue | None:
        """gawee.transpose %x (axes in order) -> %x"""
        order = self.permutation.get_values()
        return self.input if list(order) == list(range(len(order))) else None

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.shape import TransposeOfTranspose

        return (TransposeOfTranspose(),)


@irdl_op_definition
class BroadcastToOp(MovedOp):
    """The input repeated to a shape, by NumPy's rule: along axes of size 1, and along new ones.

    ```mlir
    %y = gawee.broadcast_to %x shape [2, 3, 5] : (tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: sizes of the shape are not negative.
      C2: the input has at most as many axes as the shape, and each of its sizes, from the last on,
          is 1 or the shape's.
    """

    name = "gawee.broadcast_to"

    SIZES: ClassVar = "shape"

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
        """Return the input's type under the shape; raises VerifyException where C1, C2 fail."""
        require_non_negative("shape", shape)
        old = input.get_shape()
        fits = len(old) <= len(shape) and all(
            size in (1, wide) for size, wide in zip(reversed(old), reversed(shape), strict=False)
        )
        require(
            fits, f"expected input ({shape_text(old)}) to broadcast to shape {shape_text(shape)}"
        )
        return TensorType(input.element_type, shape)

    def equation(self) -> str:
        shape = self.shape.get_values()
        return f"y[{limited(shape)}] = x[{broadcast_indices(tensor_shape(self.input), shape)}]"

    def same(self) -> SSAValue | None:
        """gawee.broadcast_to %x (its own shape) -> %x"""
        return self.input if self.input.type == self.result.type else None


@irdl_op_definition
class TileOp(MovedOp):
    """The whole input again and again along each axis: repeats[i] times along axis i.

    ```mlir
    %y = gawee.tile %x repeats [2, 1] : (tensor<3x5xf32>) -> tensor<6x5xf32>
    ```

    Constraints:
      C1: there is one repeat for each axis of the input, of at least 0.
    """

    name = "gawee.tile"

    input = operand_def(TensorType)
    repeats = prop_def(SIZE_LIST)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$input `repeats` custom<Sizes>($repeats) attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, repeats: Sequence[int]):
        self.define([input], repeats=repeats)

    @staticmethod
    def result_type(input: AnyTensor, *, repeats: Sequence[int]) -> AnyTensor:
        """Return the tiled type; raises VerifyException where C1 fails."""
        shape = input.get_shape()
        require_length("repeats", repeats, len(shape))
        require_non_negative("repeats", repeats)
        return TensorType(
            input.element_type, [size * count for size, count in zip(shape, repeats, strict=True)]
        )

    def equation(self) -> str:
        repeats = zip(tensor_shape(self.input), self.repeats.get_values(), strict=True)
        places = [
            f"i{axis}" if count == 1 else f"i{axis} % {size}"
            for axis, (size, count) in enumerate(repeats)
        ]
        return f"y[{limited(tensor_shape(self.result))}] = x[{', '.join(places)}]"

    def same(self) -> SSAValue | None:
        """gawee.tile %x (once along every axis) -> %x"""
        return self.input if all(count == 1 for count in self.repeats.get_values()) else None


@irdl_op_definition
class ReverseOp(MovedOp):
    """The elements in the opposite order along some axes; a negative axis counts from the end.

    ```mlir
    %y = gawee.reverse %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: axes are axes of the input, each named once.
    """

    name = "gawee.reverse"

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input `axes` $axes attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, *, axes: Sequence[int]):
        self.define([input], axes=axes)

    @staticmethod
    def result_type(input: AnyTensor, *, axes: Sequence[int]) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 fails."""
        resolved_axes(axes, input.get_num_dims())
        return input

    def reversed_axes(self) -> tuple[int, ...]:
        """Return the axes, counted from 0."""
        return tuple(resolved_axes(self.axes.get_values(), len(tensor_shape(self.input))))

    def equation(self) -> str:
        shape, reversed = tensor_shape(self.input), self.reversed_axes()
        places = (
            moved(axis, size - 1, -1) if axis in reversed else moved(axis, 0)
            for axis, size in enumerate(shape)
        )
        return f"y[{limited(shape)}] = x[{', '.join(places)}]"

    def same(self) -> SSAValue | None:
        """gawee.reverse %x (along axes of one element) -> %x, and reverse(reverse(%x)) -> %x"""
        shape, first = tensor_shape(self.input), self.input.owner
        if all(shape[axis] <= 1 for axis in self.reversed_axes()):
            return self.input
        if isinstance(first, ReverseOp) and set(first.reversed_axes()) == set(self.reversed_axes()):
            return first.input
        return None
