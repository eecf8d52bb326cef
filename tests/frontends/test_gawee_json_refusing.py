"""What no graph may be: each refusal, with its place, its node and the words of its message."""

import json

import pytest

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from tests.frontends.graphs import Json, conv, data, graph, node, one_node, parse, value


def diagnostics(graph: object) -> list[Diagnostic]:
    with pytest.raises(GaweeError) as raised:
        parse(graph)
    return list(raised.value.diagnostics)


def text_error(text: str) -> str:
    with pytest.raises(GaweeError) as raised:
        parse_gawee_json(text, name="g.json", folder=None)
    return str(raised.value)


def relu() -> Json:
    return one_node("Relu", (2, 3), (2, 3))


def with_key(graph: Json, key: str, value: object) -> Json:
    return {**graph, key: value}


def without(graph: Json, key: str) -> Json:
    return {name: entry for name, entry in graph.items() if name != key}


def two_nodes(first: Json, second: Json) -> Json:
    return graph([first, second], [value(name, (2, 3)) for name in "xyz"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "g.json:1:1: error: cannot read JSON: expecting value"),
        ('{"inputs": [],\n "x" 3}', "g.json:2:6: error: cannot read JSON: expecting ':' delimiter"),
        ("[1, 2]", "g.json:1:1: error: expected graph to be an object with inputs, outputs"),
        (
            '{"a": 1,\n "b": {"c": 1, "c": 2}}',
            "g.json:2:7: error: expected keys to differ, got 'c'",
        ),
        ('{"a":\n  {"b": NaN}}', "g.json:2:3: error: expected a finite number, got NaN"),
        ('{"a": -Infinity}', "g.json:1:1: error: expected a finite number, got -Infinity"),
        ('{"a": 1e999}', "expected a finite number, got 1e999"),
        (
            '{"a":\n {"b": ["\\ud800"]}}',
            "g.json:2:2: error: expected text, got half of a surrogate",
        ),
        ("[" * 5000, "cannot read JSON: objects are nested too deeply"),
        ("9" * 5000, "cannot read JSON: "),
    ],
)
def test_text_that_is_no_graph(text: str, message: str):
    assert message in text_error(text)


@pytest.mark.parametrize("key", ["inputs", "outputs", "values", "nodes"])
def test_a_graph_has_four_keys(key: str):
    (problem,) = diagnostics(without(relu(), key))

    assert problem.message == f"expected graph to have key '{key}'"
    assert problem.place == "g.json:1:1"


def test_a_node_has_an_op_type():
    broken = relu()
    nodes = broken["nodes"]
    assert isinstance(nodes, list)
    del nodes[0]["op_type"]
    (problem,) = diagnostics(broken)

    assert problem.message == "expected 'nodes[0]' of graph to have key 'op_type'"
    assert problem.node == "n"


def test_unknown_keys_are_refused_with_the_nearest_known_one():
    (problem,) = diagnostics(with_key(relu(), "node", []))

    assert problem.message == "unknown key 'node' of graph"
    assert problem.hint == "did you mean 'nodes'?"


def test_all_unsupported_op_types_are_in_one_report():
    nodes = [
        node("Softmax", ["x"], "y", name="head.act"),
        node("Reluu", ["y"], "z", name="body.act"),
    ]
    problems = diagnostics(graph(nodes, [value(name, (2, 3)) for name in "xyz"]))

    assert [problem.message for problem in problems] == [
        "unsupported op_type 'Softmax'",
        "unsupported op_type 'Reluu'",
    ]
    assert [problem.node for problem in problems] == ["head.act", "body.act"]
    assert problems[0].hint is not None
    assert problems[0].hint.startswith("supported: Conv, MatMul, ")
    assert problems[1].hint == "did you mean 'Relu'?"


def test_problems_of_independent_nodes_are_in_one_report():
    nodes = [
        node("flatten", ["x"], "y", name="first", start_dim=5),
        node("Relu", ["y"], "after", name="never looked at"),
        node("cat", ["x"], "z", name="second", dim=7),
    ]
    shapes = [value(name, (2, 3)) for name in ("x", "y", "after", "z")]

    assert [problem.node for problem in diagnostics(graph(nodes, shapes))] == ["first", "second"]


NAMES: list[tuple[Json, str]] = [
    (
        graph([node("Relu", ["nowhere"], "y")], [value("x", (2, 3)), value("y", (2, 3))]),
        "expected input 'nowhere' to be a graph input, a constant or an earlier",
    ),
    (
        two_nodes(node("Relu", ["z"], "y"), node("Relu", ["x"], "z")),
        "nodes are listed in the order they run",
    ),
    (
        with_key(relu(), "outputs", ["z"]),
        "expected a node that makes graph output 'z', got none",
    ),
    (
        two_nodes(node("Relu", ["x"], "y"), node("Relu", ["x"], "y")),
        "expected one producer of 'y', got two",
    ),
    (two_nodes(node("Relu", ["x"], "x"), node("Relu", ["x"], "z")), "expected one producer of 'x'"),
    (with_key(relu(), "inputs", ["x", "x"]), "expected inputs of graph to differ, got 'x' twice"),
    (with_key(relu(), "outputs", ["y", "y"]), "expected outputs of graph to differ, got 'y' twice"),
    (with_key(relu(), "outputs", []), "expected 'outputs' of graph to be a list of value names"),
    (with_key(relu(), "inputs", ["x", "w"]), "expected an entry in values for graph input 'w'"),
    (
        graph([node("Relu", ["x"], "y") | {"outputs": ["y", "z"]}], [value("x", (2,))]),
        "expected one output, got 2",
    ),
    (
        graph([node("Relu", ["x"], "y")], [value("x", (2,)) | {"path": "c.bin"}, value("y", (2,))]),
        "expected graph input 'x' to have no path, it is a constant",
    ),
]


@pytest.mark.parametrize(("graph", "message"), NAMES)
def test_names_that_do_not_fit(graph: Json, message: str):
    assert message in "\n".join(map(str, diagnostics(graph)))


SHAPES: list[tuple[Json, str]] = [
    (
        one_node("Relu", (2, -3), (2, 3)),
        "expected 'values.x.shape[1]' of graph to be a non-negative integer, got -3",
    ),
    (
        graph([node("Relu", ["x"], "y")], [value("x", ()) | {"shape": [2.5]}, value("y", (2,))]),
        "expected 'values.x.shape[0]' of graph to be a non-negative integer, got 2.5",
    ),
    (
        graph([node("Relu", ["x"], "y")], [value("x", ()) | {"shape": [2.0]}, value("y", (2,))]),
        "expected 'values.x.shape[0]' of graph to be a non-negative integer, got 2.0",
    ),
    (
        graph([node("Relu", ["x"], "y")], [value("x", ()) | {"shape": [None]}, value("y", (2,))]),
        "expected 'values.x.shape[0]' of graph to be a non-negative integer, got null",
    ),
    (one_node("Relu", None, (2, 3)), "expected graph input 'x' to have a shape and a dtype"),
    (one_node("Relu", (2, 3), None), "expected a shape of value 'y', which is read, got null"),
    (
        graph([node("Relu", ["x"], "y")], [value("x", (2, 3))]),
        "expected a shape of value 'y', which is read, got no entry in values",
    ),
    (one_node("Relu", (2, 3), (2, 4)), "expected output 'y' of shape 2x3, got 2x4"),
    (
        graph([node("Relu", ["x"], "y")], [value("x", (2,)), value("y", (2,), "float64")]),
        "expected output 'y' of type 'tensor<2xf32>', got 'tensor<2xf64>'",
    ),
    (
        one_node("Relu", (2, 3), (2, 3), "torch.bfloat16"),
        "unsupported dtype 'torch.bfloat16' of value 'x'; supported: float32, float16",
    ),
    (
        one_node("Relu", (2**40, 2**40), (2, 3)),
        "expected value 'x' of at most 1099511627776 bytes, got shape",
    ),
    (
        graph([node("Relu", ["x"], "y")], [value("x", (2, 3)), value("y", (2, 3), None)]),
        "expected a dtype of value 'y', got null",
    ),
]


@pytest.mark.parametrize(("graph", "message"), SHAPES)
def test_shapes_and_dtypes_that_do_not_fit(graph: Json, message: str):
    assert message in "\n".join(map(str, diagnostics(graph)))


IMAGE, OUT = (2, 4, 9, 7), (2, 6, 7, 6)
POOL = {"kernel_size": 3}

ATTRIBUTES: list[tuple[Json, str]] = [
    (
        conv(IMAGE, OUT, stride=[1, 1, 1]),
        "expected 'stride' of 'Conv' node to be a positive integer or a list of two, got [1, 1, 1]",
    ),
    (conv(IMAGE, OUT, stride=0), "expected 'stride' of 'Conv' node to be a positive integer"),
    (conv(IMAGE, OUT, stride=[1, -1]), "expected 'stride' of 'Conv' node to be a positive"),
    (conv(IMAGE, OUT, stride=1.5), "expected 'stride' of 'Conv' node to be a positive"),
    (conv(IMAGE, OUT, stride=True), "expected 'stride' of 'Conv' node to be a positive"),
    (conv(IMAGE, OUT, dilation=[0, 1]), "expected 'dilation' of 'Conv' node to be a positive"),
    (conv(IMAGE, OUT, padding=-1), "expected 'padding' of 'Conv' node to be a non-negative"),
    (conv(IMAGE, OUT, padding="full"), "integer, a list of two, 'same' or 'valid', got \"full\""),
    (conv(IMAGE, OUT, padding=2**40), "expected 'padding' of 'Conv' node to be a non-negative"),
    (
        conv(IMAGE, OUT, kernel_size=[3, 0]),
        "expected 'kernel_size' of 'Conv' node to be",
    ),
    (conv(IMAGE, OUT, kernel_size=3), "expected kernel_size [3, 3] to match weight kernel [3, 2]"),
    (
        conv(IMAGE, OUT, groups=0),
        "expected 'groups' of 'Conv' node to be a positive integer",
    ),
    (
        conv((2, 20, 9, 7), OUT, groups=5),
        "'Conv' node expected groups (5) to divide output channels (6)",
    ),
    (
        conv((2, 5, 9, 7), OUT),
        "expected input channels (5) to equal groups (1) times weight channels (4)",
    ),
    (
        conv(IMAGE, OUT, out_channels=8),
        "expected out_channels (8) to equal weight output channels (6)",
    ),
    (
        conv(IMAGE, OUT, in_channels=8),
        "expected in_channels (8) to equal groups times weight channels (4)",
    ),
    (
        conv(IMAGE, OUT, padding="same", stride=[1, 2]),
        "expected stride 1 with padding 'same', got [1, 2]",
    ),
    (
        conv(IMAGE, OUT, padding_mode="reflect"),
        "expected 'padding_mode' of 'Conv' node to be 'zeros'",
    ),
    (conv(IMAGE, OUT, transposed=True), "transposed convolution is not supported"),
    (conv(IMAGE, OUT, weight=data((6, 4), "w.bin")), "expected weight of rank 4, got rank 2"),
    (
        conv(IMAGE, OUT, bias=data((5,), "b.bin")),
        "'Conv' node expected bias of shape 6, got 5",
    ),
    (
        conv((2, 4, 2, 7), OUT),
        "expected window extent (3) to fit the padded input (2)",
    ),
    (conv(IMAGE, OUT, strides=1), "unknown key 'strides' of 'Conv' node"),
    (conv(IMAGE, OUT, weight=None), "expected 'Conv' node to have key 'weight'"),
    (
        one_node("MatMul", (2, 3), (2, 5), weight=data((5, 4), "w.bin")),
        "expected last input dimension (3) to equal weight input features (4)",
    ),
    (
        one_node("MatMul", (2, 3), (2, 5), weight=data((5, 3), "w.bin"), in_features=4),
        "expected in_features (4) to equal weight input features (3)",
    ),
    (
        one_node("MaxPool", IMAGE, IMAGE, kernel_size=3, padding=3),
        "expected padding ([3, 3, 3, 3]) to be less than the window extent ([3, 3])",
    ),
    (
        one_node("AvgPool", IMAGE, IMAGE, kernel_size=8),
        "expected window extent (8) to fit the padded input (7)",
    ),
    (one_node("MaxPool", IMAGE, IMAGE), "expected 'MaxPool' node to have key 'kernel_size'"),
    (
        one_node("MaxPool", IMAGE, IMAGE, **POOL, return_indices=True),
        "indices of maxima are not supported",
    ),
    (
        one_node("AvgPool", IMAGE, IMAGE, **POOL, divisor_override=2),
        "unknown key 'divisor_override' of 'AvgPool' node",
    ),
    (
        one_node("AdAvgPool", IMAGE, IMAGE, output_size=[1]),
        "expected 'output_size' of 'AdAvgPool' node to be a positive integer or a list of two",
    ),
    (
        one_node("flatten", (2, 3, 5), (2, 15), start_dim=2, end_dim=1),
        "expected start_dim (2) not to come after end_dim (1)",
    ),
    (one_node("flatten", (2, 3), (2, 3), start_dim=9), "expected start_dim from -2 to 1, got 9"),
    (
        graph(
            [node("cat", ["x", "y"], "z", dim=1)],
            [value("x", (2, 3)), value("y", (4, 3)), value("z", (2, 6))],
            ["x", "y"],
        ),
        "expected input #1 (4x3) to match input #0 (2x3) off axis 1",
    ),
    (one_node("cat", (2, 3), (2, 3), dim=0, axis=1), "expected dim (0) to equal axis (1)"),
    (
        graph([node("cat", [], "y")], [value("x", (2, 3)), value("y", (2, 3))]),
        "expected at least one input, got none",
    ),
    (one_node("Add", (2, 3), (2, 3)), "'Add' node expected 2 inputs, got 1"),
    (
        graph(
            [node("Mul", ["x", "y"], "z")],
            [value("x", (2, 3)), value("y", (2, 4)), value("z", (2, 4))],
            ["x", "y"],
        ),
        "expected shapes to broadcast, got 2x3 and 2x4",
    ),
    (
        one_node("interpolate", IMAGE, (2, 4, 18, 14)),
        "cannot interpolate because no size is known",
    ),
    (
        one_node("interpolate", IMAGE, (2, 4, 18, 14), size=[18, 14], scale_factor=2),
        "expected size or scale_factor, got both",
    ),
    (
        one_node("interpolate", IMAGE, (2, 4, 18, 14), size=[18, 14], mode="area"),
        "unsupported mode 'area'; supported: nearest, nearest_exact, bilinear, bicubic",
    ),
    (
        one_node("interpolate", IMAGE, (2, 4, 18, 14), size=[18, 14], antialias=True),
        "antialiasing is not supported",
    ),
    (
        one_node("interpolate", IMAGE, (2, 4, 18, 14), scale_factor=0),
        "expected 'scale_factor' of 'interpolate' node to be a positive number",
    ),
]


@pytest.mark.parametrize(("graph", "message"), ATTRIBUTES)
def test_attributes_that_do_not_fit(graph: Json, message: str):
    (problem,) = diagnostics(graph)

    assert message in problem.message
    assert problem.node is not None
    assert problem.place is not None


STATISTICS = {"running_mean": data((3,), "m.bin"), "running_var": data((3,), "v.bin")}
AFFINE = {"weight": data((3,), "g.bin"), "bias": data((3,), "b.bin")}

BATCH_NORMS: list[tuple[dict[str, object], str]] = [
    ({**AFFINE, "affine": True}, "cannot read batch normalization without running_mean and"),
    ({**STATISTICS, "track_running_stats": False}, "its statistics would depend on the batch"),
    ({**STATISTICS, "affine": True}, "expected weight and bias with affine true"),
    (
        {**STATISTICS, **AFFINE, "affine": False},
        "expected no weight and no bias with affine false",
    ),
    ({**STATISTICS, "num_features": 4}, "expected num_features (4) to equal the length of"),
    (
        {**STATISTICS, "running_var": data((4,), "v.bin")},
        "expected variance of shape 3, got 4",
    ),
    ({**STATISTICS, "eps": -1}, "expected 'eps' of 'BatchNormalization' node to be a non-negative"),
    ({**STATISTICS, "eps": 10**400}, "expected eps to fit a float, got an integer beyond it"),
]


@pytest.mark.parametrize(("attrs", "message"), BATCH_NORMS)
def test_batch_norms_that_do_not_fit(attrs: dict[str, object], message: str):
    (problem,) = diagnostics(one_node("BatchNormalization", (2, 3), (2, 3), **attrs))

    assert message in problem.message


def test_a_hint_lists_the_known_attributes():
    (problem,) = diagnostics(one_node("Relu", (2, 3), (2, 3), negative_slope=0.1))

    assert problem.message == "unknown key 'negative_slope' of 'Relu' node"
    assert problem.hint == "known keys: inplace"


def python_graph(*nodes: Json) -> Json:
    values = [value("x", (2, 4, 3, 5)), value("s", None), value("h", None), value("y", (2, 3))]
    return graph([node("getattr", ["x"], "s"), *nodes], values)


PYTHON: list[tuple[Json, str]] = [
    (
        python_graph(node("Relu", ["s"], "y")),
        "expected input 's' to be a tensor, got a Python value",
    ),
    (
        python_graph(node("getitem", ["x"], "h"), node("Relu", ["x"], "y")),
        "expected getitem of a Python value, got a tensor 'tensor<2x4x3x5xf32>'",
    ),
    (
        python_graph(node("getattr", ["s"], "h"), node("Relu", ["x"], "y")),
        "expected input 's' to be a tensor, got a Python value",
    ),
    (python_graph(), "expected graph output 's' to be a tensor, got a Python value"),
    (
        python_graph(node("interpolate", ["x", "x", "x"], "y")),
        "expected size input 'x' to be a scalar, got 'tensor<2x4x3x5xf32>'",
    ),
]


@pytest.mark.parametrize(("graph", "message"), PYTHON)
def test_python_values_where_tensors_belong(graph: Json, message: str):
    assert message in "\n".join(map(str, diagnostics(graph)))


def test_the_message_names_place_node_and_hint():
    text = json.dumps(conv(IMAGE, OUT, weigth=3), indent=1)
    lines = text_error(text).splitlines()

    line = text[: text.index('"attrs"')].count("\n") + 1
    assert lines == [
        f"g.json:{line}:13: error: unknown key 'weigth' of 'Conv' node",
        '  node "n"',
        "hint: did you mean 'weight'?",
    ]
