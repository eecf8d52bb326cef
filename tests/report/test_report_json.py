"""The JSON of a report, as it is documented."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import gawee_dialect.report
from gawee_dialect.tools import gawee_opt, gawee_reduce, gawee_run, gawee_translate
from gawee_dialect.upstream.verification import Verification
from tests.report.wrong_pass import WRONG_PASS

LSTM = Path(__file__).parents[1] / "networks/lstm.json"
SCHEMA = Path(gawee_dialect.report.__file__).parent / "report.schema.json"

LAYER = """func.func @main(%x: tensor<2x3x5x4xf32>, %w: tensor<7x3x1x1xf32> {gawee.parameter = "w"}, %m: tensor<7xf32>) -> tensor<2x7x5x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<7x3x1x1xf32>) -> tensor<2x7x5x4xf32>
  %z = gawee.identity %y : (tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32>
  %n = gawee.batch_norm %z mean %m variance %m eps 1.0e-5 : tensor<2x7x5x4xf32>, tensor<7xf32>
  %r = gawee.relu %n : (tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32>
  return %r : tensor<2x7x5x4xf32>
}
"""


REFUSING_PASS = '''
from xdsl.passes import ModulePass
from gawee_dialect.diagnostics import Diagnostic, GaweeError

class Refuse(ModulePass):
    """Want something else."""
    name = "refuse"
    def apply(self, ctx, op):
        first = next(inner for inner in op.walk() if inner.name == "gawee.conv")
        place = first.location.filename.data, first.location.line.data, first.location.column.data
        raise GaweeError(Diagnostic("expected a loop", ":".join(map(str, place))))
'''


def report_of(tmp_path: Path, *flags: str, text: str = LAYER, code: int = 0) -> dict:
    source, target = tmp_path / "layer.mlir", tmp_path / "report.json"
    source.write_text(text)
    words = [str(source), "-o", str(tmp_path / "out.mlir"), "--reproducer-dir=", *flags]
    assert gawee_opt.main([*words, "--report-json", str(target)]) == code
    document = json.loads(target.read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    return document


def passes_of(document: dict, name: str) -> list[dict]:
    return [each for each in document["passes"] if each["name"] == name]


def test_levels_are_the_input_and_the_last_state_of_each_level(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--gawee-to-kernels")
    assert [each["name"] for each in document["levels"]] == ["input", "gawee", "linalg", "kernels"]
    names = [[op["name"] for op in each["functions"][0]["ops"]] for each in document["levels"]]
    assert names[0] == [
        *("gawee.conv", "gawee.identity", "gawee.batch_norm", "gawee.relu", "func.return")
    ]
    assert "gawee.identity" not in names[1]
    assert "linalg.conv_2d_nchw_fchw" in names[2]
    assert "gawee.kernel" in names[3]


def test_ops_are_joined_by_values_and_lead_to_their_place_and_text(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--canonicalize")
    main = document["levels"][0]["functions"][0]
    conv, identity = main["ops"][:2]
    arguments = {each["name"]: each["id"] for each in main["arguments"]}
    assert conv["operands"] == [arguments["x"], arguments["w"]]
    assert identity["operands"] == [conv["results"][0]["id"]]
    assert conv["results"][0]["type"] == "tensor<2x7x5x4xf32>"
    assert document["origins"][conv["sources"][0]] == {
        "node": None,
        "place": f"{tmp_path}/layer.mlir:2:3",
    }
    first, last = conv["lines"]
    assert "gawee.conv" in main["text"].split("\n")[first]
    assert first == last == 1


def test_passes_tell_what_they_changed_and_why_patterns_declined(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--canonicalize", "--fold-batch-norm", "--cse")
    assert [each["status"] for each in document["passes"]] == ["changed", "unchanged", "unchanged"]
    canonicalize, fold, _ = document["passes"]
    (diff,) = canonicalize["diff"]
    assert diff["function"] == "@main"
    assert any(line.startswith("-") and "gawee.identity" in line for line in diff["lines"])
    (folded,) = canonicalize["rewrites"]
    assert (folded["kind"], folded["count"], folded["ops"][0]["name"]) == (
        *("folded", 1, "gawee.identity"),
    )
    (declined,) = fold["declined"]
    assert declined["name"] == "gawee.batch_norm"
    assert declined["reasons"][0]["pattern"] == "FoldIntoLayer"
    assert "got a function argument" in declined["reasons"][0]["reason"]


def test_what_was_fused_is_found_where_it_went(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--gawee-to-kernels")
    relu = document["levels"][0]["functions"][0]["ops"][3]["sources"][0]
    kernels = [op for op in document["levels"][-1]["functions"][0]["ops"] if relu in op["sources"]]
    assert [op["name"] for op in kernels] == ["gawee.kernel"]
    assert any(relu in each["sources"] for run in document["passes"] for each in run["fused"])


def test_functions_are_reached_from_calls(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--gawee-to-loops")
    (main,) = (each for each in document["levels"][-1]["functions"] if each["name"] == "main")
    called = {name for op in main["ops"] for name in op["calls"]}
    assert called
    private = {each["name"] for each in document["levels"][-1]["functions"] if not each["public"]}
    assert called <= private


def test_checks_are_those_of_the_passes_in_order(tmp_path: Path) -> None:
    document = report_of(tmp_path, "--canonicalize", "--lower-to-linalg", "--check-each")
    assert [each["pass"] for each in document["checks"]] == [
        *("(as it was read)", "canonicalize", "lower-to-linalg")
    ]
    assert len(document["times"]["checks"]) == 3
    assert document["errors"] == []


def test_a_failing_check_is_reported_with_the_op_and_the_pass(tmp_path: Path) -> None:
    plugin = tmp_path / "wrong.py"
    plugin.write_text(WRONG_PASS)
    document = report_of(
        tmp_path,
        *("--load", str(plugin), "--canonicalize", "--drop-relu", "--cse", "--check-each"),
        text=LAYER.replace("%r = gawee.relu %n", "%r = gawee.relu %z"),
        code=1,
    )
    (error,) = document["errors"]
    assert error["message"].startswith("pass 'drop-relu' moved output")
    assert [each["name"] for each in document["passes"]] == ["canonicalize", "drop-relu"]
    assert "is wrong" in document["checks"][-1]["note"]


def test_a_failing_pass_is_the_last_and_says_why(tmp_path: Path) -> None:
    plugin = tmp_path / "refuse.py"
    plugin.write_text(REFUSING_PASS)
    document = report_of(tmp_path, "--load", str(plugin), "--cse", "--refuse", "--cse", code=1)
    assert [each["status"] for each in document["passes"]] == ["unchanged", "failed"]
    (error,) = document["passes"][-1]["errors"]
    assert (error["message"], error["place"]) == ("expected a loop", f"{tmp_path}/layer.mlir:2:3")
    assert document["errors"] == [error]


def test_the_same_run_gives_the_same_bytes_but_for_times(tmp_path: Path) -> None:
    first = report_of(tmp_path, "--gawee-to-loops")
    second = report_of(tmp_path, "--gawee-to-loops")
    assert first.pop("times")["passes"] != []
    second.pop("times")
    assert json.dumps(first) == json.dumps(second)


def test_large_constants_are_elided(tmp_path: Path) -> None:
    numbers = ", ".join(str(float(each)) for each in range(17))
    text = f"""func.func @main() -> tensor<17xf32> {{
  %c = gawee.constant dense<[{numbers}]> : tensor<17xf32>
  return %c : tensor<17xf32>
}}
"""
    document = report_of(tmp_path, "--cse", text=text)
    text = document["levels"][0]["functions"][0]["text"]
    assert "__elided__" in text
    assert "16.0" not in text


def test_runs_are_reported_with_their_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "layer.mlir", tmp_path / "report.json"
    source.write_text(LAYER)
    words = [str(source), "--weights", "random", "--profile", "--report-json", str(target)]
    assert gawee_run.main(words) == 0, capsys.readouterr().err
    document = json.loads(target.read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert [each["name"] for each in document["levels"]] == [
        *("input", "gawee", "linalg", "kernels", "buffers", "loops", "llvm")
    ]
    rows = document["times"]["profile"]
    assert {each["place"] for each in rows} <= {each["place"] for each in document["origins"]}
    assert all(each["milliseconds"] >= 0 for each in rows)


@pytest.mark.parametrize("flag", ["--report-json", "--html"])
def test_a_report_of_several_modules_is_refused(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report"
    words = ["--split-input-file", flag, str(target), str(tmp_path / "in.mlir")]
    assert gawee_opt.main(words) == 1
    message = f"error: expected {flag} without --split-input-file, got both"
    assert message in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize("flag", ["--report-json", "--html"])
@pytest.mark.parametrize("tool", [gawee_opt, gawee_run])
def test_a_file_that_cannot_be_written_is_an_error_before_anything_runs(
    tool, flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "layer.mlir"
    source.write_text(LAYER)
    missing = tmp_path / "no" / "report"
    assert tool.main([str(source), flag, str(missing)]) == 1
    output = capsys.readouterr()
    assert f"error: cannot write '{missing}'" in output.err
    assert output.out == ""


def test_what_cannot_be_read_has_no_report(tmp_path: Path) -> None:
    source, target = tmp_path / "in.mlir", tmp_path / "report.json"
    source.write_text("func.func @main(")
    assert gawee_opt.main([str(source), "--report-json", str(target)]) == 1
    assert not target.exists()


@pytest.mark.parametrize("flag", ["--report-json", "--html"])
def test_emitting_code_has_no_report(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["graph.json", "--emit", "ll", flag, str(tmp_path / "report")]
    assert gawee_run.main(words) == 1
    assert f"error: expected --emit without {flag}, got both" in capsys.readouterr().err


def test_a_report_verifies_nothing_that_the_run_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    monkeypatch.setattr(Verification, "verify", lambda _, module: verified.append(module.name))
    source, target = tmp_path / "layer.mlir", tmp_path / "report.json"
    source.write_text(LAYER)
    words = [str(source), "--weights", "random", "--no-cache"]
    assert gawee_run.main([*words, "--report-json", str(target)]) == 0
    assert json.loads(target.read_text())["levels"][-1]["level"] == "llvm"
    assert verified == []


def translated(tmp_path: Path, source: Path) -> dict:
    target = tmp_path / "graph.json"
    assert gawee_translate.main([str(source), "--report-json", str(target)]) == 0
    document = json.loads(target.read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    return document


def test_a_graph_is_reported_as_its_file_has_it(tmp_path: Path) -> None:
    document = translated(tmp_path, LSTM)
    nodes = json.loads(LSTM.read_text())["nodes"]
    calls = [each["name"] for each in nodes]
    (level,) = document["levels"]
    (function,) = level["functions"]
    assert document["passes"] == []
    assert [document["origins"][op["sources"][0]]["node"] for op in function["ops"]] == calls
    assert {each["verdict"] for each in document["coverage"]} == {"supported"}
    lines = function["text"].splitlines()
    assert all(op["name"] in lines[op["lines"][0]] for op in function["ops"])


def test_a_graph_that_cannot_be_read_is_reported_with_the_reasons(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make = onnx.helper.make_node
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xy"
    ]
    nodes = [
        make("Relu", ["x"], ["a"], name="stem"),
        make("Fancy", ["a"], ["y"], name="head", domain="com.example"),
    ]
    graph = onnx.helper.make_graph(nodes, "net", values[:1], values[1:])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.example", 1)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets), tmp_path / "net.onnx")
    document = translated(tmp_path, tmp_path / "net.onnx")
    verdicts = {
        document["origins"][each["source"]]["node"]: (each["verdict"], each["notes"])
        for each in document["coverage"]
    }
    assert verdicts["stem"] == ("supported", [])
    verdict, (note,) = verdicts["head"]
    assert verdict == "unsupported"
    assert note.startswith("unsupported op 'com.example.Fancy'")
    assert [op["name"] for op in document["levels"][0]["functions"][0]["ops"]] == [
        *("Relu", "com.example.Fancy")
    ]


@pytest.mark.parametrize("kind", [(), ("--numeric",)])
def test_a_reduced_module_is_reported_with_its_failure(
    tmp_path: Path, kind: tuple[str, ...]
) -> None:
    source, wrong, target = tmp_path / "layer.mlir", tmp_path / "wrong.py", tmp_path / "r.json"
    source.write_text(LAYER)
    wrong.write_text(WRONG_PASS if kind else REFUSING_PASS)
    name = "drop-relu" if kind else "refuse"
    words = [str(source), "--load", str(wrong), f"--{name}", *kind, "-o", str(tmp_path / "s.mlir")]
    assert gawee_reduce.main([*words, "--report-json", str(target)]) == 0
    document = json.loads(target.read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    (error,) = document["errors"]
    assert ("moved output" if kind else "expected a loop") in error["message"]
    assert document["passes"][-1]["name"] == name
    assert (document["checks"] is not None) == bool(kind)
    ops = document["levels"][0]["functions"][0]["ops"]
    assert len(ops) <= 3  # and the layer has six
