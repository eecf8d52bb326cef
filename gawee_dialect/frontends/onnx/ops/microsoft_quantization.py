"""Quantized ops of com.microsoft, on integers where ONNX Runtime computes on integers.

Those on elements alone (QLinearAdd and the like) are computed on the numbers that integers stand
for, and quantized again.

https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import SigmoidOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.quantization import axis_map
from gawee_dialect.dialect.graph.reduction import ReduceMeanOp, SoftmaxOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.onnx.held_types import dtype_of
from gawee_dialect.frontends.onnx.ops.elementwise import leaky_relu
from gawee_dialect.frontends.onnx.ops.microsoft import MICROSOFT, attention_of_projected
from gawee_dialect.frontends.onnx.ops.quantization import (
    dequantize_linear,
    dynamic_quantize_linear,
    integer_product,
    quantize_linear,
    quantized,
)
from gawee_dialect.frontends.onnx.ops.recurrent import Recurrence, lstm_layer
from gawee_dialect.frontends.onnx.ops.windows import PoolAttributes, average_pool
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axes_of, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Ints, Refusal, Tensors


def _real(emit: Emitter, x: SSAValue, scale: SSAValue, zero_point: SSAValue | None) -> SSAValue:
    return dequantize_linear(emit, x, scale, zero_point)


def _quantized(
    emit: Emitter, real: SSAValue, scale: SSAValue, zero_point: SSAValue | None, dtype: str
) -> SSAValue:
    """Return numbers in a scale, of the type of a zero point or else of an input."""
    if zero_point is not None:
        return quantize_linear(emit, real, scale, zero_point)
    map = axis_map(len(tensor_shape(real)))
    return quantized(emit, real, emit.reshape(scale, ()), None, dtype, map)


def _of_two(function: Callable[[SSAValue, SSAValue], AddOp | MulOp]) -> Callable[..., SSAValue]:
    """Return the mapping of an op on pairs of quantized elements."""

    def mapping(
        emit: Emitter,
        a: SSAValue,
        a_scale: SSAValue,
        a_zero_point: SSAValue | None,
        b: SSAValue,
        b_scale: SSAValue,
        b_zero_point: SSAValue | None,
        c_scale: SSAValue,
        c_zero_point: SSAValue | None = None,
    ) -> SSAValue:
        left, right = _real(emit, a, a_scale, a_zero_point), _real(emit, b, b_scale, b_zero_point)
        return _quantized(
            emit, emit(function(left, right)), c_scale, c_zero_point, dtype_of(emit, a)
        )

    return mapping


register_op(f"{MICROSOFT}.QLinearAdd")(_of_two(AddOp))
register_op(f"{MICROSOFT}.QLinearMul")(_of_two(MulOp))


@register_op(f"{MICROSOFT}.QLinearSigmoid")
def qlinear_sigmoid(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue | None,
    y_scale: SSAValue,
    y_zero_point: SSAValue | None = None,
) -> SSAValue:
    """The sigmoid of quantized elements"""
    made = emit(SigmoidOp(_real(emit, x, x_scale, x_zero_point)))
    return _quantized(emit, made, y_scale, y_zero_point, dtype_of(emit, x))


@register_op(f"{MICROSOFT}.QLinearLeakyRelu")
def qlinear_leaky_relu(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue | None,
    y_scale: SSAValue,
    y_zero_point: SSAValue | None = None,
    alpha: float = 0.01,
) -> SSAValue:
    """Quantized elements with another slope below zero"""
    made = leaky_relu(emit, _real(emit, x, x_scale, x_zero_point), alpha)
    return _quantized(emit, made, y_scale, y_zero_point, dtype_of(emit, x))


@register_op(f"{MICROSOFT}.QLinearSoftmax")
def qlinear_softmax(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue | None,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
    axis: int = -1,
    opset: int = 13,
) -> SSAValue:
    """The softmax of quantized elements"""
    real, shape = _real(emit, x, x_scale, x_zero_point), tensor_shape(x)
    if opset < 13 and axis % len(shape) != len(shape) - 1:
        raise Refusal(f"unsupported axis {axis} of opset {opset}; supported: the last one")
    return _quantized(emit, emit(SoftmaxOp(real, axis=axis)), y_scale, y_zero_point, "uint8")


@register_op(f"{MICROSOFT}.QLinearConcat")
def qlinear_concat(
    emit: Emitter, y_scale: SSAValue, y_zero_point: SSAValue, inputs: Tensors, axis: int
) -> SSAValue:
    """Quantized tensors one behind the other, each of its own scale; inputs are threes"""
    if len(inputs) % 3:
        raise Refusal(
            f"expected a scale and a zero point of each tensor, got {len(inputs)} tensors"
        )
    parts = [
        _quantized(emit, _real(emit, *inputs[at : at + 3]), y_scale, y_zero_point, "uint8")
        for at in range(0, len(inputs), 3)
    ]
    return emit(CatOp(parts, dim=axis)) if len(parts) > 1 else parts[0]


@register_op(f"{MICROSOFT}.QLinearWhere")
def qlinear_where(
    emit: Emitter,
    condition: SSAValue,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue,
    y: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
    z_scale: SSAValue,
    z_zero_point: SSAValue,
) -> SSAValue:
    """Choose quantized elements by a condition"""
    one, other = _real(emit, x, x_scale, x_zero_point), _real(emit, y, y_scale, y_zero_point)
    chosen = emit(WhereOp(condition, one, other))
    return _quantized(emit, chosen, z_scale, z_zero_point, dtype_of(emit, x))


@register_op(f"{MICROSOFT}.QLinearReduceMean")
def qlinear_reduce_mean(
    emit: Emitter,
    data: SSAValue,
    data_scale: SSAValue,
    data_zero_point: SSAValue | None,
    reduced_scale: SSAValue,
    reduced_zero_point: SSAValue | None = None,
    axes: Ints = (),
    keepdims: int = 1,
) -> SSAValue:
    """The mean of quantized elements over axes"""
    real = _real(emit, data, data_scale, data_zero_point)
    mean = emit(ReduceMeanOp(real, axes=axes_of(real, axes), keep_dims=bool(keepdims)))
    return _quantized(emit, mean, reduced_scale, reduced_zero_point, dtype_of(emit, data))


def _channels_first(emit: Emitter, x: SSAValue, last: int) -> SSAValue:
    rank = len(tensor_shape(x))
    return permuted(emit, x, (0, rank - 1, *range(1, rank - 1))) if last else x


def _as_it_was(emit: Emitter, x: SSAValue, last: int) -> SSAValue:
    rank = len(tensor_shape(x))
    return permuted(emit, x, (0, *range(2, rank), 1)) if last else x


@register_op(f"{MICROSOFT}.QLinearGlobalAveragePool")
def qlinear_global_average_pool(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
    channels_last: int = 0,
) -> SSAValue:
    """The mean of each channel of a quantized image"""
    real = _channels_first(emit, _real(emit, x, x_scale, x_zero_point), channels_last)
    axes = list(range(2, len(tensor_shape(real))))
    mean = _as_it_was(emit, emit(ReduceMeanOp(real, axes=axes, keep_dims=True)), channels_last)
    return _quantized(emit, mean, y_scale, y_zero_point, dtype_of(emit, x))


@register_op(f"{MICROSOFT}.QLinearAveragePool")
def qlinear_average_pool(
    emit: Emitter,
    x: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue | None,
    y_scale: SSAValue,
    y_zero_point: SSAValue | None = None,
    channels_last: int = 0,
    count_include_pad: int = 0,
    *,
    attributes: PoolAttributes,
) -> SSAValue:
    """The mean of each window of a quantized image"""
    real = _channels_first(emit, _real(emit, x, x_scale, x_zero_point), channels_last)
    mean = average_pool(emit, real, count_include_pad, attributes=attributes)
    made = _as_it_was(emit, mean, channels_last)
    return _quantized(emit, made, y_scale, y_zero_point, dtype_of(emit, x))


def _column_numbers(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return one scale as a scalar, several as those of columns."""
    return emit.reshape(value, ()) if tensor_shape(value) == (1,) else value


@register_op(f"{MICROSOFT}.MatMulIntegerToFloat")
def matmul_integer_to_float(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    a_scale: SSAValue,
    b_scale: SSAValue,
    a_zero_point: SSAValue | None = None,
    b_zero_point: SSAValue | None = None,
    bias: SSAValue | None = None,
) -> SSAValue:
    """The product of 8-bit matrices as the floats that it stands for"""
    total = emit.cast(integer_product(emit, a, b, a_zero_point, b_zero_point), f32)
    scale = emit(MulOp(_column_numbers(emit, a_scale), _column_numbers(emit, b_scale)))
    real = emit(MulOp(total, scale))
    return real if bias is None else emit(AddOp(real, bias))


@register_op(f"{MICROSOFT}.DynamicQuantizeMatMul")
def dynamic_quantize_matmul(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    b_scale: SSAValue,
    b_zero_point: SSAValue | None = None,
    bias: SSAValue | None = None,
) -> SSAValue:
    """The product of a matrix that is quantized for it and a quantized one"""
    quantized, scale, zero_point = dynamic_quantize_linear(emit, a)
    return matmul_integer_to_float(
        emit, quantized, b, scale, b_scale, zero_point, b_zero_point, bias
    )


@register_op(f"{MICROSOFT}.QGemm")
def qgemm(
    emit: Emitter,
    a: SSAValue,
    a_scale: SSAValue,
    a_zero_point: SSAValue,
    b: SSAValue,
    b_scale: SSAValue,
    b_zero_point: SSAValue,
    c: SSAValue | None = None,
    y_scale: SSAValue | None = None,
    y_zero_point: SSAValue | None = None,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> SSAValue:
    """alpha * a' b' + c of quantized matrices; floats where no scale of the result is given"""
    left = permuted(emit, a, (1, 0)) if transA else a
    right = permuted(emit, b, (1, 0)) if transB else b
    total = integer_product(emit, left, right, a_zero_point, b_zero_point)
    if c is not None:
        total = emit(AddOp(total, c))
    scale = emit(MulOp(emit.reshape(a_scale, ()), _column_numbers(emit, b_scale)))
    real = emit(MulOp(emit.cast(total, f32), scaled(emit, scale, alpha)))
    if y_scale is None:
        return real
    return _quantized(emit, real, y_scale, y_zero_point, dtype_of(emit, a))


@register_op(f"{MICROSOFT}.QAttention", limits=("no do_rotary, no shared buffer of past states",))
def qattention(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue,
    input_scale: SSAValue,
    weight_scale: SSAValue,
    mask_index: SSAValue | None = None,
    input_zero_point: SSAValue | None = None,
    weight_zero_point: SSAValue | None = None,
    past: SSAValue | None = None,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int = 1,
    past_present_share_buffer: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Sequence[SSAValue | None]:
    """Attention of a quantized sequence to itself, whose projection is on integers"""
    if do_rotary or past_present_share_buffer:
        raise Refusal("unsupported do_rotary and past_present_share_buffer; supported: 0")
    projected = matmul_integer_to_float(
        emit,
        *(input, weight, input_scale, weight_scale, input_zero_point, weight_zero_point, bias),
    )
    others = (mask_index, past, None)
    return attention_of_projected(
        emit, projected, others, None, num_heads, mask_filter_value, scale, unidirectional
    )


@register_op(f"{MICROSOFT}.DynamicQuantizeLSTM")
def dynamic_quantize_lstm(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None,
    sequence_lens: SSAValue | None,
    initial_h: SSAValue | None,
    initial_c: SSAValue | None,
    p: SSAValue | None,
    w_scale: SSAValue,
    w_zero_point: SSAValue,
    r_scale: SSAValue,
    r_zero_point: SSAValue,
    input_forget: int = 0,
    *,
    attributes: Recurrence,
) -> Sequence[SSAValue]:
    """An LSTM with quantized weights (direction x inputs x gates): what they multiply is quantized
    for it, the input for all steps at once, the state at each step"""
    if input_forget:
        raise Refusal("unsupported input_forget; supported: 0")
    scales = {"w": (w_scale, w_zero_point), "r": (r_scale, r_zero_point)}

    def product(
        which: str, direction: int, value: SSAValue, weights: SSAValue, bias: SSAValue | None
    ) -> SSAValue:
        scale, zero_point = (_of_direction(emit, each, direction) for each in scales[which])
        return dynamic_quantize_matmul(emit, value, weights, scale, zero_point, bias)

    tensors, starts = (x, w, r, b, sequence_lens), (initial_h, initial_c)
    return lstm_layer(emit, tensors, starts, p, attributes, product)


def _of_direction(emit: Emitter, value: SSAValue, direction: int) -> SSAValue:
    """Return the scale or zero point of a direction: one number, or one for each gate's column."""
    shape = tensor_shape(value)
    taken = part(emit, value, 0, direction, 1) if shape and shape[0] > 1 else value
    size = prod(tensor_shape(taken))
    return emit.reshape(taken, (size,) if size > 1 else ())
