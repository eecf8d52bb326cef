"""Models whose sizes have names, against onnxruntime at several numbers of them."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text, print_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.model import Model, load
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.tools import gawee_run, gawee_translate
from gawee_dialect.universe import all_passes, make_context
from tests.closeness import assert_allclose
from tests.frontends.onnx.onnx_models import FLOAT, helper, onnx, written

pytestmark = pytest.mark.usefixtures("unoptimized")

runtime = pytest.importorskip("onnxruntime")

HEADS, WIDTH = 3, 12


def attention_model(batch="batch", length="length", positions=20):
    """Return self-attention as exporters write it: shapes are computed by Shape, Gather, Concat."""
    rng = np.random.default_rng(0)
    node, weights = helper.make_node, {}

    def weight(name, *shape):
        weights[name] = rng.standard_normal(shape).astype(np.float32)
        return name

    def integers(name, *values):
        weights[name] = np.array(values, np.int64)
        return name

    def heads(name):
        weight(f"w_{name}", WIDTH, WIDTH)
        return [
            node("MatMul", ["rows", f"w_{name}"], [f"{name}_all"]),
            node("Reshape", [f"{name}_all", "parts"], [f"{name}_parts"]),
            node("Transpose", [f"{name}_parts"], [name], perm=[0, 2, 1, 3]),
        ]

    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", integers("one", 1)], ["length"], axis=0),
        node("Gather", ["shape", integers("zero", 0)], ["batch"], axis=0),
        node(
            "Slice",
            [weight("table", positions, WIDTH), "zero", "length", "zero"],
            ["places"],
        ),
        node("Add", ["x", "places"], ["rows"]),
        node(
            "Concat",
            ["batch", "length", integers("heads", HEADS), integers("rest", -1)],
            ["parts"],
            axis=0,
        ),
        *heads("q"),
        *heads("k"),
        *heads("v"),
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "kt"], ["scores"]),
        node("Softmax", ["scores"], ["probabilities"], axis=-1),
        node("MatMul", ["probabilities", "v"], ["mixed"]),
        node("Transpose", ["mixed"], ["joined"], perm=[0, 2, 1, 3]),
        node("Mul", ["batch", "length"], ["count"]),
        node("Concat", ["count", integers("width", WIDTH)], ["flat"], axis=0),
        node("Reshape", ["joined", "flat"], ["y"]),
        node("ReduceMean", ["x", "one"], ["mean"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "attention",
        [helper.make_tensor_value_info("x", FLOAT, [batch, length, WIDTH])],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in ("y", "mean")],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


@pytest.fixture
def path(tmp_path):
    return written(tmp_path, attention_model())


def compare(path, run):
    session = runtime.InferenceSession(str(path))
    rng = np.random.default_rng(1)
    for batch, length in ((1, 1), (2, 7), (5, 20)):
        x = rng.standard_normal((batch, length, WIDTH)).astype(np.float32)
        wanted = session.run(None, {"x": x})
        for got, array in zip(run(x).values(), wanted, strict=True):
            # Sums of 12 products, and of 20 after a softmax, in another order.
            assert_allclose(got, array, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("level", ["gawee", "linalg", "llvm"])
def test_a_model_of_open_sizes_runs_as_onnxruntime_does(path, level):
    network = load(path, ranges={"length": (1, 20)})

    assert network.sizes == {"batch": "1 or more", "length": "1 to 20"}
    compare(path, network.runner(level))


def test_linalg_of_open_sizes_is_one_module_for_all_of_them(path):
    network = load(path, ranges={"length": (1, 20)})
    module = network.module.clone()
    run_passes(make_context(), module, parse_passes("lower-to-linalg", all_passes()))
    again = module_of_text(print_mlir(module))

    assert print_mlir(again) == print_mlir(module)
    for each in (module, again):
        compare(path, lambda x, each=each: run_module(each, {**network.bound, "x": x}))


def test_code_for_given_sizes_computes_what_the_static_graph_does(path):
    network = load(path, ranges={"length": (1, 20)})
    static = load(path, shapes={"x": (2, 7, WIDTH)})

    assert network.specialized({"batch": 2, "length": 7}) is network.specialized(
        {"length": 7, "batch": 2}
    )
    x = np.random.default_rng(2).standard_normal((2, 7, WIDTH)).astype(np.float32)
    compiled = network.compile(sizes={"batch": 2, "length": 7})
    for got, wanted in zip(compiled.run(x).values(), static.run(x).values(), strict=True):
        assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_what_a_range_would_tell_is_refused_without_one(path, capsys):
    assert gawee_translate.main([str(path)]) == 1
    message = capsys.readouterr().err
    assert "'Slice' node expected to know whether 'length' is less than '20'" in message
    assert "--range length=1:512 says which values a size may have" in message
    assert gawee_translate.main([str(path), "--range", "length=1:20"]) == 0
    assert '"batch * length"' in capsys.readouterr().out
    for wrong in ("length", "length=1", "length=a:b"):
        assert gawee_translate.main([str(path), "--range", wrong]) == 1
        assert "expected --range NAME=LOW:HIGH such as length=1:512" in capsys.readouterr().err
    assert gawee_translate.main([str(path), "--range", "length=9:1"]) == 1
    assert "expected the range of size 'length' to begin with a multiple" in capsys.readouterr().err


def test_a_run_takes_sizes_from_its_inputs_or_the_command_line(path, tmp_path, capsys):
    x = str(tmp_path / "x.npy")
    np.save(x, np.ones((2, 5, WIDTH), np.float32))
    common = [str(path), "--range", "length=1:20", "--level", "gawee"]

    assert gawee_run.main([*common, "--input", x]) == 0
    assert "10x12" in capsys.readouterr().out
    assert gawee_run.main([*common, "--shape", "batch=3", "--shape", "length=2"]) == 0
    assert "6x12" in capsys.readouterr().out
    assert gawee_run.main(common) == 1
    assert "expected a number for size 'batch' (1 or more), got none" in capsys.readouterr().err


def test_names_of_no_input_and_no_size_are_told(path):
    with pytest.raises(GaweeError, match="unknown input or size 'lenght'") as caught:
        load(path, shapes={"batch": [2], "lenght": [3]})
    assert caught.value.diagnostics[0].hint == "did you mean 'length'?"
    with pytest.raises(GaweeError, match="unknown input or size 'y'"):
        load(path, ranges={"y": (1, 3)})


def test_inputs_that_do_not_fit_names_are_refused(path):
    network = load(path, ranges={"length": (1, 20)})

    with pytest.raises(GaweeError, match=r"expected size 'length' of 1 to 20, got 21"):
        network.run(np.zeros((1, 21, WIDTH), np.float32))
    with pytest.raises(GaweeError, match=r"of shape batch x length x 12, got 2x3x4"):
        network.run(np.zeros((2, 3, 4), np.float32))
    with pytest.raises(GaweeError, match=r"expected a number for size 'batch'"):
        network.compile()


def sum_model():
    shapes = {"past": ["past", 3], "x": ["new", 3], "mask": ["past + new"]}
    graph = helper.make_graph(
        [
            helper.make_node("Concat", ["past", "x"], ["all"], axis=0),
            helper.make_node("ReduceSum", ["all", "axes"], ["sums"], keepdims=0),
            helper.make_node("Mul", ["sums", "mask"], ["y"]),
        ],
        "sums",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [onnx.numpy_helper.from_array(np.array([1]), "axes")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def test_a_size_that_is_a_sum_of_names_is_checked_against_them(tmp_path):
    network = load(written(tmp_path, sum_model()))
    arrays = {"past": np.ones((4, 3), "f"), "x": np.ones((2, 3), "f"), "mask": np.ones(6, "f")}

    np.testing.assert_array_equal(network.run(arrays)["y"], np.full(6, 3, np.float32))
    with pytest.raises(
        GaweeError,
        match=r"axis 0 of input 'mask' to be 'new \+ past' = 6 \(new = 2, past = 4\), got 5",
    ):
        network.run({**arrays, "mask": np.ones(5, "f")})


def test_a_size_that_is_a_multiple_has_to_be_one():
    network = Model(
        module_of_text(
            """func.func @main(%x: tensor<?xf32> {gawee.sizes = ["2 * n"]}) -> tensor<?xf32> {
              %y = gawee.relu %x : (tensor<?xf32>) -> tensor<?xf32>
              func.return %y : tensor<?xf32>
            }"""
        )
    )

    assert network.run(np.ones(4, np.float32))["output0"].shape == (4,)
    with pytest.raises(GaweeError, match=r"axis 0 of input 'x' to be '2 \* n' of a whole n, got 5"):
        network.run(np.ones(5, np.float32))


def test_open_sizes_are_numbers_to_compute_with(tmp_path):
    graph = helper.make_graph(
        [
            helper.make_node("Size", ["x"], ["count"]),
            helper.make_node("Cast", ["count"], ["number"], to=FLOAT),
            helper.make_node("Div", ["x", "number"], ["y"]),
            helper.make_node("Shape", ["x"], ["sizes"]),
            helper.make_node("Add", ["sizes", "shift"], ["shifted"]),
        ],
        "g",
        [
            helper.make_tensor_value_info("x", FLOAT, ["rows", 3]),
            helper.make_tensor_value_info("shift", onnx.TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in ("y",)]
        + [helper.make_tensor_value_info("shifted", onnx.TensorProto.INT64, None)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    path = written(tmp_path, made)
    session = runtime.InferenceSession(str(path))
    compiled = load(path, ranges={"rows": (1, 9)}).compile(sizes={"rows": (1, 9)})

    for rows in (1, 4, 9):
        given = {"x": np.ones((rows, 3), np.float32), "shift": np.array([7, -2])}
        y, shifted = session.run(None, given)
        results = compiled.run(given)
        assert_allclose(results["y"], y, rtol=1e-6, atol=0)  # one division in float32
        np.testing.assert_array_equal(results["shifted"], shifted)
