"""Pooling, lowered to linalg and compiled by upstream, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream
F = torch.nn.functional
sizes = st.tuples(st.integers(3, 9), st.integers(3, 9))
pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
# PyTorch allows padding of at most half the kernel, the same on both sides.
halves = st.tuples(st.integers(0, 1), st.integers(0, 1))


def fits(size, kernel, padding, dilations=(1, 1)):
    extents = [dilation * (k - 1) + 1 for k, dilation in zip(kernel, dilations, strict=True)]
    padded = [n + 2 * pad for n, pad in zip(size, padding, strict=True)]
    return all(2 * padding[i] <= kernel[i] and extents[i] <= padded[i] for i in range(2))


@settings(max_examples=12)
@given(sizes, pairs, pairs, halves, pairs, st.booleans())
def test_max_pool_matches_pytorch(size, kernel, strides, padding, dilations, ceil_mode):
    assume(fits(size, kernel, padding, dilations))
    x = numbers(0, 2, 3, *size)
    options = {"kernel": kernel, "strides": strides, "dilations": dilations, "ceil_mode": ceil_mode}

    result = run_native(lambda v: MaxPoolOp(v, padding=padding * 2, **options), x)

    expected = F.max_pool2d(torch.from_numpy(x), kernel, strides, padding, dilations, ceil_mode)
    assert_close(result, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int32", "int64"])
def test_max_pool_of_other_types_matches_pytorch(dtype):
    # Below zero everywhere, so that padding must not win; small, as PyTorch pools integers as f64.
    x = (-np.abs(100 * numbers(0, 2, 3, 7, 6)) - 1).clip(-128).astype(dtype)

    result = run_native(
        lambda v: MaxPoolOp(v, kernel=(3, 2), strides=(2, 1), padding=(1, 1, 1, 1)), x
    )

    expected = F.max_pool2d(torch.from_numpy(x).double(), (3, 2), (2, 1), (1, 1))
    assert_close(result, expected.to(torch.from_numpy(x).dtype))


def test_max_pool_keeps_nan_as_pytorch_does():
    x = numbers(0, 2, 3, 7, 6)
    x[0, 1, 3, 2] = np.nan

    result = run_native(lambda v: MaxPoolOp(v, kernel=(3, 3), strides=(1, 2)), x)

    assert_close(result, F.max_pool2d(torch.from_numpy(x), 3, (1, 2)))


def test_max_pool_pads_each_side_by_its_own_amount():
    x = numbers(0, 2, 3, 7, 6)

    result = run_native(
        lambda v: MaxPoolOp(v, kernel=(3, 3), strides=(2, 2), padding=(2, 0, 1, 1)), x
    )

    padded = F.pad(torch.from_numpy(x), (0, 1, 2, 1), value=-torch.inf)
    assert_close(result, F.max_pool2d(padded, 3, 2))


@settings(max_examples=12)
@given(sizes, pairs, pairs, halves, st.booleans(), st.booleans())
def test_avg_pool_matches_pytorch(size, kernel, strides, padding, ceil_mode, count_include_pad):
    assume(fits(size, kernel, padding))
    x = numbers(0, 2, 3, *size)
    options = {"ceil_mode": ceil_mode, "count_include_pad": count_include_pad}

    result = run_native(
        lambda v: AvgPoolOp(v, kernel=kernel, strides=strides, padding=padding * 2, **options), x
    )

    expected = F.avg_pool2d(torch.from_numpy(x), kernel, strides, padding, **options)
    assert_close(result, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_avg_pool_of_other_types_matches_pytorch(dtype):
    x = numbers(0, 2, 3, 7, 6, dtype=dtype)

    def make(value):
        return AvgPoolOp(
            value, kernel=(3, 2), strides=(2, 1), padding=(1, 1, 1, 1), count_include_pad=False
        )

    expected = F.avg_pool2d(torch.from_numpy(x), (3, 2), (2, 1), (1, 1), count_include_pad=False)
    assert_close(run_native(make, x), expected)


@settings(max_examples=12)
@given(sizes, st.tuples(st.integers(1, 11), st.integers(1, 11)))
def test_adaptive_average_pool_matches_pytorch(size, output_size):
    x = numbers(0, 2, 3, *size)

    result = run_native(lambda v: AdAvgPoolOp(v, output_size=output_size), x)

    assert_close(result, F.adaptive_avg_pool2d(torch.from_numpy(x), output_size))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("output_size", [(1, 1), (3, 4)])
def test_adaptive_average_pool_of_other_types_matches_pytorch(dtype, output_size):
    x = numbers(0, 2, 3, 7, 5, dtype=dtype)

    result = run_native(lambda v: AdAvgPoolOp(v, output_size=output_size), x)

    assert_close(result, F.adaptive_avg_pool2d(torch.from_numpy(x), output_size))
