"""Every gawee op against PyTorch, over op parameters."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import CumSumOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from tests.closeness import Tolerances, assert_allclose
from tests.interpreter.modules import apply, random

torch = pytest.importorskip("torch")
F = torch.nn.functional

# Sums of a few hundred terms in another order differ by some hundred units in the last place of
# the largest term: 1e-5 of it in float32. float16 is rounded once here and once in PyTorch, from
# sums that are taken in float32 in both.
TOLERANCE = {
    "float64": Tolerances(rtol=1e-12, atol=1e-12),
    "float32": Tolerances(rtol=1e-5, atol=1e-5),
    "float16": Tolerances(rtol=2e-3, atol=2e-3),
}

floats = st.sampled_from(["float32", "float64", "float16"])
pair = st.tuples(st.integers(1, 3), st.integers(1, 3))
cases = settings(max_examples=40)


def check(result, expected, dtype="float32"):
    expected = expected.numpy()
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert_allclose(result, expected, **TOLERANCE[dtype])


def torch_padding(padding):
    top, left, bottom, right = padding
    return (left, right, top, bottom)


@cases
@given(
    dtype=floats,
    groups=st.integers(1, 3),
    channels=st.integers(1, 3),
    features=st.integers(1, 2),
    kernel=pair,
    strides=pair,
    dilations=pair,
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    bias=st.booleans(),
)
def test_conv_equals_pytorch(
    dtype, groups, channels, features, kernel, strides, dilations, padding, bias
):
    x = random((2, groups * channels, 9, 8), dtype)
    w = random((groups * features, channels, *kernel), dtype, seed=1)
    b = random((groups * features,), dtype, seed=2) if bias else None

    result = apply(
        lambda x, w, b: ConvOp(
            x, w, b, strides=strides, padding=padding, dilations=dilations, groups=groups
        ),
        *(x, w, b),
    )

    padded = F.pad(torch.from_numpy(x), torch_padding(padding))
    expected = F.conv2d(
        padded,
        torch.from_numpy(w),
        None if b is None else torch.from_numpy(b),
        stride=strides,
        dilation=dilations,
        groups=groups,
    )
    check(result, expected, dtype)


def test_conv_taken_a_few_rows_at_a_time_equals_pytorch(monkeypatch):
    monkeypatch.setattr("gawee_dialect.dialect.arrays.PIECE_ELEMENTS", 700)
    x, w = random((2, 3, 11, 7)), random((5, 3, 3, 2), seed=1)

    result = apply(lambda x, w: ConvOp(x, w), x, w)

    check(result, F.conv2d(torch.from_numpy(x), torch.from_numpy(w)))


@cases
@given(dtype=floats, leading=st.lists(st.integers(1, 4), max_size=3), bias=st.booleans())
def test_matmul_equals_pytorch(dtype, leading, bias):
    x, w = random((*leading, 7), dtype), random((5, 7), dtype, seed=1)
    b = random((5,), dtype, seed=2) if bias else None

    result = apply(lambda x, w, b: MatMulOp(x, w, b), x, w, b)

    expected = F.linear(
        torch.from_numpy(x), torch.from_numpy(w), None if b is None else torch.from_numpy(b)
    )
    check(result, expected, dtype)


@cases
@given(
    dtype=floats,
    spatial=st.lists(st.integers(1, 5), max_size=3),
    scale=st.booleans(),
    bias=st.booleans(),
    eps=st.sampled_from([1e-5, 1e-3, 0.0]),
)
def test_batch_norm_equals_pytorch(dtype, spatial, scale, bias, eps):
    x = random((2, 3, *spatial), dtype)
    mean = random((3,), dtype, seed=1)
    variance = np.abs(random((3,), dtype, seed=2)) + np.dtype(dtype).type(0.5)
    g = random((3,), dtype, seed=3) if scale else None
    b = random((3,), dtype, seed=4) if bias else None

    result = apply(
        lambda x, m, v, g, b: BatchNormOp(x, m, v, g, b, eps=eps), *(x, mean, variance, g, b)
    )

    tensors = [None if array is None else torch.from_numpy(array) for array in (g, b)]
    expected = F.batch_norm(
        torch.from_numpy(x), torch.from_numpy(mean), torch.from_numpy(variance), *tensors, eps=eps
    )
    check(result, expected, dtype)


@cases
@given(
    dtype=floats,
    kernel=pair,
    strides=pair,
    dilations=pair,
    data=st.data(),
    ceil_mode=st.booleans(),
)
def test_max_pool_equals_pytorch(dtype, kernel, strides, dilations, data, ceil_mode):
    # PyTorch pads symmetrically, by no more than half a window.
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    x = random((2, 3, 9, 8), dtype)
    x[0, 1, 4, 5] = np.nan

    result = apply(
        lambda x: MaxPoolOp(
            x,
            kernel=kernel,
            strides=strides,
            padding=padding * 2,
            dilations=dilations,
            ceil_mode=ceil_mode,
        ),
        x,
    )

    expected = F.max_pool2d(
        torch.from_numpy(x), kernel, strides, padding, dilations, ceil_mode=ceil_mode
    ).numpy()
    np.testing.assert_array_equal(result, expected)  # a maximum is never rounded


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
def test_max_pool_pads_asymmetrically_with_the_lowest_value(dtype):
    x = -np.abs(random((2, 3, 7, 6), "float32") * 50 + 1).astype(dtype)

    result = apply(lambda x: MaxPoolOp(x, kernel=(3, 4), strides=(2, 3), padding=(0, 3, 2, 1)), x)

    lowest = -np.inf if dtype == "float32" else np.iinfo(dtype).min
    padded = np.pad(x, ((0, 0), (0, 0), (0, 2), (3, 1)), constant_values=lowest)
    expected = [
        [padded[:, :, i : i + 3, j : j + 4].max((2, 3)) for j in range(0, 7, 3)]
        for i in range(0, 7, 2)
    ]
    np.testing.assert_array_equal(result, np.moveaxis(np.array(expected), (0, 1), (2, 3)))


@cases
@given(
    dtype=floats,
    kernel=pair,
    strides=pair,
    data=st.data(),
    ceil_mode=st.booleans(),
    count_include_pad=st.booleans(),
)
def test_avg_pool_equals_pytorch(dtype, kernel, strides, data, ceil_mode, count_include_pad):
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    x = random((2, 3, 9, 8), dtype)

    result = apply(
        lambda x: AvgPoolOp(
            x,
            kernel=kernel,
            strides=strides,
            padding=padding * 2,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        ),
        x,
    )

    expected = F.avg_pool2d(
        torch.from_numpy(x), kernel, strides, padding, ceil_mode, count_include_pad
    )
    check(result, expected, dtype)


@cases
@given(padding=st.tuples(*[st.integers(0, 2)] * 4))
def test_avg_pool_pads_asymmetrically(padding):
    x = random((2, 3, 7, 6))

    included, excluded = (
        apply(
            lambda x, include=include: AvgPoolOp(
                x, kernel=(3, 3), strides=(2, 1), padding=padding, count_include_pad=include
            ),
            x,
        )
        for include in (True, False)
    )

    padded = F.pad(torch.from_numpy(x), torch_padding(padding))
    inside = F.pad(torch.ones((1, 1, 7, 6)), torch_padding(padding))
    mean = F.avg_pool2d(padded, (3, 3), (2, 1))
    check(included, mean)
    check(excluded, mean / F.avg_pool2d(inside, (3, 3), (2, 1)))


@cases
@given(
    dtype=floats,
    spatial=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_ad_avg_pool_equals_pytorch(dtype, spatial, size):
    x = random((2, 3, *spatial), dtype)

    result = apply(lambda x: AdAvgPoolOp(x, output_size=size), x)

    check(result, F.adaptive_avg_pool2d(torch.from_numpy(x), size), dtype)


sizes = st.tuples(st.integers(1, 12), st.integers(1, 12))


@cases
@given(spatial=sizes, size=sizes)
def test_interpolate_nearest_reads_the_exact_integer_floor(spatial, size):
    x = random((2, 3, *spatial))

    result = apply(lambda x: InterpolateOp(x, size=size), x)

    rows = [i * spatial[0] // size[0] for i in range(size[0])]
    columns = [i * spatial[1] // size[1] for i in range(size[1])]
    np.testing.assert_array_equal(result, x[:, :, rows][:, :, :, columns])


@pytest.mark.parametrize("size", [(6, 10), (3, 5), (1, 2), (12, 15)])
def test_interpolate_nearest_equals_pytorch(size):
    x = random((2, 3, 3, 5))

    result = apply(lambda x: InterpolateOp(x, size=size), x)

    np.testing.assert_array_equal(result, F.interpolate(torch.from_numpy(x), size=size).numpy())


@pytest.mark.parametrize("scales", [(2.0, 3.0), (0.5, 0.25), (1.5, 2.5)])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_interpolate_with_scales_equals_pytorch(scales, mode):
    x = random((2, 3, 9, 8))
    size = [int(n * s) for n, s in zip((9, 8), scales, strict=True)]

    result = apply(lambda x: InterpolateOp(x, size=size, mode=mode, scales=scales), x)

    expected = F.interpolate(
        torch.from_numpy(x), scale_factor=scales, mode=mode, recompute_scale_factor=False
    )
    check(result, expected)


@cases
@given(dtype=floats, spatial=sizes, size=sizes, align_corners=st.booleans())
def test_interpolate_bilinear_equals_pytorch(dtype, spatial, size, align_corners):
    x = random((2, 3, *spatial), dtype)

    result = apply(
        lambda x: InterpolateOp(x, size=size, mode="bilinear", align_corners=align_corners), x
    )

    expected = F.interpolate(
        torch.from_numpy(x), size=size, mode="bilinear", align_corners=align_corners
    )
    check(result, expected, dtype)


def test_interpolate_keeps_an_axis_as_it_is_beside_an_infinity():
    x = random((2, 3, 4, 5))
    x[0, 1, 2, 3] = np.inf

    result = apply(lambda x: InterpolateOp(x, size=(4, 9), mode="bilinear"), x)

    expected = F.interpolate(torch.from_numpy(x), size=(4, 9), mode="bilinear").numpy()
    rows = np.arange(4) != 2  # in the infinity's own row PyTorch multiplies it by 0 too
    check(result[:, :, rows], torch.from_numpy(expected[:, :, rows]))
    assert np.isfinite(result[:, :, rows]).all()


BINARY = [(AddOp, "add"), (SubOp, "sub"), (MulOp, "mul"), (DivOp, "div")]


@cases
@given(
    op=st.sampled_from(BINARY),
    dtype=st.sampled_from(["float32", "float64", "float16", "int64", "int32", "int8"]),
    shapes=st.sampled_from(
        [((2, 3, 5), (2, 3, 5)), ((2, 3, 5), (3, 1)), ((), (4, 3)), ((2, 1), (1, 7)), ((), ())]
    ),
)
def test_elementwise_equals_pytorch(op, dtype, shapes):
    make, name = op
    assume(make is not DivOp or dtype.startswith("float"))
    x, y = random(shapes[0], dtype), random(shapes[1], dtype, seed=1)

    result = apply(make, x, y)

    expected = getattr(torch, name)(torch.tensor(x), torch.tensor(y)).numpy()
    assert isinstance(result, np.ndarray)
    assert result.dtype == x.dtype
    # One correctly rounded operation each, integers wrap: no tolerance. NumPy and PyTorch both
    # take float16 operations in float32.
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_relu_clamps_at_zero(dtype):
    x = random((2, 3, 5), dtype)

    np.testing.assert_array_equal(apply(ReluOp, x), F.relu(torch.from_numpy(x)).numpy())


def test_relu_keeps_nan():
    x = np.array([np.nan, -np.inf, np.inf, -1], np.float32)

    np.testing.assert_array_equal(apply(ReluOp, x), np.array([np.nan, 0, np.inf, 0], np.float32))


def test_sqrt_is_correctly_rounded_and_nan_below_zero():
    x = np.array([2, 0, np.inf, -1], np.float32)

    expected = np.array([1.4142135, 0, np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(apply(SqrtOp, x), expected)


@pytest.mark.parametrize(("start", "end"), [(1, -1), (0, -1), (2, 3), (-3, -2), (1, 1)])
def test_flatten_equals_pytorch(start, end):
    x = random((2, 3, 5, 7))

    result = apply(lambda x: FlattenOp(x, start_dim=start, end_dim=end), x)

    np.testing.assert_array_equal(result, torch.flatten(torch.from_numpy(x), start, end).numpy())


def test_flatten_makes_a_vector_of_a_scalar():
    result = apply(lambda x: FlattenOp(x, start_dim=0, end_dim=-1), random(()))

    assert result.shape == (1,)


def test_reshape_keeps_row_major_order():
    x = random((2, 6), "int32")

    result = apply(lambda x: ReshapeOp(x, shape=(3, 4)), x)

    np.testing.assert_array_equal(result.ravel(), x.ravel())
    assert result.shape == (3, 4)


@pytest.mark.parametrize("dim", [1, -2])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "uint8"])
def test_cat_equals_pytorch(dim, dtype):
    x, y = random((2, 3, 5), dtype), random((2, 4, 5), dtype, seed=1)

    result = apply(lambda *values: CatOp(values, dim=dim), x, y, x)

    expected = torch.cat([torch.from_numpy(array) for array in (x, y, x)], dim).numpy()
    np.testing.assert_array_equal(result, expected)


def test_identity_returns_an_array_of_its_own():
    x = random((2, 3))

    result = apply(IdentityOp, x)

    np.testing.assert_array_equal(result, x)
    assert not np.shares_memory(result, x)


def test_constant_is_rounded_to_its_type():
    value = DenseIntOrFPElementsAttr.from_list(TensorType(f32, (2,)), [0.1, 1.0 + 1e-9])

    result = apply(lambda: ConstantOp(value))

    np.testing.assert_array_equal(result, np.array([0.1, 1], np.float32))
    assert result.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_running_sum_begins_with_zero_which_is_positive(dtype):
    x = np.array([[-0.0, -0.0, 2.0]], dtype)

    result = apply(lambda x: CumSumOp(x, axis=1), x)

    expected = torch.cumsum(torch.from_numpy(x), 1)
    np.testing.assert_array_equal(np.signbit(result), torch.signbit(expected).numpy())
