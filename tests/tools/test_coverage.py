"""gawee-translate --coverage: the verdict on each node, and the exit code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.resnet18.write_graph import write_resnet18
from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, Verdict, ops_of
from gawee_dialect.frontends.formats import FRONTENDS, open_graph
from gawee_dialect.frontends.gawee_json.build import op_support
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.graph.lowerings import lowerings, matched_ops
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_translate
from tests.frontends.graphs import Json, conv, data, graph, node, one_node, value

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(graph: Json | str, *flags: str) -> tuple[int, str, str]:
        path = tmp_path / "model"
        path.write_text(graph if isinstance(graph, str) else json.dumps(graph, indent=1))
        code = gawee_translate.main([*flags, str(path)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def coverage(graph: Json) -> CoverageReport:
    return open_graph(Source.of_text(json.dumps(graph, indent=1), "g.json")).coverage()


def verdicts(graph: Json) -> dict[str, Verdict]:
    return {node.name: node.verdict for node in coverage(graph).nodes}


IMAGE = (2, 4, 7, 5)
BATCH_NORM = {
    key: data((4,), f"weights/{key}.bin")
    for key in ("weight", "bias", "running_mean", "running_var")
}
PYTHON_LEAVES = graph(
    [
        node("getattr", ["x"], "y", name="n"),
        node("getitem", ["y"], "z", name="m", index=2),
        node("Relu", ["z"], "u", name="r"),
    ],
    [value("x", IMAGE), value("y", None), value("z", None), value("u", IMAGE)],
)

# For each limit of the registry, a node beyond it; the same limit of several ops is broken for each.
BEYOND: list[tuple[str, str, Json]] = [
    ("Conv", "input of rank 4", conv((4, 7, 5), (6, 5, 4))),
    (
        "Conv",
        "f16, f32, f64, i8, i16, i32 or i64",
        one_node(
            *("Conv", IMAGE, (2, 6, 5, 4), "torch.uint8"), weight=data((6, 4, 3, 2), "w", "uint8")
        ),
    ),
    ("Conv", "padding 'same' goes with stride 1", conv(IMAGE, IMAGE, padding="same", stride=2)),
    ("Conv", "padding_mode 'zeros'", conv(IMAGE, (2, 6, 5, 4), padding_mode="reflect")),
    ("Conv", "transposed false", conv(IMAGE, (2, 6, 5, 4), transposed=True)),
    ("MatMul", "weight of rank 2", one_node("MatMul", (2, 3), (2, 5), weight=data((5, 3, 1), "w"))),
    (
        "MatMul",
        "f16, f32 or f64",
        one_node("MatMul", (2, 3), (2, 5), "torch.int64", weight=data((5, 3), "w", "int64")),
    ),
    (
        "BatchNormalization",
        "running_mean and running_var are given",
        one_node("BatchNormalization", IMAGE, IMAGE, track_running_stats=False),
    ),
    (
        "BatchNormalization",
        "f16, f32 or f64",
        one_node(
            *("BatchNormalization", IMAGE, IMAGE, "torch.int32"),
            **{key: {**entry, "dtype": "int32"} for key, entry in BATCH_NORM.items()},
        ),
    ),
    *(
        (
            op_type,
            "f16, f32, f64, i8, ui8, i16, ui16, i32 or i64",
            one_node(op_type, IMAGE, IMAGE, "torch.bool"),
        )
        for op_type in ("Relu",)
    ),
    *(
        (
            op_type,
            "f16, f32, f64, i8, ui8, i16, ui16, i32 or i64",
            graph(
                [node(op_type, ["x", "x"], "y", name="n")],
                [value("x", IMAGE, "torch.bool"), value("y", IMAGE, "torch.bool")],
            ),
        )
        for op_type in ("Add", "Sub", "Mul")
    ),
    *(
        (op_type, "alpha 1", graph([node(op_type, ["x", "x"], "y", name="n", alpha=2)], VALUES))
        for VALUES in [[value("x", IMAGE), value("y", IMAGE)]]
        for op_type in ("Add", "Sub")
    ),
    *(
        (op_type, "input of rank 4", one_node(op_type, (4, 7, 5), (4, 6, 4), kernel_size=2))
        for op_type in ("MaxPool", "AvgPool")
    ),
    (
        "MaxPool",
        "f16, f32, f64, i8, i16, i32 or i64",
        one_node("MaxPool", IMAGE, (2, 4, 3, 2), "torch.bool", kernel_size=2),
    ),
    (
        "MaxPool",
        "return_indices false",
        one_node("MaxPool", IMAGE, (2, 4, 3, 2), kernel_size=2, return_indices=True),
    ),
    (
        "AvgPool",
        "f16, f32 or f64",
        one_node("AvgPool", IMAGE, (2, 4, 3, 2), "torch.int32", kernel_size=2),
    ),
    ("AdAvgPool", "input of rank 4", one_node("AdAvgPool", (4, 7, 5), (4, 1, 1), output_size=1)),
    (
        "AdAvgPool",
        "f16, f32 or f64",
        one_node("AdAvgPool", IMAGE, (2, 4, 1, 1), "torch.int32", output_size=1),
    ),
    ("interpolate", "input of rank 4", one_node("interpolate", (4, 7, 5), (4, 9, 9), size=9)),
    (
        "interpolate",
        "mode nearest, nearest-exact, bilinear or bicubic",
        one_node("interpolate", IMAGE, (2, 4, 9, 9), size=9, mode="area"),
    ),
    (
        "interpolate",
        "antialias false",
        one_node("interpolate", IMAGE, (2, 4, 9, 9), size=9, antialias=True),
    ),
]


@pytest.mark.parametrize(("op_type", "limit", "beyond"), BEYOND)
def test_a_node_beyond_a_stated_limit_is_unsupported(op_type: str, limit: str, beyond: Json):
    stated = {entry.op_type: entry.limits for entry in op_support()}

    assert limit in stated[op_type]
    assert verdicts(beyond) == {"n": Verdict.UNSUPPORTED}


def test_every_stated_limit_is_tested_here():
    stated = {(entry.op_type, limit) for entry in op_support() for limit in entry.limits}
    python_values = {entry for entry in stated if entry[0] in ("getattr", "getitem")}

    assert stated - python_values == {(op_type, limit) for op_type, limit, _ in BEYOND}


def test_the_reader_of_a_python_value_is_the_node_that_is_beyond_the_limit():
    assert verdicts(PYTHON_LEAVES) == {
        "n": Verdict.LIMITED,
        "m": Verdict.LIMITED,
        "r": Verdict.UNSUPPORTED,
    }


def test_nodes_after_an_unsupported_one_are_judged_by_the_declared_shapes():
    nodes = [
        node("Softplus", ["x"], "y", name="first"),
        node("Relu", ["y"], "z", name="fits"),
        node("flatten", ["y"], "u", name="refused", start_dim=7),
    ]
    report = coverage(graph(nodes, [value(name, IMAGE) for name in "xyzu"]))

    assert {node.name: node.verdict for node in report.nodes} == {
        "first": Verdict.UNSUPPORTED,
        "fits": Verdict.LIMITED,
        "refused": Verdict.UNSUPPORTED,
    }
    assert report.summary == "g.json: 1 of 3 nodes can go through"


def test_a_broken_graph_does_not_go_through_although_its_nodes_could():
    report = coverage(one_node("flatten", (2, 3), (2, 3)) | {"outputs": ["nowhere"]})

    assert [node.verdict for node in report.nodes] == [Verdict.SUPPORTED]
    assert report.summary == "g.json: 1 of 1 nodes can go through, 1 more problem"
    assert not report.goes_through


def test_an_op_that_nothing_lowers_is_unsupported():
    nodes = [NodeVerdict("Relu", "act", "gawee.relu", Verdict.SUPPORTED)]
    report = CoverageReport("g.json", "gawee-json", nodes)

    assert report.with_lowerings({"gawee.relu": "LowerElementwise"}).goes_through
    (row,) = report.with_lowerings({"gawee.relu": None}).rows
    assert row.verdict is Verdict.UNSUPPORTED
    assert row.notes == ("no lowering of 'gawee.relu'",)


def test_every_op_that_a_graph_can_hold_is_lowered_or_folded():
    names = {op.name for op in GRAPH_LEVEL}

    assert set(lowerings()) == names
    assert None not in lowerings().values()
    for frontend in FRONTENDS.values():
        made = {op for entry in frontend.op_support() for op in ops_of(entry.op)}
        assert made <= {*names, "gawee.yield"}  # which ends the body of an op


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("aten.detach", set()),
        ("aten.relu", {"gawee.relu"}),
        ("aten.view.default", {"gawee.reshape"}),  # by a method of the emitter
        (
            "aten.conv2d.default",
            {"gawee.cast", "gawee.conv", "gawee.conv_transpose", "gawee.reshape"},
        ),
    ],
)
def test_ops_of_a_mapping_are_found_in_its_code(op_type: str, expected: set[str]):
    made = {entry.op_type: entry.op for entry in FRONTENDS["npu-ir"].op_support()}

    assert set(ops_of(made[op_type])) == expected


def test_every_pattern_says_which_ops_it_is_for():
    assert [each.__name__ for each in LowerToLinalg.patterns if not matched_ops(each)] == []


def test_resnet18_goes_through_without_its_weights(run: Run, tmp_path: Path):
    text = write_resnet18(tmp_path, size=64, with_weights=False).read_text()

    code, out, err = run(text, "--coverage", "--json")

    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["goes_through"]
    assert {row["op_type"]: len(row["nodes"]) for row in report["ops"]} == {
        **{"Conv": 20, "BatchNormalization": 20, "Relu": 17, "Add": 8},
        **{"MaxPool": 1, "AdAvgPool": 1, "flatten": 1, "MatMul": 1},
    }


def test_exit_code_is_1_and_the_table_is_written_where_a_node_cannot_be_read(
    run: Run, tmp_path: Path
):
    target = tmp_path / "table.txt"

    code, out, _ = run(one_node("Reluu", IMAGE, IMAGE), "--coverage", "-o", str(target))

    assert (code, out) == (1, "")
    assert "did you mean 'Relu'?" in target.read_text()


def test_what_stands_in_brackets_is_printed(run: Run):
    _, out, _ = run(conv(IMAGE, IMAGE, padding="same", stride=2), "--coverage")

    assert "got [2, 2]" in " ".join(out.replace("│", " ").split())


def test_json_without_coverage_is_refused(run: Run):
    code, _, err = run(one_node("Relu", IMAGE, IMAGE), "--json")

    assert (code, err) == (1, "error: expected --json to go with --coverage\n")


def test_mlir_is_judged_by_what_lowers_its_ops(run: Run):
    text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    text += "  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    text += "  return %y : tensor<2x3xf32>\n}\n"

    code, out, _ = run(text, "--coverage", "--json")

    assert code == 0
    assert [(row["op"], row["lowering"]) for row in json.loads(out)["ops"]] == [
        ("gawee.relu", "LowerElementwise")
    ]


def called(op: str, name: str, inputs: list[Json], dtype: str, attributes: Json) -> Json:
    """Return a node of NPU_IR."""
    outputs = [{"name": name, "shape": [2, 4], "dtype": dtype}]
    found = {"name": name, "op_type": op, "inputs": inputs, "outputs": outputs}
    return {**found, "attrs": attributes}


def test_a_node_of_several_ops_leaves_room_for_the_other_columns(run: Run) -> None:
    x: Json = {"name": "x", "shape": [2, 4], "dtype": "float32"}
    zero: Json = {"name": "zero", "shape": [2, 4], "dtype": "bool"}
    eq = called("aten.eq.Scalar", "zero", [x], "bool", {"other": 0.0})
    fill = called("aten.masked_fill.Scalar", "filled", [x, zero], "float32", {"value": 0.5})
    ends = {"graph_inputs": [x], "graph_outputs": fill["outputs"], "weights": [], "constants": {}}

    code, out, _ = run({"model_name": "m", **ends, "nodes": [eq, fill]}, "--coverage")

    assert code == 0
    # Each heading but the last has a line of its own.
    assert "op type                 ┃ nodes ┃ verdict     ┃ becomes" in out
    assert {"gawee.compare", "gawee.where", "LowerConstant,"} <= set(out.split())
