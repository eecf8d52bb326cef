"""What a process imports where the cache has its network: no more than reading the graph needs."""

from pathlib import Path

import pytest

from tests.backend.test_memory import printed

pytest.importorskip("onnx")

WRITTEN = """
import numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(0)
weights = {"w": rng.normal(size=(16, 16, 3, 3)), "b": rng.normal(size=16)}
held = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()]
nodes = [
    helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c"], ["r"]),
    helper.make_node("Transpose", ["r"], ["y"], perm=[0, 2, 3, 1]),
]
ends = [
    helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    for name, shape in (("x", [1, 16, 8, 8]), ("y", [1, 8, 8, 16]))
]
graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], held)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, "net.onnx")
"""

RUN = """
import sys
import numpy as np
from gawee_dialect import load

x = np.random.default_rng(1).normal(size=(1, 16, 8, 8)).astype(np.float32)
y = load("net.onnx").compile()(x)
unneeded = {f"xdsl.dialects.{each}" for each in ("arith", "linalg", "memref", "tensor", "vector")}
unneeded |= {"gawee_dialect.passes.pipelines", "onnx", "importlib.metadata", "subprocess"}
print(sorted(unneeded & set(sys.modules)))

import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.load("net.onnx")
onnx.checker.check_model(model)
(expected,) = ReferenceEvaluator(model).run(None, {"x": x})
# 144 products of f32 in another order: ten times the rounding of one.
print(np.allclose(y, expected, rtol=1e-5, atol=1e-5))
"""


def test_a_known_network_is_ready_without_what_compiles_it_or_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    printed(WRITTEN)
    printed(RUN)

    assert printed(RUN) == ["[]", "True"]
