"""Softmax of a value by its equations, as part of what others compute."""

from xdsl.builder import Builder
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.reduction import SoftmaxOp
from gawee_dialect.dialect.types import computed_type, tensor_type
from gawee_dialect.equations.instance import Type, of_tensors
from gawee_dialect.passes.graph.lower_to_linalg.equations.steps import lower_steps


def softmax(builder: Builder, input: SSAValue, axis: int) -> SSAValue:
    """Insert exp(x - maximum) and its quotient by its sum along an axis; f16 is summed in f32."""
    type = tensor_type(input)
    equation = SoftmaxOp.along(type.get_num_dims(), axis)
    meaning = of_tensors(equation, (Type(type.get_shape(), computed_type(type.element_type)),), ())
    (result,) = lower_steps(builder, meaning, [input], [type.element_type])
    return result
