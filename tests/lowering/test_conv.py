"""Convolution, lowered to linalg and compiled by upstream, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.conv import ConvOp  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream
F = torch.nn.functional
pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))


def expected_conv(x, w, b, *, strides, padding, dilations, groups):
    top, left, bottom, right = padding
    padded = F.pad(torch.from_numpy(x), (left, right, top, bottom))
    bias = None if b is None else torch.from_numpy(b)
    return F.conv2d(padded, torch.from_numpy(w), bias, strides, 0, dilations, groups)


@settings(max_examples=12)
@given(
    groups=st.integers(1, 3),
    channels=st.integers(1, 3),
    filters=st.integers(1, 3),
    kernel=pairs,
    strides=pairs,
    dilations=pairs,
    padding=st.tuples(*[st.integers(0, 2)] * 4),
    bias=st.booleans(),
)
def test_conv_matches_pytorch(groups, channels, filters, kernel, strides, dilations, padding, bias):
    x = numbers(0, 2, groups * channels, 9, 8)
    w = numbers(1, groups * filters, channels, *kernel)
    b = numbers(2, groups * filters) if bias else None
    options = {
        "strides": strides, "padding": padding, "dilations": dilations, "groups": groups
    }  # fmt: skip

    result = run_native(
        lambda *args: ConvOp(*args, **options), *(a for a in (x, w, b) if a is not None)
    )

    assert_close(result, expected_conv(x, w, b, **options))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize(("channels", "groups"), [(4, 1), (4, 2), (4, 4)])
def test_conv_of_other_float_types_matches_pytorch(dtype, channels, groups):
    x = numbers(0, 2, channels, 5, 7, dtype=dtype)
    w = numbers(1, 2 * groups if groups < 4 else 4, channels // groups, 3, 2, dtype=dtype)
    options = {"strides": (2, 1), "padding": (1, 0, 1, 1), "dilations": (1, 2), "groups": groups}

    result = run_native(lambda *args: ConvOp(*args, **options), x, w)

    assert_close(result, expected_conv(x, w, None, **options))
