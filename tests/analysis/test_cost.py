"""Costs, against totals published for two networks and against small sums done by hand."""

import json
from io import StringIO
from pathlib import Path

import pytest
import rich.console

from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.analysis.cost import CostReport, analyze_module_cost, cost_table
from gawee_dialect.analysis.work import flops_rule
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect import GAWEE
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context


def cost_of(text: str) -> CostReport:
    return analyze_module_cost(parse_mlir(make_context(), text, "in.mlir"))


NO_NODES = {"gawee.constant", "gawee.yield", "gawee.getattr", "gawee.getitem"}
"""Ops that compute nothing of a graph."""


def totals(report: CostReport) -> tuple[int, int, int, int]:
    return len(report.nodes), report.published_flops, report.read_bytes, report.write_bytes


RESNET18 = (
    (69, 3_628_899_328, 37_234_688, 32_923_552),
    (49, 3_628_899_328, 27_299_840, 22_988_704),
)
UNET = (
    (196, 11_966_549_504, 136_579_072, 116_006_912),
    (116, 11_966_549_504, 94_933_072, 83_693_568),
)


@pytest.mark.parametrize(
    ("write", "expected"), [(write_resnet18, RESNET18), (write_unet, UNET)], ids=["resnet", "unet"]
)
def test_published_totals_before_and_after_the_graph_passes(write, expected, tmp_path: Path):
    path = write(tmp_path, with_weights=False)
    module = parse_gawee_json(path.read_text(), name=path.name, folder=None)
    before = totals(analyze_module_cost(module))

    passes = parse_passes("canonicalize,fold-batch-norm,canonicalize", all_passes())
    run_passes(make_context(), module, passes)

    assert (before, totals(analyze_module_cost(module))) == expected


def test_every_node_of_resnet18_has_its_flops(tmp_path: Path):
    path = write_resnet18(tmp_path, with_weights=False)
    report = analyze_module_cost(parse_gawee_json(path.read_text(), name=path.name, folder=None))

    assert len(report.nodes) == 69
    assert all(node.flops is not None and node.write_bytes is not None for node in report.nodes)
    relus = [node for node in report.nodes if node.op == "gawee.relu"]
    assert len(relus) == 17
    assert all(4 * (node.flops or 0) == node.write_bytes for node in relus)


GROUPED = """
func.func @main(%x: tensor<2x4x9x7xf32>, %w: tensor<6x2x3x1xf32> {gawee.parameter = "w"},
                %b: tensor<6xf32> {gawee.parameter = "b"}) -> tensor<2x6x5x7xf32> {
  %v = gawee.mul %w, %w : (tensor<6x2x3x1xf32>, tensor<6x2x3x1xf32>) -> tensor<6x2x3x1xf32>
  %y = gawee.conv %x, %v bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
  func.return %y : tensor<2x6x5x7xf32>
}
"""


def test_a_convolution_reads_its_input_and_computes_within_groups():
    (node,) = cost_of(GROUPED).nodes

    assert node.op == "gawee.conv"
    assert node.flops == 2 * (2 * 6 * 5 * 7) * (2 * 3 * 1)
    assert node.read_bytes == 4 * 2 * 4 * 9 * 7
    assert node.write_bytes == 4 * 2 * 6 * 5 * 7


def test_a_linear_layer_counts_every_leading_axis():
    (node,) = cost_of("""
        func.func @main(%x: tensor<2x5x8xf64>, %w: tensor<3x8xf64> {gawee.parameter = "w"})
            -> tensor<2x5x3xf64> {
          %y = gawee.matmul %x, %w : (tensor<2x5x8xf64>, tensor<3x8xf64>) -> tensor<2x5x3xf64>
          func.return %y : tensor<2x5x3xf64>
        }
    """).nodes

    assert (node.flops, node.read_bytes, node.write_bytes) == (2 * 2 * 5 * 3 * 8, 8 * 80, 8 * 30)


def test_elementwise_ops_count_result_elements_and_constants_are_read():
    report = cost_of("""
        func.func @main(%x: tensor<2x3xf16>, %k: tensor<3xf16> {gawee.constant = "k"})
            -> tensor<2x3xf16> {
          %c = gawee.constant dense<2.0> : tensor<1xf16>
          %y = gawee.mul %x, %c : (tensor<2x3xf16>, tensor<1xf16>) -> tensor<2x3xf16>
          %z = gawee.add %y, %k : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
          func.return %z : tensor<2x3xf16>
        }
    """)

    assert [(each.flops, each.read_bytes) for each in report.nodes] == [(6, 14), (6, 18)]


def test_a_scan_counts_its_body_at_every_step():
    (node,) = cost_of("""
        func.func @main(%x: tensor<5x2x3xf32>, %h: tensor<2x3xf32>,
            %w: tensor<3x3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
          %y = gawee.scan steps 5 initial(%h : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
          ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
            %p = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
            %s = gawee.add %p, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
            %n = gawee.tanh %s : (tensor<2x3xf32>) -> tensor<2x3xf32>
            gawee.yield %n : tensor<2x3xf32>
          } -> tensor<2x3xf32>
          func.return %y : tensor<2x3xf32>
        }
    """).nodes

    assert node.flops == 5 * (2 * 2 * 3 * 3 + 6 + 6)
    assert (node.read_bytes, node.write_bytes) == (4 * (30 + 6), 4 * 6)


def test_every_op_of_the_dialect_has_a_rule():
    without = {op.name for op in GAWEE.operations if flops_rule(op) is None}

    assert without == NO_NODES | {"gawee.kernel", "gawee.winograd"}  # which count themselves


def test_a_node_with_a_python_value_has_no_cost():
    report = cost_of("""
        func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
          %s = gawee.getattr %x "shape" : tensor<2x3xf32>
          func.return %x : tensor<2x3xf32>
        }
    """)

    (node,) = report.nodes
    assert (node.flops, node.read_bytes, node.write_bytes) == (None, None, None)


def test_other_dialects_have_no_rule():
    with pytest.raises(GaweeError, match=r"cannot count the cost of 'tensor\.empty'"):
        cost_of("""
            func.func @main() -> tensor<2xf32> {
              %x = tensor.empty() : tensor<2xf32>
              func.return %x : tensor<2xf32>
            }
        """)


def test_a_module_without_an_entry_function_is_refused():
    with pytest.raises(GaweeError, match="expected a function @main, got none"):
        cost_of("func.func @other() { func.return }")


def test_the_json_form_holds_totals_and_nodes():
    form = json.loads(json.dumps(cost_of(GROUPED).to_json()))

    assert form["total"]["flops"] == 5040
    assert form["nodes"][0]["op"] == "gawee.conv"


def test_the_table_shows_costs_and_totals():
    stream = StringIO()
    rich.console.Console(file=stream, width=120).print(cost_table(cost_of(GROUPED)))

    assert "cost of 1 node " in stream.getvalue()
    assert "5 040" in stream.getvalue()
    assert "?" not in stream.getvalue()
