"""Resampling and sampling at given positions, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.resize import (  # noqa: E402
    GridSampleOp,
    InterpolateOp,
)
from gawee_dialect.interpreter.gawee.graph import float_nearest_positions  # noqa: E402
from tests.lowering.native import numbers  # noqa: E402
from tests.lowering.one_op_levels import check_op  # noqa: E402

interpolate = torch.nn.functional.interpolate
grid_sample = torch.nn.functional.grid_sample
few = settings(max_examples=6)
TORCH_MODES = {("linear", 3): "trilinear", ("nearest_exact", 2): "nearest-exact"}


def drawn_sizes(data, axes, most=8):
    return data.draw(st.tuples(*[st.integers(1, most)] * axes))


@few
@given(st.data(), st.sampled_from([1, 3]), st.booleans())
def test_linear_over_one_and_three_axes_matches_pytorch(data, axes, align_corners):
    x = numbers(0, 2, 3, *drawn_sizes(data, axes, 5))
    size = drawn_sizes(data, axes)
    mode = "linear" if axes == 1 else "trilinear"

    expected = interpolate(torch.from_numpy(x), size, mode=mode, align_corners=align_corners)

    check_op(
        lambda v: InterpolateOp(v, size=size, mode="linear", align_corners=align_corners),
        [x],
        expected,
    )


@few
@given(st.data(), st.booleans())
def test_bicubic_matches_pytorch(data, align_corners):
    x, size = numbers(0, 2, 3, *drawn_sizes(data, 2)), drawn_sizes(data, 2)
    options = {"mode": "bicubic", "align_corners": align_corners}

    expected = interpolate(torch.from_numpy(x), size, **options)

    check_op(lambda v: InterpolateOp(v, size=size, **options), [x], expected)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_blending_of_other_float_types(dtype, mode):
    x = numbers(0, 2, 3, 5, 7, dtype=dtype)

    expected = interpolate(torch.from_numpy(x), (9, 4), mode=mode)

    check_op(lambda v: InterpolateOp(v, size=(9, 4), mode=mode), [x], expected)


SCALED = [
    ("nearest", "nearest", (1.7,)),
    ("nearest", "nearest", (2.3, 0.6)),
    ("nearest_exact", "nearest-exact", (1.7, 0.6)),
    ("linear", "linear", (2.3,)),
    ("bicubic", "bicubic", (1.7, 2.3)),
    ("linear", "trilinear", (1.7, 2.3, 0.6)),
]


@pytest.mark.parametrize("float_positions", [False, True])
@pytest.mark.parametrize(("mode", "torch_mode", "scales"), SCALED)
def test_given_scales_decide_positions(mode, torch_mode, scales, float_positions):
    x = numbers(0, 2, 3, *(5, 7, 4)[: len(scales)])
    expected = interpolate(torch.from_numpy(x), scale_factor=scales, mode=torch_mode)
    options = {"mode": mode, "scales": scales}
    if mode.startswith("nearest"):
        options["float_positions"] = float_positions

    check_op(lambda v: InterpolateOp(v, size=tuple(expected.shape[2:]), **options), [x], expected)


@few
@given(st.data(), st.sampled_from([1, 2, 3]), st.sampled_from(["float32", "float64", "uint8"]))
def test_nearest_over_one_to_three_axes_matches_pytorch(data, axes, dtype):
    x = numbers(0, 2, 3, *drawn_sizes(data, axes), dtype=dtype)
    size = drawn_sizes(data, axes)

    expected = interpolate(torch.from_numpy(x), size)

    check_op(lambda v: InterpolateOp(v, size=size), [x], expected)


@few
@given(st.data(), st.booleans())
def test_nearest_exact_matches_pytorch(data, float_positions):
    x, size = numbers(0, 2, 3, *drawn_sizes(data, 2)), drawn_sizes(data, 2)
    options = {"mode": "nearest_exact", "float_positions": float_positions}

    expected = interpolate(torch.from_numpy(x), size, mode="nearest-exact")

    check_op(lambda v: InterpolateOp(v, size=size, **options), [x], expected)


# Sizes where d * in / out is a whole number that f32 rounds below, and PyTorch takes the element
# before.
@pytest.mark.parametrize(("size", "result_size"), [(2, 82), (2, 94), (6, 94), (21, 133)])
def test_float_positions_are_those_of_pytorch_where_exact_ones_are_not(size, result_size):
    x = numbers(0, 1, 2, 3, size)
    expected = interpolate(torch.from_numpy(x), (5, result_size))

    check_op(lambda v: InterpolateOp(v, size=(5, result_size), float_positions=True), [x], expected)


@pytest.mark.parametrize(("mode", "offset"), [("nearest", 0.0), ("nearest-exact", 0.5)])
def test_float_positions_of_every_size_are_those_of_pytorch(mode, offset):
    for size in range(1, 48):
        x = torch.arange(size, dtype=torch.float32).reshape(1, 1, 1, size)
        for result_size in (*range(1, 100, 3), 82, 94, 98, 110):
            expected = interpolate(x, (1, result_size), mode=mode).flatten().numpy()
            positions = float_nearest_positions(size, result_size, None, offset)
            np.testing.assert_array_equal(positions, expected.astype(np.int64))


@settings(max_examples=12)
@given(
    st.data(),
    st.sampled_from(["bilinear", "nearest"]),
    st.sampled_from(["zeros", "border"]),
    st.booleans(),
)
def test_grid_sample_matches_pytorch(data, mode, padding_mode, align_corners):
    x = numbers(0, 2, 3, *drawn_sizes(data, 2))
    grid = numbers(1, 2, *drawn_sizes(data, 2), 2)
    grid.flat[:: data.draw(st.integers(2, 9))] *= data.draw(st.sampled_from([1, 4, 1e9]))
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}

    expected = grid_sample(*map(torch.from_numpy, (x, grid)), **options)

    check_op(lambda *args: GridSampleOp(*args, **options), [x, grid], expected)


@pytest.mark.parametrize("align_corners", [False, True])
def test_grid_sample_takes_corners_and_halves_as_pytorch_does(align_corners):
    x = numbers(0, 1, 2, 4, 6)
    ends = np.linspace(-1.25, 1.25, 21, dtype=np.float32)
    grid = np.stack(np.meshgrid(ends, ends), axis=-1)[None]
    options = {"mode": "nearest", "align_corners": align_corners}

    expected = grid_sample(*map(torch.from_numpy, (x, grid)), **options)

    check_op(lambda *args: GridSampleOp(*args, **options), [x, grid], expected)


def test_grid_sample_of_f64_and_of_positions_that_are_not_numbers():
    x, grid = numbers(0, 2, 3, 4, 6, dtype="float64"), numbers(1, 2, 3, 5, 2, dtype="float64")
    grid[0, 1, 2, 0] = np.nan

    expected = grid_sample(
        *map(torch.from_numpy, (x, grid)), padding_mode="border", align_corners=False
    )

    check_op(lambda *args: GridSampleOp(*args, padding_mode="border"), [x, grid], expected)
