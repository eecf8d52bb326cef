"""Batched matrix products and attention against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.attention import AttentionOp  # noqa: E402
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp  # noqa: E402
from tests.lowering.native import numbers  # noqa: E402
from tests.lowering.one_op_levels import check_op  # noqa: E402

attention = torch.nn.functional.scaled_dot_product_attention
sizes = st.integers(1, 5)


def tensors(arrays):
    return [torch.from_numpy(array) for array in arrays]


def check_product(a, b, **flags):
    left, right = tensors([a, b])
    if flags.get("transpose_a"):
        left = left.transpose(-1, -2)
    if flags.get("transpose_b"):
        right = right.transpose(-1, -2)
    check_op(lambda a, b: BatchMatMulOp(a, b, **flags), [a, b], torch.matmul(left, right))


@settings(max_examples=12)
@given(st.data(), st.lists(sizes, max_size=3), st.booleans(), st.booleans())
def test_batch_matmul_broadcasts_as_pytorch_does(data, leading, transpose_a, transpose_b):
    rows, inner, features = (data.draw(sizes) for _ in range(3))

    def part():
        kept = leading[data.draw(st.integers(0, len(leading))) :]
        return [size if data.draw(st.booleans()) else 1 for size in kept]

    a = [*part(), *((inner, rows) if transpose_a else (rows, inner))]
    b = [*part(), *((features, inner) if transpose_b else (inner, features))]
    check_product(numbers(0, *a), numbers(1, *b), transpose_a=transpose_a, transpose_b=transpose_b)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "int8"])
@pytest.mark.parametrize("leading", [(), (3,)])
def test_batch_matmul_of_other_types(dtype, leading):
    # Integers wrap around in both.
    check_product(numbers(0, 3, 4, 5, dtype=dtype), numbers(1, *leading, 5, 2, dtype=dtype))


def attention_arrays(data, dtype="float32"):
    leading = data.draw(st.lists(st.integers(1, 3), max_size=2))
    heads = data.draw(st.integers(1, 2))
    own = data.draw(st.integers(1, 3)) if leading else 1
    queries, keys, width, value_width = (data.draw(st.integers(1, 6)) for _ in range(4))
    outer = [] if not leading else leading[:-1]
    q = numbers(0, *outer, *([heads * own] if leading else []), queries, width, dtype=dtype)
    shared = [*outer, *([heads] if leading else [])]
    k = numbers(1, *shared, keys, width, dtype=dtype)
    v = numbers(2, *shared, keys, value_width, dtype=dtype)
    return [q, k, v], own


def repeated(arrays, own):
    """The operands with a head of keys and values for every head of queries."""
    q, k, v = tensors(arrays)
    if own > 1:
        k, v = (value.repeat_interleave(own, dim=-3) for value in (k, v))
    return q, k, v


@settings(max_examples=6)
@given(st.data(), st.booleans(), st.none() | st.floats(0.1, 2))
def test_attention_with_grouped_heads_matches_pytorch(data, causal, scale):
    arrays, own = attention_arrays(data)

    expected = attention(*repeated(arrays, own), is_causal=causal, scale=scale)

    check_op(lambda *args: AttentionOp(*args, scale=scale, causal=causal), arrays, expected)


@settings(max_examples=6)
@given(st.data(), st.booleans())
def test_masked_attention_matches_pytorch(data, boolean):
    arrays, own = attention_arrays(data)
    scores = [*arrays[0].shape[:-1], arrays[1].shape[-2]]
    kept = scores[data.draw(st.integers(0, len(scores) - 2)) :]
    shape = [size if data.draw(st.booleans()) else 1 for size in kept]
    mask = numbers(3, *shape)
    if boolean:
        mask = mask > 0  # leaves some queries without any key
    else:
        mask[mask > 1] = -np.inf

    expected = attention(*repeated(arrays, own), torch.from_numpy(mask).expand(scores))

    check_op(AttentionOp, [*arrays, mask], expected)


@pytest.mark.parametrize("value", [False, -np.inf])
def test_query_that_sees_no_key_gets_zeros(value):
    arrays = [numbers(0, 2, 3, 4, 5), numbers(1, 2, 3, 6, 5), numbers(2, 2, 3, 6, 7)]
    mask = np.array(numbers(3, 4, 6) > 0 if value is False else numbers(3, 4, 6))
    mask[2] = value

    expected = attention(*tensors(arrays), torch.from_numpy(mask))

    assert torch.all(expected[:, :, 2] == 0)
    check_op(AttentionOp, [*arrays, mask], expected)


def test_scores_that_are_all_minus_infinity_without_a_mask_give_zeros():
    arrays = [
        -np.abs(numbers(0, 2, 3, 1)) - 1,
        np.abs(numbers(1, 2, 5, 1)) + 1,
        numbers(2, 2, 5, 4),
    ]
    arrays[1][1] = np.inf

    expected = attention(*tensors(arrays))

    assert torch.all(expected[1] == 0)
    check_op(AttentionOp, arrays, expected)


def test_mask_and_causal_hide_together():
    arrays = [numbers(0, 2, 3, 4, 5), numbers(1, 2, 3, 6, 5), numbers(2, 2, 3, 6, 7)]
    mask = numbers(3, 4, 6) > 0

    both = torch.from_numpy(mask) & torch.ones(4, 6, dtype=torch.bool).tril()
    expected = attention(*tensors(arrays), both)

    check_op(lambda *args: AttentionOp(*args, causal=True), [*arrays, mask], expected)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_attention_of_other_float_types(dtype):
    arrays = [
        numbers(0, 2, 4, 5, 8, dtype=dtype),
        numbers(1, 2, 2, 7, 8, dtype=dtype),
        numbers(2, 2, 2, 7, 3, dtype=dtype),
        numbers(3, 5, 7, dtype=dtype),
    ]

    expected = attention(*repeated(arrays[:3], 2), torch.from_numpy(arrays[3]))

    check_op(AttentionOp, arrays, expected)
