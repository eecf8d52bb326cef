"""Products in seven of quarters, compiled, against PyTorch in f64."""

from unittest.mock import patch

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.code_options import CodeOptions  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp  # noqa: E402
from gawee_dialect.dialect.graph.matmul import MatMulOp  # noqa: E402
from gawee_dialect.levels import Level, lower_to  # noqa: E402
from gawee_dialect.passes.tensors.convert_to_strassen import ConvertProduct  # noqa: E402
from tests.kernels.compiled import WAYS, check, module_of, small  # noqa: E402

TOLERANCE = 4e-6
"""Of the largest output, as the pass says."""


def always():
    """Whatever the model says of a product."""
    return patch.object(ConvertProduct, "_misfit", lambda self, product: None)


def network(x, beside, w, bias):
    """A product, and what its kernel does with each sum: bias, activation, residual."""
    return AddOp(ReluOp(MatMulOp(x, w, bias).output).output, beside).output


def arrays_of(rows, terms, columns):
    return [
        small(0, 1, rows, terms),
        small(1, 1, rows, columns),
        small(2, columns, terms) / np.float32(terms**0.5),
        small(3, columns),
    ]


def expected_of(arrays):
    x, beside, w, bias = (torch.from_numpy(each).double() for each in arrays)
    return ((x @ w.T + bias).relu() + beside).float()


def kernels_of(module, algorithms="fast"):
    options = CodeOptions(algorithms=algorithms, target="haswell", num_threads=1)
    return str(lower_to(module, Level.KERNELS, options))


halves = st.tuples(st.integers(2, 19), st.integers(2, 21), st.integers(2, 23))


@settings(max_examples=4)
@given(halves, st.sampled_from(WAYS))
def test_quarters_of_any_size_match_pytorch(sizes, way):
    arrays = arrays_of(*(2 * size for size in sizes))

    with always():
        check(network, arrays, expected_of(arrays), way, parameters=2, tolerance=TOLERANCE)


def test_the_model_takes_large_products_and_exact_algorithms_none():
    module = module_of(network, arrays_of(132, 358, 288), 2)

    assert kernels_of(module).count("tensor.insert_slice") == 4
    assert "tensor.insert_slice" not in kernels_of(module, "exact")


def test_large_products_are_as_accurate_as_the_pass_says():
    arrays = arrays_of(132, 358, 288)

    with always():
        check(network, arrays, expected_of(arrays), WAYS[0], parameters=2, tolerance=TOLERANCE)
