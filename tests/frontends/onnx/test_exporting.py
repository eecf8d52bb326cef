"""Modules as .onnx: every op that has a twin runs in ONNX Runtime as in the interpreter."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect import extract_ir, import_ir
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect import GAWEE
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.frontends.onnx.export.exporter import export_graph
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.frontends.onnx.export.registry import writers
from gawee_dialect.interpreter import run_module
from gawee_dialect.model import load
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_translate
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.test_completeness import example_arguments, example_module

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "graph.json"
NO_TWIN = {
    "gawee.atan2",
    "gawee.log1p",
    "gawee.floor_div",
    "gawee.insert_slice",
    "gawee.bitcast",
    "gawee.non_max_suppression",
    "gawee.constant",
    "gawee.getattr",
    "gawee.getitem",
    "gawee.kernel",
    "gawee.winograd",
    "gawee.scan",  # a node with a body, tested below
    "gawee.yield",
}
"""Ops that ONNX cannot say; a constant is no node."""
REFUSED_EXAMPLES = {"gawee.remainder", "gawee.attention", "gawee.ad_avg_pool", "gawee.ad_max_pool"}
"""Ops whose example is a case that ONNX does not have; others of them are below."""


def parse(body: str, **arguments: str) -> ModuleOp:
    """Return a module of @main around ops that make %y; it returns that."""
    given = ", ".join(
        f'%{name}: {type} {{gawee.input = "{name}"}}' for name, type in arguments.items()
    )
    result = body.rpartition("-> ")[2].strip()
    text = (
        f'func.func @main({given}) -> ({result} {{gawee.output = "y"}}) {{\n'
        f"{body}\nfunc.return %y : {result}\n}}"
    )
    return parse_mlir(make_context(), text, "m.mlir")


def check(module: ModuleOp, arguments: dict[str, np.ndarray]) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    want = list(run_module(module, arguments).values())

    data = export_onnx(module, None)

    onnx.checker.check_model(onnx.ModelProto.FromString(data), full_check=True)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(data, options)
    # Two implementations of a function in single precision: a few roundings; of half, of half.
    for ours, theirs in zip(want, session.run(None, arguments), strict=True):
        tolerance = 5e-3 if ours.dtype == np.float16 else 1e-4
        assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance / 10)


EXPORTED = sorted(writers(), key=lambda op: op.name)


@pytest.mark.parametrize(
    "op", [op for op in EXPORTED if op.name not in REFUSED_EXAMPLES], ids=lambda op: op.name
)
def test_examples_of_ops_run_in_onnx_runtime(op: type[Operation]) -> None:
    module = example_module(op)

    check(module, example_arguments(module))


# What an example does not show: the op's text, and its arguments.
CASES = [
    (
        "%y = gawee.remainder %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>",
        {"a": "tensor<2x3xi32>", "b": "tensor<3xi32>"},
    ),
    (
        "%y = gawee.attention %q, %k, %v mask %m scale 5.0e-01 : (tensor<2x3x5x4xf32>, "
        "tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>, tensor<5x7xf32>) -> tensor<2x3x5x8xf32>",
        {
            **{"q": "tensor<2x3x5x4xf32>", "k": "tensor<2x3x7x4xf32>"},
            **{"v": "tensor<2x3x7x8xf32>", "m": "tensor<5x7xf32>"},
        },
    ),
    (
        "%y = gawee.ad_avg_pool %x output_size [3, 2] : (tensor<2x3x6x8xf32>) -> tensor<2x3x3x2xf32>",
        {"x": "tensor<2x3x6x8xf32>"},
    ),
    (
        "%y = gawee.ad_max_pool %x output_size [1, 1] : (tensor<2x3x6x8xf32>) -> tensor<2x3x1x1xf32>",
        {"x": "tensor<2x3x6x8xf32>"},
    ),
    (
        "%y = gawee.matmul %x, %w : (tensor<5x8xf32>, tensor<3x8xf32>) -> tensor<5x3xf32>",
        {"x": "tensor<5x8xf32>", "w": "tensor<3x8xf32>"},
    ),
    (
        '%y = gawee.compare %a, %b predicate "ne" : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>',
        {"a": "tensor<2x3xi64>", "b": "tensor<3xi64>"},
    ),
    (
        "%y = gawee.bitwise_and %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>",
        {"a": "tensor<2x3xi1>", "b": "tensor<3xi1>"},
    ),
    (
        "%y = gawee.flatten %x start_dim 0 end_dim 1 : (tensor<2x3x5xf32>) -> tensor<6x5xf32>",
        {"x": "tensor<2x3x5xf32>"},
    ),
    (
        "%y = gawee.reduce_sum %x axes [] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        {"x": "tensor<2x3xf32>"},
    ),
    (
        "%y = gawee.rms_norm %x normalized_rank 1 eps 1.0e-05 : tensor<2x3xf32>\n"
        "%z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        {"x": "tensor<2x3xf32>"},
    ),
    (
        "%w2, %b2 = gawee.fold_batch_norm %w mean %m variance %v eps 1.0e-05 : tensor<3x5xf32>, tensor<3xf32>\n"
        "%y = gawee.matmul %x, %w2 bias %b2 : (tensor<2x5xf32>, tensor<3x5xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
        {
            **{"x": "tensor<2x5xf32>", "w": "tensor<3x5xf32>"},
            **{"m": "tensor<3xf32>", "v": "tensor<3xf32>"},
        },
    ),
    (
        "%w2, %b2 = gawee.fold_batch_norm %w bias %t mean %m variance %v eps 1.0e-05 : tensor<3x5xf16>, tensor<3xf16>\n"
        "%y = gawee.matmul %x, %w2 bias %b2 : (tensor<2x5xf16>, tensor<3x5xf16>, tensor<3xf16>) -> tensor<2x3xf16>",
        {
            **{"x": "tensor<2x5xf16>", "w": "tensor<3x5xf16>"},
            **{"m": "tensor<3xf16>", "t": "tensor<3xf16>", "v": "tensor<3xf16>"},
        },
    ),
    (
        "%y = gawee.group_norm %x groups 4 eps 1.0e-05 : tensor<3x4x5xf32>\n"
        "%z = gawee.relu %y : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>",
        {"x": "tensor<3x4x5xf32>"},
    ),
    (
        "%y = gawee.slice %x offsets [1, 0] sizes [0, 2] strides [1, 2] : (tensor<3x5xf32>) -> tensor<0x2xf32>",
        {"x": "tensor<3x5xf32>"},
    ),
    (
        "%y = gawee.slice %x offsets [2, 4] sizes [3, 2] strides [-1, -3] : (tensor<3x5xf32>) -> tensor<3x2xf32>",
        {"x": "tensor<3x5xf32>"},
    ),
    (
        "%y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d0)> min -1 max 2 reciprocal : "
        "(tensor<2x3xf32>, tensor<2xf64>) -> tensor<2x3xi8>",
        {"x": "tensor<2x3xf32>", "s": "tensor<2xf64>"},
    ),
    (
        "%s = gawee.constant dense<0.37> : tensor<f64>\n"
        "%y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> ()> : "
        "(tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xui8>",
        {"x": "tensor<2x3xf32>"},
    ),
    (
        "%y = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> (d0)> : "
        "(tensor<2x3xi16>, tensor<2xf32>, tensor<2xi16>) -> tensor<2x3xf32>",
        {"q": "tensor<2x3xi16>", "s": "tensor<2xf32>", "z": "tensor<2xi16>"},
    ),
    *(
        (
            f'%y = gawee.interpolate %x size [6, 10] mode "{mode}" : '
            "(tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>",
            {"x": "tensor<2x4x3x5xf32>"},
        )
        for mode in ("nearest_exact", "bilinear", "bicubic")
    ),
    (
        '%y = gawee.interpolate %x size [7, 9] mode "bilinear" align_corners : '
        "(tensor<2x4x3x5xf32>) -> tensor<2x4x7x9xf32>",
        {"x": "tensor<2x4x3x5xf32>"},
    ),
]


@pytest.mark.parametrize(("body", "arguments"), CASES)
def test_other_cases_of_ops_run_in_onnx_runtime(body: str, arguments: dict[str, str]) -> None:
    module = parse(body, **arguments)

    check(module, example_arguments(module))


def test_every_other_op_has_no_twin() -> None:
    assert {op.name for op in GAWEE.operations} - {op.name for op in EXPORTED} == NO_TWIN


REFUSED = [
    (
        "%y = gawee.remainder %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        "'gawee.remainder' op cannot be written as ONNX because it is of floats",
    ),
    (
        "%i = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xi8>\n"
        "%y = gawee.batch_matmul %i, %i transpose_b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x2xi8>",
        "'gawee.batch_matmul' op cannot be written as ONNX because of its element type",
    ),
    (
        "%i = gawee.iota axis 0 : tensor<70000xf32>\n"
        "%y = gawee.relu %i : (tensor<70000xf32>) -> tensor<70000xf32>",
        "'gawee.iota' op cannot be written as ONNX with more than 65536 elements",
    ),
    (
        "%y = gawee.attention %x, %x, %x scale 1.0 causal : (tensor<2x3xf32>, tensor<2x3xf32>, "
        "tensor<2x3xf32>) -> tensor<2x3xf32>",
        "'gawee.attention' op cannot be written as ONNX because it leaves keys out",
    ),
    (
        "%r = gawee.reshape %x shape [2, 1, 3] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>\n"
        "%k = gawee.slice %r offsets [0, 0, 0] sizes [1, 1, 3] strides [1, 1, 1] : "
        "(tensor<2x1x3xf32>) -> tensor<1x1x3xf32>\n"
        "%y = gawee.attention %r, %k, %k scale 1.0 : (tensor<2x1x3xf32>, tensor<1x1x3xf32>, "
        "tensor<1x1x3xf32>) -> tensor<2x1x3xf32>",
        "'gawee.attention' op cannot be written as ONNX because its heads are grouped",
    ),
    (
        "%r = gawee.reshape %x shape [1, 1, 2, 3] : (tensor<2x3xf32>) -> tensor<1x1x2x3xf32>\n"
        "%y = gawee.ad_avg_pool %r output_size [2, 2] : (tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32>",
        "'gawee.ad_avg_pool' op cannot be written as ONNX because its windows, [2, 3] to [2, 2], differ",
    ),
    (
        "%s = gawee.constant dense<1.0> : tensor<2x3xf32>\n"
        "%y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d0, d1)> : "
        "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi8>",
        "'gawee.quantize' op cannot be written as ONNX because its scales are along "
        "'(d0, d1) -> (d0, d1)'; ONNX has them along one axis",
    ),
]


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_what_onnx_does_not_have_is_refused(body: str, message: str) -> None:
    with pytest.raises(GaweeError) as caught:
        export_graph(parse(body, x="tensor<2x3xf32>"))

    assert message in str(caught.value)
    assert str(caught.value).startswith("m.mlir:")


def test_all_ops_without_a_twin_are_reported_at_once() -> None:
    module = parse(
        "%a = gawee.log1p %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "%b = gawee.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "%y = gawee.atan2 %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        x="tensor<2x3xf32>",
    )

    with pytest.raises(GaweeError) as caught:
        export_graph(module)

    assert [str(each).splitlines()[0] for each in caught.value.diagnostics] == [
        "m.mlir:2:1: error: 'gawee.log1p' op cannot be written as ONNX, which has no twin of it",
        "m.mlir:4:1: error: 'gawee.atan2' op cannot be written as ONNX, which has no twin of it",
    ]


def test_modules_below_the_graph_are_refused() -> None:
    with pytest.raises(GaweeError, match="expected a function @main, got none"):
        export_graph(ModuleOp([]))
    prepared = "func.func @main(%x: tensor<2xf32> {gawee.prepared = 0 : i64}) { func.return }"
    with pytest.raises(GaweeError, match="cannot be written as ONNX because it takes prepared '0'"):
        export_graph(parse_mlir(make_context(), prepared, "m.mlir"))
    twice = (
        'func.func @main(%x: tensor<2xf32> {gawee.input = "y"}) -> (tensor<2xf32> '
        '{gawee.output = "y"}) {\n%r = gawee.relu %x : (tensor<2xf32>) -> tensor<2xf32>\n'
        "func.return %r : tensor<2xf32>\n}"
    )
    with pytest.raises(GaweeError, match="expected names to differ, got 'y' twice"):
        export_graph(parse_mlir(make_context(), twice, "m.mlir"))


def translated(tmp_path: Path, *more: str) -> Path:
    pytest.importorskip("onnx")
    path = tmp_path / "digits.onnx"
    assert gawee_translate.main([str(DIGITS), "--to", "onnx", "-o", str(path), *more]) == 0
    return path


def test_a_network_keeps_names_shapes_and_weights(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = translated(tmp_path)

    graph = onnx.load(path).graph

    assert [each.name for each in graph.input] == ["x"]
    assert [each.name for each in graph.output] == ["fc"]
    assert [node.name for node in graph.node][:4] == ["conv1", "bn1", "relu", "pool"]
    assert {each.name for each in graph.initializer} >= {"conv1.weight", "bn1.running_var"}
    shapes = {
        each.name: [d.dim_value for d in each.type.tensor_type.shape.dim]
        for each in graph.value_info
    }
    assert shapes["conv1"] == [1, 16, 8, 8]
    again, first = load(path), load(DIGITS)
    x = np.random.default_rng(0).standard_normal((1, 1, 8, 8)).astype(np.float32)
    assert (again.run({"x": x}, "llvm")["fc"] == first.run({"x": x}, "llvm")["fc"]).all()


def test_reading_what_was_written_is_a_fixpoint(tmp_path: Path) -> None:
    path = translated(tmp_path)
    once = open_graph(Source.read(path), ReadOptions(tmp_path))
    text = print_mlir(once.module())

    (tmp_path / "again.onnx").write_bytes(export_onnx(once.module(), load(path).bound))

    again = open_graph(Source.read(tmp_path / "again.onnx"), ReadOptions(tmp_path))
    assert print_mlir(again.module()) == text


SCAN = """
func.func @main(%h: tensor<2x3xf32> {gawee.input = "h"}, %x: tensor<7x2x3xf32> {gawee.input = "x"},
                %w: tensor<3x3xf32> {gawee.parameter = "w"})
    -> (tensor<2x3xf32> {gawee.output = "last"}, tensor<7x2x3xf32> {gawee.output = "all"},
        tensor<7x2x3xf32> {gawee.output = "twice"}) {
  %half = gawee.constant dense<0.5> : tensor<f32>
  %last, %all, %twice = gawee.scan steps 7 DIRECTION
      initial(%h : tensor<2x3xf32>) over(%x : tensor<7x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %product = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %sum = gawee.add %product, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %next = gawee.mul %sum, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    gawee.yield %next, %next, %now : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>
  func.return %last, %all, %twice : tensor<2x3xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>
}"""


@pytest.mark.parametrize("direction", ["", "reverse"])
def test_a_scan_is_a_node_with_a_body(direction: str) -> None:
    onnx = pytest.importorskip("onnx")
    module = parse_mlir(make_context(), SCAN.replace("DIRECTION", direction), "m.mlir")

    check(module, example_arguments(module))

    graph = onnx.ModelProto.FromString(export_onnx(module, None)).graph
    assert [each.op_type for each in graph.node] == ["Scan"]


def test_a_scan_that_is_written_again_is_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    module = parse_mlir(make_context(), SCAN.replace("DIRECTION", ""), "m.mlir")
    weights = {"w": np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)}
    once = export_onnx(module, weights)

    (tmp_path / "once.onnx").write_bytes(once)
    read = load(tmp_path / "once.onnx")

    assert export_onnx(read.module, read.bound) == once


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("bias", [False, True])
def test_a_layer_of_pytorch_is_written_with_the_gates_of_onnx(name: str, bias: bool) -> None:
    torch = pytest.importorskip("torch")
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    torch.manual_seed(0)
    layer = getattr(torch.nn, name)(5, 3, num_layers=2, bidirectional=True, bias=bias).eval()
    x = torch.randn(7, 2, 5)
    module = import_ir(extract_ir(layer, (x,), strict=False))
    weights = {each: array.numpy() for each, array in layer.state_dict().items()}

    data = export_onnx(module, weights)

    nodes = [each.op_type for each in onnx.ModelProto.FromString(data).graph.node]
    assert (nodes.count(name), nodes.count("Scan"), nodes.count("Gemm")) == (4, 0, 0)
    session = runtime.InferenceSession(data)
    got = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    with torch.no_grad():
        output, last = layer(x)
    wanted = [output, *(last if name == "LSTM" else [last])]
    for one, other in zip(got, wanted, strict=True):
        # Seven steps of sums of a few products, through functions that are computed otherwise.
        assert_allclose(one, other.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("of", "made", "node"),
    [("%sum", "%next", "RNN"), ("%product", "%next", "Scan"), ("%sum", "%product", "Scan")],
)
def test_a_body_that_is_almost_a_layer_stays_a_scan(of: str, made: str, node: str) -> None:
    onnx = pytest.importorskip("onnx")
    text = ALMOST.replace("CELL", of).replace("MADE", made)
    module = parse_mlir(make_context(), text, "m.mlir")

    check(module, example_arguments(module))

    nodes = onnx.ModelProto.FromString(export_onnx(module, None)).graph.node
    assert [each.op_type for each in nodes if each.op_type in ("RNN", "Scan")] == [node]


ALMOST = """
func.func @main(%h: tensor<2x3xf32> {gawee.input = "h"}, %x: tensor<7x2x5xf32> {gawee.input = "x"},
                %v: tensor<3x5xf32> {gawee.input = "v"}, %w: tensor<3x3xf32> {gawee.input = "w"})
    -> (tensor<7x2x3xf32> {gawee.output = "all"}) {
  %p = gawee.matmul %x, %v : (tensor<7x2x5xf32>, tensor<3x5xf32>) -> tensor<7x2x3xf32>
  %last, %all = gawee.scan steps 7 initial(%h : tensor<2x3xf32>) over(%p : tensor<7x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %product = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %sum = gawee.add %now, %product : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %next = gawee.tanh CELL : (tensor<2x3xf32>) -> tensor<2x3xf32>
    gawee.yield %next, MADE : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<7x2x3xf32>
  func.return %all : tensor<7x2x3xf32>
}"""


def test_without_weights_parameters_are_inputs(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")

    graph = onnx.load(translated(tmp_path, "--no-weights")).graph

    assert "conv1.weight" in [each.name for each in graph.input]
    assert "conv1.weight" not in [each.name for each in graph.initializer]


def test_metadata_goes_through() -> None:
    onnx = pytest.importorskip("onnx")
    module = parse(
        "%y = gawee.relu %x {gawee.metadata = {level = 0 : i64, "
        'performance = {time = {cpu = 1.5 : f64}}, text = "0"}, '
        "gawee.tensor_metadata = [{offset = 64 : i64}]} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        x="tensor<2x3xf32>",
    )

    data = export_onnx(module, None)

    made = onnx.ModelProto.FromString(data)
    props = {each.key: json.loads(each.value) for each in made.graph.node[0].metadata_props}
    assert props == {
        "gawee.level": 0,
        "gawee.performance.time.cpu": 1.5,
        "gawee.text": "0",
    }
    again = open_graph(Source("m.onnx", data, Path("m.onnx")), ReadOptions()).module()
    assert (
        "{gawee.metadata = {level = 0 : i64, performance = {time = {cpu = 1.500000e+00 : f64}}, "
        'text = "0"}}'
    ) in print_mlir(again)


def test_outputs_that_no_node_makes_are_identities() -> None:
    text = (
        'func.func @main(%x: tensor<2xf32> {gawee.input = "x"}) -> (tensor<2xf32> '
        '{gawee.output = "a"}, tensor<2xf32> {gawee.output = "c"}, tensor<2xf32> '
        '{gawee.output = "r"}, tensor<2xf32> {gawee.output = "s"}) {\n'
        "%c = gawee.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
        "%r = gawee.relu %x : (tensor<2xf32>) -> tensor<2xf32>\n"
        "func.return %x, %c, %r, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>\n}"
    )

    check(parse_mlir(make_context(), text, "m.mlir"), {"x": np.array([-1, 3], np.float32)})


def test_the_command_line_says_what_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gawee_translate.main([str(DIGITS), "--to", "onnx"]) == 1
    assert "cannot write an ONNX model to standard output" in capsys.readouterr().err
    assert gawee_translate.main([str(DIGITS), "--to", "onnx", "--edges"]) == 1
    assert "expected --edges to go with --to xoc" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    path = tmp_path / "digits.onnx"
    assert gawee_translate.main([str(DIGITS), "--to", "onnx", "-o", str(path)]) == 1
    assert "cannot write an ONNX model without the package 'onnx'" in capsys.readouterr().err
    assert not path.exists()


def test_more_than_a_protobuf_holds_is_refused() -> None:
    text = (
        'func.func @main(%x: tensor<1x30000xf32> {gawee.input = "x"}, %w: tensor<30000x30000xf32> '
        '{gawee.parameter = "w"}) -> (tensor<1x30000xf32> {gawee.output = "y"}) {\n'
        "%y = gawee.matmul %x, %w : (tensor<1x30000xf32>, tensor<30000x30000xf32>) -> "
        "tensor<1x30000xf32>\nfunc.return %y : tensor<1x30000xf32>\n}"
    )
    with pytest.raises(GaweeError, match="cannot write an ONNX model of more than 2 GB"):
        export_onnx(parse_mlir(make_context(), text, "m.mlir"), {})
