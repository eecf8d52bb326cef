"""Whole networks, read from JSON and run, against PyTorch on the same JSON and weights."""

from pathlib import Path

import numpy as np
import pytest

from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.analysis.signature import Entry
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from gawee_dialect.interpreter import run_module
from gawee_dialect.parameters import bind_parameters, open_parameters
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.closeness import assert_allclose

pytest.importorskip("torch")


@pytest.mark.parametrize("write", [write_resnet18, write_unet])
@pytest.mark.parametrize("passes", ["", "canonicalize,fold-batch-norm,canonicalize"])
def test_networks_compute_what_pytorch_does(write, passes: str, tmp_path: Path):
    from tests.frontends.torch_graph import TorchGraph

    path = write(tmp_path, seed=3, size=64, batch=2, width=8)
    x = np.random.default_rng(5).normal(size=(2, 3, 64, 64)).astype(np.float32)
    module = parse_gawee_json(path.read_text(), name=path.name, folder=path.parent)
    weights = Entry.of(module).weights
    parameters = bind_parameters(weights, open_parameters(path.parent, weights))
    if passes:
        run_passes(make_context(), module, parse_passes(passes, all_passes()))

    results = run_module(module, {"x": x, **parameters})

    expected = TorchGraph(path).run({"x": x})
    assert list(results) == list(expected)
    for name, array in expected.items():
        # Sums over up to 4608 products in another order: relative to the largest output.
        assert np.abs(array).max() > 0.1
        assert_allclose(results[name], array, rtol=0, atol=2e-5 * np.abs(array).max())


def test_seeds_make_weights(tmp_path: Path):
    def weights(folder: str, seed: int) -> bytes:
        path = write_resnet18(tmp_path / folder, seed=seed, size=32, width=4)
        return (path.parent / "weights/conv1_weight_0.bin").read_bytes()

    assert weights("a", 1) == weights("b", 1)
    assert weights("a", 1) != weights("c", 2)
