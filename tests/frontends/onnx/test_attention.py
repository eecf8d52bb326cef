"""`Attention` on a cache of keys that is not full, against ONNX Runtime."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.model import load
from tests.closeness import assert_allclose

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper = onnx.helper

HEADS, ROWS, KEYS, SIZE = 2, 3, 7, 4


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("causal", [0, 1])
def test_keys_of_a_cache_that_is_not_full(tmp_path: Path, causal: int, with_mask: bool) -> None:
    random = np.random.default_rng(0)
    # Of the last batch the first row sees no key where that is causal.
    lengths = np.array([5, 7, 2], np.int64)

    def draw(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    shapes = {"q": ROWS, "k": KEYS, "v": KEYS}
    given = {name: draw(len(lengths), HEADS, rows, SIZE) for name, rows in shapes.items()}
    given |= {"n": lengths} | ({"m": draw(ROWS, KEYS)} if with_mask else {})
    names = [*shapes, "m" if with_mask else "", "", "", "n"]
    graph = helper.make_graph(
        [helper.make_node("Attention", names, ["y"], is_causal=causal)],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in given.items()
        ],
        [helper.make_empty_tensor_value_info("y")],
    )
    opset = [helper.make_opsetid("", 24)]
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=11), path)
    (expected,) = runtime.InferenceSession(str(path)).run(None, given)

    for level in ("gawee", "llvm"):
        (got,) = load(path).runner(level, cache=False)(given).values()
        # Sums of four and seven products, and exponentials that are computed otherwise.
        assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
