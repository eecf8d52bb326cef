"""Recurrent layers against ONNX Runtime: directions, sequences of several lengths, peepholes."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.model import load
from tests.closeness import assert_allclose

pytestmark = pytest.mark.usefixtures("unoptimized")

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper = onnx.helper

FEW, STEPS, BATCH, INPUT, HIDDEN = 4, 7, 3, 5, 2
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def model(op, inputs, attributes):
    named = {f"i{index}": array for index, array in enumerate(inputs) if array is not None}
    names = [f"i{index}" if array is not None else "" for index, array in enumerate(inputs)]
    outputs = ["y", "h", "c"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(op, names, outputs, hidden_size=HIDDEN, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in named.items()
        ],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    ), named


def layer(op, directions, lengths=None, *, peephole=False, steps=STEPS):
    """Return the inputs of a layer: random numbers, and lengths of its sequences.

    Few steps are written out, more of them are a loop.
    """
    random, gates = np.random.default_rng(0), GATES[op]

    def draw(*shape):
        return random.standard_normal(shape).astype(np.float32)

    states = [draw(directions, BATCH, HIDDEN) for _ in range(2 if op == "LSTM" else 1)]
    return [
        draw(steps, BATCH, INPUT),
        draw(directions, gates * HIDDEN, INPUT),
        draw(directions, gates * HIDDEN, HIDDEN),
        draw(directions, 2 * gates * HIDDEN),
        None if lengths is None else np.array(lengths, np.int32),
        *states,
        *([draw(directions, 3 * HIDDEN)] if peephole else []),
    ]


def check(tmp_path, op, inputs, levels=("gawee",), **attributes):
    made, named = model(op, inputs, attributes)
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    expected = runtime.InferenceSession(str(path)).run(None, named)
    for level in levels:
        got = load(path).runner(level, cache=False)(named)
        for one, wanted in zip(got.values(), expected, strict=True):
            # Seven steps of sums of seven products, through functions that are computed otherwise.
            assert_allclose(one, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_sequences_of_several_lengths(tmp_path, op, direction):
    directions = 2 if direction == "bidirectional" else 1

    levels = ("gawee", "llvm") if direction == "bidirectional" else ("gawee",)
    for steps in (FEW, STEPS):
        check(tmp_path, op, layer(op, directions, steps=steps), direction=direction)
        layers = layer(op, directions, [steps, 1, 3], steps=steps)
        check(tmp_path, op, layers, levels, direction=direction)


def test_what_only_some_layers_have(tmp_path):
    levels = ("gawee", "llvm")
    check(tmp_path, "LSTM", layer("LSTM", 1, [2, 4, 3], peephole=True, steps=FEW))
    check(tmp_path, "LSTM", layer("LSTM", 1, [2, 7, 5], peephole=True), levels)
    check(tmp_path, "GRU", layer("GRU", 1), levels, linear_before_reset=1)
    check(tmp_path, "RNN", layer("RNN", 1), levels, activations=["Relu"])


@pytest.mark.parametrize("op", GATES)
def test_what_goes_into_activations_is_clipped(tmp_path, op):
    inputs = layer(op, 2, [4, 1, 3], peephole=op == "LSTM", steps=FEW)
    check(tmp_path, op, inputs, direction="bidirectional", clip=0.375)


def test_a_batch_that_comes_first(tmp_path):
    x, *weights, state = layer("GRU", 2)
    options = {"direction": "bidirectional"}
    made, named = model("GRU", [x, *weights, state], options)
    # ONNX Runtime has no such layout: it is given what comes first second.
    expected, last = runtime.InferenceSession(made.SerializeToString()).run(None, named)
    turned = [x.swapaxes(0, 1).copy(), *weights, state.swapaxes(0, 1).copy()]
    made, named = model("GRU", turned, {**options, "layout": 1})
    onnx.save(made, tmp_path / "net.onnx")

    y, h = load(tmp_path / "net.onnx").runner("gawee", cache=False)(named).values()

    # As in `check`.
    assert_allclose(y, expected.transpose(2, 0, 1, 3), rtol=1e-4, atol=1e-5)
    assert_allclose(h, last.swapaxes(0, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "attributes", "lengths"),
    [
        ("LSTM", {}, None),
        ("LSTM", {"direction": "reverse"}, [7, 1, 4]),
        ("LSTM", {"direction": "bidirectional"}, None),
        ("LSTM", {"peephole": True}, None),
        ("GRU", {}, [2, 7, 5]),
        ("GRU", {"linear_before_reset": 1}, None),
        ("RNN", {"direction": "bidirectional"}, None),
        ("RNN", {"activations": ["Relu"]}, None),
    ],
)
def test_a_layer_is_written_by_its_name(tmp_path, op, attributes, lengths):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    arrays = layer(op, directions, lengths, peephole="peephole" in attributes)
    kept = {name: value for name, value in attributes.items() if name != "peephole"}
    made, named = model(op, arrays, kept)
    onnx.save(made, tmp_path / "0.onnx")
    written = []

    for turn in range(3):
        read = load(tmp_path / f"{turn}.onnx")
        written.append(export_onnx(read.module, read.bound))
        (tmp_path / f"{turn + 1}.onnx").write_bytes(written[-1])

    nodes = [each.op_type for each in onnx.ModelProto.FromString(written[0]).graph.node]
    assert nodes.count(op) == directions
    assert "Scan" not in nodes
    assert directions == 2 or nodes == [op]
    assert written[1] == written[2]
    expected = runtime.InferenceSession(str(tmp_path / "0.onnx")).run(None, named)
    got = runtime.InferenceSession(written[0]).run(None, named)
    for one, wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, wanted)  # the same node, or one for each direction


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ({"clip": -1.0}, "expected clip above 0, got -1"),
        ({"direction": "up"}, "unsupported direction 'up'; supported: forward, reverse"),
        ({"activations": ["Tanh"] * 2}, "expected 3 activations, got 2"),
        ({"activations": ["Elu"] * 3}, "unsupported activation 'Elu'; supported: Sigmoid"),
        ({"input_forget": 1}, "unsupported input_forget; supported: 0"),
    ],
)
def test_layers_that_are_not_supported_are_refused(tmp_path, attributes, match):
    made, _ = model("LSTM", layer("LSTM", 1), attributes)
    onnx.save(made, tmp_path / "net.onnx")

    with pytest.raises(GaweeError, match=match):
        load(tmp_path / "net.onnx")
