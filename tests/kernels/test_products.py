"""Matrix products, reductions and normalisations as kernels, compiled, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph.elementwise import AddOp  # noqa: E402
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp  # noqa: E402
from gawee_dialect.dialect.graph.normalization import LayerNormOp  # noqa: E402
from gawee_dialect.dialect.graph.reduction import (  # noqa: E402
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SoftmaxOp,
)
from tests.kernels.compiled import EXACT, PLAIN, WAYS, check, module_of, small  # noqa: E402

few = settings(max_examples=6)
ways = st.sampled_from(WAYS)
# On both sides of a vector's lanes.
lengths = st.sampled_from([1, 2, 5, 7, 16, 17, 31, 33])
shapes = st.lists(st.sampled_from([1, 2, 5, 9, 16, 19]), min_size=1, max_size=4)


@few
@given(
    st.tuples(lengths, lengths, lengths),
    st.sampled_from([(), (2,), (3, 2)]),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.sampled_from(["float32", "float32", "float64", "float16", "int32", "int64", "int8"]),
    st.integers(0, 2),
    ways,
)
def test_matrix_product_matches_pytorch(sizes, leading, flags, dtype, parameters, way):
    rows, inner, columns = sizes
    transpose_a, transpose_b, batched = flags
    a = small(0, *leading, *((inner, rows) if transpose_a else (rows, inner)), dtype=dtype)
    b_leading = leading if batched else ()
    b = small(1, *b_leading, *((columns, inner) if transpose_b else (inner, columns)), dtype=dtype)
    bias = small(2, columns, dtype=dtype)

    def build(a, b, bias):
        product = BatchMatMulOp(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
        return AddOp(product.output, bias).output

    left, right, offset = map(torch.from_numpy, (a, b, bias))
    left = left.transpose(-1, -2) if transpose_a else left
    right = right.transpose(-1, -2) if transpose_b else right
    expected = torch.matmul(left, right) + offset
    check(build, [a, b, bias], expected, way, parameters=parameters)


REDUCTIONS = {
    "sum": (ReduceSumOp, lambda x, axes: x.sum(axes).to(x.dtype)),
    "mean": (ReduceMeanOp, lambda x, axes: x.mean(axes)),
    "max": (ReduceMaxOp, lambda x, axes: x.amax(axes)),
    "min": (ReduceMinOp, lambda x, axes: x.amin(axes)),
}
FLOATS, NUMBERS = ["float32", "float64"], ["float32", "float64", "float16", "int32", "int64"]


@few
@given(st.data(), st.sampled_from(sorted(REDUCTIONS)), shapes, ways)
def test_reduction_matches_pytorch(data, name, shape, way):
    axes = data.draw(st.sets(st.sampled_from(range(len(shape))), min_size=1).map(sorted))
    dtype = data.draw(st.sampled_from(FLOATS if name == "mean" else NUMBERS))
    x = small(0, *shape, dtype=dtype)
    op, expected = REDUCTIONS[name]

    check(lambda x: op(x, axes=axes).output, [x], expected(torch.from_numpy(x), axes), way)


@pytest.mark.parametrize("way", WAYS[:2], ids=str)
@pytest.mark.parametrize("length", [3, 21, 32])
def test_products_and_bits_are_reduced_as_by_pytorch(length, way):
    x, bits = small(0, 3, length), small(1, 3, length, dtype="bool")

    def build(x, bits):
        reduced = (
            ReduceProdOp(x, axes=[1]),
            ReduceAnyOp(bits, axes=[1]),
            ReduceAllOp(bits, axes=[0]),
        )
        return [op.output for op in reduced]

    tensor, truth = torch.from_numpy(x), torch.from_numpy(bits)
    check(build, [x, bits], [tensor.prod(1), truth.any(1), truth.all(0)], way)


@settings(max_examples=6)
@given(st.data(), shapes, ways)
def test_softmax_and_layer_norm_match_pytorch(data, shape, way):
    axis, rank = (data.draw(st.integers(0, len(shape) - 1)) for _ in range(2))
    own = shape[rank:]
    arrays = [small(0, *shape), small(1, *own), small(2, *own)]

    def build(x, scale, bias):
        norm = LayerNormOp(x, scale, bias, normalized_rank=len(own), eps=1e-3)
        return [SoftmaxOp(x, axis=axis).output, norm.output]

    x, scale, bias = map(torch.from_numpy, arrays)
    norm = torch.nn.functional.layer_norm(x, own, scale, bias, eps=1e-3)
    # The variance of a few equal numbers is a difference of such: eps bounds what is lost.
    check(build, arrays, [x.softmax(axis), norm], way, parameters=2, tolerance=1e-4)


@settings(max_examples=5)
@given(lengths, lengths, lengths)
def test_exact_product_is_a_few_units_from_the_plain_loops(rows, inner, columns):
    a, b = small(0, rows, inner), small(1, inner, columns)
    module = module_of(lambda a, b: BatchMatMulOp(a, b).output, [a, b], 1)

    (exact,), (plain,) = EXACT.run(module, [a, b], 1), PLAIN.run(module, [a, b], 1)

    # A sum taken in another order: units of the last place of what its terms add up to.
    assert abs(exact - plain).max() <= 4 * 2**-23 * (abs(a) @ abs(b)).max()
