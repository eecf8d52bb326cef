"""gawee-run --profile: its table, its JSON and its picture. No test asserts a time."""

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

from gawee_dialect.backend import jit, kernel_code, measure, unit_code
from gawee_dialect.backend.code_units import CodeUnit
from gawee_dialect.target import host
from gawee_dialect.tools.gawee_run import main

GRAPH = str(Path(__file__).parents[2] / "examples" / "digits" / "graph.json")
PLAIN = ("--algorithms", "plain")
"""Loops whose FLOPs are those of the definition, and which are called as in linalg."""
NODES = {"conv1", "conv2", "conv3", "fc"}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "cache_folder", lambda: tmp_path / "cache")


@pytest.mark.parametrize("level", ["gawee", "linalg", "loops", "llvm"])
def test_json_has_what_each_node_did_and_could_do(level: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"

    plain = PLAIN if level == "llvm" else ()

    assert main([GRAPH, "--level", level, "--profile", *plain, "--json", str(path)]) == 0

    report = json.loads(path.read_text())
    nodes = {node["node"]: node for node in report["profile"]}
    assert NODES <= set(nodes)
    conv = nodes["conv2"]
    assert conv["flops"] == 2 * (16 * 4 * 4) * (16 * 3 * 3)  # 16 channels to 16, 3x3, on 4x4
    assert conv["bound"] == "compute"
    assert conv["intensity"] == pytest.approx(
        conv["flops"] / (conv["read_bytes"] + conv["write_bytes"])
    )
    assert conv["gflops_per_second"] == pytest.approx(conv["flops"] / conv["seconds"] / 1e9)
    assert conv["percent_of_limit"] == pytest.approx(
        100 * conv["predicted_seconds"] / conv["seconds"]
    )
    assert "graph.json:" in conv["place"]
    assert ("memory_bytes" in report) == (level == "llvm")
    limits = report["limits"]
    assert limits["target"] == "host"
    assert limits["source"].startswith("assumed for ")
    assert limits["memories"][-1] == {
        "name": "DRAM",
        "bytes": None,
        "gbytes_per_second": pytest.approx(20),
    }


def test_nodes_of_one_module_have_a_name_and_a_row_each(tmp_path: Path) -> None:
    path = tmp_path / "report.json"

    assert main([GRAPH, "--profile", *PLAIN, "--json", str(path)]) == 0

    rows = json.loads(path.read_text())["profile"]
    relus = {row["node"]: row["place"] for row in rows if row["node"].startswith("relu")}
    assert list(relus) == ["relu", "relu_1", "relu_2"]
    assert len(set(relus.values())) == 3


def test_what_is_timed_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(
        text: str, target: jit.Target, *, assembly: bool = False, called: Sequence[CodeUnit] = ()
    ) -> jit.ObjectCode:
        compiled.append("".join((*(unit.text for unit in called), text)))
        return compile_object(text, target, assembly=assembly, called=called)

    compile_object = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", counted)
    monkeypatch.setattr(unit_code, "compile_object", counted)
    monkeypatch.setattr(kernel_code, "cores", lambda: 1)  # other processes would not be counted

    assert main([GRAPH, "--profile", "--no-cache"]) == 0

    # Teams run the network, whose kernels are compiled apart, one thread each of its kernels.
    (timed,) = (text for text in compiled if "define void @conv_0" in text)
    run = [text for text in compiled if text is not timed]
    assert len(run) == len(set(run)) > 1
    assert sum("define void @main" in text for text in run) == 1


def test_table_fits_in_100_columns_and_says_what_the_limits_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([GRAPH, "--profile", *PLAIN]) == 0

    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.split()[:1] == ["conv3"]]
    assert len(rows) == 1
    assert "conv_2d_nchw_fchw" in rows[0]
    assert "compute" in rows[0]
    start = next(index for index, line in enumerate(lines) if "time by node" in line)
    end = next(index for index, line in enumerate(lines) if line.startswith("limits of one core"))
    assert max(len(line) for line in lines[start:end]) <= 100
    assert "this machine was never measured: --measure does it once" in lines
    assert any(line.startswith("memory: ") and "KB workspace" in line for line in lines)


LONG_NAMES = """func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> tensor<3x2xf32> {
  %y = gawee.softmax %x axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("encoder.layer.0.attention.self.query.softmax")
  %z = gawee.transpose %y permutation [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("encoder.layer.0.attention.self.query.permute")
  return %z : tensor<3x2xf32>
}
"""


def test_names_of_nodes_are_whole_where_no_terminal_is_narrow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(LONG_NAMES)

    assert main([str(source), "--level", "gawee", "--cost", "--profile"]) == 0

    words = capsys.readouterr().out.split()
    for last in ("softmax", "permute"):
        assert words.count(f"encoder.layer.0.attention.self.query.{last}") == 2


def test_measured_limits_are_used_now_and_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(measure, "RUNS", 1)
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "LARGEST", 1 << 20)

    assert main([GRAPH, "--measure"]) == 0
    assert "(measured " in capsys.readouterr().out

    path = tmp_path / "report.json"
    assert main([GRAPH, "--profile", *PLAIN, "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "never measured" not in out
    assert json.loads(path.read_text())["limits"]["source"].startswith("measured ")


def test_picture_is_written_and_holds_the_nodes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "roof.svg"

    assert main([GRAPH, "--roofline", str(path)]) == 0

    assert f"wrote {path}" in capsys.readouterr().out
    text = "".join(ET.parse(path).getroot().itertext())
    assert all(node in text for node in NODES)
    assert "digits, level llvm: one core of host" in text


def test_missing_matplotlib_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    assert main([GRAPH, "--roofline", "roof.svg"]) == 1

    captured = capsys.readouterr()
    assert captured.err.startswith("error: cannot draw 'roof.svg': pictures need matplotlib")
    assert captured.out == ""
