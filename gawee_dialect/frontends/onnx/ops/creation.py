"""Tensors that are made of numbers."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SubOp
from gawee_dialect.dialect.graph.movement import CatOp, IdentityOp, ReverseOp
from gawee_dialect.dialect.graph.reduction import CumSumOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.onnx.held_types import (
    HELD,
    constant,
    converted,
    dtype_of,
    dtype_of_code,
    marked,
    rounded,
)
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    axis_of,
    counted,
    dtype_element,
    part,
)
from gawee_dialect.frontends.op_mapping.registry import (
    KnownArray,
    KnownArrayOrNone,
    KnownInts,
    KnownNumberOrNone,
    Refusal,
)


@register_op("ConstantOfShape")
def constant_of_shape(emit: Emitter, input: KnownInts, value: KnownArrayOrNone = None) -> SSAValue:
    """One value everywhere"""
    one = np.zeros((), np.float32) if value is None else np.asarray(value).reshape(())
    return emit.broadcast(constant(emit, one), list(input))


@register_op("Cast")
def cast(
    emit: Emitter, input: SSAValue, to: int, saturate: int = 1, round_mode: str = "up"
) -> SSAValue:
    """Another element type"""
    return converted(emit, input, dtype_of_code(to), bool(saturate), round_mode)


@register_op("CastLike")
def cast_like(
    emit: Emitter, input: SSAValue, target_type: SSAValue, saturate: int = 1, round_mode: str = "up"
) -> SSAValue:
    """The element type of another tensor"""
    return converted(emit, input, dtype_of(emit, target_type), bool(saturate), round_mode)


@register_op("EyeLike")
def eye_like(emit: Emitter, input: SSAValue, dtype: int | None = None, k: int = 0) -> SSAValue:
    """A matrix with ones on a diagonal"""
    rows, columns = tensor_shape(input)
    check_size(rows * columns)
    chosen = dtype_of(emit, input) if dtype is None else dtype_of_code(dtype)
    return constant(emit, np.eye(rows, columns, k), chosen)


@register_op("Range")
def number_range(
    emit: Emitter, start: KnownArray, limit: KnownArray, delta: KnownArray, stash_type: int = 1
) -> SSAValue:
    """Numbers at equal distances; bounds are known, or open sizes"""
    ends: list[int] = [each.item() for each in (start, limit, delta)]
    if is_open(ends):
        first, last, each = ends
        return counted(emit, first, max(-((first - last) // each), 0), each, i64)
    first, last, step = (float(each.item()) for each in (start, limit, delta))
    if not step or not np.isfinite([first, last, step]).all():
        raise Refusal(f"expected finite bounds and a delta other than 0, got {step:g}")
    check_size((last - first) / step)
    return constant(emit, np.arange(first, last, step), start.dtype.name)


@register_op("CumSum")
def cumsum(
    emit: Emitter, x: SSAValue, axis: KnownInts, exclusive: int = 0, reverse: int = 0
) -> SSAValue:
    """Sums of all elements up to each, along an axis"""
    at = axis_of(x, axis[0])
    value = emit(ReverseOp(x, axes=[at])) if reverse else x
    total = emit(CumSumOp(value, axis=at))
    if exclusive:
        total = emit(SubOp(total, value))
    return emit(ReverseOp(total, axes=[at])) if reverse else total


@register_op("CumProd")
def cumprod(
    emit: Emitter, x: SSAValue, axis: KnownInts, exclusive: int = 0, reverse: int = 0
) -> SSAValue:
    """Products of all elements up to each, along an axis, each written out"""
    at = axis_of(x, axis[0])
    count = tensor_shape(x)[at]
    if not count:
        return x
    rows = [part(emit, x, at, index, 1) for index in range(count)]
    if reverse:
        rows.reverse()
    ones = emit.full(tensor_shape(rows[0]), 1, element_type(x))
    made = [ones] if exclusive else [rows[0]]
    for row in rows[: count - 1] if exclusive else rows[1:]:
        made.append(emit(MulOp(made[-1], row)))
    if reverse:
        made.reverse()
    return emit(CatOp(made, dim=at))


@register_op("Dropout", since=12)
def dropout(
    emit: Emitter,
    data: SSAValue,
    ratio: KnownNumberOrNone = None,
    training_mode: KnownNumberOrNone = None,
    seed: int = 0,
) -> Sequence[SSAValue | None]:
    """Nothing is dropped, as where a network is run"""
    if training_mode and (ratio is None or ratio != 0):
        raise Refusal(
            "unsupported training_mode with a ratio that is not 0: which elements are dropped is "
            "random; supported: nothing is dropped"
        )
    return emit(IdentityOp(data)), emit.full(tensor_shape(data), True, i1)


@register_op("Dropout")
def dropout_before(emit: Emitter, data: SSAValue, ratio: float = 0.5) -> Sequence[SSAValue]:
    """As it was before opset 12"""
    return emit(IdentityOp(data)), emit.full(tensor_shape(data), True, i1)


@register_op("BitCast")
def bit_cast(emit: Emitter, input: SSAValue, to: int) -> SSAValue:
    """The same bits as another type that has as many"""
    source, dtype = dtype_of(emit, input), dtype_of_code(to)
    if source in HELD and source != dtype:
        input = emit.cast(input, dtype_element(source.removeprefix("u")))
    if dtype == source:
        return emit(IdentityOp(input))
    if "bool" in (source, dtype):  # one is the byte 1
        return emit.cast(input, dtype_element(dtype))
    bits = dtype_element(dtype.removeprefix("u") if dtype in HELD else dtype)
    found = input if bits == element_type(input) else emit(BitcastOp(input, bits))
    return marked(emit, rounded(emit, found, dtype), dtype) if dtype in HELD else found


def window(
    emit: Emitter, size: int, weights: Sequence[float], periodic: int, output_datatype: int
) -> SSAValue:
    """Return a sum of cosines over a known number of points, computed when the graph is read."""
    points = np.arange(size) * 2 * np.pi / (size if periodic else max(size - 1, 1))
    total = sum(weight * np.cos(points * order) for order, weight in enumerate(weights))
    return constant(emit, np.asarray(total), dtype_of_code(output_datatype))


@register_op("HannWindow")
def hann(emit: Emitter, size: KnownInts, output_datatype: int = 1, periodic: int = 1) -> SSAValue:
    """Hann's window"""
    return window(emit, size[0], (0.5, -0.5), periodic, output_datatype)


@register_op("HammingWindow")
def hamming(
    emit: Emitter, size: KnownInts, output_datatype: int = 1, periodic: int = 1
) -> SSAValue:
    """Hamming's window"""
    return window(emit, size[0], (25 / 46, -21 / 46), periodic, output_datatype)


@register_op("BlackmanWindow")
def blackman(
    emit: Emitter, size: KnownInts, output_datatype: int = 1, periodic: int = 1
) -> SSAValue:
    """Blackman's window"""
    return window(emit, size[0], (0.42, -0.5, 0.08), periodic, output_datatype)
