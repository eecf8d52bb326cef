"""Elements read at positions that are computed where they are read, compiled, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.diagnostics import GaweeError  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp  # noqa: E402
from gawee_dialect.dialect.graph.indexing import (  # noqa: E402
    GatherElementsOp,
    ScatterElementsOp,
)
from tests.kernels.compiled import WAYS, WIDE, check, module_of, small  # noqa: E402

some = settings(max_examples=8)
ways = st.sampled_from(WAYS)
# Sizes on both sides of one and of two vectors.
shapes = st.lists(st.sampled_from([1, 3, 8, 17, 33]), min_size=1, max_size=3)


@some
@given(st.data(), shapes, st.sampled_from(["int32", "int64"]), ways)
def test_elements_are_read_where_indices_say_also_from_the_end(data, shape, dtype, way):
    axis = data.draw(st.integers(0, len(shape) - 1))
    size = data.draw(st.sampled_from([1, 7, 16, 40]))
    x = small(0, *[size if each == axis else length for each, length in enumerate(shape)])
    indices = np.random.default_rng(1).integers(-size, size, shape).astype(dtype)

    def build(x, indices):
        return GatherElementsOp(x, indices, axis=axis).result

    expected = torch.from_numpy(x).gather(axis, torch.from_numpy(indices % size).long())

    check(build, [x, indices], expected, way, tolerance=0)


@some
@given(shapes, ways)
def test_positions_that_are_sums_may_be_read_by_several(shape, way):
    size = 9
    x, y = small(0, *shape[:-1], size), small(1, *shape[:-1], size)
    first, second = (np.random.default_rng(k).integers(0, size // 2, shape) for k in (2, 3))

    def build(x, y, first, second):
        indices = AddOp(first, second).output
        axis = len(shape) - 1
        return [
            GatherElementsOp(x, indices, axis=axis).result,
            GatherElementsOp(y, indices, axis=axis).result,
            indices,
        ]

    indices = torch.from_numpy(first + second)
    expected = [*(torch.from_numpy(each).gather(-1, indices) for each in (x, y)), indices]

    check(build, [x, y, first, second], expected, way, tolerance=0)


@some
@given(shapes, ways)
def test_what_is_read_can_be_written_elsewhere(shape, way):
    axis, size = len(shape) - 1, shape[-1]
    x, y = small(0, *shape), small(1, *shape)
    order = np.random.default_rng(2).permuted(np.broadcast_to(np.arange(size), shape), axis=-1)

    def build(x, y, order):
        read = GatherElementsOp(x, order, axis=axis).result
        return ScatterElementsOp(y, order, read, axis=axis).result

    a, b, where = map(torch.from_numpy, (x, y, order))

    check(build, [x, y, order], b.scatter(-1, where, a.gather(-1, where)), way, tolerance=0)


# 3 rows of 100 KB at a time stay in a cache of 1 MB, all 33 of them do not.
ROWS, LENGTH, FEWER = (33, 5), 1001, 999
REDUCTIONS = {"none": None, "add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_scatters_in_parts_write_what_one_would(reduction, way):
    x, u = small(0, *ROWS, LENGTH), small(1, *ROWS, FEWER)
    if reduction == "none":  # of several updates to a place, PyTorch keeps any
        orders = np.broadcast_to(np.arange(LENGTH), (*ROWS, LENGTH))
        indices = np.random.default_rng(3).permuted(orders, axis=-1)[..., :FEWER]
    else:
        indices = np.random.default_rng(3).integers(-LENGTH, LENGTH, (*ROWS, FEWER))

    def build(x, indices, u):
        return ScatterElementsOp(x, indices, u, axis=2, reduction=reduction).result

    a, b, where = torch.from_numpy(x), torch.from_numpy(u), torch.from_numpy(indices % LENGTH)
    kind = REDUCTIONS[reduction]
    expected = a.scatter(2, where, b) if kind is None else a.scatter_reduce(2, where, b, kind)

    # Updates are applied in PyTorch's order, so that each sum is rounded as its is.
    check(build, [x, indices, u], expected, way, tolerance=0)


def test_a_wrong_index_of_one_part_is_told_with_its_axis():
    x, u = small(0, *ROWS, LENGTH), small(1, *ROWS, FEWER)
    indices = np.random.default_rng(3).integers(-LENGTH, LENGTH, (*ROWS, FEWER))
    indices[20, 3, 7] = -1200

    def build(x, indices, u):
        return ScatterElementsOp(x, indices, u, axis=2).result

    with pytest.raises(GaweeError, match="index -1200 is out of bounds for axis 2 with size 1001"):
        WIDE.run(module_of(build, [x, indices, u]), [x, indices, u], 0)
