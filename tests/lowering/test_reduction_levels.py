"""Reductions, running sums, softmax and normalisations at every level against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.normalization import (  # noqa: E402
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.reduction import (  # noqa: E402  # noqa: E402
    ArgMaxOp,
    ArgMinOp,
    CumSumOp,
    LogSoftmaxOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SoftmaxOp,
)
from tests.interpreter.modules import random  # noqa: E402
from tests.lowering.torch_levels import FAST_LEVELS, LEVELS, check_levels, run_levels  # noqa: E402

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]

floats = st.sampled_from(FLOATS)
cases = settings(max_examples=6)


def check(make, oracle, arrays, levels=FAST_LEVELS):
    expected = oracle(*(torch.from_numpy(array) for array in arrays))
    check_levels({"result": make}, arrays, {"result": expected}, levels)


def product(x, dims, keep):
    """PyTorch's product takes one axis at a time."""
    for dim in sorted((dim % x.dim() for dim in dims), reverse=True):
        x = torch.prod(x, dim, keepdim=keep, dtype=x.dtype)
    return x


REDUCTIONS = {
    ReduceSumOp: lambda x, dims, keep: torch.sum(x, dims, keepdim=keep, dtype=x.dtype),
    ReduceMeanOp: lambda x, dims, keep: torch.mean(x, dims, keepdim=keep),
    ReduceMaxOp: lambda x, dims, keep: torch.amax(x, dims, keepdim=keep),
    ReduceMinOp: lambda x, dims, keep: torch.amin(x, dims, keepdim=keep),
    ReduceProdOp: product,
}


@st.composite
def axes_of(draw, shape):
    rank = len(shape)
    axes = draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
    return [axis - draw(st.sampled_from([0, rank])) for axis in axes]


shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@pytest.mark.parametrize("op", REDUCTIONS)
@cases
@given(data=st.data())
def test_reductions_equal_pytorch(op, data):
    shape, keep = data.draw(shapes), data.draw(st.booleans())
    axes = data.draw(axes_of(shape))
    dtype = data.draw(st.sampled_from(FLOATS if op is ReduceMeanOp else FLOATS + INTEGERS))

    check(
        lambda x: op(x, axes=axes, keep_dims=keep),
        lambda x: REDUCTIONS[op](x, axes, keep),
        [random(shape, dtype)],
    )


@pytest.mark.parametrize(("op", "oracle"), [(ReduceAnyOp, torch.any), (ReduceAllOp, torch.all)])
@cases
@given(data=st.data())
def test_any_and_all_equal_pytorch(op, oracle, data):
    shape, keep = data.draw(shapes), data.draw(st.booleans())
    axes = data.draw(axes_of(shape))

    check(
        lambda x: op(x, axes=axes, keep_dims=keep),
        lambda x: oracle(x, axes, keepdim=keep),
        [random(shape, "bool")],
    )


@pytest.mark.parametrize("op", [*REDUCTIONS, ReduceAnyOp, ReduceAllOp])
def test_a_reduction_along_no_axis_is_the_input(op):
    x = random((2, 3), "bool" if op in (ReduceAnyOp, ReduceAllOp) else "float32")

    check(lambda x: op(x, axes=[]), lambda x: x, [x], LEVELS)


def test_reductions_of_nothing_are_what_they_are_in_pytorch():
    x, truth = np.zeros((2, 0, 3), np.float32), np.zeros((2, 0, 3), bool)

    check(lambda x: ReduceSumOp(x, axes=[1]), lambda x: x.sum(1), [x], LEVELS)
    check(lambda x: ReduceMeanOp(x, axes=[1]), lambda x: x.mean(1), [x], LEVELS)
    check(lambda x: ReduceProdOp(x, axes=[1]), lambda x: x.prod(1), [x], LEVELS)
    check(lambda x: ReduceAnyOp(x, axes=[1]), lambda x: x.any(1), [truth], LEVELS)
    check(lambda x: ReduceAllOp(x, axes=[1]), lambda x: x.all(1), [truth], LEVELS)


@pytest.mark.parametrize("op", [ReduceMaxOp, ReduceMinOp])
def test_nan_wins_in_extremes(op):
    x = np.array([[1, np.nan, 3], [-np.inf, 2, np.inf], [np.nan, np.nan, 0]], np.float32)

    check(lambda x: op(x, axes=[1]), lambda x: REDUCTIONS[op](x, [1], False), [x], LEVELS)


def test_sums_of_f16_do_not_stop_growing():
    x = np.full((3, 5000), 0.5, np.float16)

    check(lambda x: ReduceSumOp(x, axes=[1]), lambda x: x.sum(1), [x])
    check(lambda x: ReduceMeanOp(x, axes=[1]), lambda x: x.mean(1), [x])


ARGS = [(ArgMaxOp, torch.argmax), (ArgMinOp, torch.argmin)]


@pytest.mark.parametrize(("op", "oracle"), ARGS)
@cases
@given(data=st.data())
def test_arg_max_and_min_equal_pytorch(op, oracle, data):
    shape, keep = data.draw(shapes), data.draw(st.booleans())
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = random(shape, data.draw(st.sampled_from(FLOATS + INTEGERS)))

    check(lambda x: op(x, axis=axis, keep_dims=keep), lambda x: oracle(x, axis, keepdim=keep), [x])


@pytest.mark.parametrize(("op", "oracle"), ARGS)
@pytest.mark.parametrize("row", [[2, 5, 5, 1, 1], [1, np.nan, 7, np.nan, 0], [np.inf, -np.inf] * 2])
def test_the_first_of_several_extremes_is_found(op, oracle, row):
    x = np.array([row, row[::-1]], np.float32)

    # PyTorch says "the first" of argmax alone; argmin does the same.
    check(lambda x: op(x, axis=1), lambda x: oracle(x, 1), [x], LEVELS)


@cases
@given(data=st.data())
def test_cumsum_equals_pytorch(data):
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = random(shape, data.draw(st.sampled_from(FLOATS + INTEGERS)))

    check(lambda x: CumSumOp(x, axis=axis), lambda x: torch.cumsum(x, axis, dtype=x.dtype), [x])


SOFTMAX = [(SoftmaxOp, F.softmax), (LogSoftmaxOp, F.log_softmax)]


@pytest.mark.parametrize(("op", "oracle"), SOFTMAX)
@cases
@given(data=st.data(), dtype=floats)
def test_softmax_equals_pytorch(op, oracle, data, dtype):
    shape = data.draw(shapes)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))

    check(lambda x: op(x, axis=axis), lambda x: oracle(x, axis), [3 * random(shape, dtype)])


@pytest.mark.parametrize(("op", "oracle"), SOFTMAX)
def test_softmax_of_masked_and_large_elements_equals_pytorch(op, oracle):
    x = np.array([[1e4, -np.inf, 1e4], [-np.inf] * 3, [-1e4, 2, np.nan]], np.float32)

    check(lambda x: op(x, axis=1), lambda x: oracle(x, 1), [x], LEVELS)


def affine(data, shape, dtype):
    """A scale and a bias, or not: the arrays, and which of the two are there."""
    names = [name for name in ("scale", "bias") if data.draw(st.booleans())]
    return [random(shape, dtype, seed=1 + len(name)) for name in names], names


@cases
@given(data=st.data(), dtype=floats, eps=st.sampled_from([1e-5, 0.25]))
def test_layer_norm_equals_pytorch(data, dtype, eps):
    shape = data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    rank = data.draw(st.integers(1, len(shape)))
    arrays, names = affine(data, shape[-rank:], dtype)

    check(
        lambda x, *rest: LayerNormOp(
            x, **dict(zip(names, rest, strict=True)), normalized_rank=rank, eps=eps
        ),
        lambda x, *rest: layer_norm(x, dict(zip(names, rest, strict=True)), rank, eps),
        [random(shape, dtype), *arrays],
    )


def layer_norm(x, rest, rank, eps):
    return F.layer_norm(x, x.shape[-rank:], rest.get("scale"), rest.get("bias"), eps)


@cases
@given(data=st.data(), dtype=floats, scale=st.booleans())
def test_rms_norm_equals_pytorch(data, dtype, scale):
    shape = data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    rank = data.draw(st.integers(1, len(shape)))
    arrays = [random(shape, dtype), *([random(shape[-rank:], dtype, seed=1)] if scale else [])]

    check(
        lambda *args: RmsNormOp(*args, normalized_rank=rank, eps=0.01),
        lambda x, *weight: F.rms_norm(x, x.shape[-rank:], *weight, eps=0.01),
        arrays,
    )


@cases
@given(data=st.data(), dtype=floats, groups=st.integers(1, 3), channels=st.integers(1, 3))
def test_group_norm_equals_pytorch(data, dtype, groups, channels):
    spatial = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=2))
    arrays, names = affine(data, (groups * channels,), dtype)

    def oracle(x, *rest):
        named = dict(zip(names, rest, strict=True))
        return F.group_norm(x, groups, named.get("scale"), named.get("bias"), 0.01)

    check(
        lambda x, *rest: GroupNormOp(
            x, **dict(zip(names, rest, strict=True)), groups=groups, eps=0.01
        ),
        oracle,
        [random((2, groups * channels, *spatial), dtype), *arrays],
    )


def test_instance_norm_is_a_group_norm_of_single_channels():
    x = random((2, 3, 4, 5))

    check(lambda x: GroupNormOp(x, groups=3), F.instance_norm, [x], LEVELS)


def test_a_variance_that_is_small_beside_the_mean_is_exact():
    x = (1000 + random((3, 64))).astype(np.float32)

    expected = F.layer_norm(torch.from_numpy(x).double(), (64,)).float()
    # The mean itself is rounded, to 6e-5 of the deviation here.
    for level, (result,) in run_levels([LayerNormOp], [x], FAST_LEVELS).items():
        np.testing.assert_allclose(result, expected.numpy(), atol=5e-4, err_msg=level)
