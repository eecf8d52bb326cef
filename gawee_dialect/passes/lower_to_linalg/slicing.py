"""Slices, padding, and writing of slices."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import element_type, is_unsigned, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.positions import picked, repeated
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.tensors import constant, padded
from gawee_dialect.passes.rewrite_pass import Pattern


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
        insert = tensor.InsertSliceOp.from_static_parameters(
            op.update, op.input, offsets, sizes, strides
        )
        rewriter.replace(op, insert)


class LowerPad(Pattern):
    """gawee.pad -> tensor.extract_slice of what is kept and tensor.pad; in the modes that repeat
    the input, linalg.generic with tensor.extract at computed positions"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        if op.same() is not None:
            rewriter.replace(op, (), [op.input])
        elif isinstance(op.value, FloatAttr | IntegerAttr):
            rewriter.replace(op, (), [_with_value(rewriter, op, op.value.value.data)])
        else:

            def positions(scalars: Scalars) -> Sequence[SSAValue]:
                return [_position(scalars, op, axis) for axis in range(type.get_num_dims())]

            rewriter.replace(op, (), [picked(rewriter, type, op.input, positions)])


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
    op = tensor.ExtractSliceOp.from_static_parameters(source, offsets, sizes, strides)
    return builder.insert(op).result


def _with_value(builder: Builder, op: PadOp, value: float) -> SSAValue:
    type = tensor_type(op.result)
    offsets, sizes = op.kept()
    low = [max(0, before) for before, _ in op.amounts()]
    high = [max(0, after) for _, after in op.amounts()]
    if 0 in sizes:
        return repeated(builder, value, type)
    ones = [1] * len(sizes)
    kept = extracted(builder, op.input, offsets, sizes, ones)
    if not is_unsigned(element_type(op.input)):
        return padded(builder, kept, low, high, constant(builder, value, type.element_type))
    whole = repeated(builder, value, type)
    insert = tensor.InsertSliceOp.from_static_parameters(kept, whole, low, sizes, ones)
    return builder.insert(insert).result


def _position(scalars: Scalars, op: PadOp, axis: int) -> SSAValue:
    """Compute the position along an axis of the input that a padded position shows."""
    (before, after), size = op.amounts()[axis], tensor_shape(op.input)[axis]
    position = scalars.position(axis)
    if not before and not after:
        return position
    inner = scalars.subtract(position, scalars.index(before))
    last = scalars.index(size - 1)
    match op.mode.data:
        case "reflect":
            # |i| mirrors at the front, and last - |last - i| at the back.
            distance = _absolute(scalars, inner)
            return scalars.subtract(last, _absolute(scalars, scalars.subtract(last, distance)))
        case "replicate":
            return scalars.minimum(scalars.maximum(inner, scalars.index(0)), last)
        case _:
            shifted = scalars.add(inner, scalars.index(size))
            return scalars.emit(arith.RemUIOp(shifted, scalars.index(size)))


def _absolute(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.maximum(value, scalars.subtract(scalars.index(0), value))
