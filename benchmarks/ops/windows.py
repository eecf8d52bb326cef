"""Ops that multiply and add, and those that move windows over images."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from xdsl.ir import SSAValue

from benchmarks.ops.case import Case
from benchmarks.ops.operands import normal, unit
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.types import tensor_shape

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def conv(
    name: str, axes: int, images: Sequence[Sequence[int]], window: int, stride: int = 1
) -> Case:
    """Return a convolution of (channels, filters, size) that keeps the size but for the stride."""
    padding = window // 2
    return Case(
        name,
        lambda x, w: ConvOp(x, w, strides=[stride] * axes, padding=[padding] * 2 * axes),
        lambda x, w: CONV[axes](x, w, stride=stride, padding=padding),
        [
            [normal(1, channels, *[size] * axes), normal(filters, channels, *[window] * axes)]
            for channels, filters, size in images
        ],
        weights=1,
    )


def depthwise(window: int) -> Case:
    """Return a convolution of each channel for itself."""
    padding = window // 2
    return Case(
        f"conv {window}x{window}, depthwise",
        lambda x, w: ConvOp(
            x,
            w,
            strides=[1, 1],
            padding=[padding] * 4,
            groups=tensor_shape(w)[0],
        ),
        lambda x, w: F.conv2d(x, w, padding=padding, groups=w.shape[0]),
        [
            [normal(1, channels, size, size), normal(channels, 1, window, window)]
            for channels, size in ((32, 14), (96, 56), (144, 112))
        ],
        weights=1,
    )


def transposed(
    name: str, axes: int, images: Sequence[Sequence[int]], window: int, padding: int, more: int
) -> Case:
    """Return a transposed convolution of (channels, filters, size) that doubles the size."""
    return Case(
        name,
        lambda x, w: ConvTransposeOp(
            x,
            w,
            strides=[2] * axes,
            padding=[padding] * 2 * axes,
            output_padding=[more] * axes,
        ),
        lambda x, w: TRANSPOSED[axes](x, w, stride=2, padding=padding, output_padding=more),
        [
            [normal(1, channels, *[size] * axes), normal(channels, filters, *[window] * axes)]
            for channels, filters, size in images
        ],
        weights=1,
    )


UP = ((32, 16, 7), (64, 32, 28), (128, 64, 56))

CONVOLUTIONS = [
    conv("conv 1x1", 2, [(32, 64, 14), (128, 128, 28), (256, 256, 56)], 1),
    conv("conv 3x3", 2, [(16, 32, 14), (64, 64, 28), (128, 128, 56)], 3),
    conv("conv 3x3 / 2", 2, [(16, 32, 14), (64, 64, 28), (128, 128, 56)], 3, 2),
    conv("conv 7x7 / 2, 3 channels", 2, [(3, 16, 32), (3, 64, 112), (3, 64, 224)], 7, 2),
    conv("conv of 3, one axis", 1, [(16, 32, 128), (64, 64, 512), (128, 256, 2048)], 3),
    conv("conv 3x3x3", 3, [(8, 8, 8), (16, 32, 16), (32, 64, 24)], 3),
    conv("conv 3x3x3, 3 channels", 3, [(3, 8, 8), (3, 32, 24), (3, 64, 32)], 3),
    depthwise(3),
    depthwise(7),
    transposed("conv_transpose 2x2 / 2", 2, UP, 2, 0, 0),
    transposed("conv_transpose 3x3 / 2", 2, UP, 3, 1, 1),
    transposed("conv_transpose 4x4 / 2", 2, UP, 4, 1, 0),
    transposed("conv_transpose 5x5 / 2", 2, UP, 5, 2, 1),
    transposed(
        "conv_transpose of 4 / 2, one axis",
        1,
        [(32, 16, 64), (64, 32, 256), (128, 64, 1024)],
        4,
        1,
        0,
    ),
    transposed("conv_transpose 4x4x4 / 2", 3, [(8, 8, 4), (32, 16, 8), (64, 32, 12)], 4, 1, 0),
]

PRODUCTS = [
    Case(
        "matmul",
        lambda x, w, b: MatMulOp(x, w, b),
        F.linear,
        [
            [normal(m, k), normal(n, k), normal(n)]
            for m, k, n in ((8, 64, 64), (128, 256, 768), (512, 1024, 1024))
        ],
        weights=2,
    ),
    Case(
        "matmul, one row",
        lambda x, w, b: MatMulOp(x, w, b),
        F.linear,
        [[normal(1, k), normal(n, k), normal(n)] for k, n in ((64, 64), (512, 1000), (2048, 4096))],
        weights=2,
    ),
    Case(
        "batch_matmul",
        BatchMatMulOp,
        torch.matmul,
        [
            [normal(b, m, k), normal(b, k, n)]
            for b, m, k, n in ((4, 16, 32, 16), (8, 128, 64, 128), (32, 256, 64, 256))
        ],
    ),
    Case(
        "batch_matmul by one matrix",
        BatchMatMulOp,
        torch.matmul,
        [
            [normal(b, m, k), normal(k, n)]
            for b, m, k, n in ((16, 32, 10, 64), (256, 32, 100, 128), (1024, 32, 100, 512))
        ],
    ),
    Case(
        "attention",
        lambda q, k, v: AttentionOp(q, k, v),
        F.scaled_dot_product_attention,
        [
            [normal(1, heads, length, width) for _ in range(3)]
            for heads, length, width in ((2, 32, 32), (8, 128, 64), (12, 512, 64))
        ],
    ),
]

IMAGES = ((1, 16, 28, 28), (1, 64, 56, 56), (4, 64, 112, 112))
PICTURES = ((1, 3, 32, 32), (1, 16, 64, 64), (1, 64, 128, 128))


def upsampled(mode: str) -> Case:
    """Return the interpolation to twice the size."""

    def op(x: SSAValue) -> InterpolateOp:
        *_, height, width = tensor_shape(x)
        return InterpolateOp(x, size=[2 * height, 2 * width], mode=mode)

    def eager(x: torch.Tensor) -> torch.Tensor:
        size = (2 * x.shape[2], 2 * x.shape[3])
        align = None if mode == "nearest" else False
        return F.interpolate(x, size, mode=mode, align_corners=align)

    return Case(f"interpolate, {mode}", op, eager, [[normal(*shape)] for shape in PICTURES])


WINDOWS = [
    Case(
        "max_pool",
        lambda x: MaxPoolOp(x, kernel=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]),
        lambda x: F.max_pool2d(x, 3, 2, 1),
        [[normal(*shape)] for shape in IMAGES],
    ),
    Case(
        "avg_pool",
        lambda x: AvgPoolOp(x, kernel=[2, 2], strides=[2, 2]),
        lambda x: F.avg_pool2d(x, 2),
        [[normal(*shape)] for shape in IMAGES],
    ),
    Case(
        "ad_avg_pool",
        lambda x: AdAvgPoolOp(x, output_size=[7, 7]),
        lambda x: F.adaptive_avg_pool2d(x, 7),
        [[normal(*shape)] for shape in IMAGES],
    ),
    Case(
        "ad_max_pool",
        lambda x: AdMaxPoolOp(x, output_size=[7, 7]),
        lambda x: F.adaptive_max_pool2d(x, 7),
        [[normal(*shape)] for shape in IMAGES],
    ),
    *map(upsampled, ("nearest", "bilinear", "bicubic")),
    Case(
        "grid_sample",
        GridSampleOp,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        [[normal(*shape), unit(1, *shape[2:], 2)] for shape in PICTURES],
    ),
]

CASES: Sequence[Case] = (*CONVOLUTIONS, *PRODUCTS, *WINDOWS)
