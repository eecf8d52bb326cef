"""Reshapes and concatenation to tensor ops."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    Groups,
    broadcast,
    collapsed,
    empty,
    expanded,
    inserted,
)
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerIdentity(Pattern):
    """gawee.identity %x -> %x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IdentityOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, (), [op.input])


class LowerReshape(Pattern):
    """gawee.flatten, gawee.reshape -> tensor.collapse_shape and tensor.expand_shape, as needed"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FlattenOp | ReshapeOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        result = reshaped(rewriter, op.input, tensor_shape(op.result))
        rewriter.replace(op, (), [result])


class LowerCat(Pattern):
    """gawee.cat -> a chain of tensor.insert_slice into one tensor"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CatOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        axis = op.dim.value.data % type.get_num_dims()
        result, offset = empty(rewriter, type), 0
        for input in op.inputs:
            sizes = tensor_shape(input)
            offsets = [offset if dim == axis else 0 for dim in range(len(sizes))]
            result = inserted(rewriter, input, result, offsets)
            offset += sizes[axis]
        rewriter.replace(op, (), [result])


def reshaped(builder: Builder, source: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Give a tensor another shape of as many elements, by at most two reshapes."""
    old = tensor_shape(source)
    if old == tuple(shape):
        return source
    if not old:
        # xDSL's tensor.expand_shape does not accept a scalar, upstream's does.
        return broadcast(
            builder, source, TensorType(element_type(source), shape), range(len(shape))
        )
    groups = reassociation(old, shape)
    if groups is not None:
        return collapsed(builder, source, groups, shape)
    groups = reassociation(shape, old)
    if groups is not None:
        return expanded(builder, source, groups, shape)
    between = common_shape(old, shape)
    joined, split = reassociation(old, between), reassociation(shape, between)
    if joined is None or split is None:
        between, joined, split = [prod(old)], [range(len(old))], [range(len(shape))]
    return expanded(builder, collapsed(builder, source, joined, between), split, shape)


def common_shape(one: Sequence[int], other: Sequence[int]) -> Sequence[int]:
    """Return the shape with the most axes that both shapes are a splitting of."""
    ends = {*accumulate(other, mul)}
    cuts = dict.fromkeys(end for end in accumulate(one, mul) if end in ends)
    sizes = [end // max(start, 1) for start, end in pairwise([1, *cuts])]
    return [size for size in sizes if size != 1] or [1]


def reassociation(larger: Sequence[int], smaller: Sequence[int]) -> Groups | None:
    """Group the axes of one shape so that each group has the size of an axis of the other.

    Returns None where the shapes can't be grouped like that, or where a size is zero, which says
    nothing about where a group ends.
    """
    if 0 in larger or prod(larger) != prod(smaller) or len(larger) < len(smaller):
        return None
    if not smaller:
        return []
    groups: list[list[int]] = []
    axis = 0
    for size in smaller:
        group, elements = [axis], larger[axis] if axis < len(larger) else 0
        axis += 1
        while axis < len(larger) and _is_part(elements, size):
            group.append(axis)
            elements *= larger[axis]
            axis += 1
        if elements != size:
            return None
        groups.append(group)
    # What is left are axes of one element.
    groups[-1].extend(range(axis, len(larger)))
    return groups


def _is_part(elements: int, size: int) -> bool:
    """Whether more axes have to join some elements to make a size, which may be open."""
    if isinstance(elements, OpenSize) or isinstance(size, OpenSize):
        return elements != size
    return elements < size


# Constants to `arith.constant`.


class LowerConstant(Pattern):
    """gawee.constant dense<...> -> arith.constant dense<...>"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConstantOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.ConstantOp(op.value))
