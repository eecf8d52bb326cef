"""Modules as XOC graphs with UWEF weights: what is written, that it is read again, and that it runs."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from examples.resnet18.write_graph import write_resnet18
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.frontends.xoc.document import XocDocument, contradictions, xoc_text
from gawee_dialect.frontends.xoc.export import export_xoc, write_xoc
from gawee_dialect.frontends.xoc.xoc_graph import XocImporter
from gawee_dialect.interpreter import run_module
from gawee_dialect.model import Model, load
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_translate
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.effort import full_run
from tests.frontends.onnx.test_exporting import CASES, EXPORTED, REFUSED_EXAMPLES, parse
from tests.frontends.xoc.documents import Json, chain, node, tensor
from tests.frontends.xoc.test_importing import WEIGHTS, conv_graph, floats, graph_of, one
from tests.test_completeness import example_arguments, example_module

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "graph.json"


def imported(document: XocDocument) -> ModuleOp:
    importer = XocImporter(document, "g")
    module = importer.module()
    assert not importer.problems
    module.verify()
    return module


def reopened(module: ModuleOp) -> tuple[ModuleOp, str]:
    """Return a module after it was written and read, and the text between."""
    text = xoc_text(export_xoc(module).document)
    return open_graph(Source.of_text(text, "again.json")).module(), text


UNSAYABLE_EXAMPLES = {*REFUSED_EXAMPLES, "gawee.quantize", "gawee.dequantize"}
"""Ops whose examples ONNX cannot say, or XOC, which has no dtype for integers of 8 bits."""
LACKS = ("f64", "i8", "i16")
"""Element types that XOC has no dtype for."""


def has_dtypes(types: Iterable[str]) -> bool:
    """Whether XOC has dtypes for tensors of some types."""
    return not any(each.endswith(f"x{element}>") for each in types for element in LACKS)


@pytest.mark.parametrize(
    "op", [op for op in EXPORTED if op.name not in UNSAYABLE_EXAMPLES], ids=lambda op: op.name
)
def test_examples_of_ops_mean_the_same_when_they_are_read_again(op: type) -> None:
    module = example_module(op)
    arguments = example_arguments(module)
    exported = export_xoc(module)

    assert not list(contradictions(exported.document))
    again = imported(exported.document)

    got = run_module(again, arguments).values()
    for ours, theirs in zip(run_module(module, arguments).values(), got, strict=True):
        tolerance = 5e-3 if ours.dtype == np.float16 else 1e-5
        assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance)


SAYABLE = [case for case in CASES if has_dtypes(case[1].values())]


@pytest.mark.parametrize(("body", "given"), SAYABLE)
def test_other_cases_of_ops_mean_the_same_when_they_are_read_again(
    body: str, given: dict[str, str]
) -> None:
    module = parse(body, **given)
    arguments = example_arguments(module)

    again, _ = reopened(module)

    got = run_module(again, arguments)["y"]
    assert_allclose(got, run_module(module, arguments)["y"], rtol=1e-5, atol=1e-5)
    # What several nodes say is read as ops of those; from then on nothing changes.
    once = reopened(again)[1]
    assert reopened(reopened(again)[0])[1] == once


FIXPOINTS: list[Json] = [
    conv_graph(),
    chain(metadata={"producer": "å", "sizes": [1, 2.5, None, True]}),
    one("Clip", [[3, 5], [3, 5]], min=-0.5, max=0.25),
    one("MaxPool", [[1, 2, 7, 5], [1, 2, 3, 2]], kernel_shape=[3, 3], strides=[2, 2]),
    one(
        "Resize",
        [[1, 2, 3, 2], [1, 2, 6, 4]],
        tensor("roi", "weight", [0]),
        tensor("scales", "weight", [4]),
        mode="nearest",
    ),
]


@pytest.mark.parametrize("graph", FIXPOINTS)
def test_reading_what_was_written_is_a_fixpoint(graph: Json) -> None:
    if graph["id"] == "chain":
        graph["nodes"][0]["metadata"] = {"level": 0, "performance": {"time": {"cpu": 12.5}}}
        graph["tensors"][0]["metadata"] = {"offset": 64, "size": 24}
        graph["tensors"][1]["metadata"] = {"start": 0, "end": 2}
    first = open_graph(Source.of_text(json.dumps(graph), "g.json")).module()

    again, text = reopened(first)

    if graph["nodes"][0]["name"] not in ("Clip", "Resize"):  # these become several ops
        assert print_mlir(again) == print_mlir(first)
        assert reopened(again)[1] == text
    once = reopened(again)
    assert reopened(once[0])[1] == once[1]


def test_metadata_is_written_where_it_was() -> None:
    graph = chain(metadata={"producer": "p"})
    graph["nodes"][0]["metadata"] = {"level": 0, "performance": {"time": {"cpu": 12.5}}}
    graph["tensors"][0]["metadata"] = {"offset": 64}
    graph["tensors"][1]["metadata"] = {"start": 0}
    module = open_graph(Source.of_text(json.dumps(graph), "g.json")).module()

    written = json.loads(xoc_text(export_xoc(module).document))

    assert written["id"] == "chain"
    assert written["metadata"] == {"producer": "p"}
    assert written["nodes"][0] == graph["nodes"][0]
    assert written["tensors"] == graph["tensors"]


def test_nothing_is_written_that_the_module_does_not_say() -> None:
    module = open_graph(Source.of_text(json.dumps(chain()), "g.json")).module()

    written = json.loads(xoc_text(export_xoc(module).document))

    assert written == {**chain(), "metadata": {}}


def test_constants_stand_in_the_graph_and_many_floats_are_weights() -> None:
    long = np.arange(100, dtype=np.float32)
    module = parse_mlir(
        make_context(),
        'func.func @main(%x: tensor<100xf32> {gawee.input = "x"}) -> (tensor<100xf32> '
        '{gawee.output = "y"}) {\n'
        f"%a = gawee.constant dense<{long.tolist()}> : tensor<100xf32>\n"
        "%b = gawee.constant dense<0.1> : tensor<f32>\n"
        "%c = gawee.constant dense<[[true], [false]]> : tensor<2x1xi1>\n"
        "%d = gawee.cast %c : (tensor<2x1xi1>) -> tensor<2x1xf32>\n"
        "%s = gawee.reduce_sum %d axes [0, 1] : (tensor<2x1xf32>) -> tensor<f32>\n"
        "%p = gawee.add %x, %a : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>\n"
        "%q = gawee.mul %p, %b : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>\n"
        "%y = gawee.add %q, %s : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>\n"
        "func.return %y : tensor<100xf32>\n}",
        "m.mlir",
    )

    exported = export_xoc(module)

    operators = [each.name for each in exported.document.nodes]
    assert operators == [
        "Constant",
        "Reshape",
        "Cast",
        "Cast",
        "ReduceSum",
        "Add",
        *("Constant", "Mul"),
        "Add",
    ]
    held = [each for each in exported.weights if each.tensors]
    assert [(each.op_type, list(each.tensors)) for each in held] == [("Add", ["weight"])]
    (name,) = exported.constants
    assert held[0].tensors["weight"].name == name
    again = Model(imported(exported.document), {f"{held[0].id}.weight": exported.constants[name]})
    x = floats(100)
    want = (x + long) * np.float32(0.1) + 1
    assert_allclose(again.run({"x": x})["y"], want, rtol=1e-6)


UNSAYABLE = [
    (
        "%s = gawee.constant dense<0.5> : tensor<f32>\n"
        "%y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> ()> : "
        "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi8>",
        "'gawee.quantize' op cannot be written as XOC because of a constant of dtype int8",
    ),
    (
        "%a = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xf64>\n"
        "%y = gawee.cast %a : (tensor<2x3xf64>) -> tensor<2x3xf32>",
        "m.mlir:2:1: error: 'gawee.cast' op cannot be written as XOC because of dtype float64",
    ),
    (
        "%a = gawee.constant dense<0x7F800000> : tensor<f32>\n"
        "%y = gawee.minimum %x, %a : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
        "'gawee.minimum' op cannot be written as XOC because a constant of it is not finite",
    ),
    (
        "%a = gawee.constant dense<1> : tensor<i8>\n"
        "%b = gawee.cast %a : (tensor<i8>) -> tensor<f32>\n"
        "%y = gawee.add %x, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
        "'gawee.cast' op cannot be written as XOC because of a constant of dtype int8",
    ),
    (
        "%i = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xi32>\n"
        "%j = gawee.clip %i max 3.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>\n"
        "%y = gawee.log1p %x : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "'gawee.log1p' op cannot be written as ONNX, which has no twin of it",
    ),
]


@pytest.mark.parametrize(("body", "message"), UNSAYABLE)
def test_what_the_format_cannot_say_is_refused_with_its_place(body: str, message: str) -> None:
    with pytest.raises(GaweeError) as caught:
        export_xoc(parse(body, x="tensor<2x3xf32>"))

    assert message in str(caught.value)


@full_run
def test_resnet18_runs_bit_for_bit_as_the_graph_it_was_made_of(tmp_path: Path) -> None:
    pytest.importorskip("orjson")
    source = write_resnet18(tmp_path, seed=3, size=33, batch=2, width=4)
    first = load(source)
    x = np.random.default_rng(1).standard_normal((2, 3, 33, 33)).astype(np.float32)

    paths = write_xoc(first.module, tmp_path / "net.xoc.json", first.bound)

    assert [path.name for path in paths] == ["net.xoc.json", "net.uwef.json"]
    again = load(tmp_path / "net.xoc.json")
    assert list(again.bound) == [each.name for each in again.entry.weights]
    want, got = (each.run({"x": x}, "llvm")["fc"] for each in (first, again))
    assert (want == got).all()
    assert np.ptp(got).item() > 0


def test_the_command_line_writes_a_graph_its_weights_and_edges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("orjson")
    path = tmp_path / "digits.xoc.json"

    assert gawee_translate.main([str(DIGITS), "--to", "xoc", "--edges", "-o", str(path)]) == 0

    written = json.loads(path.read_text())
    assert written["name"] == "digits"
    assert {"source": "x", "target": "conv1"} in written["edges"]
    uwef = json.loads((tmp_path / "digits.uwef.json").read_text())["node_weights"]
    assert list(uwef) == [each["id"] for each in written["nodes"]]
    assert uwef["relu"] == {"op_type": "Relu", "has_weight": False, "tensors": {}}
    assert list(uwef["bn1"]["tensors"]) == ["weight", "bias", "running_mean", "running_var"]
    assert gawee_translate.main([str(DIGITS), "--to", "xoc"]) == 1
    assert "cannot write a graph and its weights to standard output" in capsys.readouterr().err
    assert gawee_translate.main([str(DIGITS), "--to", "xoc", "--no-weights"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == written["nodes"]


def test_a_parameter_of_several_nodes_is_written_for_each(tmp_path: Path) -> None:
    pytest.importorskip("orjson")
    tensors = [
        tensor("x", "input", [2, 3]),
        tensor("w", "weight", [3, 3]),
        tensor("h", "activation", [2, 3]),
        tensor("y", "output", [2, 3]),
    ]
    nodes = [node("a", "Gemm", [0, 1], [2], transB=1), node("b", "Gemm", [2, 1], [3], transB=1)]
    source = Source.of_text(json.dumps(graph_of(nodes, tensors)), "g.json")
    matrix = floats(3, 3)

    write_xoc(open_graph(source).module(), tmp_path / "g.xoc.json", {"a.weight": matrix})

    uwef = json.loads((tmp_path / "g.uwef.json").read_text())["node_weights"]
    assert uwef["a"]["tensors"] == uwef["b"]["tensors"]
    x = floats(2, 3)
    got = load(tmp_path / "g.xoc.json").run({"x": x})["y"]
    assert_allclose(got, x @ matrix.T @ matrix.T, rtol=1e-5, atol=1e-5)


def test_weights_that_uwef_cannot_hold_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    pytest.importorskip("orjson")
    graph = one("Gather", [[3, 5], [2, 5]], tensor("i", "weight", [2], "int64"), axis=0)
    module = open_graph(Source.of_text(json.dumps(graph), "g.json")).module()

    with pytest.raises(
        GaweeError, match=r"cannot write 'n\.weight' as UWEF: expected dtype float32"
    ):
        write_xoc(module, tmp_path / "g.xoc.json", {"n.weight": np.array([0, 2])})

    assert not list(tmp_path.iterdir())


def test_weights_of_the_test_network_are_those_of_its_nodes(tmp_path: Path) -> None:
    pytest.importorskip("orjson")
    module = open_graph(Source.of_text(json.dumps(conv_graph()), "g.json")).module()

    write_xoc(module, tmp_path / "g.xoc.json", WEIGHTS)

    bound = load(tmp_path / "g.xoc.json").bound
    assert {name: array.tobytes() for name, array in bound.items()} == {
        name: array.tobytes() for name, array in WEIGHTS.items()
    }
