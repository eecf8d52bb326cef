"""Elements read at positions that are computed where they are read, compiled, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.elementwise import AddOp  # noqa: E402
from gawee_dialect.dialect.gather import GatherElementsOp  # noqa: E402
from gawee_dialect.dialect.scatter import ScatterElementsOp  # noqa: E402
from tests.kernels.compiled import WAYS, check, small  # noqa: E402

some = settings(max_examples=12)
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
