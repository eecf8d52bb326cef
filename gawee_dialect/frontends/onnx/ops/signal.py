"""Fourier transforms, and filters."""

import numpy as np
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.elementwise import MulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.held_types import constant, dtype_of_code
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, part
from gawee_dialect.frontends.op_mapping.fourier import transformed
from gawee_dialect.frontends.op_mapping.registry import KnownArray, KnownIntsOrNone, Refusal


@register_op("DFT", since=20)
def dft(
    emit: Emitter,
    input: SSAValue,
    dft_length: KnownIntsOrNone = None,
    axis: KnownIntsOrNone = None,
    inverse: int = 0,
    onesided: int = 0,
) -> SSAValue:
    """The discrete Fourier transform of an axis"""
    at = axis_of(input, -2 if axis is None else axis[0])
    return _dft(emit, input, dft_length, at, inverse, onesided)


@register_op("DFT")
def dft_before(
    emit: Emitter,
    input: SSAValue,
    dft_length: KnownIntsOrNone = None,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> SSAValue:
    """As it was before opset 20"""
    return _dft(emit, input, dft_length, axis_of(input, axis), inverse, onesided)


def _dft(
    emit: Emitter,
    input: SSAValue,
    dft_length: KnownIntsOrNone,
    axis: int,
    inverse: int,
    onesided: int,
) -> SSAValue:
    size = tensor_shape(input)[axis]
    length = 2 * (size - 1) if inverse and onesided else size
    if dft_length:
        length = dft_length[0]
    return transformed(emit, input, axis, length, inverse=bool(inverse), onesided=bool(onesided))


@register_op("STFT")
def stft(
    emit: Emitter,
    signal: SSAValue,
    frame_step: KnownIntsOrNone,
    window: SSAValue | None = None,
    frame_length: KnownIntsOrNone = None,
    onesided: int = 1,
) -> SSAValue:
    """The Fourier transforms of frames of a signal (batch x time x 1 or 2)"""
    if not frame_step:
        raise Refusal("expected argument 'frame_step', got none")
    batch, times, parts = (*tensor_shape(signal), 1)[:3]
    signal = emit.reshape(signal, (batch, times, parts))
    length = tensor_shape(window)[0] if window is not None else 0
    length = frame_length[0] if frame_length else length
    count = 1 + (times - length) // frame_step[0]
    if count < 1 or length < 1:
        raise Refusal(f"expected frames within the signal's {times} elements, got {length}")
    frames = [
        emit.reshape(
            part(emit, signal, 1, index * frame_step[0], length), (batch, 1, length, parts)
        )
        for index in range(count)
    ]
    joint = frames[0] if count == 1 else emit(CatOp(frames, dim=1))
    if window is not None:
        joint = emit(MulOp(joint, emit.reshape(window, (length, 1))))
    return transformed(emit, joint, 2, length, inverse=False, onesided=bool(onesided))


@register_op("MelWeightMatrix")
def mel_weight_matrix(
    emit: Emitter,
    num_mel_bins: KnownArray,
    dft_length: KnownArray,
    sample_rate: KnownArray,
    lower_edge_hertz: KnownArray,
    upper_edge_hertz: KnownArray,
    output_datatype: int = 1,
) -> SSAValue:
    """Triangles on the scale of mel, computed when the graph is read"""

    bins, size, rate = (int(each.item()) for each in (num_mel_bins, dft_length, sample_rate))
    check_size(bins * size)
    low, high = (
        2595 * np.log10(1 + float(each.item()) / 700)
        for each in (lower_edge_hertz, upper_edge_hertz)
    )
    mel = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    edges = ((size + 1) * (700 * (10 ** (mel / 2595) - 1)) // rate).astype(np.int64)
    lines = np.arange(size // 2 + 1)
    table = np.zeros((len(lines), bins))
    for column in range(bins):
        left, middle, right = (int(each) for each in edges[column : column + 3])
        rising = np.where((lines >= left) & (lines <= middle), lines - left, 0)
        falling = np.where((lines >= middle) & (lines < right), right - lines, 0)
        up = rising / max(middle - left, 1) if middle > left else (lines == middle) * 1.0
        down = falling / max(right - middle, 1)
        table[:, column] = np.where((lines >= middle) & (lines < right), down, up)
    return constant(emit, table, dtype_of_code(output_datatype))
