"""Elementwise ops and normalization, lowered and compiled by upstream, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.elementwise import (  # noqa: E402
    AddOp,
    DivOp,
    MulOp,
    ReluOp,
    SqrtOp,
    SubOp,
)
from gawee_dialect.dialect.graph.normalization import BatchNormOp  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int32", "int64"]
SHAPES_OF_NORM = ((0, (2, 3, 5)), (1, (3,)), (2, (3,)))
BINARY = {AddOp: torch.add, SubOp: torch.sub, MulOp: torch.mul, DivOp: torch.div}


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, dtype) for op in BINARY for dtype in FLOATS]
    + [(op, dtype) for op in (AddOp, SubOp, MulOp) for dtype in INTEGERS],
)
def test_binary_op_matches_pytorch(op, dtype):
    x, y = numbers(0, 2, 3, 5, dtype=dtype), numbers(1, 3, 1, dtype=dtype)

    assert_close(run_native(op, x, y), BINARY[op](torch.from_numpy(x), torch.from_numpy(y)))


@settings(max_examples=12)
@given(st.data())
def test_operands_broadcast_as_in_pytorch(data):
    wide = data.draw(st.lists(st.integers(1, 4), max_size=4))

    def narrower():
        shape = [data.draw(st.sampled_from([1, size])) for size in wide]
        return shape[data.draw(st.integers(0, len(shape))) :]

    x, y = numbers(0, *narrower()), numbers(1, *narrower())

    assert_close(run_native(SubOp, x, y), torch.from_numpy(x) - torch.from_numpy(y))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_relu_matches_pytorch(dtype):
    x = numbers(0, 2, 3, 5, dtype=dtype)

    assert_close(run_native(ReluOp, x), torch.relu(torch.from_numpy(x)))


def test_relu_keeps_nan_and_infinity_as_pytorch_does():
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 2.0], np.float32)

    assert_close(run_native(ReluOp, x), torch.relu(torch.from_numpy(x)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sqrt_matches_pytorch(dtype):
    x = numbers(0, 2, 3, 5, dtype=dtype)

    assert_close(run_native(SqrtOp, x), torch.sqrt(torch.from_numpy(x)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("scale", "bias"), [(True, True), (False, False), (True, False), (False, True)]
)
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (2, 3, 5, 4)])
def test_batch_norm_matches_pytorch(shape, scale, bias, dtype):
    x = numbers(0, *shape, dtype=dtype)
    mean = numbers(1, 3, dtype=dtype)
    variance = np.abs(numbers(2, 3, dtype=dtype)) + np.asarray(0.5, dtype)
    weight = numbers(3, 3, dtype=dtype) if scale else None
    offset = numbers(4, 3, dtype=dtype) if bias else None
    given_arrays = [a for a in (x, mean, variance, weight, offset) if a is not None]

    def make(*args):
        affine = iter(args[3:])
        return BatchNormOp(
            *args[:3],
            scale=next(affine) if scale else None,
            bias=next(affine) if bias else None,
            eps=0.25,
        )

    result = run_native(make, *given_arrays)

    tensors = [
        None if a is None else torch.from_numpy(a) for a in (x, mean, variance, weight, offset)
    ]
    assert_close(result, torch.nn.functional.batch_norm(*tensors, eps=0.25))


def test_batch_norm_of_halves_adds_an_epsilon_that_no_half_holds():
    x, mean, variance = (numbers(seed, *shape, dtype="float16") for seed, shape in SHAPES_OF_NORM)

    result = run_native(lambda *args: BatchNormOp(*args, eps=369826.25), x, mean, np.abs(variance))

    wide = [torch.from_numpy(array).to(torch.float64) for array in (x, mean, np.abs(variance))]
    expected = torch.nn.functional.batch_norm(*wide, eps=369826.25)
    assert (expected != 0).any()
    assert_close(result, expected.to(torch.float16))
