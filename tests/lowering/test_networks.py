"""Whole networks: lowered to linalg, compiled by upstream, against PyTorch's op by op."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from gawee_dialect.dialect.entry import entry_arguments, find_function
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.universe import make_context
from tests.lowering.native import lowered_text, numbers
from tests.torch_reference import evaluate
from tests.upstream_mlir import requires_upstream, run_upstream

pytestmark = requires_upstream
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("network", ["resnet18", "unet"])
def test_reduced_network_matches_pytorch(network, tmp_path):
    script = EXAMPLES / network / "write_graph.py"
    command = [sys.executable, script, tmp_path, "--size", "64", "--width", "8", "--batch", "2"]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "graph.json").read_text()
    module = parse_gawee_json(text, name="graph.json", folder=tmp_path)
    # A traced U-Net computes sizes from shapes, in Python values.
    CanonicalizePass().apply(make_context(), module)
    function = find_function(module)
    assert function is not None
    arguments = {}
    for argument in entry_arguments(function):
        assert is_tensor(argument.type)
        array = numbers(argument.index, *argument.type.get_shape())
        # Divided so that sums stay near 1; the statistics of a channel must not be negative.
        fan_in = np.prod(array.shape[1:]) if "weight" in argument.name else 1
        array = (array / np.sqrt(fan_in)).astype(np.float32)
        arguments[argument.name] = np.abs(array) + 1 if "var" in argument.name else array
    (expected,) = evaluate(module, arguments).values()

    (result,) = run_upstream(lowered_text(module), list(arguments.values()))

    # Rounding of some twenty layers, as a part of the output's range.
    assert np.ptp(expected) > 0
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.ptp(expected))
