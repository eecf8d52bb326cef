"""Ops whose elements follow from where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import I64, BoolAttr, IntegerAttr, IntegerType, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.movement import ORDERED, MovementOp, integer
from gawee_dialect.dialect.types import (
    AnyTensor,
    dtype_name,
    require,
    require_axis,
    tensor_shape,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


@irdl_op_definition
class IotaOp(MovementOp):
    """0, 1, 2, ... along one axis, alike at all positions of the others.

    ```mlir
    %y = gawee.iota axis 1 : tensor<2x5xi64>
    ```

    Constraints:
      C1: elements are floats or signless integers of more than one bit.
      C2: axis is an axis of the result; a negative one counts from the end.
    """

    name = "gawee.iota"

    axis = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "`axis` $axis attr-dict `:` type($result)"

    def __init__(self, result_type: AnyTensor, axis: int = 0):
        super().__init__(
            properties={"axis": integer(axis)},
            result_types=[self.result_type(result_type, axis=axis)],
        )

    @staticmethod
    def result_type(type: AnyTensor, *, axis: int) -> AnyTensor:
        """Return the type itself; raises VerifyException where C1 or C2 fail."""
        ORDERED.require("result", type.element_type)
        require_axis("axis", axis, type.get_num_dims())
        return type

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.result), axis=self.axis.value.data)

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        shape, type = tensor_shape(self.result), tensor_type(self.result)
        positions = np.indices(shape, sparse=True)[self.axis.value.data]
        return np.broadcast_to(positions, shape).astype(dtype_name(type.element_type))


@irdl_op_definition
class TriOp(MovementOp):
    """The lower or upper triangle of the matrices in the last two axes; all other elements are 0.

    Element [i, j] of a lower triangle is kept where j - i is at most the diagonal, of an upper one
    where it is at least the diagonal.

    ```mlir
    %y = gawee.tri %x upper false diagonal -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
    ```

    Constraints:
      C1: the input has rank 2 or more.
    """

    name = "gawee.tri"

    input = operand_def(TensorType)
    upper = prop_def(IntegerAttr.constr(IntegerType(1)))
    diagonal = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `upper` $upper `diagonal` $diagonal attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, upper: bool = False, diagonal: int = 0):
        super().__init__(
            operands=[input],
            properties={"upper": BoolAttr.from_bool(upper), "diagonal": integer(diagonal)},
            result_types=[self.result_type(tensor_type(input))],
        )

    @staticmethod
    def result_type(input: AnyTensor) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 fails."""
        rank = input.get_num_dims()
        require(rank >= 2, f"expected input of rank 2 or more, got rank {rank}")
        return input

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.input))

    def evaluate(self, *operands: Array) -> Array:
        import numpy as np

        keep = np.triu if self.upper.value.data else np.tril
        return keep(operands[0], self.diagonal.value.data)
