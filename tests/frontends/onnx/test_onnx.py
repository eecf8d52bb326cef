"""ONNX models: what the format holds, what is resolved when it is read, and what is refused."""

import json
from mmap import mmap

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph, sniff
from gawee_dialect.frontends.op_mapping.registry import (
    Known,
    KnownInts,
    Refusal,
    bind,
    parameters_of,
)
from gawee_dialect.model import load
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_run, gawee_translate
from tests.closeness import assert_allclose
from tests.frontends.onnx.onnx_models import FLOAT, helper, model, onnx, written

INT64 = 7

W = np.linspace(-1, 1, 5 * 3 * 3 * 2, dtype=np.float32).reshape(5, 3, 3, 2)


def conv_model(batch: int | str | None = 2):
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 0, 1, 0]),
        helper.make_node("Shape", ["c"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Concat", ["n", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["c", "to"], ["y"]),
    ]
    initializers = [("w", W), ("zero", np.array([0])), ("rest", np.array([-1]))]
    return model(nodes, [("x", (batch, 3, 7, 5))], [("y", (batch, 140))], initializers)


def reference(made, inputs):
    from onnx.reference import ReferenceEvaluator

    (output,) = ReferenceEvaluator(made).run(None, inputs)
    return output


def test_a_model_runs_with_its_own_weights_and_its_shapes_are_computed_when_it_is_read(tmp_path):
    path = written(tmp_path, conv_model())
    x = np.random.default_rng(0).standard_normal((2, 3, 7, 5)).astype(np.float32)

    network = load(path)
    (got,) = network.run({"x": x}).values()

    assert sniff(Source.read(path)).name == "onnx"
    ops = [op.name for op in network.function.body.block.ops]
    assert ops == ["gawee.conv", "gawee.reshape", "func.return"]
    assert list(network.bound) == ["w"]
    # One sum of 18 products an element, in another order: a few roundings of float32.
    assert_allclose(got, reference(conv_model(), {"x": x}), rtol=1e-4, atol=1e-5)


def test_sizes_with_names_are_given_by_the_user(tmp_path, capsys):
    path = str(written(tmp_path, conv_model("batch")))

    assert gawee_run.main([path, "--shape", "batch=4", "--level", "gawee"]) == 0
    capsys.readouterr()
    assert gawee_translate.main([path, "--shape", "x=6,3,7,5"]) == 0
    assert "tensor<6x140xf32>" in capsys.readouterr().out
    assert str(load(path, shapes={"batch": [3]}).arguments[0].type) == "tensor<3x3x7x5xf32>"
    assert gawee_translate.main([path]) == 0
    assert 'gawee.sizes = ["batch", "-", "-", "-"]' in capsys.readouterr().out
    nameless = str(written(tmp_path, conv_model(None)))
    assert gawee_translate.main([nameless]) == 0
    assert 'gawee.sizes = ["x_0", "-", "-", "-"]' in capsys.readouterr().out
    assert gawee_run.main([nameless]) == 1
    assert "expected a number for size 'x_0' (1 or more), got none" in capsys.readouterr().err
    for shape in ("batch", "batch=" + "9" * 5000):
        assert gawee_translate.main([path, "--shape", shape]) == 1
        assert "expected --shape NAME=SIZES such as" in capsys.readouterr().err


def test_the_weights_of_a_file_come_before_those_of_the_model(tmp_path):
    path = written(tmp_path, conv_model())
    np.savez(tmp_path / "w.npz", w=W * 2)

    assert np.array_equal(load(path, tmp_path / "w.npz").bound["w"], W * 2)


def test_external_data_is_mapped_and_stays_inside_the_folder(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(conv_model(), path, save_as_external_data=True, location="net.bin", size_threshold=16)

    weights = load(path).bound["w"]
    bases: list[object] = [weights]
    while isinstance(bases[-1], np.ndarray):
        bases.append(bases[-1].base)
    assert isinstance(bases[-1], mmap)
    assert np.array_equal(weights, W)

    outside = onnx.load(path, load_external_data=False)
    outside.graph.initializer[0].external_data[0].value = "../net.bin"
    path.write_bytes(outside.SerializeToString())
    with pytest.raises(GaweeError, match=r"tensor 'w': expected path '\.\./net\.bin' to stay"):
        load(path)
    (tmp_path / "net.bin").write_bytes(b"short")
    outside.graph.initializer[0].external_data[0].value = "net.bin"
    path.write_bytes(outside.SerializeToString())
    with pytest.raises(GaweeError, match="tensor 'w': expected file of at least 360 bytes, got 5"):
        load(path)
    outside.graph.initializer[0].data_type = -7
    path.write_bytes(outside.SerializeToString())
    with pytest.raises(GaweeError, match="tensor 'w': unsupported ONNX type -7"):
        load(path)


def test_functions_are_inlined_and_constant_conditions_resolved(tmp_path):
    twice = helper.make_function(
        "mine",
        "Twice",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    branches = [
        helper.make_graph(
            [helper.make_node(op, ["t"], ["r"])],
            "branch",
            [],
            [helper.make_tensor_value_info("r", FLOAT, (3, 2))],
        )
        for op in ("Neg", "Abs")
    ]
    nodes = [
        helper.make_node("Twice", ["x"], ["t"], domain="mine"),
        helper.make_node("If", ["yes"], ["y"], then_branch=branches[0], else_branch=branches[1]),
    ]
    made = model(nodes, [("x", (3, 2))], [("y", (3, 2))], [("yes", np.array(True))], 17, [twice])
    x = np.arange(6, dtype=np.float32).reshape(3, 2)

    (got,) = load(written(tmp_path, made)).run({"x": x}).values()

    assert np.array_equal(got, -2 * x)


def test_a_node_calls_the_overload_that_it_names(tmp_path):
    def function(name, nodes, **overload):
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
        return helper.make_function("mine", name, ["a"], ["b"], nodes, opsets, **overload)

    def call(name, overload, result):
        node = helper.make_node(name, ["x" if result != "b" else "a"], [result], domain="mine")
        node.overload = overload
        return node

    functions = [
        function("F", [helper.make_node("Neg", ["a"], ["b"])], overload="negative"),
        function("F", [helper.make_node("Abs", ["a"], ["b"])], overload="positive"),
        function("Calls", [call("F", "negative", "b")]),
    ]
    nodes = [call("F", "negative", "n"), call("F", "positive", "p"), call("Calls", "", "c")]
    outputs = [(name, (3,)) for name in "npc"]
    made = model(nodes, [("x", (3,))], outputs, functions=functions)
    x = np.array([-1, 0, 2], np.float32)

    got = load(written(tmp_path, made)).run({"x": x})

    for name, wanted in {"n": -x, "p": np.abs(x), "c": -x}.items():
        assert np.array_equal(got[name], wanted)


def test_a_loop_of_known_length_is_written_out(tmp_path):
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still"]),
            helper.make_node("Mul", ["h", "x"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, ()),
            helper.make_tensor_value_info("going", 9, ()),
            helper.make_tensor_value_info("h", FLOAT, (3,)),
        ],
        [
            helper.make_tensor_value_info("still", 9, ()),
            helper.make_tensor_value_info("next", FLOAT, (3,)),
        ],
    )
    nodes = [helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)]
    made = model(nodes, [("x", (3,))], [("y", (3,))], [("trips", np.array(3))])
    x = np.array([1, 2, 3], np.float32)

    (got,) = load(written(tmp_path, made)).run({"x": x}).values()

    assert np.array_equal(got, x**4)


def test_all_unsupported_nodes_are_reported_at_once(tmp_path):
    nodes = [
        helper.make_node("NonZero", ["x"], ["a"], name="first"),
        helper.make_node("NonZero", ["x"], ["b"], name="second"),
        helper.make_node("Reshape", ["x", "a"], ["c"], name="third"),
        helper.make_node("Selu", ["x"], ["d"], name="fourth", beta=1.0),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    path = written(tmp_path, model(nodes, [("x", (3, 2))], [("y", (3, 2))]))

    with pytest.raises(GaweeError) as raised:
        load(path)

    messages = [each.message for each in raised.value.diagnostics]
    assert messages == [
        "'Selu' node unknown argument 'beta'; arguments: x, alpha, gamma",
        "unsupported op 'NonZero' of node 'first' and 1 more: "
        "how large its result is depends on elements",
    ]


@pytest.mark.parametrize(
    ("op_type", "domain", "reason"),
    [
        ("Unique", "", "how large its result is depends on elements"),
        ("RandomUniformLike", "", "it draws other numbers every time"),
        ("SequenceLength", "", "it is on sequences or optional values, not tensors"),
        ("StringSplit", "", "it is on text"),
        ("ImageDecoder", "", "it decodes a file"),
    ],
)
def test_why_an_op_cannot_be_supported_is_said(tmp_path, op_type, domain, reason):
    node = helper.make_node(op_type, ["x"], ["y"], name="n", domain=domain)
    path = written(tmp_path, model([node], [("x", (3, 2))], [("y", (3, 2))]))

    with pytest.raises(GaweeError, match=f"{op_type}' of node 'n': {reason}"):
        load(path)


def test_ends_of_a_shape_are_integers(tmp_path):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=0.5),
        helper.make_node("Size", ["s"], ["y"]),
    ]
    path = written(tmp_path, model(nodes, [("x", (3, 2))], [("y", ())]))

    with pytest.raises(GaweeError, match=r"expected attributes 'start' and 'end' to be integers"):
        load(path)


@pytest.mark.parametrize("op_type", ["Sum", "Concat"])
def test_no_input_of_a_list_is_left_out(tmp_path, op_type):
    node = helper.make_node(op_type, ["", "x"], ["y"], **{"axis": 0} if op_type == "Concat" else {})
    path = written(tmp_path, model([node], [("x", (3, 2))], [("y", (3, 2))]))

    with pytest.raises(GaweeError, match="to be tensors, got none"):
        load(path)


def test_dropout_that_drops_is_refused(tmp_path):
    node = helper.make_node("Dropout", ["x", "half", "yes"], ["y"], seed=3)
    initializers = [("half", np.array(0.5, np.float32)), ("yes", np.array(True))]
    path = written(tmp_path, model([node], [("x", (3, 2))], [("y", (3, 2))], initializers))

    with pytest.raises(GaweeError, match="unsupported training_mode with a ratio that is not 0"):
        load(path)


def test_coverage_names_what_each_node_becomes(tmp_path, capsys):
    assert gawee_translate.main([str(written(tmp_path, conv_model())), "--coverage", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert {row["op_type"]: row["op"] for row in report["ops"]}["Conv"] == "gawee.conv"


def test_an_output_of_another_shape_than_the_model_says_is_refused(tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    path = written(tmp_path, model(nodes, [("x", (3, 2))], [("y", (3, 5))]))

    with pytest.raises(GaweeError, match="expected graph output 'y' of shape 3x5, got 3x2"):
        load(path)


@pytest.mark.parametrize("keep", [9, 100, 400])
def test_a_model_that_is_cut_off_is_refused(tmp_path, keep: int):
    path = written(tmp_path, conv_model())
    path.write_bytes(path.read_bytes()[:keep])

    with pytest.raises(
        GaweeError, match=r"cannot read an ONNX model: |expected an ONNX model with opsets"
    ):
        load(path)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    path = written(tmp_path, conv_model())
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)

    with pytest.raises(GaweeError, match=r"without the package 'onnx'\n.*gawee-dialect\[onnx\]"):
        load(path)


def test_inputs_whose_elements_an_op_must_know_are_named_and_may_be_given(tmp_path):
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
    made = model(nodes, [("x", (3, 2))], [("y", (2, 3))])
    made.graph.input.append(helper.make_tensor_value_info("s", INT64, (2,)))
    path = written(tmp_path, made)

    message = r"expected argument 'shape' to be known when the graph is.*\n.*\nhint: --value s=\.\.\. gives"
    with pytest.raises(GaweeError, match=message):
        open_graph(Source.read(path)).module()
    given = load(path, values={"s": [2, 3]})
    assert [each.name for each in given.arguments] == ["x"]
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(given.run({"x": x})["y"], x.reshape(2, 3))
    with pytest.raises(GaweeError, match="expected a value of an input, got 't'; inputs: x, s"):
        load(path, values={"t": 1})
    with pytest.raises(GaweeError, match="value of input 's': cannot reshape array of size 3"):
        load(path, values={"s": [1, 2, 3]})


def test_the_command_line_gives_elements_of_inputs(tmp_path, capsys):
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
    made = model(nodes, [("x", (3, 2))], [("y", (2, 3))])
    made.graph.input.append(helper.make_tensor_value_info("s", INT64, (2,)))
    path = str(written(tmp_path, made))

    assert gawee_translate.main([path, "--value", "s=2,-1"]) == 0
    text = capsys.readouterr().out
    assert "tensor<2x3xf32>" in text
    assert "xi64" not in text
    for value in ("s", "s=", "s=2,b"):
        assert gawee_translate.main([path, "--value", value]) == 1
        assert "expected --value NAME=NUMBERS such as" in capsys.readouterr().err


def test_known_inputs_are_converted_as_attributes_are():
    def function(emit, axes: KnownInts) -> None: ...

    parameters = parameters_of(function)
    known = Known(lambda: np.array([1, -1]), lambda: pytest.fail("a tensor was made"))

    assert bind(parameters, [known], {}) == {"axes": [1, -1]}
    assert bind(parameters, [], {"axes": [2]}) == {"axes": [2]}
    wrong = Known(lambda: np.array([0.5]), lambda: pytest.fail("a tensor was made"))
    with pytest.raises(Refusal, match="expected argument 'axes' to be integers, got"):
        bind(parameters, [wrong], {})
