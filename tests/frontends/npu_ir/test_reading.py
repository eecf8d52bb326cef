"""NPU_IR files: every layout is read, what is written is read again, nothing is lost."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.frontends.npu_ir.ir import NPU_IR, Constant, OpNode, TensorMeta, selected_input
from gawee_dialect.frontends.npu_ir.json_text import ir_text, parse_ir
from gawee_dialect.frontends.npu_ir.weights import bind_weights
from tests.frontends.npu_ir.files import (
    LAYOUTS,
    Json,
    changed,
    constants,
    documentation_layout,
    layout_a,
    tensor,
    tiny,
    two_results,
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_writing_reading_changes_nothing(layout: str, tmp_path: Path):
    ir = parse_ir(json.dumps(LAYOUTS[layout]()))

    ir.save(tmp_path / "g.json")

    assert NPU_IR.load(tmp_path / "g.json") == ir


def test_producers_are_filled_in_where_a_layout_has_none():
    ir = parse_ir(json.dumps(documentation_layout()))

    assert [(each.producer_node, each.producer_output_idx) for each in ir.nodes[0].inputs] == [
        ("x", 0),
        (None, 0),
        (None, 0),
    ]
    assert [each.producer_node for each in ir.nodes[1].inputs] == ["linear", "linear"]


def test_a_file_without_any_dtype_is_float32():
    assert {
        each.dtype
        for node in parse_ir(json.dumps(documentation_layout())).nodes
        for each in node.inputs
    } == {"float32"}


def test_a_missing_dtype_is_that_of_the_same_tensor_elsewhere():
    graph = two_results()
    del graph["nodes"][1]["inputs"][1]["dtype"]

    assert parse_ir(json.dumps(graph)).nodes[1].inputs[1].dtype == "int64"


def test_arguments_of_the_oldest_layout_get_the_names_of_the_schema():
    view, transpose = parse_ir(json.dumps(layout_a())).nodes

    assert view.attrs == {"size": [2, 2, -1]}
    assert transpose.attrs == {"dim0": 0, "dim1": 2}


def test_weights_listed_by_placeholder_get_their_own_name():
    graph = tiny()
    for weight, name in zip(graph["weights"], ("p_fc_weight", "p_fc_bias"), strict=True):
        weight["name"] = name

    assert [each.name for each in parse_ir(json.dumps(graph)).weights] == ["fc.weight", "fc.bias"]


def test_normalizations_without_scale_do_not_shift():
    x, mean, var = (tensor("x", 2, 3, producer="x"), tensor("b_mean", 3), tensor("b_var", 3))
    graph = {
        "graph_inputs": [tensor("x", 2, 3)],
        "graph_outputs": [tensor("bn", 2, 3)],
        "weights": [tensor("mean", 3), tensor("var", 3)],
        "weight_name_mapping": {"b_mean": "mean", "b_var": "var"},
        "nodes": [
            {
                "name": "bn",
                "op_type": "aten.batch_norm.default",
                "inputs": [x, mean, var],
                "outputs": [tensor("bn", 2, 3)],
                "attrs": {"training": False, "momentum": 0.1, "eps": 1e-5, "cudnn_enabled": True},
            }
        ],
    }

    attrs = parse_ir(json.dumps(graph)).nodes[0].attrs

    assert [attrs["weight"], attrs["bias"]] == [None, None]


def test_unknown_keys_are_kept():
    def change(graph: Json) -> None:
        graph["format_version"] = 3
        graph["nodes"][0]["cost"] = {"flops": 24}
        graph["nodes"][0]["inputs"][0]["layout"] = ["n", "c"]

    ir = parse_ir(changed(tiny(), change))

    again = json.loads(ir_text(ir))
    assert again["format_version"] == 3
    assert again["nodes"][0]["cost"] == {"flops": 24}
    assert again["nodes"][0]["inputs"][0]["layout"] == ["n", "c"]


def test_numbers_that_json_lacks_are_read_and_written_as_text():
    graph = layout_a()
    graph["nodes"][0]["attrs"]["low"] = -math.inf
    text = json.dumps(graph)  # Python writes -Infinity
    assert "-Infinity" in text

    written = ir_text(parse_ir(text))

    assert '"low": "-inf"' in written
    assert parse_ir(written).nodes[0].attrs["low"] == -math.inf


@pytest.mark.parametrize(
    ("data", "dtype", "array"),
    [
        ([[1.0, 0.5]], "float32", np.array([[1, 0.5]], np.float32)),
        (3, "int64", np.array(3)),
        ([True, False], "bool", np.array([True, False])),
        (["-inf", "nan", 1], "float16", np.array([-np.inf, np.nan, 1], np.float16)),
        ([1.5], "bfloat16", np.array([1.5], np.float32)),
        ([[1, 2], [3, -4]], "complex64", np.array([1 + 2j, 3 - 4j], np.complex64)),
        ([[], []], "uint8", np.empty((2, 0), np.uint8)),
    ],
)
def test_constants_keep_dtype_and_values(data: object, dtype: str, array: np.ndarray):
    graph = constants()
    graph["weights"].append(tensor("k", *array.shape, dtype=dtype))
    graph["constants"]["k"] = {"data": data, "dtype": dtype}

    ir = parse_ir(json.dumps(graph))

    assert ir.constants["k"] == Constant(array, dtype)
    assert parse_ir(ir_text(ir)).constants["k"] == ir.constants["k"]


def test_nodes_know_where_they_are_written():
    text = json.dumps(tiny(), indent=1)
    place = parse_ir(text, "g.json").nodes[1].place

    assert place is not None
    name, line, column = place
    assert name == "g.json"
    assert text.splitlines()[line - 1][column - 1] == "{"
    assert '"cat"' in text.splitlines()[line]


def test_a_getitem_selects_by_position_among_all_results():
    ir = parse_ir(json.dumps(two_results()))
    selected = selected_input(ir.nodes[1])

    assert selected is not None
    assert selected.name == "max_1_1"


def test_a_getitem_behind_a_result_that_is_no_tensor_selects_by_name():
    outputs = [
        TensorMeta(f"op_{index}", (2,), "float32", "op", at) for at, index in enumerate((0, 2))
    ]
    getitem = OpNode("g", "<built-in function getitem>", outputs, [], {"index": 2})

    assert selected_input(getitem) is outputs[1]


def test_pytorch_runs_graphs_of_every_layout():
    torch = pytest.importorskip("torch")
    from tests.frontends.npu_ir.running import run_with_pytorch

    weight, bias = torch.randn(3, 4), torch.randn(3)
    x = torch.randn(2, 4)
    y = torch.nn.functional.linear(x, weight, bias)
    for graph in (tiny(), documentation_layout()):
        ir = parse_ir(json.dumps(graph))
        (got,) = run_with_pytorch(ir, {"fc.weight": weight, "fc.bias": bias}, [x])
        torch.testing.assert_close(got, torch.cat([y, y], 1), rtol=0, atol=0)
    x = torch.randn(2, 6)
    (got,) = run_with_pytorch(parse_ir(json.dumps(layout_a())), {}, [x])
    assert torch.equal(got, x.view(2, 2, 3).transpose(0, 2))
    x = torch.randn(2, 4)
    (got,) = run_with_pytorch(parse_ir(json.dumps(two_results())), {}, [x])
    assert torch.equal(got, x.max(1).indices)
    x = torch.randn(3, 5)
    (got,) = run_with_pytorch(parse_ir(json.dumps(constants())), {}, [x])
    assert torch.equal(got, x[:, [1, 0]][:, [1, 0]])


def test_constants_without_data_are_named_and_may_be_given():
    graph = constants()
    del graph["constants"]
    ir = parse_ir(json.dumps(graph))
    index = np.array([1, 0])

    with pytest.raises(
        Exception,
        match=r"expected weights to have 'index' \('c_index' in the graph\), got none\nhint: it was made on the meta device",
    ):
        bind_weights(ir, {})
    assert list(bind_weights(ir, {"index": index})) == ["index"]


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
def test_formats_know_this_one(make: Callable[[], Json]):
    from gawee_dialect.frontends.formats import sniff
    from gawee_dialect.source import Source

    assert sniff(Source.of_text(json.dumps(make()), "g.json")).name == "npu-ir"
