"""Slices, padding, and writing of slices."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.arrangement import TileOp, TransposeOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.passes.graph.lower_to_linalg.positions import picked, repeated
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    box,
    broadcast,
    constant,
    empty,
    inserted,
    padded,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream import linalg


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
