"""Ops that move elements, lowered to linalg and compiled by upstream, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from xdsl.dialects.builtin import TensorType  # noqa: E402

from gawee_dialect.dialect.dense import dense_of  # noqa: E402
from gawee_dialect.dialect.graph.constant import ConstantOp  # noqa: E402
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, IdentityOp, ReshapeOp  # noqa: E402
from gawee_dialect.dialect.types import ELEMENT_TYPES  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream
DTYPES = list(ELEMENT_TYPES)


def elements(*shape, dtype):
    if dtype == "bool":
        return numbers(0, *shape) > 0
    return numbers(0, *shape, dtype=dtype)


@pytest.mark.parametrize(
    ("shape", "start_dim", "end_dim"),
    [((2, 3, 5, 7), 1, -1), ((2, 3, 5), 0, 1), ((2, 3), 0, 0), ((), 0, 0), ((2, 1, 3), -3, -1)],
)
def test_flatten_matches_pytorch(shape, start_dim, end_dim):
    x = numbers(0, *shape)

    result = run_native(lambda v: FlattenOp(v, start_dim=start_dim, end_dim=end_dim), x)

    assert_close(result, torch.flatten(torch.from_numpy(x), start_dim, end_dim))


SHAPES_OF_24 = [(24,), (4, 6), (6, 4), (2, 3, 4), (4, 3, 2), (1, 24, 1), (2, 1, 12), (8, 1, 1, 3)]


@settings(max_examples=10)
@given(st.sampled_from(SHAPES_OF_24), st.sampled_from(SHAPES_OF_24))
def test_reshape_keeps_elements_in_order(old, new):
    x = numbers(0, *old)

    assert_close(run_native(lambda v: ReshapeOp(v, shape=new), x), torch.from_numpy(x).reshape(new))


@pytest.mark.parametrize(
    ("old", "new"), [((), (1,)), ((), (1, 1)), ((1,), ()), ((1, 1), ()), ((0, 3), (2, 0))]
)
def test_reshape_handles_scalars_and_empty_tensors(old, new):
    x = numbers(0, *old)

    assert_close(run_native(lambda v: ReshapeOp(v, shape=new), x), torch.from_numpy(x).reshape(new))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_matches_pytorch(dim, dtype):
    shapes = [[2, 3, 5] for _ in range(3)]
    for index, shape in enumerate(shapes):
        shape[dim] += index
    arrays = [elements(*shape, dtype=dtype) for shape in shapes]

    result = run_native(lambda *args: CatOp(args, dim=dim), *arrays)

    assert_close(result, torch.cat([torch.from_numpy(array) for array in arrays], dim))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reshape_moves_any_element_type(dtype):
    x = elements(4, 3, dtype=dtype)

    assert_close(
        run_native(lambda v: ReshapeOp(v, shape=(3, 4)), x), torch.from_numpy(x).reshape(3, 4)
    )


def test_identity_is_its_input():
    x = numbers(0, 2, 3)

    assert_close(run_native(IdentityOp, x), torch.from_numpy(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_constant_has_its_elements(dtype):
    values = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    type = TensorType(ELEMENT_TYPES[dtype], (2, 3))

    def make():
        return ConstantOp(dense_of(values, type))

    assert_close(run_native(make), torch.from_numpy(values))
