"""The equations of an op in their order; those that go along an index step by step."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import SSAValue

from gawee_dialect.opdesc.described_op import BodyOp
from gawee_dialect.passes.lower_to_linalg.equations.bodies import Context
from gawee_dialect.passes.lower_to_linalg.equations.equation import EquationBuilder
from gawee_dialect.passes.lower_to_linalg.equations.scan import ScanBuilder


def lower_steps(builder: Builder, op: BodyOp) -> Sequence[SSAValue]:
    """Build what computes the results of an op."""
    instance = op.instance()
    tensors: dict[str, SSAValue] = {}
    for described, operand in zip(op.description().operator.tensors_in, op.operands, strict=True):
        tensors[described.arg_name] = operand
    for step in instance.steps:
        if step.along is None:
            (equation,) = step.equations
            context = Context(instance, equation, tensors, {})
            tensors[equation.definition.tensor] = EquationBuilder(context, builder).result()
        else:
            ScanBuilder(instance, step, builder, tensors).build()
    return [tensors[name] for name in instance.program.outputs]
