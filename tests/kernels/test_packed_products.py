"""Products of integers of 8 and 16 bits, packed in words, compiled, against NumPy in 64 bits."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import SubOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.winograd import Winograd, WinogradOp
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.passes.tensors import convert_to_winograd
from gawee_dialect.passes.tensors.convert_to_winograd.choose import Convolution, plans
from gawee_dialect.target.description import Processor
from tests.effort import mostly_full
from tests.kernels.compiled import Way, module_of

Integers = NDArray[np.integer]

# With and without an instruction for four bytes, of 512 bits and of 256, for other processors, and
# with one for tiles of them.
TARGETS = ("znver5", "alderlake", "skylake-avx512", "haswell", "sapphirerapids")
DTYPES = ("uint8", "int8")


def runs_here(target: str) -> bool:
    from gawee_dialect.target.description import VECTORS
    from gawee_dialect.target.host import this_processor

    features = this_processor()[1].split(",")
    needed = set(VECTORS[target].features)
    if target in ("znver5", "alderlake"):  # LLVM has the shorter instruction where there are both
        needed |= {"+avxvnni", "+avx512vnni"} if target == "znver5" else {"+avxvnni"}
    if target == "sapphirerapids":
        needed |= {"+amx-int8"}
    return needed <= set(features)


WAYS = [Way(target) for target in TARGETS]
on_each = pytest.mark.parametrize("way", mostly_full(WAYS), ids=lambda way: way.target)


def centred(value: SSAValue, zero: SSAValue) -> SSAValue:
    return SubOp(CastOp(value, i32).output, CastOp(zero, i32).output).output


def of_centred(make: Callable[[SSAValue, SSAValue], SSAValue]) -> Callable[..., SSAValue]:
    """Return what builds a product of two tensors less their zero points."""
    return lambda a, za, b, zb: make(centred(a, za), centred(b, zb))


def matmul(a: SSAValue, b: SSAValue) -> SSAValue:
    return BatchMatMulOp(a, b).output


def drawn(random: np.random.Generator, dtype: str, *shape: int) -> Integers:
    """Draw numbers of the whole range of a type, its ends among them more often than others."""
    ends = np.iinfo(dtype)
    numbers = random.integers(ends.min, ends.max, shape, endpoint=True)
    at_ends = random.choice(np.array([ends.min, ends.max]), shape)
    return np.where(random.random(shape) < 0.5, numbers, at_ends).astype(dtype)


def wide(value: Integers, zero: Integers) -> Integers:
    return value.astype(np.int64) - zero.astype(np.int64)


def same(results: Sequence[NDArray[np.generic]], expected: Integers) -> None:
    (result,) = results
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected.astype(np.int32))  # wraps as sums in i32 do


@on_each
def test_a_product_of_bytes_is_exact_at_every_size(way: Way) -> None:
    if not runs_here(way.target):
        pytest.skip(f"expected a machine that runs code for {way.target}")
    random = np.random.default_rng(0)
    # Rows: one, a tile with a rest; words: less than one, with a rest, whole; columns likewise.
    sizes = [(1, 3, 5), (7, 64, 16), (1, 130, 37), (9, 33, 19)]
    for (rows, depth, columns), dtypes in zip(sizes, product(DTYPES, DTYPES), strict=True):
        a, b = drawn(random, dtypes[0], rows, depth), drawn(random, dtypes[1], depth, columns)
        za, zb = drawn(random, dtypes[0]), drawn(random, dtypes[1])
        arrays = [a, np.asarray(za), b, np.asarray(zb)]

        module = module_of(of_centred(matmul), arrays, 2)

        same(way.run(module, arrays, 2), wide(a, za) @ wide(b, zb))


@settings(max_examples=6, deadline=None)
@given(
    st.tuples(*[st.integers(2, 70)] * 3),
    st.sampled_from([(), (2,), (2, 3)]),
    st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES)),
    st.sampled_from(["rows", "columns", "both", "none"]),
    st.sampled_from([0, 2]),
    st.sampled_from([way for way in WAYS if runs_here(way.target)] or [Way()]),
)
def test_zero_points_of_rows_and_columns_are_taken_off(
    sizes: tuple[int, ...],
    leading: tuple[int, ...],
    dtypes: tuple[str, str],
    zeros: str,
    parameters: int,
    way: Way,
) -> None:
    rows, depth, columns = sizes
    random = np.random.default_rng(sum(sizes))
    a, b = drawn(random, dtypes[0], *leading, rows, depth), drawn(random, dtypes[1], depth, columns)
    za = drawn(random, dtypes[0], *((rows, 1) if zeros in ("rows", "both") else ()))
    zb = drawn(random, dtypes[1], *((columns,) if zeros in ("columns", "both") else ()))
    arrays = [a, np.asarray(za), b, np.asarray(zb)]

    module = module_of(of_centred(matmul), arrays, parameters)

    same(way.run(module, arrays, parameters), wide(a, za) @ wide(b, zb))


@pytest.mark.parametrize("way", [WAYS[0], WAYS[-1]], ids=lambda way: way.target)
@pytest.mark.parametrize(("channels", "size", "padding"), [(3, 3, 1), (8, 1, 0), (6, 3, 0)])
def test_a_convolution_of_bytes_is_exact(way: Way, channels: int, size: int, padding: int) -> None:
    if not runs_here(way.target):
        pytest.skip(f"expected a machine that runs code for {way.target}")
    random = np.random.default_rng(1)
    x, w = (
        drawn(random, "uint8", 2, channels, 9, 11),
        drawn(random, "int8", 18, channels, size, size),
    )
    zx, zw = drawn(random, "uint8"), drawn(random, "int8", 18, 1, 1, 1)
    arrays = [x, np.asarray(zx), w, zw]

    def conv(a: SSAValue, b: SSAValue) -> SSAValue:
        return ConvOp(a, b, padding=[padding] * 4).output

    module = module_of(of_centred(conv), arrays, 2)

    around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(wide(x, zx), around), (size, size), axis=(2, 3)
    )
    same(way.run(module, arrays, 2), np.einsum("nchwij,fcij->nfhw", windows, wide(w, zw)))


def winograd(by_channel: bool, place: float) -> AbstractContextManager[object]:
    """Choose the plan at a place among those of an order; None where there is none."""

    def choose(convolution: Convolution, processor: Processor) -> Algorithm | None:
        possible = (plan.algorithm for plan in plans(convolution, processor))
        found = [
            each
            for each in possible
            if isinstance(each, Winograd) and each.by_channel == by_channel
        ]
        return found[int(place * (len(found) - 1))] if found else None

    return patch.object(convert_to_winograd, "choose", choose)


@settings(max_examples=6, deadline=None)
@given(
    st.booleans(),
    st.floats(0, 1),
    st.tuples(st.integers(1, 2), st.sampled_from([8, 16, 40]), st.sampled_from([8, 16, 24])),
    st.tuples(st.integers(3, 9), st.integers(3, 9)),
    st.sampled_from(DTYPES),
    st.sampled_from(
        [way for way in (Way("haswell"), Way("skylake-avx512")) if runs_here(way.target)]
    ),
)
def test_tiles_of_a_convolution_of_bytes_are_exact(
    by_channel: bool,
    place: float,
    counts: tuple[int, int, int],
    sizes: tuple[int, int],
    dtype: str,
    way: Way,
) -> None:
    random, (images, channels, features) = np.random.default_rng(sum(sizes)), counts
    x, zero = drawn(random, dtype, images, channels, *sizes), drawn(random, dtype)
    w = drawn(random, "int8", features, channels, 3, 3)
    arrays = [x, np.asarray(zero), w]

    def conv(a: SSAValue, za: SSAValue, b: SSAValue) -> SSAValue:
        return ConvOp(centred(a, za), CastOp(b, i32).output, padding=[1] * 4).output

    module = module_of(conv, arrays, 1)
    with winograd(by_channel, place):
        results = way.run(module, arrays, 1)

    padded = np.pad(wide(x, zero), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    same(results, np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.int64)))


def test_tiles_of_bytes_are_what_every_level_computes() -> None:
    random = np.random.default_rng(5)
    x, w = drawn(random, "uint8", 1, 8, 5, 4), drawn(random, "int8", 16, 8, 3, 3)
    zero = drawn(random, "uint8")
    arrays = [x, np.asarray(zero), w]

    def conv(a: SSAValue, za: SSAValue, b: SSAValue) -> SSAValue:
        return ConvOp(centred(a, za), CastOp(b, i32).output).output

    module = module_of(conv, arrays, 1)
    given_arrays = {f"arg{index}": array for index, array in enumerate(arrays)}
    windows = np.lib.stride_tricks.sliding_window_view(wide(x, zero), (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.int64))

    for level in (Level.KERNELS, Level.LOOPS):
        with winograd(False, 0):
            lowered = lower_to(module, level, CodeOptions(target="haswell"))

        found = [op for op in lowered.walk() if isinstance(op, WinogradOp)]
        assert len(found) == (level is Level.KERNELS)
        same(list(run_module(lowered, given_arrays).values()), expected)


def test_every_level_computes_the_same() -> None:
    """What the interpreter makes of packed kernels, and of their loops, is the product."""
    random = np.random.default_rng(2)
    a, b = drawn(random, "int8", 3, 10), drawn(random, "uint8", 10, 5)
    za, zb = drawn(random, "int8"), drawn(random, "uint8", 5)
    arrays = [a, np.asarray(za), b, zb]
    module = module_of(of_centred(matmul), arrays, 2)
    given_arrays = {f"arg{index}": array for index, array in enumerate(arrays)}

    for target, level in product(("znver5", "haswell"), (Level.KERNELS, Level.LOOPS)):
        lowered = lower_to(module, level, CodeOptions(target=target))

        same(list(run_module(lowered, given_arrays).values()), wide(a, za) @ wide(b, zb))
