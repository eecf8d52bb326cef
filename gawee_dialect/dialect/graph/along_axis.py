"""Ops that compute each line along one axis by itself: running sums and softmax."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp, index_names
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.types import (
    FLOATS,
    NUMBERS,
    AnyTensor,
    ElementClass,
    require_axis,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


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
