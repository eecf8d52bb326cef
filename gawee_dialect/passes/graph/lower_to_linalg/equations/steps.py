"""The equations of an op in their order; those that go along an index step by step."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.equations.instance import Instance
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import Context
from gawee_dialect.passes.graph.lower_to_linalg.equations.equation import EquationBuilder
from gawee_dialect.passes.graph.lower_to_linalg.equations.scan import ScanBuilder


def lower_steps(
    builder: Builder,
    instance: Instance,
    operands: Sequence[SSAValue],
    elements: Sequence[Attribute],
) -> Sequence[SSAValue]:
    """Build what computes the outputs of an instance, of some element types."""
    tensors = dict(zip(instance.program.inputs, operands, strict=True))
    stored = dict(zip(instance.program.outputs, elements, strict=True))
    for step in instance.steps:
        if step.along is None:
            (equation,) = step.equations
            name = equation.definition.tensor
            context = Context(instance, equation, tensors, {})
            tensors[name] = EquationBuilder(context, builder, stored.get(name)).result()
        else:
            ScanBuilder(instance, step, builder, tensors).build()
    return [tensors[name] for name in instance.program.outputs]
