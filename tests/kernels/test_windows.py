"""Convolutions and pools as kernels, compiled, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp  # noqa: E402
from gawee_dialect.dialect.graph.pool import AvgPoolOp, MaxPoolOp  # noqa: E402
from gawee_dialect.dialect.graph.window import window_extent  # noqa: E402
from tests.kernels.compiled import EXACT, PLAIN, WAYS, check, module_of, small  # noqa: E402

F = torch.nn.functional
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
few = settings(max_examples=6)
ways = st.sampled_from(WAYS)

# Channels on both sides of a vector's lanes; (groups, channels of a group, filters of a group).
DENSE = st.tuples(
    st.just(1), st.sampled_from([1, 3, 8, 16, 19]), st.sampled_from([1, 7, 16, 24, 33])
)
GROUPED = st.tuples(st.integers(2, 3), st.sampled_from([2, 8, 16]), st.sampled_from([3, 8, 16, 32]))
DEPTHWISE = st.tuples(st.sampled_from([7, 16, 24]), st.just(1), st.integers(1, 2))


def each(axes, low, high):
    return st.tuples(*[st.integers(low, high)] * axes)


def torch_pads(padding):
    """What F.pad takes, last axis first, of padding that lists befores, then afters."""
    axes = len(padding) // 2
    pairs = zip(reversed(padding[:axes]), reversed(padding[axes:]), strict=True)
    return [size for pair in pairs for size in pair]


@few
@given(
    st.data(),
    st.sampled_from([1, 2, 2, 3]),
    st.one_of(DENSE, GROUPED, DEPTHWISE),
    ways,
    st.sampled_from(["float32", "float32", "float64", "float16"]),
)
def test_convolution_matches_pytorch(data, axes, groups_channels_filters, way, dtype):
    groups, channels, filters = groups_channels_filters
    sizes, kernel = data.draw(each(axes, 4, 9)), data.draw(each(axes, 1, 3))
    strides, dilations = data.draw(each(axes, 1, 2)), data.draw(each(axes, 1, 2))
    padding = data.draw(each(2 * axes, 0, 2))
    extents = map(window_extent, kernel, dilations)
    padded = [size + sum(padding[axis::axes]) for axis, size in enumerate(sizes)]
    assume(all(extent <= size for extent, size in zip(extents, padded, strict=True)))
    arrays = [
        small(0, data.draw(st.integers(1, 2)), groups * channels, *sizes, dtype=dtype),
        small(1, groups * filters, channels, *kernel, dtype=dtype),
        small(2, groups * filters, dtype=dtype),
    ]
    options = {"strides": strides, "padding": padding, "dilations": dilations, "groups": groups}

    def build(*args):
        return ReluOp(ConvOp(*args, **options).output).output

    x, w, b = map(torch.from_numpy, arrays)
    padded = F.pad(x, torch_pads(padding))
    expected = CONV[axes](padded, w, b, strides, 0, dilations, groups).relu()
    # Weights that are inputs are not packed.
    check(build, arrays, expected, way, parameters=data.draw(st.sampled_from([0, 2])))


# Of the last two 7 columns a row are joined with 16 registers, of the first one too with stride 1; the
# second one reads windows with a halo around.
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("stride", [1, 2])
def test_positions_of_short_rows_match_pytorch(stride, way):
    arrays = [
        small(0, 2, 32, *([6 * stride + 1] * 2)),
        small(1, 48, 32, 1, 1),
        small(2, 64, 48, 3, 3),
        small(3, 64),
        small(4, 40, 64, 1, 1),
    ]

    def build(x, w, middle, bias, last):
        one = {"padding": [0] * 4, "dilations": [1, 1], "groups": 1}
        first = ConvOp(x, w, strides=[1, 1], **one).output
        windows = {**one, "padding": [1] * 4, "strides": [stride, stride]}
        second = ReluOp(ConvOp(first, middle, bias, **windows).output).output
        third = ConvOp(second, last, strides=[1, 1], **one).output
        return AddOp(third, third).output

    x, w, middle, bias, last = map(torch.from_numpy, arrays)
    second = F.conv2d(F.conv2d(x, w), middle, bias, stride, 1).relu()
    check(build, arrays, 2 * F.conv2d(second, last), way, parameters=4)


# Of 40 channels in blocks of 8, vectors of 16 lanes are in two blocks, the last one in half of two.
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_sums_in_vectors_of_two_blocks_match_pytorch(way):
    arrays = [
        small(0, 2, 19, 7, 9),
        small(1, 40, 19, 3, 3),
        small(2, 40),
        small(3, 40, 19, 1, 1),
        small(4, 24, 40, 1, 1),
    ]

    def build(x, w, b, shortcut, last):
        beside = ConvOp(x, shortcut, strides=[2, 2]).output
        main = ConvOp(x, w, b, strides=[2, 2], padding=[1] * 4).output
        return ConvOp(ReluOp(AddOp(main, beside).output).output, last).output

    x, w, b, shortcut, last = map(torch.from_numpy, arrays)
    added = F.conv2d(x, w, b, 2, 1) + F.conv2d(x, shortcut, stride=2)
    check(build, arrays, F.conv2d(added.relu(), last), way, parameters=4)


# Kernels that strides divide, others that are larger and smaller, strides of many phases.
@settings(max_examples=10)
@given(
    st.data(),
    st.sampled_from([1, 2, 2, 3]),
    st.one_of(DENSE, GROUPED, DEPTHWISE),
    ways,
    st.sampled_from(["float32", "float32", "float64", "float16"]),
)
def test_transposed_convolution_matches_pytorch(data, axes, groups_channels_filters, way, dtype):
    groups, channels, filters = groups_channels_filters
    sizes, kernel = data.draw(each(axes, 2, 6)), data.draw(each(axes, 1, 5))
    strides, dilations = data.draw(each(axes, 1, 4)), data.draw(each(axes, 1, 2))
    limits = [max(pair) for pair in zip(strides, dilations, strict=True)]
    more = [data.draw(st.integers(0, limit - 1)) for limit in limits]
    padding = data.draw(each(axes, 0, 2))
    reach = map(window_extent, kernel, dilations)
    full = [
        (size - 1) * stride + extent + extra
        for size, stride, extent, extra in zip(sizes, strides, reach, more, strict=True)
    ]
    assume(all(2 * cut < size for cut, size in zip(padding, full, strict=True)))
    arrays = [
        small(0, data.draw(st.integers(1, 2)), groups * channels, *sizes, dtype=dtype),
        small(1, groups * channels, filters, *kernel, dtype=dtype),
        small(2, groups * filters, dtype=dtype),
    ]
    options = {"strides": strides, "dilations": dilations, "groups": groups}

    def build(*args):
        result = ConvTransposeOp(*args, padding=[*padding] * 2, output_padding=more, **options)
        return ReluOp(result.result).output

    x, w, b = map(torch.from_numpy, arrays)
    expected = TRANSPOSED[axes](x, w, b, strides, padding, more, groups, dilations).relu()
    check(build, arrays, expected, way, parameters=data.draw(st.sampled_from([0, 2])))


def test_what_reads_a_transposed_convolution_may_pad_it() -> None:
    arrays = [small(0, 1, 16, 5, 4), small(1, 16, 16, 3, 3), small(2, 19, 16, 3, 3)]

    def build(x, w, v):
        wide = ConvTransposeOp(x, w, strides=[2, 2], padding=[1] * 4, output_padding=[1, 1])
        return ConvOp(ReluOp(wide.result).output, v, padding=[1] * 4).output

    x, w, v = map(torch.from_numpy, arrays)
    expected = F.conv2d(F.conv_transpose2d(x, w, None, 2, 1, 1).relu(), v, padding=1)
    for way in WAYS:
        check(build, arrays, expected, way, parameters=2)


@few
@given(st.data(), st.sampled_from([1, 2, 2, 3]), st.sampled_from([1, 3, 16, 17]), ways)
def test_pool_matches_pytorch(data, axes, channels, way):
    sizes, kernel = data.draw(each(axes, 5, 9)), data.draw(each(axes, 1, 3))
    strides = data.draw(each(axes, 1, 2))
    padding = [data.draw(st.integers(0, size // 2)) for size in kernel]
    rectified, average, counts = (data.draw(st.booleans()) for _ in range(3))
    options = {"kernel": kernel, "strides": strides, "padding": [*padding, *padding]}
    x = small(0, 2, channels, *sizes)

    def build(x):
        x = ReluOp(x).output if rectified else x
        if average:
            return AvgPoolOp(x, count_include_pad=counts, **options).output
        return MaxPoolOp(x, **options).output

    given_tensor = torch.from_numpy(x).relu() if rectified else torch.from_numpy(x)
    if average:
        expected = AVG_POOL[axes](given_tensor, kernel, strides, padding, False, counts)
    else:
        expected = MAX_POOL[axes](given_tensor, kernel, strides, padding)
    check(build, [x], expected, way)


@settings(max_examples=5)
@given(st.sampled_from([8, 16, 17]), st.sampled_from([5, 16, 32]), each(2, 3, 9))
def test_exact_convolution_is_a_few_units_from_the_plain_loops(channels, filters, sizes):
    x, w = small(0, 2, channels, *sizes), small(1, filters, channels, 3, 3)
    module = module_of(lambda x, w: ConvOp(x, w, padding=[1] * 4).output, [x, w], 1)

    (exact,), (plain,) = EXACT.run(module, [x, w], 1), PLAIN.run(module, [x, w], 1)

    magnitudes = F.conv2d(torch.from_numpy(x).abs(), torch.from_numpy(w).abs(), padding=1)
    # A sum taken in another order: units of the last place of what its terms add up to.
    assert abs(exact - plain).max() <= 4 * 2**-23 * float(magnitudes.max())
