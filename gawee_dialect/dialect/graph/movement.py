"""Ops that move elements to other positions, without computing on them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, i1, i32, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, SSAValue
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

from gawee_dialect.dialect.equation import DefinedOp, index_names
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.graph.elementwise import broadcast_indices
from gawee_dialect.dialect.size_list import SIZE_LIST, Sizes
from gawee_dialect.dialect.types import (
    AnyTensor,
    ElementClass,
    is_signed_number,
    require,
    require_length,
    require_non_negative,
    require_same_element,
    resolved_axes,
    shape_text,
    tensor_shape,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


INDICES = ElementClass("i32, i64", lambda element: element in (i32, i64))
ORDERED = ElementClass("f16, f32, f64, signless integers of more than one bit", is_signed_number)


def integers(values: Sequence[int]) -> DenseArrayBase[I64]:
    """Make the attribute of a list of integers."""
    return DenseArrayBase.from_list(i64, values)


def integer(value: int) -> IntegerAttr[I64]:
    """Make the attribute of one integer."""
    return IntegerAttr(value, i64)


class MovementOp(EvaluatedOp, ABC):
    """An op whose result is made of the elements of its operands, wherever they stood."""

    def same(self) -> SSAValue | None:
        """Return the value that the op leaves as it is, None where it changes something."""
        return None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op that changes nothing -> its operand, and op(constants) -> constant"""
        same = self.same()
        return super().fold() if same is None else (same,)


class MovedOp(DefinedOp, MovementOp, ABC):
    """An op whose equation says where each element of the result stood: it is moved as stored."""

    SIZES: ClassVar[str] = ""
    """The property that has the sizes of the result."""

    def computed(self, element: Attribute) -> Attribute:
        return element


class ViewOp(MovedOp, ABC):
    """An op whose result has the elements of its input, in row-major order."""

    EQUATION: ClassVar = "y[...] = x[...]"

    def views(self) -> Sequence[Sequence[int]]:
        return [tensor_shape(self.output)]

    def same(self) -> SSAValue | None:
        """op %x (to its own shape) -> %x"""
        return self.operands[0] if self.operands[0].type == self.output.type else None


def limited(shape: Sequence[int]) -> str:
    """Return an index an axis of a result of some shape, and how many values each has."""
    return ", ".join(f"i{axis} < {size}" for axis, size in enumerate(shape))


def moved(axis: int, offset: int, stride: int = 1) -> str:
    """Return where the index of an axis reads that begins at an offset."""
    step = f"i{axis}" if abs(stride) == 1 else f"i{axis}*{abs(stride)}"
    if stride < 0:
        return f"{offset} - {step}"
    return f"{step} + {offset}" if offset > 0 else f"{step} - {-offset}" if offset else step


def number(value: float, element: Attribute) -> str:
    """Return an integer of an element type; of i1, a condition."""
    return ("0 == 0" if value else "0 == 1") if element == i1 else str(value)


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
