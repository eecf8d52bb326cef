"""An op of a user's own, for --load."""

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Return a tensor as it is."""

    name = "mine.copy"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"
