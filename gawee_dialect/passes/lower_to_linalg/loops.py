"""`scf.for` with what it carries, made by a function of its counter."""

from collections.abc import Callable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.tensors import constant

Step = Callable[[Scalars, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Computes what a loop carries next, of its counter and of what it carries."""


def loop(
    builder: Builder, bounds: tuple[int, int, int], init: Sequence[SSAValue], step: Step
) -> Sequence[SSAValue]:
    """Run a step for each index from a first one up to an end; returns what is carried last."""
    lower, upper, stride = (constant(builder, bound, IndexType()) for bound in bounds)
    block = Block(arg_types=[IndexType(), *(value.type for value in init)])
    inside = Builder(InsertPoint.at_end(block))
    counter, *carried = block.args
    inside.insert(scf.YieldOp(*step(Scalars(inside), counter, carried)))
    return builder.insert(scf.ForOp(lower, upper, stride, init, Region(block))).results
