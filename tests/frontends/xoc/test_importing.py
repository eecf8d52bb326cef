"""XOC graphs as modules: what shapes say, whose weights are whose, and what is refused, located."""

import json
from copy import deepcopy
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph, sniff
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.model import Model, load
from gawee_dialect.parameters import open_archive
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_run, gawee_translate
from gawee_dialect.universe import make_context
from tests.archives import savez
from tests.closeness import assert_allclose
from tests.frontends.xoc.documents import EXAMPLE, Json, chain, node, tensor

rng = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def graph_of(
    nodes: list[Json], tensors: list[Json], outputs: list[int] | None = None, **more: object
) -> Json:
    inputs = [i for i, each in enumerate(tensors) if each["name"] == "input"]
    last = [i for i, each in enumerate(tensors) if each["name"] == "output"]
    return {
        **{"id": "g", "name": "g", "tensors": tensors, "nodes": nodes, "inputs": inputs},
        **{"outputs": outputs or last, **more},
    }


def one(name: str, shapes: list[list[int]], *weights: Json, **attributes: object) -> Json:
    """Return a graph of one node on x, with weights, that makes outputs y0, y1 and so on."""
    first, *rest = shapes
    outputs = [tensor(f"y{i}", "output", shape) for i, shape in enumerate(rest)]
    tensors = [tensor("x", "input", first), *weights, *outputs]
    count = 1 + len(weights)
    made = node("n", name, list(range(count)), [count + i for i in range(len(rest))], **attributes)
    return graph_of([made], tensors)


def opened(graph: object, name: str = "model.json"):
    return open_graph(Source.of_text(json.dumps(graph, indent=1), name))


def model_of(graph: object, weights: dict[str, np.ndarray] | None = None) -> Model:
    return Model(opened(graph).module(), weights or {})


def refused(graph: object) -> GaweeError:
    with pytest.raises(GaweeError) as caught:
        opened(graph).module()
    return caught.value


def int64(id: str, *shape: int) -> Json:
    return tensor(id, "weight", list(shape), "int64")


def conv_graph() -> Json:
    """A small network in the way that files have it: weights first, four pads, no kernel_shape."""
    tensors = [
        tensor("conv1.weight", "weight", [5, 3, 3, 2]),
        tensor("conv1.bias", "weight", [5]),
        tensor("fc.weight", "weight", [4, 140]),
        int64("shape", 2),
        tensor("y", "output", [2, 4]),
        tensor("x", "input", [2, 3, 7, 5]),
        tensor("c", "activation", [2, 5, 7, 4]),
        tensor("f", "activation", [2, 140]),
    ]
    nodes = [
        node("fc", "Gemm", [7, 2], [4], transB=1, alpha=1.0),
        node("conv", "Conv", [5, 0, 1], [6], pads=[1, 0, 1, 0], group=1, auto_pad="NOTSET"),
        node("view", "Reshape", [6, 3], [7], allowzero=1),
    ]
    return graph_of(nodes, tensors)


WEIGHTS = {
    "conv.weight": floats(5, 3, 3, 2),
    "conv.bias": floats(5),
    "fc.weight": floats(4, 140),
}


def expected(x: np.ndarray) -> np.ndarray:
    """The network of `conv_graph` in float64."""
    weight, bias, matrix = (each.astype(np.float64) for each in WEIGHTS.values())
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))
    made = np.einsum("nchwij,ocij->nohw", windows, weight) + bias[:, None, None]
    return made.reshape(2, -1) @ matrix.T


def test_the_example_of_the_description_becomes_a_convolution() -> None:
    module = opened(EXAMPLE).module()

    text = print_mlir(module)
    assert 'gawee.parameter = "node_0.weight"' in text
    assert "padding [1, 1, 1, 1]" in text
    assert sniff(Source.of_text(json.dumps(EXAMPLE), "g.json")).name == "xoc"


def variations() -> list[Json]:
    shuffled = deepcopy(EXAMPLE)
    shuffled["operators"] = shuffled.pop("nodes")
    first, second, third = shuffled["tensors"]
    shuffled["tensors"] = [second, third, first]
    shuffled["operators"][0]["inputs"], shuffled["operators"][0]["outputs"] = [2, 0], [1]
    shuffled["inputs"], shuffled["outputs"] = [2], [1]
    shuffled["operators"][0]["attributes"] = {"strides": [1, 1], "pads": [1, 1, 1, 1]}
    return [{"graph": shuffled}, {**EXAMPLE, "metadata": {}}]


@pytest.mark.parametrize("graph", variations())
def test_variations_of_files_are_the_same_graph(graph: Json) -> None:
    assert print_mlir(opened(graph).module()) == print_mlir(opened(EXAMPLE).module())


def test_a_network_runs_with_the_weights_of_its_nodes() -> None:
    x = floats(2, 3, 7, 5)

    (got,) = model_of(conv_graph(), WEIGHTS).run({"x": x}).values()

    # Sums of 18 and of 140 products in float32 against float64: some roundings.
    assert_allclose(got, expected(x), rtol=1e-4, atol=1e-4)


def by_index() -> dict[str, np.ndarray]:
    order = {"fc": "0", "conv": "1", "view": "2"}
    return {f"{order[k.split('.')[0]]}.{k.split('.')[1]}": v for k, v in WEIGHTS.items()}


def by_tensor() -> dict[str, np.ndarray]:
    weight, bias, matrix = WEIGHTS.values()
    return {"conv1.weight": weight, "conv1.bias": bias, "fc.weight": matrix}


@pytest.mark.parametrize("weights", [WEIGHTS, by_index(), by_tensor()])
def test_weights_are_found_by_node_by_index_and_by_tensor(
    weights: dict[str, np.ndarray], tmp_path: Path
) -> None:
    graph, archive = tmp_path / "net.xoc.json", tmp_path / "w.npz"
    graph.write_text(json.dumps(conv_graph()))
    savez(archive, **weights)

    bound = load(graph, archive).bound

    assert {name: array.shape for name, array in bound.items()} == {
        name: array.shape for name, array in WEIGHTS.items()
    }
    assert all((bound[name] == WEIGHTS[name]).all() for name in WEIGHTS)


def test_an_index_that_is_the_id_of_another_node_is_not_taken(tmp_path: Path) -> None:
    graph = conv_graph()
    graph["nodes"][0]["id"] = "1"  # the index of the convolution
    source = Source.of_text(json.dumps(graph), "g.json")
    savez(tmp_path / "w.npz", **{"1.weight": WEIGHTS["fc.weight"], "1.bias": floats(5)})

    store = open_graph(source).weights(open_archive(tmp_path / "w.npz"))

    assert list(store) == ["1.weight"]


def uwef(path: Path, **entries: Json) -> Path:
    meta = {"architecture": "a", "format_version": "1.0", "source_framework": "f"}
    document = {"meta": {**meta, "created_at": "2025-01-01"}, "node_weights": entries}
    path.write_text(json.dumps(document))
    return path


def entry(op_type: str, **arrays: np.ndarray) -> Json:
    tensors = {
        key: {"dtype": "float32", "shape": list(a.shape), "data": a.reshape(-1).tolist()}
        for key, a in arrays.items()
    }
    return {"op_type": op_type, "has_weight": bool(arrays), "tensors": tensors}


def test_uwef_beside_a_graph_is_read_and_is_held_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("orjson")
    graph = tmp_path / "net.xoc.json"
    graph.write_text(json.dumps(conv_graph()))
    conv = entry("Conv_3x3", weight=WEIGHTS["conv.weight"], bias=WEIGHTS["conv.bias"])
    fc = entry("Linear", weight=WEIGHTS["fc.weight"])
    uwef(tmp_path / "net.uwef.json", **{"1": conv, "fc": fc, "view": entry("Reshape")})
    x = floats(2, 3, 7, 5)
    np.save(tmp_path / "x.npy", x)

    code = gawee_run.main(
        [str(graph), "--input", f"x={tmp_path / 'x.npy'}", "--output", str(tmp_path / "y.npz")]
    )

    assert code == 0
    assert_allclose(np.load(tmp_path / "y.npz")["y"], expected(x), rtol=1e-4, atol=1e-4)
    wrong = uwef(tmp_path / "wrong.json", conv=fc, fcc=fc)
    assert gawee_run.main([str(graph), "--weights", str(wrong)]) == 1
    said = capsys.readouterr().err
    assert ".json:1:" in said
    assert "error: expected weights of node 'conv' for 'Conv', got 'Linear'" in said
    assert "expected weights of nodes of the graph, got 'fcc'\nhint: did you mean 'fc'?" in said


def test_without_weights_it_is_said_where_they_are_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "net.xoc.json"
    graph.write_text(json.dumps(conv_graph()))

    assert gawee_run.main([str(graph)]) == 1

    wanted = "expected data, which such a graph has none of: --weights FILE has it, or it is "
    assert f"parameter 'conv.weight': {wanted}'net.uwef.json'" in capsys.readouterr().err
    assert gawee_run.main([str(graph), "--weights", "random"]) == 0


def test_weights_are_called_as_uwef_calls_them() -> None:
    weights = [tensor(name, "weight", [3]) for name in ("s", "b", "m", "v")]
    graph = one("BatchNormalization", [[2, 3, 5], [2, 3, 5]], *weights, epsilon=1e-3)

    store = {"n.weight": floats(3), "n.bias": floats(3), "n.running_mean": floats(3)}
    store["n.running_var"] = np.abs(floats(3)) + 1
    x = floats(2, 3, 5)

    (got,) = model_of(graph, store).run({"x": x}).values()

    scale, bias, mean, var = (each[:, None].astype(np.float64) for each in store.values())
    assert_allclose(got, (x - mean) / np.sqrt(var + 1e-3) * scale + bias, rtol=1e-5)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("transposed", [0, 1])
def test_gemm_with_and_without_bias(with_bias: bool, transposed: int) -> None:
    shape = [7, 5] if transposed else [5, 7]
    weights = [tensor("w", "weight", shape), tensor("b", "weight", [7])][: 1 + with_bias]
    arrays = {"n.weight": floats(*shape), "n.bias": floats(7)}
    x = floats(3, 5)
    graph = one("Gemm", [[3, 5], [3, 7]], *weights, transB=transposed)

    model = model_of(graph, arrays)

    matrix = arrays["n.weight"].T if transposed else arrays["n.weight"]
    want = x @ matrix + (arrays["n.bias"] if with_bias else 0)
    assert_allclose(model.run({"x": x})["y0"], want, rtol=1e-5, atol=1e-5)


# Operands without data: the operator, shapes in and out, what the operand is declared as, the
# attributes, and what NumPy makes of it.
IMPLIED = [
    ("Reshape", [[2, 3, 5], [6, 5]], [2], {}, lambda x: x.reshape(6, 5)),
    ("Reshape", [[2, 0, 5], [0, 5]], [2], {}, lambda x: x.reshape(0, 5)),
    ("Reshape", [[0, 3], [3, 0]], [2], {"allowzero": 0}, lambda x: x.reshape(3, 0)),
    ("Expand", [[3, 1], [2, 3, 5]], [3], {}, lambda x: np.broadcast_to(x, (2, 3, 5))),
    ("Squeeze", [[1, 3, 1, 5], [1, 3, 5]], [1], {}, lambda x: x.reshape(1, 3, 5)),
    ("Unsqueeze", [[3, 5], [3, 1, 5, 1]], [2], {}, lambda x: x[:, None, :, None]),
    ("Tile", [[2, 3], [4, 9]], [2], {}, lambda x: np.tile(x, (2, 3))),
    ("ReduceMean", [[2, 3, 5, 7], [2, 3, 1, 1]], [2], {}, lambda x: x.mean((2, 3), keepdims=True)),
    ("ReduceMax", [[2, 3, 5], [2, 5]], [1], {"keepdims": 0}, lambda x: x.max(1)),
    ("ReduceL2", [[2, 1, 5], [2, 1, 5]], [1], {}, np.abs),
    ("ReduceSum", [[4, 1, 1, 4], [4, 1, 4]], [1], {"keepdims": 0}, lambda x: x.sum(1)),
]


@pytest.mark.parametrize(("name", "shapes", "count", "attributes", "meaning"), IMPLIED)
def test_operands_without_data_follow_from_shapes(name, shapes, count, attributes, meaning) -> None:
    graph = one(name, shapes, int64("o", *count), **attributes)
    x = floats(*shapes[0])

    got = model_of(graph).run({"x": x})["y0"]

    assert_allclose(got, meaning(x), rtol=1e-5)


def test_zero_and_minus_one_in_a_shape_mean_what_they_mean_in_onnx() -> None:
    x = floats(2, 3, 5)

    got = model_of(one("Reshape", [[2, 3, 5], [2, 15]], shape=[0, -1])).run({"x": x})["y0"]

    assert (got == x.reshape(2, 15)).all()


def test_data_that_no_shape_implies_comes_with_the_weights() -> None:
    bounds = tensor("low", "weight", []), tensor("high", "weight", [])
    graph = one("Clip", [[3, 5], [3, 5]], *bounds)
    x = floats(3, 5)
    weights = {"n.weight": np.float32(-0.5), "n.bias": np.float32(0.25)}

    got = model_of(graph, {k: np.asarray(v) for k, v in weights.items()}).run({"x": x})["y0"]

    assert (got == np.clip(x, -0.5, 0.25)).all()
    with pytest.raises(GaweeError, match=r"expected weights to have parameter 'n\.bias', got none"):
        model_of(graph, {"n.weight": np.asarray(weights["n.weight"])}).run({"x": x})


def test_parts_are_as_long_as_the_outputs_are_declared() -> None:
    graph = one("Split", [[7, 2], [3, 2], [4, 2]], int64("split", 2), axis=0)
    x = floats(7, 2)

    first, second = model_of(graph).run({"x": x}).values()

    assert (first == x[:3]).all()
    assert (second == x[3:]).all()


def resize(sizes: list[int], *operands: Json) -> Json:
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
    return one("Resize", [[1, 2, 3, 2], sizes], *operands, **how, nearest_mode="floor")


def test_sizes_and_whole_factors_of_a_resize_follow_from_shapes() -> None:
    empty = tensor("roi", "weight", [0])
    x = floats(1, 2, 3, 2)
    by_scales = resize([1, 2, 6, 4], empty, tensor("scales", "weight", [4]))
    by_sizes = resize([1, 2, 5, 3], empty, tensor("none", "weight", [0]), int64("sizes", 4))

    assert (model_of(by_scales).run({"x": x})["y0"] == x.repeat(2, 2).repeat(2, 3)).all()
    rows, columns = [0, 0, 1, 1, 2], [0, 0, 1]
    assert (model_of(by_sizes).run({"x": x})["y0"] == x[:, :, rows][:, :, :, columns]).all()
    problem = refused(resize([1, 2, 5, 3], empty, tensor("scales", "weight", [4])))
    assert "expected shapes that say its scales, got [1, 2, 3, 2] to [1, 2, 5, 3]" in str(problem)


def test_attributes_of_any_version_are_read() -> None:
    x = floats(3, 5)

    clipped = model_of(one("Clip", [[3, 5], [3, 5]], min=-0.5, max=0.25)).run({"x": x})["y0"]
    cut = model_of(one("Slice", [[3, 5], [3, 2]], starts=[1], ends=[3], axes=[1])).run({"x": x})
    mean = model_of(one("ReduceMean", [[3, 5], [3, 1]], axes=[1])).run({"x": x})["y0"]

    assert (clipped == np.clip(x, -0.5, 0.25)).all()
    assert (cut["y0"] == x[:, 1:3]).all()
    assert_allclose(mean, x.mean(1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_constants_are_read_from_attributes() -> None:
    tensors = [
        tensor("x", "input", [2, 3]),
        tensor("c", "activation", [3]),
        tensor("y", "output", [2, 3]),
    ]
    nodes = [
        node("one", "Constant", [], [1], value_floats=[1.5, -2, 0.1]),
        node("add", "Add", [0, 1], [2]),
    ]
    x = floats(2, 3)

    assert (
        model_of(graph_of(nodes, tensors)).run({"x": x})["y"]
        == x + np.array([1.5, -2, 0.1], np.float32)
    ).all()


def test_metadata_survives_as_attributes_of_ops() -> None:
    graph = chain(metadata={"producer": "å", "sizes": [1, 2.5, None, True]})
    performance = {"level": 0, "parent_id": "root", "performance": {"time": {"cpu": 12.5}}}
    graph["nodes"][0]["metadata"] = performance
    graph["tensors"][0]["metadata"] = {"offset": 64}
    graph["tensors"][1]["metadata"] = {"start": 0, "end": 2**70}

    module = opened(graph).module()

    text = print_mlir(module)
    assert (
        'gawee.relu %x {gawee.metadata = {level = 0 : i64, parent_id = "root", '
        "performance = {time = {cpu = 1.250000e+01 : f64}}}, gawee.tensor_metadata = "
        "[{start = 0 : i64, end = 1180591620717411303424 : i72}]}"
    ) in text
    assert 'gawee.input = "x", gawee.metadata = {offset = 64 : i64}' in text
    assert 'gawee.graph = {id = "chain", name = "chain"}' in text
    assert print_mlir(parse_mlir(make_context(), text, "m.mlir")) == text


def test_metadata_of_a_node_that_does_nothing_survives() -> None:
    graph = one("Reshape", [[2, 3], [2, 3]], int64("shape", 2))
    graph["nodes"][0]["metadata"] = {"level": 3}

    assert "gawee.identity %x {gawee.metadata = {level = 3 : i64}}" in print_mlir(
        opened(graph).module()
    )


def test_ops_know_their_node_and_its_place() -> None:
    text = print_mlir(opened(chain(), "chain.xoc.json").module(), locations=True)

    assert 'loc("add"("chain.xoc.json":45:3))' in text


UNREADABLE = [
    (
        one("Relu", [[2, 3], [2, 4]]),
        "'Relu' node expected tensor 'y0' of shape 2x4, as it is declared, got 2x3",
    ),
    (
        one("ArgMax", [[2, 3], [1, 3]]),
        "'ArgMax' node expected tensor 'y0' of dtype float32, as it is declared, got int64",
    ),
    (
        one("MaxPool", [[1, 2, 7, 5], [1, 2, 7, 5]], kernel_shape=[3, 3], pads=[1, 1, 1]),
        "'MaxPool' node expected pads of 2 or 4 numbers, got [1, 1, 1]",
    ),
    (
        one("ReduceSum", [[4, 4], [4]], int64("axes", 1), keepdims=0),
        "'ReduceSum' node expected shapes that say its axes, got [4, 4] to [4]",
    ),
    (
        one("ReduceSum", [[4, 3], [4, 3]], int64("axes", 1)),
        "'ReduceSum' node expected shapes that say its axes, got [4, 3] to [4, 3]",
    ),
    (
        one("Tile", [[2, 3], [5, 3]], int64("repeats", 2)),
        "'Tile' node expected shapes that say its repeats, got [2, 3] to [5, 3]",
    ),
    (
        one("Split", [[7], [3], [2, 2]], int64("split", 2)),
        "'Split' node expected shapes that say its split, got [7] to [3], [2, 2]",
    ),
    (
        one("TopK", [[7], [], []], int64("k", 1)),
        "'TopK' node expected shapes that say its k, got [7] to [], []",
    ),
    (
        one("Reshape", [[6], [2, 3]], int64("shape", 3)),
        "'Reshape' node expected 'shape' of 2 elements, got 3",
    ),
    (
        one("Reshape", [[6], [6], [6]], int64("shape", 1)),
        "'Reshape' node expected one output, got 2",
    ),
    (
        one("Slice", [[7], [3]], int64("starts", 1), int64("ends", 1)),
        "'Slice' node expected argument 'starts' to be known when the graph is read",
    ),
    (
        one("Squeeze", [[3, 1], [3]], int64("axes", 10**9)),
        "'Squeeze' node expected 'axes' of at most 16 elements, as many axes",
    ),
    (
        one("Constant", [[2], [2]], value_floats=["a"]),
        "'Constant' node expected the constant to be numbers, got ['a']",
    ),
    (
        one("LSTM", [[5, 2], [5, 1, 2, 4]], tensor("w", "weight", [16]), hidden_size=4),
        "'LSTM' node expected ",
    ),
    (
        graph_of([node("n", "Relu", [0], [])], [tensor("x", "input", [2])], [0]),
        "'Relu' node expected an output, got none",
    ),
]


@pytest.mark.parametrize(("graph", "message"), UNREADABLE)
def test_what_cannot_be_read_is_said_with_its_place(graph: Json, message: str) -> None:
    problem = refused(graph)

    assert message in str(problem)
    assert str(problem).startswith("model.json:")
    assert len(problem.diagnostics) == 1


def test_a_node_of_thousands_of_operands_is_refused_in_linear_time() -> None:
    graph = conv_graph()
    graph["nodes"][0]["inputs"] = [0, *[1] * 20_000]
    start = process_time()

    error = refused(graph)

    assert "among its arguments, got 20001" in str(error)
    assert process_time() - start < 5


def test_unsupported_operators_are_read_and_reported_together_when_lowered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = chain()
    graph["nodes"][0].update(name="MyOwn", attributes={"any": {"thing": 1}})
    graph["nodes"][1].update(name="Other")
    graph["nodes"][1]["inputs"] = [0, 0]
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph, indent=1))

    assert gawee_translate.main([str(path)]) == 1

    said = capsys.readouterr().err
    assert "g.json:34:3: error: unsupported op 'MyOwn' of node 'relu'" in said
    assert "g.json:49:3: error: unsupported op 'Other' of node 'add'" in said
    assert gawee_translate.main(["info", str(path)]) == 0
    assert "MyOwn" in capsys.readouterr().out


def test_coverage_says_which_nodes_can_go_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = chain()
    graph["nodes"][1]["name"] = "MyOwn"
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))

    assert gawee_translate.main([str(path), "--coverage"]) == 1

    assert "1 of 2 nodes can go through" in capsys.readouterr().out


def test_an_output_may_be_a_weight_or_an_input() -> None:
    tensors = [tensor("x", "input", [2]), tensor("w", "weight", [3])]

    made = model_of(graph_of([], tensors, [0, 1]), {"w": floats(3)}).run({"x": floats(2)})

    assert [each.shape for each in made.values()] == [(2,), (3,)]
