"""Figures and drawings of graphs of every format."""

import json
import re

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.inspection.drawing import (
    dot_text,
    draw,
    mermaid_pie,
    mermaid_text,
    short_op,
    summary_json,
    summary_text,
)
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.source import Source
from tests.frontends.graphs import one_node
from tests.frontends.npu_ir.files import LAYOUTS, constants, tiny, two_results


def view(text: str, name: str = "g.json") -> GraphView:
    return open_graph(Source.of_text(text, name)).view()


def chain(count: int) -> GraphView:
    """Return `count` nodes in a row; the first and the last are results."""
    tensors = [TensorView(f"v{index}", (2, 3), "float32") for index in range(count + 1)]
    nodes = [
        NodeView(f"n{i}", "aten.relu.default", [f"v{i}"], [tensors[i + 1]]) for i in range(count)
    ]
    return GraphView("chain", tensors[:1], [tensors[1], tensors[-1]], [], nodes)


EXPECTED = {
    "C": (2, 1, 1, 2, 15),
    "documentation": (2, 1, 1, 2, 15),
    "A": (2, 1, 1, 0, 0),
    "two results": (2, 1, 1, 0, 0),
    "constants": (4, 1, 1, 1, 2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_figures_of_a_file_of_each_layout(layout: str):
    figures = json.loads(summary_json(view(json.dumps(LAYOUTS[layout]()))))

    keys = ("num_nodes", "num_inputs", "num_outputs", "num_weights", "total_parameters")
    assert tuple(figures[key] for key in keys) == EXPECTED[layout]


def test_documented_figures():
    pytest.importorskip("torch")
    import torch

    from gawee_dialect.frontends.npu_ir import extract_ir
    from gawee_dialect.frontends.npu_ir.npu_ir_graph import ir_view
    from tests.frontends.npu_ir import models

    # SimpleMLP and SelfAttention of the format's own documentation.
    for make, shape, nodes, weights, parameters in (
        (models.SimpleMLP, (1, 784), 5, 6, 235_146),
        (models.SelfAttention, (1, 16, 64), 18, 8, 16_640),
    ):
        with torch.device("meta"):
            model = make().eval()
            ir = extract_ir(model, (torch.randn(shape),), decompose=False)
        figures = json.loads(summary_json(ir_view(ir)))
        assert (figures["num_nodes"], figures["num_weights"]) == (nodes, weights)
        assert figures["total_parameters"] == parameters


def test_figures_as_text():
    text = summary_text(view(json.dumps(tiny())))

    assert text.splitlines() == [
        "Model: Tiny",
        "Nodes: 2",
        "Inputs: 1",
        "Outputs: 1",
        "Weights: 2",
        "Total parameters: 15",
        "Input shapes:",
        "  x: 2x4 float32",
        "Output shapes:",
        "  cat: 2x6 float32",
        "Op distribution:",
        "  aten.linear.default  1",
        "  aten.cat.default     1",
    ]


def test_ops_are_listed_by_frequency_then_by_first_use():
    ops = ["b", "a", "c", "a", "c"]
    nodes = [NodeView(f"n{index}", op, [], []) for index, op in enumerate(ops)]

    listed = json.loads(summary_json(GraphView("g", [], [], [], nodes)))["op_distribution"]

    assert list(listed.items()) == [("a", 2), ("c", 2), ("b", 1)]


def test_scalars_count_one_parameter():
    weights = [TensorView("count", (), "int64"), TensorView("w", (1000, 2000), "float32")]

    assert "Total parameters: 2,000,001" in summary_text(GraphView("g", [], [], weights, []))


def test_a_graph_as_mermaid():
    assert mermaid_text(draw(view(json.dumps(tiny())))).splitlines() == [
        "flowchart TD",
        '    input_x[/"Input: x<br/>2x4"/]',
        '    op_linear["linear<br/>2x3"]',
        '    w_fc_weight[/"fc.weight"/]',
        '    w_fc_bias[/"fc.bias"/]',
        '    op_cat["cat<br/>2x6"]',
        '    output_0[/"Output: cat<br/>2x6"/]',
        '    input_x -->|"2x4"| op_linear',
        '    w_fc_weight -.->|"3x4"| op_linear',
        '    w_fc_bias -.->|"3"| op_linear',
        '    op_linear -->|"2x3"| op_cat',
        '    op_cat -->|"2x6"| output_0',
    ]


def test_a_weight_that_two_nodes_use_is_one_box():
    text = mermaid_text(draw(view(json.dumps(constants()))))

    assert text.count('w_index[/"index"/]') == 1
    assert text.count("w_index -.->") == 2


def test_a_getitem_has_one_arrow_and_a_plain_name():
    text = mermaid_text(draw(view(json.dumps(two_results()))))

    assert 'op_getitem_1["getitem<br/>2"]' in text
    assert text.count("op_max_1 --> ") + text.count("op_max_1 -->|") == 1
    assert short_op("aten.add.Tensor") == "add.Tensor"


def test_nodes_beyond_the_limit_are_one_box_and_no_arrow_is_lost():
    text = mermaid_text(draw(chain(5), 2))

    assert '    more_nodes["… 3 more nodes …"]' in text
    assert "op_n2" not in text
    assert '    op_n1 -->|"2x3"| more_nodes' in text
    assert '    op_n0 -->|"2x3"| output_0' in text
    assert '    more_nodes -->|"2x3"| output_1' in text
    assert "more" not in mermaid_text(draw(chain(5), 5))
    assert "… 1 more node …" in mermaid_text(draw(chain(5), 4))
    assert "5 more nodes" in mermaid_text(draw(chain(5), 0))


def test_weights_may_be_left_out():
    text = mermaid_text(draw(view(json.dumps(tiny())), weights=False))

    assert "w_" not in text
    assert "-.->" not in text


NAMES = ['say "hi"', "a<b>&c", "x#quot;", "größe", "end", "two\nlines", "a.b", "a_b"]


def test_names_are_escaped_and_their_ids_differ():
    tensors = [TensorView(name, (), "float32") for name in NAMES]
    nodes = [NodeView(each.name, "<built-in op>", [], [each]) for each in tensors]
    text = mermaid_text(draw(GraphView("g", tensors[:0], tensors, [], nodes)))

    ids = re.findall(r"^    (op_\w+)\[", text, re.MULTILINE)
    assert len(set(ids)) == len(NAMES)
    assert all(name.isascii() for name in ids)
    labels = re.findall(r'^    \w+\[/?"(.*)"/?\]$', text, re.MULTILINE)
    assert len(labels) == 2 * len(NAMES)
    assert not any(re.search(r'["<>](?!br/>)', label.replace("<br/>", "")) for label in labels)
    assert "Output: say #34;hi#34;<br/>scalar" in labels
    assert "Output: x#35;quot;<br/>scalar" in labels
    assert "#60;built-in op#62;<br/>scalar" in labels


def test_the_same_drawing_in_dot():
    lines = dot_text(draw(view(json.dumps(tiny())))).splitlines()

    assert lines[0] == "digraph {"
    assert "  op_linear [shape=box, label=<linear<br/>2x3>];" in lines
    assert "  w_fc_bias -> op_linear [label=<3>, style=dashed];" in lines


def test_a_pie_has_ten_slices_and_the_others():
    nodes = [NodeView(f"n{i}{j}", f"op{i:02}", [], []) for i in range(13) for j in range(20 - i)]

    lines = mermaid_pie(GraphView("g", [], [], [], nodes)).splitlines()

    assert lines[:3] == ["pie showData", "    title Operator Distribution", '    "op00" : 20']
    assert lines[-1] == '    "Others" : 27'
    assert len(lines) == 13


MODULE = """
func.func @main(%arg: tensor<2x3xf32> {gawee.input = "x"}, %w: tensor<2x3xf32> {gawee.parameter = "scale"})
    -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %0 = gawee.mul %arg, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gawee.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}
"""


def test_a_module_in_mlir():
    text = mermaid_text(draw(view(MODULE, "net.mlir")))

    assert '    input_x[/"Input: x<br/>2x3"/]' in text
    assert '    w_scale -.->|"2x3"| op_value' in text
    assert '    op_value_1["gawee.relu<br/>2x3"]' in text
    assert '    output_0[/"Output: y<br/>2x3"/]' in text
    assert '    op_value_1 -->|"2x3"| output_0' in text
    assert "Total parameters: 6" in summary_text(view(MODULE, "net.mlir"))


def test_what_ops_read_inside_their_regions_counts():
    text = """
    func.func @loop(%x: memref<4xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %x[%i] : memref<4xf32>
        memref.store %v, %x[%i] : memref<4xf32>
      }
      func.return
    }
    """
    (loop,) = (node for node in view(text, "loop.mlir").nodes if node.op == "scf.for")

    assert loop.inputs == ["c0", "n", "c1", "x"]


def test_a_gawee_graph():
    graph = view(json.dumps(one_node("Relu", (2, 3), (2, 3))), "net.json")

    assert graph.name == "net"
    assert [node.op for node in graph.nodes] == ["gawee.relu"]


def test_a_module_without_an_entry_is_refused():
    two = "func.func @a() {\n  func.return\n}\nfunc.func @b() {\n  func.return\n}"

    with pytest.raises(
        GaweeError, match="expected a function '@main' or a single function, got '@a', '@b'"
    ):
        view(two, "two.mlir")
    with pytest.raises(GaweeError, match="got no function"):
        view("builtin.module {}", "none.mlir")
