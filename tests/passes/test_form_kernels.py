"""Graphs mean the same as kernels, on tensors and on buffers, as they do to PyTorch.

Tolerance: 1e-4 of the largest number. A few dozen products are summed in another order, and batch
normalization is folded: both stay within some 1e-6 of it.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.entry import entry_arguments, find_function
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from gawee_dialect.interpreter import run_module
from tests.closeness import assert_allclose
from tests.effort import examples
from tests.passes.modules import evaluate, shape_of, transform
from tests.passes.random_graphs import graphs

TOLERANCE = 1e-4
EXAMPLES = Path(__file__).parents[2] / "examples"
TO_KERNELS = "gawee-optimize,lower-to-linalg,canonicalize,form-kernels"
TO_BUFFERS = "hoist-parameter-computation,bufferize,outline-kernels,plan-memory"


def random_arguments(module: ModuleOp) -> dict[str, np.ndarray]:
    """Standard normal arrays, divided so that sums stay near 1; variances are positive."""
    generator = np.random.default_rng(5)
    function = find_function(module)
    assert function is not None
    arrays: dict[str, np.ndarray] = {}
    for argument in entry_arguments(function):
        array = generator.standard_normal(shape_of(argument)).astype(np.float32)
        fan_in = np.prod(array.shape[1:]) if "weight" in argument.name else 1
        array = (array / np.sqrt(fan_in)).astype(np.float32)
        arrays[argument.name] = np.abs(array) + 0.5 if "var" in argument.name else array
    return arrays


def assert_same(
    module: ModuleOp, arguments: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]
) -> None:
    got = run_module(module, arguments)
    assert got.keys() == expected.keys()
    for name, array in expected.items():
        scale = max(1.0, float(np.abs(array).max()))
        assert_allclose(got[name], array, rtol=0, atol=TOLERANCE * scale, err_msg=name)


@examples(25)
@given(module=graphs())
def test_a_random_graph_means_the_same_as_kernels(module: ModuleOp) -> None:
    arguments = random_arguments(module)
    expected = evaluate(module, arguments)

    kernels = transform(module, TO_KERNELS)
    kernels.verify()
    buffers = transform(kernels, TO_BUFFERS)

    assert_same(kernels, arguments, expected)
    assert_same(buffers, arguments, expected)


@pytest.mark.parametrize("network", ["resnet18", "unet"])
def test_a_network_means_the_same_as_kernels(network: str, tmp_path: Path) -> None:
    script = EXAMPLES / network / "write_graph.py"
    command = [sys.executable, script, tmp_path, "--size", "64", "--width", "8", "--batch", "2"]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "graph.json").read_text()
    # A traced U-Net computes sizes from shapes, in Python values.
    module = transform(parse_gawee_json(text, name="graph.json", folder=tmp_path), "canonicalize")
    arguments = random_arguments(module)
    expected = evaluate(module, arguments)

    kernels = transform(module, TO_KERNELS)
    buffers = transform(kernels, TO_BUFFERS)

    assert_same(kernels, arguments, expected)
    assert_same(buffers, arguments, expected)
