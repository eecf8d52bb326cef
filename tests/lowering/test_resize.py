"""Resampling, lowered to linalg and compiled by upstream, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.resize import InterpolateOp  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream
interpolate = torch.nn.functional.interpolate
sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@settings(max_examples=10)
@given(sizes, sizes)
def test_nearest_matches_pytorch(size, result_size):
    x = numbers(0, 2, 3, *size)

    result = run_native(lambda v: InterpolateOp(v, size=result_size), x)

    assert_close(result, interpolate(torch.from_numpy(x), result_size))


@settings(max_examples=12)
@given(sizes, sizes, st.booleans())
def test_bilinear_matches_pytorch(size, result_size, align_corners):
    x = numbers(0, 2, 3, *size)
    options = {"mode": "bilinear", "align_corners": align_corners}

    result = run_native(lambda v: InterpolateOp(v, size=result_size, **options), x)

    assert_close(result, interpolate(torch.from_numpy(x), result_size, **options))


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("scales", [(2.0, 3.0), (1.7, 0.6), (2.3, 1.0)])
def test_given_scales_decide_positions_as_in_pytorch(scales, mode):
    x = numbers(0, 2, 3, 5, 7)
    expected = interpolate(
        torch.from_numpy(x), scale_factor=scales, mode=mode, recompute_scale_factor=False
    )

    result = run_native(
        lambda v: InterpolateOp(v, size=tuple(expected.shape[2:]), mode=mode, scales=scales), x
    )

    assert_close(result, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_bilinear_of_other_types_matches_pytorch(dtype):
    x = numbers(0, 2, 3, 5, 7, dtype=dtype)

    result = run_native(lambda v: InterpolateOp(v, size=(9, 4), mode="bilinear"), x)

    assert_close(result, interpolate(torch.from_numpy(x), (9, 4), mode="bilinear"))


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_nearest_of_other_types_matches_pytorch(dtype):
    x = numbers(0, 2, 3, 5, 7, dtype=dtype)

    result = run_native(lambda v: InterpolateOp(v, size=(9, 4)), x)

    assert_close(result, interpolate(torch.from_numpy(x), (9, 4)))
