"""What a tracer leaves behind of the Python code around the tensors.

A traced `x.shape[2:]` becomes a getattr and a getitem node. Both are folded away by
`canonicalize`; none may reach a lowering.
"""

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure


@irdl_attr_definition
class PythonValueType(ParametrizedAttribute, TypeAttribute):
    """A Python object that is not a tensor: a shape, a dtype, or an item of one."""

    name = "gawee.python_value"


@irdl_op_definition
class GetAttrOp(IRDLOperation):
    """A Python attribute of a tensor, `getattr(input, attribute)`.

    ```mlir
    %s = gawee.getattr %x "shape" : tensor<2x3xf32>
    ```
    """

    name = "gawee.getattr"

    input = operand_def(TensorType)
    attribute = prop_def(StringAttr)
    result = result_def(PythonValueType())

    traits = traits_def(Pure())
    assembly_format = "$input $attribute attr-dict `:` type($input)"

    def __init__(self, input: SSAValue, attribute: str):
        super().__init__(
            operands=[input],
            properties={"attribute": StringAttr(attribute)},
            result_types=[PythonValueType()],
        )


@irdl_op_definition
class GetItemOp(IRDLOperation):
    """An item of a Python value, `input[index]`; the index is written as Python spells it.

    ```mlir
    %h = gawee.getitem %s "2"
    %hw = gawee.getitem %s "slice(2, None, None)"
    ```
    """

    name = "gawee.getitem"

    input = operand_def(PythonValueType())
    index = prop_def(StringAttr)
    result = result_def(PythonValueType())

    traits = traits_def(Pure())
    assembly_format = "$input $index attr-dict"

    def __init__(self, input: SSAValue, index: str):
        super().__init__(
            operands=[input],
            properties={"index": StringAttr(index)},
            result_types=[PythonValueType()],
        )
