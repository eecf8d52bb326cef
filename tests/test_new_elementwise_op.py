"""A new elementwise op is its class: added to a copy of the tree, it runs through all of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import full_run

ROOT = Path(__file__).parent.parent

FAMILY = "gawee_dialect/dialect/graph/activation.py"

MISH = '''

@irdl_op_definition
class MishOp(UnaryOp):
    """x * tanh(log(1 + exp(x))) of every element x.

    ```mlir
    %y = gawee.mish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.mish"

    EQUATION: ClassVar = "y[...] = x[...] * tanh(max(x[...], 0) + log1p(exp(-abs(x[...]))))"
    ONNX: ClassVar = "Mish"
    ATEN: ClassVar = "aten.mish"
'''

USE = """
import numpy as np, onnx, torch
from onnx import TensorProto, helper

import gawee_dialect

net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Mish()).eval()
x = torch.randn(2, 3, 5)
fast = gawee_dialect.compile_torch(net, (x,), decompose=False)
assert (fast(x) - net(x)).abs().max() < 1e-5

tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 5]) for name in "xy"]
nodes = [helper.make_node("Mish", ["x"], ["y"])]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), "net.onnx")

from gawee_dialect.tools import gawee_run, gawee_translate

assert gawee_translate.main(["net.onnx"]) == 0
for what in (["--compare", "gawee"], ["--prove-each"]):
    assert gawee_run.main(["net.onnx", "--no-cache", *what]) == 0
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tree with a new op in it."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("gawee_dialect", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name)  # with what Python has compiled already
    for name in ("pyproject.toml", "mkdocs.yml", "README.md"):
        shutil.copy(ROOT / name, folder)
    with (folder / FAMILY).open("a") as file:
        file.write(MISH)
    return folder


def run(folder: Path, *words: str) -> str:
    """Run Python in the copy; returns what it prints, and tells."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_takes_one_file_and_fifteen_lines() -> None:
    assert len([line for line in MISH.splitlines() if line.strip()]) <= 15


def test_what_every_op_must_have_the_new_one_has(copy: Path) -> None:
    completeness = ["tests/test_completeness.py", "tests/dialect/test_equations.py"]
    chosen = "MishOp or every_op or each or random or constraints or definition"

    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *completeness, "-k", chosen)


def test_graphs_of_pytorch_and_onnx_use_it_at_every_level(copy: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("onnx")
    said = run(copy, "-c", USE)

    assert "gawee.mish" in said
    assert "DIFFERS" not in said
    assert "proved" in said


@full_run
def test_the_reference_shows_its_equation(copy: Path) -> None:
    run(copy, "docs/generate_reference.py")

    page = (copy / "docs" / "reference" / "dialect.md").read_text()
    assert "### `gawee.mish`" in page
    assert "y[...] = x[...] * tanh(" in page
