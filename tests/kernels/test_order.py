"""Selection, order and running sums, compiled, against PyTorch: rows of any length, and NaN."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.order import SortOp, TopKOp  # noqa: E402
from gawee_dialect.dialect.graph.reduction import (  # noqa: E402
    ArgMaxOp,
    ArgMinOp,
    CumSumOp,
)
from gawee_dialect.passes.graph.lower_to_linalg import gather  # noqa: E402
from tests.kernels.compiled import PLAIN, WAYS, check, small  # noqa: E402

some = settings(max_examples=6)
ways = st.sampled_from([*WAYS, PLAIN])
dtypes = st.sampled_from(["float32", "float32", "float64", "float16", "int32", "int64"])
# Rows on both sides of a vector's lanes.
shapes = st.sampled_from([(7,), (5, 19), (33, 4), (3, 16, 2), (2, 37), (131, 2)])
# Rows that are merged, and how much is wanted: powers of two, one more, what is left over at several
# levels; all of it, more than half, less than a run.
LONG = [((3, 65), 65), ((2, 100), 70), ((1, 128), 128), ((129, 2), 20), ((1, 203), 203)]


def drawn(data, shape, dtype):
    """Numbers of which many are equal, and of floats some that are special."""
    x = small(data.draw(st.integers(0, 99)), *shape, dtype=dtype)
    if not np.issubdtype(x.dtype, np.floating):
        return x % 5
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    places = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 20, shape)
    return np.where(places < 5, special[places % 5], np.round(x)).astype(dtype)


@some
@given(st.data(), shapes, dtypes, ways, st.booleans())
def test_sort_is_stable_and_has_nan_last(data, shape, dtype, way, descending):
    x, axis = drawn(data, shape, dtype), data.draw(st.integers(0, len(shape) - 1))

    expected = torch.sort(torch.from_numpy(x), dim=axis, descending=descending, stable=True)

    check(
        lambda x: SortOp(x, axis=axis, descending=descending).results,
        [x],
        list(expected),
        way,
        tolerance=0,
    )


@pytest.mark.parametrize(("shape", "wanted"), LONG, ids=str)
def test_long_rows_are_merged(shape, wanted):
    axis, descending = int(np.argmax(shape)), wanted % 2 == 0
    generator = np.random.default_rng(0)
    x = generator.integers(0, 40, shape).astype(np.float32)
    x[generator.random(shape) < 0.1] = np.nan

    ordered = torch.sort(torch.from_numpy(x), dim=axis, descending=descending, stable=True)
    expected = [part.narrow(axis, 0, wanted).contiguous() for part in ordered]

    options = {"axis": axis, "k": wanted, "largest": descending}
    check(lambda x: TopKOp(x, **options).results, [x], expected, WAYS[0], tolerance=0)


@settings(max_examples=8)
@given(st.data(), dtypes, ways, st.booleans())
def test_up_to_half_of_a_long_row_is_found_and_put_in_order(data, dtype, way, largest):
    # How much is wanted: what is counted, what is merged; half of a row, one more.
    shape, wanted = data.draw(
        st.sampled_from(
            [
                *[((3, 65), 9), ((2, 300), 64), ((2, 300), 65), ((130, 3), 65)],
                # One row alone: its loops are the function's own.
                *[((131,), 66), ((131,), 9), ((1, 507), 50), ((203, 1), 12), ((1, 300), 65)],
            ]
        )
    )
    x, axis = drawn(data, shape, dtype), int(np.argmax(shape))

    ordered = torch.sort(torch.from_numpy(x), dim=axis, descending=largest, stable=True)

    check(
        lambda x: TopKOp(x, k=wanted, axis=axis, largest=largest).results,
        [x],
        [part.narrow(axis, 0, wanted).contiguous() for part in ordered],
        way,
        tolerance=0,
    )


@settings(max_examples=6)
@given(st.data(), shapes, dtypes, ways, st.booleans())
def test_the_first_few_are_those_of_a_stable_sort(data, shape, dtype, way, largest):
    x, axis = drawn(data, shape, dtype), data.draw(st.integers(0, len(shape) - 1))
    # Few are selected one by one, the places of more are counted.
    count = min(shape[axis], data.draw(st.sampled_from([1, 2, 3, 9, 70])))

    ordered = torch.sort(torch.from_numpy(x), dim=axis, descending=largest, stable=True)

    check(
        lambda x: TopKOp(x, k=count, axis=axis, largest=largest).results,
        [x],
        [part.narrow(axis, 0, count).contiguous() for part in ordered],
        way,
        tolerance=0,
    )


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1.0])
def test_the_first_few_of_equal_elements_come_in_their_order(number, largest):
    x = np.full((2, 21), number, np.float32)
    order = np.tile(np.arange(5), (2, 1))

    expected = [torch.from_numpy(x[:, :5].copy()), torch.from_numpy(order)]

    check(lambda x: TopKOp(x, k=5, largest=largest).results, [x], expected, WAYS[0], tolerance=0)


@some
@given(st.data(), shapes, dtypes, ways, st.booleans())
def test_the_first_extreme_is_found(data, shape, dtype, way, greatest):
    x, axis = drawn(data, shape, dtype), data.draw(st.integers(0, len(shape) - 1))
    op, oracle = (ArgMaxOp, torch.argmax) if greatest else (ArgMinOp, torch.argmin)

    check(lambda x: op(x, axis=axis).output, [x], oracle(torch.from_numpy(x), axis), way)


def test_rows_whose_positions_are_not_written_down(monkeypatch):
    monkeypatch.setattr(gather, "MOST_POSITIONS", 8)
    x = small(0, 3, 19)
    given_tensor = torch.from_numpy(x)

    check(lambda x: ArgMaxOp(x, axis=1).output, [x], given_tensor.argmax(1), WAYS[0])
    check(lambda x: TopKOp(x, k=3).results, [x], list(given_tensor.topk(3)), WAYS[0])
    check(lambda x: SortOp(x).results, [x], list(given_tensor.sort()), WAYS[0])


# Sums of up to 131 numbers in f64, and in f32 where they are f16, rounded once: as PyTorch's are.
@some
@given(
    st.data(), shapes, st.sampled_from(["float32", "float64", "float16", "int32", "int64"]), ways
)
def test_running_sums_match_pytorch(data, shape, dtype, way):
    x, axis = small(0, *shape, dtype=dtype), data.draw(st.integers(0, len(shape) - 1))

    expected = torch.cumsum(torch.from_numpy(x), axis, dtype=getattr(torch, dtype))

    check(lambda x: CumSumOp(x, axis=axis).output, [x], expected, way)


def test_a_running_sum_of_many_numbers_is_rounded_once():
    x = np.random.default_rng(0).random((5, 30001), np.float32)

    # In f32, one after the other, the sum would be some 1e-5 off; half a unit is 6e-8 of it.
    expected = torch.from_numpy(np.cumsum(x, 1, dtype=np.float64).astype(np.float32))
    for axis in (0, 1):
        turned, wanted = (x, expected) if axis else (x.T.copy(), expected.T.contiguous())
        check(lambda x: CumSumOp(x, axis=axis).output, [turned], wanted, WAYS[0], tolerance=1e-7)
