"""Weights of ONNX models: large ones stay in the file, and are what ONNX's own reader gives."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.frontends.onnx.model_proto import read_model
from gawee_dialect.model import load
from gawee_dialect.parameters import MemoryStore
from gawee_dialect.parameters.data_files import FileArrays, FileExtent, OpenFile
from gawee_dialect.parameters.store import ArrayDescription, ParameterProblem
from gawee_dialect.source import Source
from tests.frontends.onnx.onnx_models import helper, model, numpy_helper, onnx, written

RNG = np.random.default_rng(3)
LARGE = RNG.standard_normal((67, 53)).astype(np.float32)
SMALL = RNG.standard_normal((53, 5)).astype(np.float32)


def two_products(first=LARGE):
    """A product by a large matrix, and one by a small matrix."""
    nodes = [
        helper.make_node("MatMul", ["x", "large"], ["h"]),
        helper.make_node("MatMul", ["h", "small"], ["y"]),
    ]
    shapes = [("x", (2, 67))], [("y", (2, 5))]
    return model(nodes, *shapes, [("large", first), ("small", SMALL)])


def own_weights(path: Path):
    graph = open_graph(Source.read(path), ReadOptions())
    return graph.weights(MemoryStore({}))


def test_a_model_runs_after_its_file_was_deleted_and_replaced(tmp_path):
    path = written(tmp_path, two_products())
    network = load(path)
    path.unlink()
    path.write_bytes(b"something else")
    x = RNG.standard_normal((2, 67)).astype(np.float32)

    compiled = network.compile(cache=False)

    # Sums of 67 and 53 products of numbers around 1.
    assert np.allclose(compiled(x), x @ LARGE @ SMALL, rtol=1e-4, atol=1e-3)
    assert np.array_equal(network.bound["large"], LARGE)


def test_a_file_that_was_written_to_since_is_refused(tmp_path):
    path = written(tmp_path, two_products())
    network = load(path)
    with path.open("r+b") as file:
        file.truncate(100)

    with pytest.raises(GaweeError, match=r"cannot read weights: '.*net.onnx' was written to after"):
        network.compile(cache=False)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "?"])
def test_large_data_of_every_type_is_what_was_written(tmp_path, dtype):
    array = RNG.integers(0, 100, (97, 89)).astype(dtype)
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=1),
        helper.make_node("Add", ["x", "f"], ["y"]),
    ]
    made = model(nodes, [("x", (97, 89))], [("y", (97, 89))], [("w", array)])
    store = own_weights(written(tmp_path, made))

    assert store.describe("w") == ArrayDescription((97, 89), array.dtype.name)
    assert np.array_equal(store["w"], array)
    assert store["w"].dtype == array.dtype
    assert store["w"].flags.aligned
    assert not store["w"].flags.writeable


def test_data_that_numpy_has_otherwise_is_read_as_onnx_does(tmp_path):
    made = two_products()
    tensor = onnx.TensorProto(name="b", data_type=onnx.TensorProto.BFLOAT16, dims=(61, 83))
    tensor.raw_data = RNG.integers(0, 1 << 14, 61 * 83).astype(np.uint16).tobytes()
    made.graph.initializer.append(tensor)

    found = read_model(Source.read(written(tmp_path, made)), None).graph.initializers

    assert np.array_equal(found["b"], numpy_helper.to_array(tensor))
    assert np.array_equal(found["large"], LARGE)
    assert np.array_equal(found["small"], SMALL)


def test_data_of_another_size_than_the_shape_says_is_refused(tmp_path):
    made = two_products()
    made.graph.initializer[0].dims[1] = 52

    with pytest.raises(GaweeError, match="cannot read data of tensor 'large': cannot reshape"):
        load(written(tmp_path, made))


def test_a_place_beyond_the_end_of_a_file_is_not_read_as_numbers(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(40))
    store = FileArrays(OpenFile(path), {"w": FileExtent(8, ArrayDescription((8,), "float32"))})
    path.write_bytes(bytes(20))

    with pytest.raises(ParameterProblem, match="was written to after the graph was read"):
        _ = store["w"]


MEMORY = """
import json, pathlib, re, sys
from gawee_dialect.model import load
import gawee_dialect.compilation, gawee_dialect.backend.compiled, onnx.numpy_helper
def megabytes(name):
    return int(re.search(name + r":\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
before = megabytes("VmRSS")
network = load(sys.argv[1])
loaded = megabytes("VmRSS") - before
compiled = network.compile(cache=False)
print(json.dumps([loaded / 1024, (megabytes("VmRSS") - before) / 1024, compiled.memory.prepared]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_network_that_is_ready_holds_its_weights_once(tmp_path):
    size = 64  # MB
    weights = np.zeros((4096, (size << 20) // 4 // 4096), np.float32)
    weights[:, 0] = 1
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    shapes = [("x", (7, 4096))], [("y", (7, weights.shape[1]))]
    path = written(tmp_path, model(nodes, *shapes, [("w", weights)]))

    command = [sys.executable, "-c", MEMORY, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    loaded, ready, prepared = json.loads(done.stdout)
    assert prepared >= weights.nbytes
    assert loaded < 0.5 * size
    # What LLVM and the passes take is some 70 MB.
    assert ready < prepared / (1 << 20) + 0.5 * size + 70
