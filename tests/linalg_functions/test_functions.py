"""Functions of linalg as others write them, interpreted and native, against NumPy."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.dialect.types import dtype_name, is_shaped
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.effort import mostly_full
from tests.linalg_functions.functions import FUNCTIONS
from tests.upstream_mlir import requires_upstream, run_mlir_opt

AnyArray = NDArray[np.generic]

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
"""Of sums of up to 40 terms in another order, and of libm's last bit; 2 units of bf16's."""


def model_of(text: str) -> Model:
    """Return the model of a text, its resources among the weights."""
    return Model(parse_mlir(make_context(), text, "in.mlir"))


def inputs_of(model: Model) -> dict[str, AnyArray]:
    """Return an array for every input: floats around zero, small integers, bits."""
    generator = np.random.default_rng(0)
    arrays: dict[str, AnyArray] = {}
    for each in model.arguments:
        assert is_shaped(each.type)
        dtype = np.dtype(dtype_name(each.type.element_type))
        whole = dtype.kind in "iub"
        numbers = generator.integers(-4, 5, each.type.get_shape())
        floats = generator.uniform(-1.5, 1.5, each.type.get_shape())
        arrays[each.name] = (numbers if whole else floats).astype(dtype)
    return arrays


def assert_close(got: Sequence[AnyArray], expected: Sequence[AnyArray], what: str) -> None:
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), what
        tolerance = TOLERANCE.get(other.dtype.name, 0)
        np.testing.assert_allclose(
            one.astype(np.float64),
            other.astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
            err_msg=what,
        )


def test_there_are_more_than_fifty() -> None:
    print(f"{len(FUNCTIONS)} functions")
    assert len(FUNCTIONS) > 50


@pytest.mark.parametrize("name", mostly_full([*FUNCTIONS]))
def test_function_computes_what_numpy_does(name: str) -> None:
    function = FUNCTIONS[name]
    if "bf16" in function.text:
        pytest.importorskip("ml_dtypes")
    model = model_of(function.text)
    inputs = inputs_of(model)
    meant = function.meaning(*inputs.values())
    expected = meant if isinstance(meant, tuple) else (np.asarray(meant),)
    plain = CodeOptions(algorithms=PLAIN)

    assert_close([*model.run(inputs).values()], expected, "as it is")
    assert_close([*model.run(inputs, "linalg").values()], expected, "at level linalg")
    assert_close([*model.run(inputs, "loops").values()], expected, "at level loops")
    assert_close([*model.compile(plain, cache=False).run(inputs).values()], expected, "plain code")
    assert_close([*model.compile(cache=False).run(inputs).values()], expected, "native code")


@requires_upstream
@pytest.mark.parametrize("name", FUNCTIONS)
def test_upstream_reads_the_function_and_what_is_printed_of_it(name: str) -> None:
    text = FUNCTIONS[name].text

    run_mlir_opt(text)
    run_mlir_opt(print_mlir(parse_mlir(make_context(), text, "in.mlir")))
