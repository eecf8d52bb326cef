"""Reshapes and concatenation to tensor ops."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.movement import (
    CatOp,
    FlattenOp,
    IdentityOp,
    ReshapeOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.passes.graph.lower_to_linalg.gather import picked, repeated
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    Groups,
    box,
    broadcast,
    collapsed,
    constant,
    empty,
    expanded,
    inserted,
    padded,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream import linalg


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


# Slices, padding, and writing of slices.


class LowerSlice(Pattern):
    """gawee.slice -> tensor.extract_slice; with negative strides, linalg.generic with extracts"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        offsets, sizes, strides = op.box()
        type = tensor_type(op.result)
        if 0 in sizes:
            rewriter.replace(op, (), [repeated(rewriter, 0, type)])
        elif min(strides, default=1) > 0:
            rewriter.replace(op, (), [extracted(rewriter, op.input, offsets, sizes, strides)])
        else:

            def positions(scalars: Scalars) -> Sequence[SSAValue]:
                return [
                    scalars.add(
                        scalars.multiply(scalars.position(axis), scalars.index(stride)),
                        scalars.index(offset),
                    )
                    for axis, (offset, stride) in enumerate(zip(offsets, strides, strict=True))
                ]

            rewriter.replace(op, (), [picked(rewriter, type, op.input, positions)])


class LowerInsertSlice(Pattern):
    """gawee.insert_slice -> tensor.insert_slice"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: InsertSliceOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        sizes = tensor_shape(op.update)
        if 0 in sizes:
            rewriter.replace(op, (), [op.input])
            return
        offsets, strides = op.offsets.get_values(), op.strides.get_values()
        result = inserted(rewriter, op.update, op.input, offsets, strides)
        rewriter.replace(op, (), [result])


class LowerPad(Pattern):
    """gawee.pad -> tensor.extract_slice of what is kept and tensor.pad; in the modes that repeat
    the input, tensor.insert_slice of it and, an axis at a time, of a linalg.generic for each end"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        if op.same() is not None:
            rewriter.replace(op, (), [op.input])
        elif isinstance(op.value, FloatAttr | IntegerAttr):
            rewriter.replace(op, (), [_with_value(rewriter, op, op.value.value.data)])
        elif 0 in type.get_shape():
            rewriter.replace(op, (), [repeated(rewriter, 0, type)])
        else:
            rewriter.replace(op, (), [_with_ends(rewriter, op)])


def extracted(
    builder: Builder,
    source: SSAValue,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """Cut a box out of a tensor; the source itself where that is all of it."""
    if tensor_shape(source) == tuple(sizes):
        return source
    return box(builder, source, offsets, sizes, strides)


def _with_value(builder: Builder, op: PadOp, value: float) -> SSAValue:
    type = tensor_type(op.result)
    offsets, sizes = op.kept()
    low = [max(0, before) for before, _ in op.amounts()]
    high = [max(0, after) for _, after in op.amounts()]
    if 0 in sizes:
        return repeated(builder, value, type)
    ones = [1] * len(sizes)
    kept = extracted(builder, op.input, offsets, sizes, ones)
    return padded(builder, kept, low, high, constant(builder, value, type.element_type))


def _with_ends(builder: Builder, op: PadOp) -> SSAValue:
    """Put the input into the middle, and then both ends of each axis beside it, the last first."""
    type, sizes = tensor_type(op.result), list(tensor_shape(op.input))
    offsets = [before for before, _ in op.amounts()]
    whole = _put(builder, op.input, empty(builder, type), offsets)
    for axis in reversed(range(len(sizes))):
        before, after = op.amounts()[axis]
        end = before + tensor_shape(op.input)[axis]
        for first, count in ((0, before), (end, after)):
            if count:
                sizes[axis], offsets[axis] = count, first
                part = TensorType(type.element_type, sizes)
                whole = _put(builder, _end(builder, op, whole, part, offsets, axis), whole, offsets)
        sizes[axis], offsets[axis] = type.get_shape()[axis], 0
    return whole


def _put(builder: Builder, part: SSAValue, whole: SSAValue, offsets: Sequence[int]) -> SSAValue:
    return inserted(builder, part, whole, offsets)


def _end(
    builder: Builder,
    op: PadOp,
    whole: SSAValue,
    part: AnyTensor,
    offsets: Sequence[int],
    axis: int,
) -> SSAValue:
    """Read an end of an axis where it repeats the middle, of the padded tensor."""
    size, (before, _) = tensor_shape(op.input)[axis], op.amounts()[axis]
    first, last = before, before + size - 1
    is_front = offsets[axis] == 0
    starts, steps = list(offsets), [1] * len(offsets)
    match op.mode.data:
        case "reflect":
            starts[axis], steps[axis] = (2 * first if is_front else last - 1), -1
        case "replicate":
            starts[axis], steps[axis] = (first if is_front else last), 0
        case _:
            starts[axis] += size if is_front else -size

    def positions(scalars: Scalars) -> Sequence[SSAValue]:
        return [
            scalars.add(
                scalars.multiply(scalars.position(each), scalars.index(step)), scalars.index(start)
            )
            for each, (start, step) in enumerate(zip(starts, steps, strict=True))
        ]

    return picked(builder, part, whole, positions)


# Transposing and repeating whole tensors.


class LowerTranspose(Pattern):
    """gawee.transpose -> linalg.transpose"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        if op.same() is not None:
            rewriter.replace(op, (), [op.input])
            return
        init = empty(rewriter, tensor_type(op.result))
        rewriter.replace(op, linalg.TransposeOp(op.input, init, op.permutation))


class LowerTile(Pattern):
    """gawee.tile -> linalg.broadcast to a new axis before each repeated one, then a reshape"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TileOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        wide: list[int] = []
        added: list[int] = []
        for size, count in zip(tensor_shape(op.input), op.repeats.get_values(), strict=True):
            if count != 1:
                added.append(len(wide))
                wide.append(count)
            wide.append(size)
        type = TensorType(element_type(op.input), wide)
        repeated = broadcast(rewriter, op.input, type, added) if added else op.input
        rewriter.replace(op, (), [reshaped(rewriter, repeated, tensor_shape(op.result))])
