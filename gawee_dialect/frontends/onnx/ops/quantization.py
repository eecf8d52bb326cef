"""Quantized tensors: integers q that stand for (q - zero point) * scale."""

from math import prod

from xdsl.dialects.builtin import IntegerType, f32, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.hints import isa

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp, RoundOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp, axis_map, spread
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp, ReduceMinOp
from gawee_dialect.dialect.types import (
    element_type,
    integer_range,
    is_float,
    tensor_shape,
)
from gawee_dialect.frontends.onnx.held_types import (
    HELD,
    HeldFloat,
    HeldInteger,
    converted,
    dtype_of,
    dtype_of_code,
    element_of,
    marked,
)
from gawee_dialect.frontends.onnx.ops.windows import ConvAttributes
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.registry import Refusal

LIMITS = ("floats of 4 and 8 bits and integers of up to 16", "scales of float32 and float16")


def placed(
    emit: Emitter, value: SSAValue, x: SSAValue, axis: int, block: int, what: str
) -> tuple[SSAValue, AffineMap]:
    """Return scales or zero points, and which of them each element of x has.

    It is one number, one for each index along an axis, or one for each block of indices.
    """
    shape, own = tensor_shape(x), tensor_shape(value)
    if prod(own) == 1:
        return emit.reshape(value, ()), axis_map(len(shape))
    if not shape:
        raise Refusal(f"expected {what} of a scalar to be one number, got {prod(own)}")
    at = axis_of(x, axis)
    if own == (shape[at],):
        return value, axis_map(len(shape), at)
    blocks = -(-shape[at] // block) if block > 0 else 0
    if own != (*shape[:at], blocks, *shape[at + 1 :]):
        raise Refusal(f"expected {what} to be one number, {shape[at]} of them, or one a block")
    return value, axis_map(len(shape), at, block)


def rounded_to_integer(
    emit: Emitter, real: SSAValue, zero_point: SSAValue | None, dtype: str, saturate: bool = True
) -> SSAValue:
    """Return round(real) + zero point, the nearest number of a dtype.

    Sums of whole numbers that are clipped before are exact in float32; those that are not are
    further out than the clip reaches.
    """
    held = HELD.get(dtype)
    if isinstance(held, HeldFloat):
        return converted(emit, real, dtype, saturate)
    element = element_of(dtype)
    if not isa(element, IntegerType) or element.width.data > 16:
        raise Refusal(f"unsupported quantization to '{element}'; supported: {LIMITS[0]}")
    low, high = integer_range(element) if held is None else held.range
    whole = emit.cast(emit(RoundOp(real)), f32)
    if zero_point is not None:
        whole = emit(AddOp(whole, emit.cast(zero_point, f32)))
    clipped = emit.cast(emit(ClipOp(whole, min=low, max=high)), element)
    return marked(emit, clipped, dtype)


def _centred(emit: Emitter, value: SSAValue, zero_point: SSAValue | None) -> SSAValue:
    """Return value - zero point in int32."""
    wide = emit.cast(value, i32)
    return wide if zero_point is None else emit(SubOp(wide, emit.cast(zero_point, i32)))


@register_op("QuantizeLinear", "com.microsoft.QuantizeLinear", limits=LIMITS)
def quantize_linear(
    emit: Emitter,
    x: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue | None = None,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
) -> SSAValue:
    """The nearest integers, halves to even: of one scale, one along an axis, or one a block"""
    dtype = "uint8" if y_zero_point is None else dtype_of(emit, y_zero_point)
    if output_dtype:
        dtype = dtype_of_code(output_dtype)
    divided = element_of(dtype_of_code(precision)) if precision else element_type(y_scale)
    y_scale, map = placed(emit, y_scale, x, axis, block_size, "y_scale")
    of_points = map
    if y_zero_point is not None:
        y_zero_point, of_points = placed(emit, y_zero_point, x, axis, block_size, "y_zero_point")
    if divided == f32 and not isinstance(HELD.get(dtype), HeldFloat):
        whole = emit.cast(x, f32), emit.cast(y_scale, f32)
        return quantized(emit, *whole, y_zero_point, dtype, map)
    scale = spread(emit, emit.cast(y_scale, divided), map, tensor_shape(x))
    if y_zero_point is not None:
        y_zero_point = spread(emit, y_zero_point, of_points, tensor_shape(x))
    real = emit(DivOp(emit.cast(x, divided), scale))
    return rounded_to_integer(emit, real, y_zero_point, dtype, bool(saturate))


def quantized(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | None,
    dtype: str,
    map: AffineMap,
) -> SSAValue:
    """Return x in float32 as integers of a dtype, by scales that a map is of."""
    element, held = element_of(dtype), HELD.get(dtype)
    if not isa(element, IntegerType) or element.width.data > 16:
        raise Refusal(f"unsupported quantization to '{element}'; supported: {LIMITS[0]}")
    ends = held.range if isinstance(held, HeldInteger) else (None, None)
    if zero_point is not None:
        zero_point = emit.broadcast(zero_point, tensor_shape(scale))
    op = QuantizeOp(x, scale, zero_point, element, map, min=ends[0], max=ends[1])
    return marked(emit, emit(op), dtype)


@register_op("DequantizeLinear", "com.microsoft.DequantizeLinear", limits=LIMITS)
def dequantize_linear(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue | None = None,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> SSAValue:
    """(x - zero point) * scale: of one scale, one along an axis, or one a block"""
    dtype = dtype_of_code(output_dtype) if output_dtype else dtype_of(emit, x_scale)
    if not is_float(element_of(dtype)):
        raise Refusal(f"unsupported scale of '{dtype}'; supported: {LIMITS[1]}")
    scale, map = placed(emit, x_scale, x, axis, block_size, "x_scale")
    scale = emit.cast(scale, f32)
    if is_float(element_type(x)):
        real = emit(MulOp(x, spread(emit, scale, map, tensor_shape(x))))
        return converted(emit, real, dtype)
    if x_zero_point is not None:
        x_zero_point, _ = placed(emit, x_zero_point, x, axis, block_size, "x_zero_point")
        x_zero_point = emit.broadcast(x_zero_point, tensor_shape(scale))
    return converted(emit, emit(DequantizeOp(x, scale, x_zero_point, map)), dtype)


@register_op("DynamicQuantizeLinear")
def dynamic_quantize_linear(emit: Emitter, x: SSAValue) -> list[SSAValue]:
    """uint8 whose scale spans all numbers and zero; a scale of 1 where all are zero"""
    zero = emit.number(0, f32)
    axes = list(range(len(tensor_shape(x))))
    high = emit(MaximumOp(emit(ReduceMaxOp(x, axes=axes)), zero))
    low = emit(MinimumOp(emit(ReduceMinOp(x, axes=axes)), zero))
    span = emit(DivOp(emit(SubOp(high, low)), emit.number(255, f32)))
    empty = emit(CompareOp(span, zero, predicate="eq"))
    scale = emit(WhereOp(empty, emit.number(1, f32), span))
    zero_point = rounded_to_integer(emit, emit(DivOp(emit(SubOp(zero, low)), scale)), None, "uint8")
    map = axis_map(len(tensor_shape(x)))
    return [quantized(emit, x, scale, zero_point, "uint8", map), scale, zero_point]


def _requantized(
    emit: Emitter,
    total: SSAValue,
    scale: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
) -> SSAValue:
    """Return an int32 total of a scale in the scale, zero point and element type of a result."""
    factor = emit(DivOp(emit.cast(scale, f32), emit.cast(emit.reshape(y_scale, ()), f32)))
    real = emit(MulOp(emit.cast(total, f32), factor))
    zero_point = emit.reshape(y_zero_point, ())
    return rounded_to_integer(emit, real, zero_point, dtype_of(emit, y_zero_point))


def _of_rows(emit: Emitter, value: SSAValue, matrices: SSAValue) -> SSAValue:
    """Return a scale or zero point of each row of matrices as a column; one number as a scalar."""
    own = tensor_shape(value)
    if prod(own) == 1:
        return emit.reshape(value, ())
    if len(own) == 1 and len(tensor_shape(matrices)) > 1:
        return emit.reshape(value, (*own, 1))
    return value


def _of_columns(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a scale or zero point of each column of matrices; one number as a scalar."""
    return emit.reshape(value, ()) if prod(tensor_shape(value)) == 1 else value


def integer_product(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    a_zero_point: SSAValue | None,
    b_zero_point: SSAValue | None,
) -> SSAValue:
    """Return the product of matrices less their zero points, in int32; vectors by NumPy's rule."""
    if a_zero_point is not None:
        a_zero_point = _of_rows(emit, a_zero_point, a)
    if b_zero_point is not None:
        b_zero_point = _of_columns(emit, b_zero_point)
    left, right = _centred(emit, a, a_zero_point), _centred(emit, b, b_zero_point)
    shapes = tensor_shape(left), tensor_shape(right)
    if len(shapes[0]) == 1:
        left = emit.reshape(left, (1, *shapes[0]))
    if len(shapes[1]) == 1:
        right = emit.reshape(right, (*shapes[1], 1))
    product = emit(BatchMatMulOp(left, right))
    kept = list(tensor_shape(product))
    if len(shapes[1]) == 1:
        kept.pop()
    if len(shapes[0]) == 1:
        kept.pop(-1 if len(shapes[1]) == 1 else -2)
    return emit.reshape(product, kept)


@register_op("MatMulInteger")
def matmul_integer(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    a_zero_point: SSAValue | None = None,
    b_zero_point: SSAValue | None = None,
) -> SSAValue:
    """The product of 8-bit matrices in int32"""
    return integer_product(emit, a, b, a_zero_point, b_zero_point)


@register_op("QLinearMatMul")
def qlinear_matmul(
    emit: Emitter,
    a: SSAValue,
    a_scale: SSAValue,
    a_zero_point: SSAValue,
    b: SSAValue,
    b_scale: SSAValue,
    b_zero_point: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
) -> SSAValue:
    """The product of quantized matrices, quantized"""
    total = integer_product(emit, a, b, a_zero_point, b_zero_point)
    scale = emit(
        MulOp(
            emit.cast(_of_rows(emit, a_scale, a), f32),
            emit.cast(_of_columns(emit, b_scale), f32),
        )
    )
    return _requantized(emit, total, scale, y_scale, y_zero_point)


def _of_filters(emit: Emitter, value: SSAValue, axis: int, weight: SSAValue) -> SSAValue:
    """Return a scale or zero point of each filter so that it lies along an axis of a tensor."""
    own, filters = prod(tensor_shape(value)), tensor_shape(weight)[0]
    if own == 1:
        return emit.reshape(value, ())
    if own != filters:
        raise Refusal(f"expected one scale and zero point, or one a filter ({filters}), got {own}")
    rank = len(tensor_shape(weight))
    return emit.reshape(value, [own, *[1] * (rank - axis - 1)])


def _integer_conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    x_zero_point: SSAValue | None,
    w_zero_point: SSAValue | None,
    bias: SSAValue | None,
    attributes: ConvAttributes,
) -> SSAValue:
    """Convolve tensors less their zero points in int32, so that padding stands for zero."""
    if x_zero_point is not None:
        x_zero_point = emit.reshape(x_zero_point, ())
    if w_zero_point is not None:
        w_zero_point = _of_filters(emit, w_zero_point, 0, w)
    input, weight = _centred(emit, x, x_zero_point), _centred(emit, w, w_zero_point)
    padding, moves = attributes.padding(x, w), attributes.moves(w)
    return emit(ConvOp(input, weight, bias, padding=padding, **moves))


@register_op("ConvInteger")
def conv_integer(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    x_zero_point: SSAValue | None = None,
    w_zero_point: SSAValue | None = None,
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A convolution of 8-bit tensors in int32"""
    return _integer_conv(emit, x, w, x_zero_point, w_zero_point, None, attributes)


@register_op("QLinearConv")
def qlinear_conv(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue,
    w: SSAValue,
    w_scale: SSAValue,
    w_zero_point: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
    b: SSAValue | None = None,
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A convolution of quantized tensors, quantized"""
    total = _integer_conv(emit, x, w, x_zero_point, w_zero_point, b, attributes)
    of_weights = emit.cast(_of_filters(emit, w_scale, 1, w), f32)
    scale = emit(MulOp(emit.cast(emit.reshape(x_scale, ()), f32), of_weights))
    return _requantized(emit, total, scale, y_scale, y_zero_point)
