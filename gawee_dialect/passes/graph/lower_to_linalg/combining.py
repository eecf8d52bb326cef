"""Combining elements along axes of a tensor, and spreading what came out over the tensor again.

Axes that stay come first among the loops, axes that are combined after them. Sums of f16 are taken
in f32, of unsigned bytes in i32: results have the type that elements are computed in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.types import (
    AnyTensor,
    computed_type,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted, opened
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, filled, highest, lowest

Term = Callable[[Scalars, Sequence[SSAValue]], SSAValue]
"""Computes a value from opened elements: of the tensor first, then of what is given beside it."""


@dataclass(frozen=True)
class Combiner:
    """How two values become one, and the value that changes no other."""

    neutral: Callable[[Builder, Attribute], SSAValue]
    combine: Callable[[Scalars, SSAValue, SSAValue], SSAValue]


def _number(value: int) -> Callable[[Builder, Attribute], SSAValue]:
    return lambda builder, element: constant(builder, value, element)


SUM = Combiner(_number(0), Scalars.add)
PRODUCT = Combiner(_number(1), Scalars.multiply)
MAXIMUM = Combiner(lowest, Scalars.maximum)
MINIMUM = Combiner(highest, Scalars.minimum)
ANY = Combiner(_number(0), Scalars.either)
ALL = Combiner(_number(1), Scalars.both)


def kept_axes(rank: int, axes: Sequence[int]) -> list[int]:
    """Return the axes that are not combined."""
    return [axis for axis in range(rank) if axis not in axes]


def source_map(rank: int, axes: Sequence[int]) -> AffineMap:
    """Make the map that reads a tensor in the loops of its reduction along some axes."""
    order = [*kept_axes(rank, axes), *axes]
    return reads(rank, *(order.index(axis) for axis in range(rank)))


def first_term(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
    """Take the element of the tensor as it is."""
    return values[0]


def combined(
    builder: Builder,
    source: SSAValue,
    axes: Sequence[int],
    combiner: Combiner,
    *,
    beside: Sequence[SSAValue] = (),
    term: Term = first_term,
) -> SSAValue:
    """Combine a term of every element along axes; `beside` has the axes that stay, alone."""
    shape = tensor_shape(source)
    rank, kept = len(shape), kept_axes(len(shape), axes)
    type = TensorType(computed_type(element_type(source)), [shape[axis] for axis in kept])
    init = filled(builder, combiner.neutral(builder, type.element_type), type)
    inputs = [(source, source_map(rank, axes))]
    inputs += [(value, reads(rank, *range(len(kept)))) for value in beside]

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        values = [opened(scalars, value) for value in args[:-1]]
        return combiner.combine(scalars, args[-1], term(scalars, values))

    return reduction(builder, init, inputs, body, num_reduced=len(axes))


def spread(
    builder: Builder,
    source: SSAValue,
    beside: Sequence[tuple[SSAValue, Sequence[int]]],
    result: AnyTensor,
    term: Term,
) -> SSAValue:
    """Compute a term at every element of a tensor; `beside` are tensors of some of its axes."""
    rank = len(tensor_shape(source))
    inputs = [(source, reads(rank, *range(rank)))]
    inputs += [(value, reads(rank, *axes)) for value, axes in beside]

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        values = [opened(scalars, value) for value in args[:-1]]
        return converted(scalars, term(scalars, values), result.element_type)

    return generic(builder, result, inputs, body, like=source)


def mapped(builder: Builder, source: SSAValue, element: Attribute, term: Term) -> SSAValue:
    """Compute a term of every element of a tensor of any size, converted to an element type."""
    return spread(builder, source, (), TensorType(element, tensor_shape(source)), term)


def in_element_type(builder: Builder, source: SSAValue, element: Attribute) -> SSAValue:
    """Convert the elements of a tensor; the tensor itself where it has that type."""
    if tensor_type(source).element_type == element:
        return source
    return mapped(builder, source, element, first_term)
