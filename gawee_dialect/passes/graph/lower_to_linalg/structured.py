"""Making `linalg.generic`: loops over a result, a scalar body, and how operands are read."""

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    i32,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty
from gawee_dialect.upstream import linalg

Body = Callable[[Scalars, Sequence[SSAValue]], SSAValue]
"""Computes one element from the elements of the inputs and, last, of the output so far."""


def reads(num_loops: int, *axes: int | None) -> AffineMap:
    """Make the map of an operand: which loop walks each of its axes, None for position 0."""
    results = [
        AffineExpr.constant(0) if axis is None else AffineExpr.dimension(axis) for axis in axes
    ]
    return AffineMap(num_loops, 0, tuple(results))


def generic(
    builder: Builder,
    type: AnyTensor,
    inputs: Sequence[tuple[SSAValue, AffineMap]],
    body: Body,
    like: SSAValue | None = None,
) -> SSAValue:
    """Compute every element of a new tensor by itself: one parallel loop an axis of `type`.

    It is as large as `like` where its type is dynamic.
    """
    return reduction(builder, empty(builder, type, like), inputs, body, num_reduced=0)


def reduction(
    builder: Builder,
    init: SSAValue,
    inputs: Sequence[tuple[SSAValue, AffineMap]],
    body: Body,
    *,
    num_reduced: int,
) -> SSAValue:
    """Combine into every element of `init`; the last `num_reduced` loops walk what is combined."""
    type = tensor_type(init)
    rank = type.get_num_dims()
    maps = [*(map for _, map in inputs), reads(rank + num_reduced, *range(rank))]
    values = [value for value, _ in inputs]
    block = Block(arg_types=[element_type(value) for value in (*values, init)])
    scalars = Scalars(Builder(InsertPoint.at_end(block)))
    scalars.builder.insert(linalg.YieldOp.create(operands=[body(scalars, block.args)]))
    # Networks are full of them: xDSL's constructor looks up how it is put together.
    op = linalg.GenericOp.create(
        operands=[*values, init],
        result_types=[type],
        properties={
            "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
            "iterator_types": _iterators(rank, num_reduced),
            AttrSizedOperandSegments.attribute_name: _segments(len(values)),
        },
        regions=[Region(block)],
    )
    return builder.insert(op).results[0]


@cache
def _iterators(num_parallel: int, num_reduced: int) -> ArrayAttr[IteratorTypeAttr]:
    parallel, reduced = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
    return ArrayAttr([*[parallel] * num_parallel, *[reduced] * num_reduced])


@cache
def _segments(num_inputs: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, [num_inputs, 1])


# `scf.for` with what it carries, made by a function of its counter.

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
