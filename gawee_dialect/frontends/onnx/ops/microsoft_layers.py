"""Ops of com.microsoft that ONNX Runtime's optimizer makes of several others.

https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import GeluOp, SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import FloorDivOp
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.elementary import TanhOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.onnx.held_types import HELD, dtype_of
from gawee_dialect.frontends.onnx.ops.activation import between, hard_sigmoid, leaky_relu
from gawee_dialect.frontends.onnx.ops.contraction import gemm, matmul
from gawee_dialect.frontends.onnx.ops.convolution import ConvAttributes, conv
from gawee_dialect.frontends.onnx.ops.normalization import layer_normalization, normalized
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Floats

MICROSOFT = "com.microsoft"


@register_op("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Sequence[SSAValue | None]:
    """The last axes moved to a mean square of 1, and one over the root of what it was"""
    rank = len(tensor_shape(x))
    value, _, inverse = normalized(
        emit, emit.cast(x, f32), list(range(axis % rank, rank)), epsilon, centre=False
    )
    return emit(MulOp(emit.cast(value, element_type(x)), scale)), inverse


def _joined(emit: Emitter, *values: SSAValue | None) -> SSAValue:
    total: SSAValue | None = None
    for each in values:
        if each is not None:
            total = each if total is None else emit(AddOp(total, each))
    assert total is not None
    return total


@register_op(f"{MICROSOFT}.SkipLayerNormalization")
def skip_layer_normalization(
    emit: Emitter,
    input: SSAValue,
    skip: SSAValue,
    gamma: SSAValue,
    beta: SSAValue | None = None,
    bias: SSAValue | None = None,
    epsilon: float = 1e-12,
) -> Sequence[SSAValue | None]:
    """Layer normalization of a sum, and the sum"""
    total = _joined(emit, input, skip, bias)
    made = layer_normalization(emit, total, gamma, beta, -1, epsilon)
    return (*(*made, None, None)[:3], total)


@register_op(f"{MICROSOFT}.SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(
    emit: Emitter,
    input: SSAValue,
    skip: SSAValue,
    gamma: SSAValue,
    bias: SSAValue | None = None,
    epsilon: float = 1e-12,
) -> Sequence[SSAValue | None]:
    """RMS normalization of a sum, and the sum"""
    total = _joined(emit, input, skip, bias)
    result, inverse = simplified_layer_normalization(emit, total, gamma, -1, epsilon)
    return result, None, inverse, total


@register_op(f"{MICROSOFT}.EmbedLayerNormalization")
def embed_layer_normalization(
    emit: Emitter,
    input_ids: SSAValue,
    segment_ids: SSAValue | None,
    word_embedding: SSAValue,
    position_embedding: SSAValue,
    segment_embedding: SSAValue | None,
    gamma: SSAValue,
    beta: SSAValue,
    mask: SSAValue | None = None,
    position_ids: SSAValue | None = None,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Sequence[SSAValue | None]:
    """Layer normalization of the sum of what words, places and segments have in tables"""
    batch, length = tensor_shape(input_ids)
    words = emit(GatherOp(word_embedding, input_ids))
    if position_ids is None:
        places = part(emit, position_embedding, 0, 0, length)
    else:
        places = emit(GatherOp(position_embedding, position_ids))
    segments = None
    if segment_ids is not None and segment_embedding is not None:
        segments = emit(GatherOp(segment_embedding, segment_ids))
    total = _joined(emit, words, places, segments)
    result = layer_normalization(emit, total, gamma, beta, -1, epsilon)[0]
    if mask is None:
        lengths = emit.full((batch,), 0, i32)
    else:
        lengths = emit(ReduceSumOp(emit.cast(mask, i32), axes=[1], keep_dims=False))
    return result, lengths, total


@register_op(f"{MICROSOFT}.BiasGelu")
def bias_gelu(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """gelu of a sum"""
    return emit(GeluOp(emit(AddOp(a, b))))


@register_op(f"{MICROSOFT}.FastGelu")
def fast_gelu(emit: Emitter, x: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """gelu of a sum, by tanh"""
    return emit(GeluOp(_joined(emit, x, bias), approximate="tanh"))


@register_op(f"{MICROSOFT}.Gelu")
def gelu(emit: Emitter, x: SSAValue) -> SSAValue:
    """x times the normal distribution's integral"""
    return emit(GeluOp(x))


@register_op(f"{MICROSOFT}.QuickGelu")
def quick_gelu(emit: Emitter, x: SSAValue, alpha: float = 1.702) -> SSAValue:
    """x * sigmoid(alpha * x)"""
    return emit(MulOp(x, emit(SigmoidOp(scaled(emit, x, alpha)))))


@register_op(f"{MICROSOFT}.FusedMatMul", f"{MICROSOFT}.TransposeMatMul")
def fused_matmul(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> SSAValue:
    """alpha * a' b', matrices or batches of them"""
    if transBatchA or transBatchB:
        raise Refusal("unsupported transBatchA and transBatchB; supported: 0")
    left = _turned(emit, a) if transA else a
    right = _turned(emit, b) if transB else b
    return scaled(emit, matmul(emit, left, right), alpha)


def _turned(emit: Emitter, value: SSAValue) -> SSAValue:
    axes = list(range(len(tensor_shape(value))))
    return permuted(emit, value, [*axes[:-2], axes[-1], axes[-2]]) if len(axes) > 1 else value


ACTIVATED: dict[str, Callable[[Emitter, SSAValue, Floats], SSAValue]] = {
    "Relu": lambda emit, x, _: emit(ReluOp(x)),
    "Sigmoid": lambda emit, x, _: emit(SigmoidOp(x)),
    "Tanh": lambda emit, x, _: emit(TanhOp(x)),
    "LeakyRelu": lambda emit, x, numbers: leaky_relu(emit, x, *numbers[:1]),
    "Clip": lambda emit, x, numbers: between(emit, x, numbers[0], numbers[1]),
    "HardSigmoid": lambda emit, x, numbers: hard_sigmoid(emit, x, *numbers[:2]),
}
"""Activations at the end of fused ops, with their parameters."""


def _activated(emit: Emitter, x: SSAValue, activation: str, numbers: Floats) -> SSAValue:
    if activation not in ACTIVATED:
        raise Refusal(f"unsupported activation '{activation}'; supported: {', '.join(ACTIVATED)}")
    return ACTIVATED[activation](emit, x, numbers)


@register_op(f"{MICROSOFT}.FusedConv")
def fused_conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    z: SSAValue | None = None,
    activation: str = "Relu",
    activation_params: Floats = (),
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A convolution, a sum and an activation"""
    made = _joined(emit, conv(emit, x, w, b, attributes=attributes), z)
    return _activated(emit, made, activation, activation_params)


@register_op(f"{MICROSOFT}.FusedGemm")
def fused_gemm(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    c: SSAValue | None = None,
    activation: str = "Relu",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> SSAValue:
    """alpha * a' b' + beta * c, and an activation"""
    numbers = [n for n in (activation_alpha, activation_beta, activation_gamma) if n is not None]
    made = gemm(emit, a, b, c, alpha, beta, transA, transB)
    return _activated(emit, made, activation, numbers)


def unpacked(emit: Emitter, value: SSAValue, bits: int) -> SSAValue:
    """Return numbers of some bits that bytes hold, the lowest first, along the last axis as int32.

    Raises Refusal for bits that are not 2, 4 or 8.
    """
    if bits not in (2, 4, 8):
        raise Refusal(f"unsupported weights of {bits} bits; supported: 2, 4, 8")
    wide, shape = emit.cast(value, i32), tensor_shape(value)
    if bits == 8:
        return wide
    count = 8 // bits
    divisors = emit.array(np.array([1 << bits * index for index in range(count)]), i32)
    apart = emit(FloorDivOp(emit.reshape(wide, (*shape, 1)), divisors))
    low = emit(BitwiseAndOp(apart, emit.number((1 << bits) - 1, i32)))
    return emit.reshape(low, (*shape[:-1], shape[-1] * count))


@register_op(f"{MICROSOFT}.MatMulNBits", limits=("2, 4 and 8 bits", "weights in order (no g_idx)"))
def matmul_n_bits(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue | None = None,
    g_idx: SSAValue | None = None,
    bias: SSAValue | None = None,
    K: int = 0,
    N: int = 0,
    accuracy_level: int = 0,
    bits: int = 4,
    block_size: int = 32,
    weight_prepacked: int = 0,
) -> SSAValue:
    """A product with weights of few bits, N x K; each block has a scale and a zero point"""
    if g_idx is not None or weight_prepacked:
        raise Refusal("unsupported g_idx and weight_prepacked; supported: weights in order")
    blocks, element = -(-K // block_size), element_type(a)
    numbers = emit.reshape(unpacked(emit, b, bits), (N, blocks, block_size))
    if zero_points is None:
        zero: SSAValue = emit.number(1 << bits - 1, element)
    elif element_type(zero_points) == element or dtype_of(emit, zero_points) in HELD:
        zero = emit.reshape(emit.cast(zero_points, element), (N, blocks, 1))
    else:
        rows = emit.reshape(zero_points, (N, -(-blocks * bits // 8)))
        zero = emit.cast(part(emit, unpacked(emit, rows, bits), 1, 0, blocks), element)
        zero = emit.reshape(zero, (N, blocks, 1))
    centred = emit(SubOp(emit.cast(numbers, element), zero))
    weights = emit(MulOp(centred, emit.reshape(emit.cast(scales, element), (N, blocks, 1))))
    whole = part(emit, emit.reshape(weights, (N, blocks * block_size)), 1, 0, K)
    return emit(MatMulOp(a, whole, bias))
