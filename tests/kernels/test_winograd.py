"""Winograd's convolution, every plan that the model knows, compiled, against PyTorch."""

from unittest.mock import patch

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.code_options import CodeOptions  # noqa: E402
from gawee_dialect.dialect.graph.conv import ConvOp  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp  # noqa: E402
from gawee_dialect.dialect.kernels.winograd import Winograd, WinogradOp  # noqa: E402
from gawee_dialect.dialect.types import tensor_shape  # noqa: E402
from gawee_dialect.levels import Level, lower_to  # noqa: E402
from gawee_dialect.passes.tensors import convert_to_winograd  # noqa: E402
from gawee_dialect.passes.tensors.convert_to_winograd.choose import plans  # noqa: E402
from tests.kernels.compiled import EXACT, WAYS, check, module_of, small  # noqa: E402

F = torch.nn.functional
# Of the largest output: a tile of 4 loses some 5e-6, and two convolutions follow one another.
TOLERANCE = 3e-5


def always(tile, by_channel, place):
    """A choice of the plan at `place` of those with a tile and an order; None without one."""

    def choose(convolution, processor):
        possible = [plan.algorithm for plan in plans(convolution, processor)]
        found = [
            each
            for each in possible
            if isinstance(each, Winograd) and (each.tile, each.by_channel) == (tile, by_channel)
        ]
        return found[int(place * (len(found) - 1))] if found else None

    return patch.object(convert_to_winograd, "choose", choose)


def network(x, w, bias, v, u):
    """Two convolutions: the first makes the halo of the second, which adds and returns plain."""
    hidden = ReluOp(ConvOp(x, w, bias, padding=[1] * 4).output).output
    beside = ConvOp(x, u).output
    return AddOp(ConvOp(hidden, v, padding=[1] * 4).output, beside).output


def arrays_of(sizes, images, channels, features):
    return [
        small(0, images, channels, *sizes),
        small(1, features, channels, 3, 3) / np.float32(3 * channels**0.5),
        small(2, features),
        small(3, 16, features, 3, 3) / np.float32(3 * features**0.5),
        small(4, 16, channels, 1, 1),
    ]


def expected_of(arrays):
    x, w, bias, v, u = map(torch.from_numpy, arrays)
    hidden = F.conv2d(x, w, bias, padding=1).relu()
    return F.conv2d(hidden, v, padding=1) + F.conv2d(x, u)


@settings(max_examples=6)
@given(
    st.sampled_from([2, 4]),
    st.booleans(),
    st.floats(0, 1),
    st.tuples(st.integers(1, 2), st.sampled_from([8, 16, 32]), st.sampled_from([16, 24, 48])),
    st.tuples(st.integers(3, 9), st.integers(3, 9)),
    st.sampled_from(WAYS),
)
def test_every_plan_matches_pytorch(tile, by_channel, place, counts, sizes, way):
    arrays = arrays_of(sizes, *counts)

    with always(tile, by_channel, place):
        check(network, arrays, expected_of(arrays), way, parameters=4, tolerance=TOLERANCE)


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("tile", [2, 4])
def test_the_plans_are_carried_out(tile, by_channel):
    arrays = arrays_of((7, 6), 1, 16, 32)
    options = CodeOptions(target="skylake-avx512")

    with always(tile, by_channel, 0):
        kernels = lower_to(module_of(network, arrays, 4), Level.KERNELS, options)

    found = [op for op in kernels.walk() if isinstance(op, WinogradOp)]
    assert [(op.tile.value.data, op.split_by_channel) for op in found] == [(tile, by_channel)] * 2


def flagged(flag, place=0):
    """A choice of the plan at `place` of those with a flag; none where there is none."""

    def choose(convolution, processor):
        possible = (plan.algorithm for plan in plans(convolution, processor))
        found = [each for each in possible if getattr(each, flag)]
        return found[int(place * (len(found) - 1))] if found else None

    return patch.object(convert_to_winograd, "choose", choose)


@settings(max_examples=7)
@given(
    st.tuples(st.integers(1, 2), st.sampled_from([8, 16, 40]), st.sampled_from([16, 24, 48])),
    st.sampled_from([(3, 7), (4, 5), (8, 4), (2, 3), (1, 6)]),
    st.sampled_from(WAYS),
)
def test_filters_are_transformed_while_they_are_multiplied(counts, sizes, way):
    arrays = arrays_of(sizes, *counts)

    with flagged("filters"):
        check(network, arrays, expected_of(arrays), way, parameters=4, tolerance=TOLERANCE)


def test_filters_are_not_transformed_beforehand():
    arrays = arrays_of((7, 6), 1, 16, 48)
    options = CodeOptions(target="skylake-avx512")

    with flagged("filters"):
        kernels = lower_to(module_of(network, arrays, 4), Level.KERNELS, options)

    found = [op for op in kernels.walk() if isinstance(op, WinogradOp)]
    assert [op.algorithm.filters for op in found] == [True, True]
    assert [tensor_shape(op.weights) for op in found] == [(3, 16, 3, 3, 16), (1, 48, 3, 3, 16)]


@settings(max_examples=7)
@given(
    st.floats(0, 1),
    # What no register of 16 lanes divides, and what none of 8 does.
    st.sampled_from([(1, 8, 24), (2, 24, 40), (1, 24, 16), (1, 4, 12), (2, 12, 20)]),
    st.tuples(st.integers(3, 9), st.integers(3, 9)),
    st.sampled_from(WAYS),
)
def test_products_may_be_in_wider_vectors_than_transforms(place, counts, sizes, way):
    arrays = arrays_of(sizes, *counts)

    with flagged("wide", place):
        check(network, arrays, expected_of(arrays), way, parameters=4, tolerance=TOLERANCE)


def test_channels_that_wide_vectors_do_not_divide_are_filled_up():
    arrays = arrays_of((7, 6), 1, 8, 24)
    options = CodeOptions(target="skylake-avx512")

    with flagged("wide"):
        kernels = lower_to(module_of(network, arrays, 4), Level.KERNELS, options)

    found = [op for op in kernels.walk() if isinstance(op, WinogradOp)]
    assert [op.algorithm.wide for op in found] == [True, True]
    assert [op.algorithm.covered(op.sizes[1]) for op in found] == [32, 16]


@given(st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=3)
def test_exact_algorithms_leave_winograd_out(rows, columns):
    assume(rows * columns > 1)
    arrays = arrays_of((rows, columns), 1, 16, 16)
    options = CodeOptions(algorithms="exact")

    with always(2, False, 0):
        kernels = lower_to(module_of(network, arrays, 4), Level.KERNELS, options)

    assert not any(isinstance(op, WinogradOp) for op in kernels.walk())


def test_exact_network_matches_pytorch() -> None:
    arrays = arrays_of((5, 9), 2, 16, 24)

    check(network, arrays, expected_of(arrays), EXACT, parameters=4)
