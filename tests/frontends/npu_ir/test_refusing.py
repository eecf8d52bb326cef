"""What is wrong with an NPU_IR file is said with its place, and all of it at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir import NPU_IR, SerializationError
from gawee_dialect.frontends.npu_ir.ir import Constant, OpNode, TensorMeta
from gawee_dialect.frontends.npu_ir.json_text import parse_ir
from gawee_dialect.frontends.npu_ir.validate import validate_ir
from tests.frontends.npu_ir.files import Json, changed, constants, tiny, two_results

Change = Callable[[Json], object]


def messages(graph: Json, *changes: Change) -> list[str]:
    def all_changes(own: Json) -> None:
        for change in changes:
            change(own)

    with pytest.raises(SerializationError) as raised:
        parse_ir(changed(graph, all_changes), "g.json")
    assert all(problem.place for problem in raised.value.diagnostics)
    return [problem.message for problem in raised.value.diagnostics]


STRUCTURE: list[tuple[Change, str]] = [
    (lambda g: g.pop("nodes"), "expected graph to have key 'nodes'"),
    (lambda g: g.pop("weights"), "expected graph to have key 'weights'"),
    (lambda g: g.update(nodes={}), "expected 'nodes' of graph to be a list, got an object"),
    (lambda g: g.update(model_name=3), "expected 'model_name' of graph to be text, got 3"),
    (lambda g: g.update(weight_name_mapping=[]), "expected 'weight_name_mapping' of graph to map text to text"),
    (lambda g: g.update(constants=[1]), "expected 'constants' of graph to be an object, got [1]"),
    (lambda g: g["nodes"].append("x"), "expected a node to be an object, got 'x'"),
    (lambda g: g["nodes"][0].pop("inputs"), "expected node 'linear' to have key 'inputs'"),
    (lambda g: g["nodes"][0].update(attrs=[1]), "expected 'attrs' of node 'linear' to be an object, got [1]"),
    (lambda g: g["nodes"][0].update(inputs=[None]), "expected 'inputs[0]' of node 'linear' to be an object, got none"),
    (lambda g: g["weights"][1].pop("shape"), "expected 'weights[1]' of graph to have key 'shape'"),
    (lambda g: g["weights"][1].update(shape=["n"]), "expected sizes in 'shape' of 'weights[1]' of graph to be integers, got 'n'"),
    (lambda g: g["weights"][1].update(shape=[3.0]), "expected sizes in 'shape' of 'weights[1]' of graph to be integers, got 3.0"),
    (lambda g: g["nodes"][1]["inputs"][0].update(producer_node=1), "expected 'producer_node' of 'inputs[0]' of node 'cat' to be text, got 1"),
    (lambda g: g["nodes"][1]["inputs"][0].update(producer_output_idx="0"), "expected 'producer_output_idx' of 'inputs[0]' of node 'cat' to be an integer, got '0'"),
    (lambda g: g.update(constants={"k": 1}), "constant 'k': expected an object of 'data' and 'dtype'"),
    (lambda g: g.update(constants={"k": {"data": 1}}), "constant 'k': expected an object of 'data' and 'dtype'"),
    (lambda g: g.update(constants={"k": {"data": [[1], [1, 2]], "dtype": "int8"}}), "constant 'k': expected lists of one length, got ragged data"),
    (lambda g: g.update(constants={"k": {"data": [1, [2]], "dtype": "int8"}}), "constant 'k': expected lists of one depth, got ragged data"),
    (lambda g: g.update(constants={"k": {"data": [1], "dtype": "qint8"}}), "constant 'k': unsupported dtype 'qint8'; supported: float16"),
    (lambda g: g.update(constants={"k": {"data": [300], "dtype": "int8"}}), "constant 'k': expected numbers in the range of int8"),
    (lambda g: g.update(constants={"k": {"data": [1.5], "dtype": "int8"}}), "constant 'k': expected numbers of int8, got 1.5"),
    (lambda g: g.update(constants={"k": {"data": [1.5], "dtype": "complex64"}}), "constant 'k': expected pairs of numbers for complex64"),
]  # fmt: skip

CONTENT: list[tuple[Change, str]] = [
    (lambda g: g["nodes"][0].update(name=""), "expected a node of 'aten.linear.default' to have a name"),
    (lambda g: g["nodes"][1].update(name="linear"), "expected nodes to differ in name, got 'linear' twice"),
    (lambda g: g["nodes"][0].update(op_type=""), "expected node to have an op_type"),
    (lambda g: g["weights"][0].update(shape=[-3, 4]), "expected sizes of weight 'fc.weight' of at least 0, got [-3, 4]"),
    (lambda g: g["weights"][0].update(name=""), "expected weight 0 to have a name"),
    (lambda g: g["weights"][1].update(name="fc.weight"), "expected one weight 'fc.weight', got 2"),
    (lambda g: g["nodes"][1]["outputs"][0].update(name="linear"), "expected tensors to differ in name, got 'linear' twice"),
    (lambda g: g["nodes"].reverse(), "expected producer 'linear' of input 'linear' to be an earlier node"),
    (lambda g: g["nodes"][1]["inputs"][0].update(producer_node="gone"), "expected producer 'gone' of input 'linear' to be an earlier node"),
    (lambda g: g["nodes"][1]["inputs"][0].update(producer_output_idx=1), "expected output index of 'linear' below 1, got 1"),
    (lambda g: g["nodes"][1]["inputs"][0].update(producer_output_idx=-1), "expected output index of 'linear' below 1, got -1"),
    (lambda g: g["nodes"][1]["inputs"][0].update(name="p_fc_bias"), "expected output 0 of 'linear' to be 'p_fc_bias', got 'linear'"),
    (lambda g: g["nodes"][0]["inputs"][1].update(name="p_gone"), "expected input 'p_gone' to be a graph input, a weight or an earlier result"),
    (lambda g: g["nodes"][1]["inputs"][0].update(shape=[2, 4]), "expected input 'linear' 2x3 of float32 as it was made, got 2x4 of float32"),
    (lambda g: g["nodes"][0]["inputs"][1].update(dtype="float16"), "expected input 'p_fc_weight' 3x4 of float32 as it was made, got 3x4 of float16"),
    (lambda g: g["weight_name_mapping"].update(p_x="x.y"), "expected weight 'x.y' of placeholder 'p_x' to be listed"),
    (lambda g: g["graph_outputs"][0].update(name="gone"), "expected a node that makes graph output 'gone', got none"),
    (lambda g: g["graph_outputs"][0].update(shape=[1]), "expected graph output 'cat' 2x6 of float32 as it was made, got 1 of float32"),
    (lambda g: g["nodes"][1]["attrs"].update(_tensor_list_sizes=[3]), "expected lists of 3 tensors, got 2 inputs"),
    (lambda g: g["nodes"][1]["attrs"].update(_tensor_list_sizes=2), "expected '_tensor_list_sizes' to be a list of sizes, got 2"),
    (lambda g: g["nodes"][1]["attrs"].update(_tensor_list_none_masks=[1]), "expected '_tensor_list_none_masks' to be lists of booleans, got [1]"),
    (lambda g: g["nodes"][1]["attrs"].update(_tensor_list_none_masks=[[False]]), "expected masks of [2] tensors, got masks of [1]"),
    (lambda g: g.update(constants={"k": {"data": 1, "dtype": "int8"}}), "expected constant 'k' to be listed among the weights"),
    (lambda g: g.update(constants={"fc.bias": {"data": [1], "dtype": "float32"}}), "expected constant 'fc.bias' 3 of float32, got 1 of float32"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [*STRUCTURE, *CONTENT])
def test_a_file_that_is_wrong_is_refused(change: Change, message: str):
    found = messages(tiny(), change)

    assert any(each.startswith(message) for each in found), found


@pytest.mark.parametrize("cases", [STRUCTURE[1:3], CONTENT], ids=["structure", "content"])
def test_all_problems_are_said_at_once(cases: list[tuple[Change, str]]):
    some = cases[2::6] or cases
    found = messages(tiny(), *(change for change, _ in some))

    assert all(any(each.startswith(message) for each in found) for _, message in some), found


def test_getitem_out_of_range_is_refused():
    found = messages(two_results(), lambda g: g["nodes"][1]["attrs"].update(index=2))

    assert found == ["expected index of getitem below 2, got 2"]


def test_a_dtype_that_nobody_says_is_missed():
    def change(graph: Json) -> None:
        del graph["graph_inputs"][0]["dtype"]
        del graph["nodes"][0]["inputs"][0]["dtype"]
        del graph["nodes"][1]["outputs"][0]["dtype"]

    assert messages(two_results(), change) == ["expected tensor 'x' to have key 'dtype'"] * 2


def test_several_masks_must_match_their_lists_in_order():
    found = messages(
        constants(),
        lambda g: g["nodes"][0]["attrs"].update(_tensor_list_none_masks=[[True, False, False]]),
    )

    assert found == ["expected masks of [1] tensors, got masks of [2]"]


def test_text_that_is_no_json_is_refused_with_its_place():
    with pytest.raises(
        SerializationError, match=r"g\.json:2:1: error: cannot read JSON: expecting"
    ):
        parse_ir('{"nodes": [\n', "g.json")
    with pytest.raises(SerializationError, match=r"expected a graph to be an object, got \[\]"):
        parse_ir("[]", "g.json")


def test_problems_are_where_their_node_is():
    text = changed(tiny(), lambda g: g["nodes"][1].update(op_type=""))
    line = next(
        i
        for i, each in enumerate(text.splitlines(), 1)
        if '"name": "cat"' in each and "nodes" in text[: text.index(each)]
    )

    with pytest.raises(SerializationError) as raised:
        parse_ir(text, "g.json")

    (problem,) = raised.value.diagnostics
    assert problem.node == "cat"
    assert problem.place is not None
    assert problem.place.startswith("g.json:")
    assert int(problem.place.split(":")[1]) <= line


def test_shapes_that_contradict_inference_are_refused():
    ir = parse_ir(json.dumps(tiny()))

    def infer(node: OpNode):
        if node.name == "cat":
            raise GaweeError("cannot be")
        return [((2, 5), "float32")] if node.name == "linear" else None

    with pytest.raises(SerializationError) as raised:
        validate_ir(ir, infer)

    assert [each.message for each in raised.value.diagnostics] == [
        "expected output 0 2x5 of float32, got 2x3 of float32",
        "cannot be",
    ]
    with pytest.raises(
        SerializationError, match=r"expected 2 outputs of 'aten\.linear\.default', got 1"
    ):
        validate_ir(ir, lambda node: [((), "bool")] * 2 if node.name == "linear" else None)


def test_pytorch_infers_shapes():
    pytest.importorskip("torch")
    from gawee_dialect.frontends.npu_ir.ir import ConversionError
    from gawee_dialect.pytorch.aten_engine import find_op, infer_with_pytorch

    ir = parse_ir(json.dumps(tiny()))
    validate_ir(ir, infer_with_pytorch)
    ir.nodes[1].attrs["dim"] = 0
    with pytest.raises(SerializationError, match="expected output 0 4x3 of float32, got 2x6"):
        validate_ir(ir, infer_with_pytorch)
    ir.nodes[1].attrs["dim"] = 5
    with pytest.raises(
        SerializationError, match=r"'aten\.cat\.default' call: dimension out of range"
    ):
        validate_ir(ir, infer_with_pytorch)
    for op_type in ("aten.nothing.default", "aten.cat.nothing", "mine.op.default"):
        with pytest.raises(ConversionError, match=f"unknown op '{op_type}' of PyTorch"):
            find_op(OpNode("n", op_type, [], []))
    assert infer_with_pytorch(OpNode("n", "mine.op.default", [], [])) is None


def test_graphs_made_in_python_are_checked_before_they_are_written(tmp_path: Path):
    sizes: list[Any] = [2, "n"]
    x = TensorMeta("x", tuple(sizes), "")
    ir = NPU_IR([], [x], [], [TensorMeta("w", (2,), "float32")])
    ir.constants["w"] = Constant(np.zeros((2,), np.int64), "int64")

    with pytest.raises(SerializationError) as raised:
        ir.save(tmp_path / "g.json")

    assert [each.message for each in raised.value.diagnostics] == [
        "expected graph input 'x' to have a dtype",
        "expected sizes of graph input 'x' to be integers, got [2, 'n']",
        "expected constant 'w' 2 of float32, got 2 of int64",
    ]
    assert not (tmp_path / "g.json").exists()
