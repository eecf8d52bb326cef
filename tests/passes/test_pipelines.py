"""The whole pipeline on random graphs, at every level, against PyTorch on the graph as it was drawn.

Tolerance: 1e-4 of the largest number. A few dozen products are summed in another order, and batch
normalization is folded: both stay within some 1e-6 of it.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.dialect.entry import entry_arguments
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context

pytest.importorskip("torch")

from tests.closeness import assert_allclose
from tests.passes.modules import shape_of
from tests.passes.random_graphs import graphs
from tests.torch_reference import evaluate

TOLERANCE = 1e-4


def seeded(model: Model) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(5)
    arrays = {}
    for argument in entry_arguments(model.function):
        array = generator.standard_normal(shape_of(argument)).astype(np.float32)
        arrays[argument.name] = np.abs(array) + 0.5 if "variance" in argument.name else array
    return arrays


@pytest.mark.parametrize("level", ["linalg", "loops", "llvm"])
@settings(max_examples=15)
@given(module=graphs())
def test_random_graph_means_the_same_at_every_level(level: str, module: ModuleOp) -> None:
    module.verify()
    model = Model(module)
    arrays = seeded(model)
    expected = evaluate(module, arrays)
    inputs = {"input0": arrays["input0"]}
    model.parameters = {name: a for name, a in arrays.items() if name not in inputs}

    got = model.run(inputs, level)

    assert got.keys() == expected.keys()
    for name, array in expected.items():
        scale = max(1.0, float(np.abs(array).max()))
        assert_allclose(got[name], array, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
@pytest.mark.parametrize("level", ["gawee", "linalg", "loops", "llvm"])
@settings(max_examples=5)
@given(module=graphs())
def test_text_of_every_level_reads_back_as_the_same_module(
    level: str, generic: bool, module: ModuleOp
) -> None:
    lowered = Model(module).lowered(level, CodeOptions(algorithms=PLAIN))

    again = parse_mlir(make_context(), print_mlir(lowered, generic=generic), "again.mlir")

    for op in again.ops:  # xDSL's pretty form of llvm.func reads this property as an attribute
        if "passthrough" in op.attributes:
            op.properties["passthrough"] = op.attributes.pop("passthrough")
    assert again.is_structurally_equivalent(lowered)
