"""Ops along axes: reductions, which combine many elements into one, running sums, and softmax."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp, index_names
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.types import (
    BOOLEANS,
    FLOATS,
    NUMBERS,
    AnyTensor,
    ElementClass,
    require,
    require_axis,
    resolved_axes,
    shape_text,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


def reduced_shape(shape: Sequence[int], axes: Sequence[int], *, keep_dims: bool) -> list[int]:
    """Return what is left of a shape when some axes (from 0 on) are reduced."""
    return [
        1 if axis in axes else size
        for axis, size in enumerate(shape)
        if keep_dims or axis not in axes
    ]


def numpy_function(name: str) -> Callable[..., Array]:
    """Return NumPy's function of a name."""
    import numpy as np

    function: Callable[..., Array] = getattr(np, name)
    return function


class ReduceOp(DefinedOp, ABC):
    """An op that combines all elements along some axes into one."""

    ELEMENTS: ClassVar[ElementClass] = NUMBERS
    """The element types that the op is defined on."""

    EQUATION: ClassVar[str | Mapping[str, str]]
    """The equation, in which `{all}` are the axes of the input, `{kept}` those that stay, and
    `{reduced}` the others, which have `{count}` elements."""

    OF_NOTHING: ClassVar[bool] = True
    """Whether no elements at all can be combined."""

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(i64))
    keep_dims = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `axes` $axes (`keep_dims` $keep_dims^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, input: SSAValue, *, axes: Sequence[int] | None = None, keep_dims: bool = False
    ):
        type = tensor_type(input)
        if axes is None:
            axes = range(type.get_num_dims())
        self.define([input], axes=axes, keep_dims=keep_dims)

    @classmethod
    def result_type(cls, input: AnyTensor, *, axes: Sequence[int], keep_dims: bool) -> AnyTensor:
        """Return the reduced type; raises VerifyException where a constraint fails."""
        cls.ELEMENTS.require("input", input.element_type)
        shape = input.get_shape()
        reduced = resolved_axes(axes, len(shape))
        require(
            cls.OF_NOTHING or all(shape[axis] for axis in reduced),
            f"expected reduced axes of at least one element, got {shape_text(shape)}",
        )
        return TensorType(input.element_type, reduced_shape(shape, reduced, keep_dims=keep_dims))

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        """The axes that are combined, counted from 0, in order."""
        rank = tensor_type(self.input).get_num_dims()
        return tuple(sorted(resolved_axes(self.axes.get_values(), rank)))

    def equation(self) -> str:
        assert isinstance(self.EQUATION, str)
        names = index_names(tensor_type(self.input).get_num_dims())
        reduced = [names[axis] for axis in self.reduced_axes]
        return self.EQUATION.format(
            all=", ".join(names),
            kept=", ".join(name for name in names if name not in reduced),
            reduced=", ".join(reduced) or "r < 1",
            count=" * ".join(f"size({name})" for name in reduced) or "1",
        )

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """reduce %x (along axes of one element that stay, or none) -> %x; constants -> constant"""
        return (self.input,) if self.input.type == self.result.type else super().fold()


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """Sum along some axes; integers wrap around, and a sum of nothing is 0.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_sum %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axes are different axes of the input; negative ones count from the end.
    """

    name = "gawee.reduce_sum"

    EQUATION: ClassVar = "y[{kept}] = sum({reduced}) x[{all}]"


@irdl_op_definition
class ReduceMeanOp(ReduceOp):
    """Mean along some axes; a mean of nothing is NaN.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_mean %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: axes are different axes of the input; negative ones count from the end.
    """

    name = "gawee.reduce_mean"

    ELEMENTS: ClassVar = FLOATS
    EQUATION: ClassVar = "y[{kept}] = (sum({reduced}) x[{all}]) / ({count})"


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    """The greatest element along some axes; NaN wins.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_max %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axes are different axes of the input; negative ones count from the end.
      C3: reduced axes have at least one element.
    """

    name = "gawee.reduce_max"

    EQUATION: ClassVar = "y[{kept}] = max({reduced}) x[{all}]"
    OF_NOTHING: ClassVar = False


@irdl_op_definition
class ReduceMinOp(ReduceOp):
    """The least element along some axes; NaN wins.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_min %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axes are different axes of the input; negative ones count from the end.
      C3: reduced axes have at least one element.
    """

    name = "gawee.reduce_min"

    EQUATION: ClassVar = "y[{kept}] = min({reduced}) x[{all}]"
    OF_NOTHING: ClassVar = False


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """Product along some axes; integers wrap around, and a product of nothing is 1.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_prod %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axes are different axes of the input; negative ones count from the end.
    """

    name = "gawee.reduce_prod"

    EQUATION: ClassVar = "y[{kept}] = prod({reduced}) x[{all}]"


@irdl_op_definition
class ReduceAnyOp(ReduceOp):
    """Whether any element along some axes holds; of nothing, none does.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_any %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
    ```

    Constraints:
      C1: the element type is i1.
      C2: axes are different axes of the input; negative ones count from the end.
    """

    name = "gawee.reduce_any"

    ELEMENTS: ClassVar = BOOLEANS
    EQUATION: ClassVar = "y[{kept}] = any({reduced}) x[{all}]"


@irdl_op_definition
class ReduceAllOp(ReduceOp):
    """Whether all elements along some axes hold; of nothing, all do.

    Reduced axes vanish, or stay with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.reduce_all %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
    ```

    Constraints:
      C1: the element type is i1.
      C2: axes are different axes of the input; negative ones count from the end.
    """

    name = "gawee.reduce_all"

    ELEMENTS: ClassVar = BOOLEANS
    EQUATION: ClassVar = "y[{kept}] = all({reduced}) x[{all}]"


class ArgOp(EvaluatedOp, ABC):
    """An op that finds the position of an extreme element along one axis."""

    FUNCTION: ClassVar[str]
    """NumPy's name of the search."""

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(I64))
    keep_dims = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `axis` $axis (`keep_dims` $keep_dims^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, axis: int = -1, keep_dims: bool = False):
        self.define([input], axis=axis, keep_dims=keep_dims)

    @staticmethod
    def result_type(input: AnyTensor, *, axis: int, keep_dims: bool) -> AnyTensor:
        """Return the type of the positions; raises VerifyException where C1 to C3 fail."""
        NUMBERS.require("input", input.element_type)
        shape = input.get_shape()
        searched = require_axis("axis", axis, len(shape))
        require(
            shape[searched] > 0,
            f"expected reduced axes of at least one element, got {shape_text(shape)}",
        )
        return TensorType(i64, reduced_shape(shape, [searched], keep_dims=keep_dims))

    @property
    def searched_axis(self) -> int:
        """The axis along which positions are counted, from 0 on."""
        return self.axis.value.data % tensor_type(self.input).get_num_dims()

    def evaluate(self, *operands: Array) -> Array:
        keep = self.keep_dims is not None
        return numpy_function(self.FUNCTION)(operands[0], axis=self.searched_axis, keepdims=keep)


@irdl_op_definition
class ArgMaxOp(ArgOp):
    """Where along an axis the greatest element is: the first of several; NaN wins.

    The axis vanishes, or stays with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.arg_max %x axis 1 : (tensor<2x3x5xf32>) -> tensor<2x5xi64>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: the axis has at least one element.
    """

    name = "gawee.arg_max"

    FUNCTION: ClassVar = "argmax"


@irdl_op_definition
class ArgMinOp(ArgOp):
    """Where along an axis the least element is: the first of several; NaN wins.

    The axis vanishes, or stays with one element where `keep_dims` is given.

    ```mlir
    %y = gawee.arg_min %x axis 1 : (tensor<2x3x5xf32>) -> tensor<2x5xi64>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axis is an axis of the input; a negative one counts from the end.
      C3: the axis has at least one element.
    """

    name = "gawee.arg_min"

    FUNCTION: ClassVar = "argmin"


class AlongAxisOp(EvaluatedOp, ABC):
    """An op from a tensor to one of its type that computes each line along one axis by itself."""

    ELEMENTS: ClassVar[ElementClass] = FLOATS
    """The element types that the op is defined on."""

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, *, axis: int = -1):
        self.define([input], axis=axis)

    @classmethod
    def result_type(cls, input: AnyTensor, *, axis: int) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 or C2 fail."""
        cls.ELEMENTS.require("input", input.element_type)
        require_axis("axis", axis, input.get_num_dims())
        return input

    @property
    def resolved_axis(self) -> int:
        """The axis, counted from 0."""
        return self.axis.value.data % tensor_type(self.input).get_num_dims()


@irdl_op_definition
class CumSumOp(AlongAxisOp):
    """Running sum along an axis: every element plus all before it; integers wrap around.

    ```mlir
    %y = gawee.cumsum %x axis 1 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: axis is an axis of the input; a negative one counts from the end.
    """

    name = "gawee.cumsum"

    ELEMENTS: ClassVar = NUMBERS

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        from gawee_dialect.dialect.arrays import total_dtype

        dtype = operands[0].dtype
        wide = operands[0].astype(np.float32) if dtype == np.float16 else operands[0]
        # NumPy begins with the first element, which may be -0, and not with 0.
        sums = np.cumsum(wide, axis=self.resolved_axis, dtype=total_dtype(wide.dtype))
        total = np.add(sums, 0, dtype=sums.dtype)
        return total.astype(wide.dtype, copy=False).astype(dtype, copy=False)


class LineOp(DefinedOp, AlongAxisOp, ABC):
    """An op along an axis that is defined by equations.

    In them `{all}` are all axes, `r` the one that lines are along, and `{lines}` the others.
    """

    @classmethod
    def along(cls, rank: int, axis: int) -> str:
        """Return the equations for lines along an axis, counted from 0."""
        assert isinstance(cls.EQUATION, str)
        names = index_names(rank)
        lines = ", ".join(name for other, name in enumerate(names) if other != axis)
        names[axis] = "r"
        return cls.EQUATION.format(all=", ".join(names), lines=lines)

    def equation(self) -> str:
        return self.along(tensor_type(self.input).get_num_dims(), self.resolved_axis)


@irdl_op_definition
class SoftmaxOp(LineOp):
    """exp(x) of every element x, over the sum of all exp(x) along an axis.

    The greatest element is subtracted first, so nothing overflows.

    ```mlir
    %y = gawee.softmax %x axis 1 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: axis is an axis of the input; a negative one counts from the end.
    """

    name = "gawee.softmax"

    EQUATION: ClassVar = (
        "m[{lines}] = max(r) x[{all}]; e[{all}] = exp(x[{all}] - m[{lines}]);"
        "s[{lines}] = sum(r) e[{all}]; y[{all}] = e[{all}] / s[{lines}]"
    )


@irdl_op_definition
class LogSoftmaxOp(LineOp):
    """Logarithm of the softmax along an axis, computed without leaving logarithms.

    ```mlir
    %y = gawee.log_softmax %x axis 1 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: axis is an axis of the input; a negative one counts from the end.
    """

    name = "gawee.log_softmax"

    EQUATION: ClassVar = (
        "m[{lines}] = max(r) x[{all}]; l[{lines}] = log(sum(r) exp(x[{all}] - m[{lines}]));"
        "y[{all}] = x[{all}] - m[{lines}] - l[{lines}]"
    )
