"""Transpositions, alone and below arithmetic, compiled, against PyTorch: whole squares and rests."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp  # noqa: E402
from gawee_dialect.dialect.graph.movement import TransposeOp  # noqa: E402
from tests.kernels.compiled import WAYS, check, small  # noqa: E402

some = settings(max_examples=8)
ways = st.sampled_from(WAYS)
# Sizes on both sides of one and of two vectors.
sizes = st.sampled_from([5, 8, 16, 17, 31, 32, 47])


@some
@given(
    st.data(), ways, st.sampled_from(["float32", "float32", "float64", "float16", "int32", "bool"])
)
def test_transpositions_move_every_element(data, way, dtype):
    shape = data.draw(st.lists(sizes, min_size=2, max_size=3))
    permutation = data.draw(st.permutations(range(len(shape))))
    x = small(0, *shape, dtype=dtype)

    expected = torch.from_numpy(x).permute(*permutation).contiguous()

    check(lambda x: TransposeOp(x, permutation=permutation).result, [x], expected, way, tolerance=0)


@some
@given(ways, sizes, sizes, st.integers(1, 3))
def test_arithmetic_may_read_both_as_they_lie_and_turned(way, rows, columns, batch):
    x, y = small(0, batch, rows, columns), small(1, batch, columns, rows)

    def build(x, y):
        turned = TransposeOp(y, permutation=[0, 2, 1]).result
        return AddOp(MulOp(x, turned).output, turned).output

    a, b = torch.from_numpy(x), torch.from_numpy(y).mT

    check(build, [x, y], a * b + b, way)
