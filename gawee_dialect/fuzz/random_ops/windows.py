"""Random ops that go over an image: convolutions, pools, resizing."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.python_value import PythonValueType
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import FLOATS, NUMBERS, Maker, value


@dataclass(frozen=True)
class Window:
    """A window, and spatial sizes that it fits into."""

    kernel: list[int]
    strides: list[int]
    padding: list[int]
    dilations: list[int]
    spatial: list[int]


def window(draw: Draw) -> Window:
    """Draw a window of one to three axes."""
    axes = draw.integer(1, 3)
    kernel, strides, dilations = (draw.integers(axes, 1, 3) for _ in range(3))
    extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    padding = [draw.integer(0, size - 1) for size in extent * 2]
    spatial = [size + draw.integer(0, 5) for size in extent]
    return Window(kernel, strides, padding, dilations, spatial)


def conv(draw: Draw) -> Operation:
    """Draw a convolution, grouped or not."""
    over = window(draw)
    groups, channels, filters = draw.integers(3, 1, 3)
    element = draw.one_of(NUMBERS)
    features = groups * filters
    return ConvOp(
        value(element, [draw.size(), groups * channels, *over.spatial]),
        value(element, [features, channels, *over.kernel]),
        value(element, [features]) if draw.chance() else None,
        strides=over.strides,
        padding=over.padding,
        dilations=over.dilations,
        groups=groups,
    )


def conv_transpose(draw: Draw) -> Operation:
    """Draw a transposed convolution."""
    over = window(draw)
    groups, channels, filters = draw.integers(3, 1, 3)
    element = draw.one_of(FLOATS)
    limits = [max(pair) for pair in zip(over.strides, over.dilations, strict=True)]
    return ConvTransposeOp(
        value(element, [draw.size(), groups * channels, *over.spatial]),
        value(element, [groups * channels, filters, *over.kernel]),
        value(element, [groups * filters]) if draw.chance() else None,
        strides=over.strides,
        # Less than half of what a kernel of one element leaves.
        padding=[draw.integer(0, (size - 1) // 2) for size in over.spatial * 2],
        output_padding=[draw.integer(0, limit - 1) for limit in limits],
        dilations=over.dilations,
        groups=groups,
    )


def max_pool(draw: Draw) -> Operation:
    """Draw a pool that takes the largest."""
    over = window(draw)
    return MaxPoolOp(
        value(draw.one_of(NUMBERS), [*draw.shape(2), *over.spatial]),
        kernel=over.kernel,
        strides=over.strides,
        padding=over.padding,
        dilations=over.dilations,
        ceil_mode=draw.chance(),
    )


def avg_pool(draw: Draw) -> Operation:
    """Draw a pool of means."""
    over = window(draw)
    limits = [min(p, k - 1) for p, k in zip(over.padding, over.kernel * 2, strict=True)]
    return AvgPoolOp(
        value(draw.one_of(FLOATS), [*draw.shape(2), *over.spatial]),
        kernel=over.kernel,
        strides=over.strides,
        padding=limits,
        ceil_mode=draw.chance(),
        count_include_pad=draw.chance(),
    )


def adaptive_pool(kind: type[AdAvgPoolOp] | type[AdMaxPoolOp]) -> Maker:
    """Return what draws a pool to a size."""

    def make(draw: Draw) -> Operation:
        axes = draw.integer(1, 3)
        input = value(draw.one_of(FLOATS), draw.shape(2 + axes))
        return kind(input, output_size=draw.shape(axes))

    return make


def grid_sample(draw: Draw) -> Operation:
    """Draw a sampling at positions that are data."""
    element, image = draw.one_of(FLOATS), draw.shape(4)
    return GridSampleOp(
        value(element, image),
        value(element, [image[0], *draw.shape(2), 2]),
        mode=draw.one_of(GridSampleOp.MODES),
        padding_mode=draw.one_of(GridSampleOp.PADDING_MODES),
        align_corners=draw.chance(),
    )


def interpolate(draw: Draw) -> Operation:
    """Draw a resizing; its size may be written beside values that it came from."""
    mode = draw.one_of(list(InterpolateOp.MODES))
    axes = draw.one_of(InterpolateOp.MODES[mode])
    choosing = mode in InterpolateOp.CHOOSING
    python = TestOp(result_types=[PythonValueType()] * 2).results
    scalars = [value(i64, []), value(i64, [])]
    size_from: Sequence[Sequence[SSAValue]] = ((), scalars, python, python[:1])
    return InterpolateOp(
        value(draw.one_of(FLOATS), draw.shape(2 + axes)),
        size=draw.shape(axes),
        mode=mode,
        align_corners=not choosing and draw.chance(),
        float_positions=choosing and draw.chance(),
        scales=tuple(draw.real(0.01, 100) for _ in range(axes)) if draw.chance() else None,
        size_from=draw.one_of(size_from),
    )
