"""Models that no exporter writes: each is refused, and the message says where."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.source import Source

onnx = pytest.importorskip("onnx")
helper = onnx.helper


def info(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(node, inputs=None, outputs=None):
    """Return a model of one node from x to y."""
    graph = helper.make_graph(
        [node], "g", inputs or [info("x", [2, 3])], outputs or [info("y", None)]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def refusal(made) -> str:
    with pytest.raises(GaweeError) as raised:
        open_graph(Source("m.onnx", made.SerializeToString()), name="onnx").module()
    return str(raised.value)


def relu(name="x"):
    return helper.make_node("Relu", [name], ["y"])


def test_attributes_of_another_kind_are_refused():
    node = helper.make_node("Shape", ["x"], ["y"], name="n", start="one")

    message = refusal(model(node, outputs=[info("y", None, 7)]))

    assert "'Shape' node expected attributes 'start' and 'end' to be integers, got 'one' and 2" in (
        message
    )


def test_an_input_without_a_name_is_refused():
    made = model(relu(), [info("x", [2, 3]), info("", [2, 3])])

    assert "graph input '': expected a name, got none" in refusal(made)


def test_a_size_below_zero_is_an_open_one():
    made = model(relu(), [info("x", [-1, 3])])

    module = open_graph(Source("m.onnx", made.SerializeToString()), name="onnx").module()

    assert 'gawee.sizes = ["x_0", "-"]' in print_mlir(module)


def test_names_that_are_no_text_are_refused():
    # A name of three bytes is put in the place of one of three letters.
    data = model(relu("abc"), [info("abc", [2, 3])]).SerializeToString()

    with pytest.raises(GaweeError) as raised:
        open_graph(Source("m.onnx", data.replace(b"abc", b"\xff\xfe\x80")), name="onnx").module()

    assert str(raised.value) == (
        "m.onnx: error: cannot read an ONNX model: expected field 'input' to be text in UTF-8"
    )


def test_windows_of_too_many_elements_are_refused():
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], name="n", kernel_shape=[1, 2])
    outputs = [info("y", None), info("i", None, 7)]

    message = refusal(model(node, [info("x", [1, 1, 3, 1 << 31])], outputs))

    assert "'MaxPool' node expected at most 16777216 elements of all windows of a channel" in (
        message
    )


def test_ngrams_that_skip_too_many_words_are_refused():
    pool = {"ngram_counts": [0, 0], "ngram_indexes": [0], "pool_int64s": [2, 3]}
    sizes = {"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 1 << 31}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode="TF", **pool, **sizes)

    message = refusal(model(node, [info("x", [12], 7)]))

    assert "expected a max_skip_count of at most 256, got 2147483648" in message


def calling(*bodies):
    """Return a model that calls function f0, whose body calls the functions of its numbers."""
    made = model(helper.make_node("f0", ["x"], ["y"], "call", domain="own"))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    for number, callees in enumerate(bodies):
        nodes = [helper.make_node(f"f{each}", ["x"], ["y"], domain="own") for each in callees]
        nodes = nodes or [helper.make_node("Identity", ["x"], ["y"])]
        made.functions.append(
            helper.make_function("own", f"f{number}", ["x"], ["y"], nodes, opsets)
        )
    return made


def test_a_function_that_calls_itself_is_refused():
    message = refusal(calling([1], [0]))

    assert "expected a function that does not call itself, got 'own.f0'" in message


def test_functions_that_call_each_other_too_deep_are_refused():
    message = refusal(calling(*([each + 1] for each in range(900)), []))

    assert message == "m.onnx: error: expected less nesting of graphs and functions"


def test_functions_that_double_too_often_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gawee_dialect.frontends.onnx.importer.MAX_NODES", 1000)

    message = refusal(calling(*([each + 1] * 2 for each in range(20)), []))

    assert "expected at most 1000 nodes where functions and loops are written out" in message


def recurrence(steps):
    node = helper.make_node("RNN", ["x", "w", "r", "", "l"], ["y"], name="n", hidden_size=2)
    sizes = {"x": [steps, 1, 3], "w": [1, 2, 3], "r": [1, 2, 2]}
    inputs = [*(info(name, shape) for name, shape in sizes.items()), info("l", [1], 6)]
    return model(node, inputs)


def test_a_recurrence_of_many_steps_is_as_small_as_one_of_few():
    counts = {
        len(list(open_graph(Source("m.onnx", each), name="onnx").module().walk()))
        for each in (recurrence(steps).SerializeToString() for steps in (7, 1 << 31))
    }

    assert len(counts) == 1


def test_a_recurrence_of_no_steps_is_refused():
    text = "'RNN' node expected a sequence of at least one step, got none"
    assert text in refusal(recurrence(0))


def test_a_graph_of_too_many_ops_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gawee_dialect.frontends.op_mapping.emitter.MAX_OPS", 10)

    assert "'RNN' node expected a graph of at most 10 ops, got more" in refusal(recurrence(3))


def test_tensors_that_no_memory_has_room_for_are_refused():
    text = "expected a tensor of at most 281474976710656 elements, got"
    assert f"graph input 'x': {text} 1073741824x1073741824" in refusal(
        model(relu(), [info("x", [1 << 30, 1 << 30])])
    )

    node = helper.make_node("Expand", ["x", "s"], ["y"], name="n")
    made = model(node, [info("x", [1, 1])])
    sizes = onnx.numpy_helper.from_array(np.array([1 << 30, 1 << 30]), "s")
    made.graph.initializer.append(sizes)
    assert f"'Expand' node {text} 1073741824x1073741824" in refusal(made)


def test_a_scalar_has_no_axes_to_reduce():
    node = helper.make_node("ReduceMax", ["x"], ["y"], name="n", axes=[0], keepdims=0)
    graph = helper.make_graph([node], "g", [info("x", [])], [info("y", [])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)])

    module = open_graph(Source("m.onnx", made.SerializeToString()), name="onnx").module()

    assert "gawee.reduce_max" in str(module)


def test_scales_of_a_scalar_are_refused():
    node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], name="n", axis=0)
    made = model(node, [info("x", []), info("s", [3])])

    text = "expected y_scale of a scalar to be one number, got 3"
    assert f"'QuantizeLinear' node {text}" in refusal(made)


def test_a_graph_in_the_place_of_numbers_is_no_constant():
    graph = helper.make_graph([relu()], "inner", [info("x", [2, 3])], [info("y", None)])
    fill = helper.make_node("ConstantOfShape", ["shape"], ["y"], name="n", value=graph)
    made = model(fill, [info("x", [2, 3])])
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2, 3]), "shape"))

    assert "'ConstantOfShape' node" in refusal(made)
