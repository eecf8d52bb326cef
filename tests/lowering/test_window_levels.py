"""Convolution, its transpose and pooling over one to three spatial axes, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp  # noqa: E402
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp  # noqa: E402
from gawee_dialect.dialect.graph.window import window_extent  # noqa: E402
from tests.lowering.native import numbers  # noqa: E402
from tests.lowering.one_op_levels import check_op  # noqa: E402

F = torch.nn.functional
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
AD_AVG_POOL = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
AD_MAX_POOL = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
SPATIAL = {1: (11,), 2: (6, 7), 3: (5, 6, 4)}

few = settings(max_examples=6)
all_axes = st.sampled_from([1, 2, 3])


def each(draw, axes, low, high):
    return draw(st.tuples(*[st.integers(low, high)] * axes))


def tensors(arrays):
    return [torch.from_numpy(array) for array in arrays]


def torch_pads(padding):
    """What F.pad takes, last axis first, of padding that lists befores, then afters."""
    axes = len(padding) // 2
    pairs = zip(reversed(padding[:axes]), reversed(padding[axes:]), strict=True)
    return [size for pair in pairs for size in pair]


@few
@given(st.data(), st.sampled_from([1, 3]))
def test_convolution_over_one_and_three_axes_matches_pytorch(data, axes):
    groups, channels, filters = (data.draw(st.integers(1, 3)) for _ in range(3))
    kernel, strides, dilations = (each(data.draw, axes, 1, 3) for _ in range(3))
    padding = each(data.draw, 2 * axes, 0, 2)
    extents = map(window_extent, kernel, dilations)
    sizes = [size + sum(padding[axis::axes]) for axis, size in enumerate(SPATIAL[axes])]
    assume(all(extent <= size for extent, size in zip(extents, sizes, strict=True)))
    arrays = [
        numbers(0, 2, groups * channels, *SPATIAL[axes]),
        numbers(1, groups * filters, channels, *kernel),
    ]
    if data.draw(st.booleans()):
        arrays.append(numbers(2, groups * filters))
    options = {"strides": strides, "padding": padding, "dilations": dilations, "groups": groups}

    def make(*args):
        return ConvOp(*args, **options)

    x, *rest = tensors(arrays)
    bias = rest[1] if len(rest) > 1 else None
    padded = F.pad(x, torch_pads(padding))
    expected = CONV[axes](padded, rest[0], bias, strides, 0, dilations, groups)
    check_op(make, arrays, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize(("channels", "groups"), [(4, 1), (4, 2), (4, 4)])
def test_convolution_over_one_axis_of_other_float_types(dtype, channels, groups):
    arrays = [
        numbers(0, 2, channels, 9, dtype=dtype),
        numbers(1, 4, channels // groups, 3, dtype=dtype),
    ]

    expected = F.conv1d(*tensors(arrays), stride=2, padding=1, groups=groups)

    check_op(
        lambda x, w: ConvOp(x, w, strides=[2], padding=[1, 1], groups=groups), arrays, expected
    )


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize(("axes", "groups"), [(1, 1), (2, 1), (2, 2), (2, 4), (3, 4)])
def test_convolution_of_integers_wraps_around(dtype, axes, groups):
    shapes = (2, 4, *SPATIAL[axes]), (8, 4 // groups, *[2, 3, 2][:axes]), (8,)
    integers = np.random.default_rng(0).integers
    x, weight, low = (integers(-100, 100, shape).astype(dtype) for shape in shapes)
    exact = [torch.from_numpy(each.astype(np.float64)) for each in (x, weight)]
    options = {"strides": [2] * axes, "padding": [1] * 2 * axes, "groups": groups}

    # Sums of products of such integers are exact in double precision.
    expected = CONV[axes](*exact, stride=2, padding=1, groups=groups)
    whole = expected.long() + torch.from_numpy(low).long().reshape(-1, *[1] * axes)

    check_op(
        lambda *args: ConvOp(*args, **options),
        [x, weight, low],
        torch.from_numpy(whole.numpy().astype(dtype)),
    )


@settings(max_examples=8)
@given(st.data(), all_axes)
def test_transposed_convolution_matches_pytorch(data, axes):
    groups, channels, filters = (data.draw(st.integers(1, 3)) for _ in range(3))
    kernel, strides, dilations = (each(data.draw, axes, 1, 3) for _ in range(3))
    padding = each(data.draw, axes, 0, 2)
    limits = [max(pair) for pair in zip(strides, dilations, strict=True)]
    output_padding = tuple(data.draw(st.integers(0, limit - 1)) for limit in limits)
    spatial = {1: (5,), 2: (4, 3), 3: (3, 2, 4)}[axes]
    sizes = [
        (size - 1) * stride + window_extent(k, dilation) + extra - 2 * pad
        for size, stride, k, dilation, extra, pad in zip(
            spatial, strides, kernel, dilations, output_padding, padding, strict=True
        )
    ]
    assume(min(sizes) >= 1)
    arrays = [
        numbers(0, 2, groups * channels, *spatial),
        numbers(1, groups * channels, filters, *kernel),
    ]
    if data.draw(st.booleans()):
        arrays.append(numbers(2, groups * filters))
    options = {
        "strides": strides,
        "output_padding": output_padding,
        "dilations": dilations,
        "groups": groups,
    }

    def make(*args):
        return ConvTransposeOp(*args, padding=padding * 2, **options)

    x, weight, *bias = tensors(arrays)
    expected = TRANSPOSED[axes](
        x, weight, bias[0] if bias else None, strides, padding, output_padding, groups, dilations
    )
    check_op(make, arrays, expected)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", [(0, 0, 0, 0), (1, 0, 0, 2)])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolution_whose_kernels_do_not_overlap(axes, padding, groups):
    kernel = (2, 3, 2)[:axes]
    padding = (*padding[:axes], *padding[-axes:]) if axes < 3 else (*padding[:2], 0, 1, 0, 0)
    spatial = (4, 3, 2)[:axes]
    arrays = [numbers(0, 2, 4, *spatial), numbers(1, 4, 3, *kernel), numbers(2, 3 * groups)]

    def make(*args):
        return ConvTransposeOp(*args, strides=kernel, padding=padding, groups=groups)

    full = TRANSPOSED[axes](*tensors(arrays), kernel, groups=groups)
    kept = [
        slice(before, size - after)
        for before, after, size in zip(padding[:axes], padding[axes:], full.shape[2:], strict=True)
    ]
    check_op(make, arrays, full[(slice(None), slice(None), *kept)])


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [(5, 0), (0, 5), (3, 4), (6, 0), (4, 6)])
def test_transposed_convolution_cuts_off_more_than_the_kernel_reaches(padding, stride):
    arrays = [numbers(0, 2, 3, 9), numbers(1, 3, 4, 3), numbers(2, 4)]
    full = F.conv_transpose1d(*tensors(arrays), stride)
    assert full.shape[-1] > sum(padding)

    def make(*args):
        return ConvTransposeOp(*args, strides=[stride], padding=padding)

    check_op(make, arrays, full[..., padding[0] : full.shape[-1] - padding[1]])


@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_transposed_convolution_of_other_float_types(dtype, stride):
    arrays = [numbers(0, 2, 3, 4, 5, dtype=dtype), numbers(1, 3, 2, 3, 3, dtype=dtype)]

    expected = F.conv_transpose2d(*tensors(arrays), stride=stride)

    check_op(lambda x, w: ConvTransposeOp(x, w, strides=(stride, stride)), arrays, expected)


def drawn_window(data, axes):
    kernel, strides = each(data.draw, axes, 1, 3), each(data.draw, axes, 1, 3)
    padding = tuple(data.draw(st.integers(0, size // 2)) for size in kernel)
    return kernel, strides, padding, data.draw(st.booleans())


@few
@given(st.data(), st.sampled_from([1, 3]))
def test_max_pooling_over_one_and_three_axes_matches_pytorch(data, axes):
    kernel, strides, padding, ceil_mode = drawn_window(data, axes)
    dilations = each(data.draw, axes, 1, 2)
    extents = map(window_extent, kernel, dilations)
    sizes = [size + 2 * pad for size, pad in zip(SPATIAL[axes], padding, strict=True)]
    assume(all(extent <= size for extent, size in zip(extents, sizes, strict=True)))
    x = numbers(0, 2, 3, *SPATIAL[axes])
    options = {"kernel": kernel, "strides": strides, "dilations": dilations}

    def make(value):
        return MaxPoolOp(value, padding=padding * 2, ceil_mode=ceil_mode, **options)

    expected = MAX_POOL[axes](torch.from_numpy(x), kernel, strides, padding, dilations, ceil_mode)
    check_op(make, [x], expected)


@few
@given(st.data(), st.sampled_from([1, 3]), st.booleans())
def test_average_pooling_over_one_and_three_axes_matches_pytorch(data, axes, with_padding):
    kernel, strides, padding, ceil_mode = drawn_window(data, axes)
    x = numbers(0, 2, 3, *SPATIAL[axes])
    options = {"ceil_mode": ceil_mode, "count_include_pad": with_padding}

    def make(value):
        return AvgPoolOp(value, kernel=kernel, strides=strides, padding=padding * 2, **options)

    expected = AVG_POOL[axes](torch.from_numpy(x), kernel, strides, padding, **options)
    check_op(make, [x], expected)


@few
@given(st.data(), all_axes)
def test_adaptive_max_pooling_matches_pytorch(data, axes):
    x = numbers(0, 2, 3, *SPATIAL[axes])
    size = each(data.draw, axes, 1, 7)

    expected = AD_MAX_POOL[axes](torch.from_numpy(x), size)

    check_op(lambda value: AdMaxPoolOp(value, output_size=size), [x], expected)


@pytest.mark.parametrize("size", [(3, 2), (2, 5)])
def test_adaptive_max_pooling_keeps_nan_and_takes_integers(size):
    x = numbers(0, 2, 3, 6, 4)
    x[0, 1, 3, 2] = np.nan
    integers = numbers(1, 2, 3, 6, 4, dtype="int32")

    check_op(
        lambda value: AdMaxPoolOp(value, output_size=size),
        [x],
        F.adaptive_max_pool2d(torch.from_numpy(x), size),
    )
    check_op(
        lambda value: AdMaxPoolOp(value, output_size=size),
        [integers],
        F.adaptive_max_pool2d(torch.from_numpy(integers).double(), size).int(),
    )


@few
@given(st.data(), st.sampled_from([1, 3]))
def test_adaptive_average_pooling_over_one_and_three_axes_matches_pytorch(data, axes):
    x = numbers(0, 2, 3, *SPATIAL[axes])
    size = each(data.draw, axes, 1, 7)

    expected = AD_AVG_POOL[axes](torch.from_numpy(x), size)

    check_op(lambda value: AdAvgPoolOp(value, output_size=size), [x], expected)
