"""Operators that are described by equations alone, on inputs that these say, against PyTorch."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.equations.evaluate import Array
from gawee_dialect.opdesc.described_op import BodyOp
from gawee_dialect.opdesc.load import load_operator_descriptions
from gawee_dialect.opdesc.oracle import Use, random_use
from tests.closeness import assert_allclose
from tests.opdesc.index_notation.modules import model_of

pytestmark = pytest.mark.usefixtures("unoptimized")

torch = pytest.importorskip("torch")
pytest.importorskip("pycparser")

OPERATORS = {
    op.name.partition(".")[2]: op
    for op in load_operator_descriptions(Path(__file__).parent / "operators.op").operations
    if issubclass(op, BodyOp)
}


def computed_by_pytorch(name: str, use: Use) -> list[Array]:
    from tests.opdesc.index_notation import torch_operators

    inputs = {name: torch.tensor(array) for name, array in use.inputs.items()}
    found = getattr(torch_operators, name)(**inputs, **use.parameters)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def assert_same(found: list[Array], expected: list[Array], use: Use) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype), use
        # Sums of some hundred f32, in another order than PyTorch's.
        assert_allclose(one, other, rtol=2e-5, atol=2e-5, err_msg=str(use))


def test_there_are_a_hundred() -> None:
    assert len(OPERATORS) > 100


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_means_what_pytorch_computes(name: str) -> None:
    for seed in range(3):
        use = random_use(OPERATORS[name].description(), seed)

        assert_same(list(use.outputs), computed_by_pytorch(name, use), use)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_runs_as_machine_code(name: str) -> None:
    use = random_use(OPERATORS[name].description(), seed=3)
    model = model_of(OPERATORS[name], use.inputs, use.parameters)

    for level in ("linalg", "llvm"):
        found = model.runner(level, cache=False)(use.inputs)
        assert_same(list(found.values()), computed_by_pytorch(name, use), use)
