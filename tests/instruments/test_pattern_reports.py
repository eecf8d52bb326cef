"""--trace-patterns and --explain-missed: what was rewritten, and why the rest was not."""

import re
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_opt
from tests.tools.test_plugin_file import PASS

GRAPH = """
func.func @main(%x: tensor<2x3x4x4xf32>, %w: tensor<5x3x1x1xf32> {gawee.parameter = "w"},
                %m: tensor<5xf32> {gawee.parameter = "m"}) -> tensor<2x80xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x4x4xf32>
  %1 = gawee.batch_norm %0 mean %m variance %m eps 1.0e-5
    : tensor<2x5x4x4xf32>, tensor<5xf32> loc("bn1"("model.json":41:7))
  %2 = gawee.batch_norm %1 mean %m variance %m eps 1.0e-5 : tensor<2x5x4x4xf32>, tensor<5xf32>
  %3 = gawee.add %2, %2
    : (tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
  %unused = gawee.relu %3 : (tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
  %4 = gawee.identity %3 : (tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
  %5 = gawee.flatten %4 start_dim 1 end_dim 2
    : (tensor<2x5x4x4xf32>) -> tensor<2x20x4xf32>
  %6 = gawee.flatten %5 start_dim 1 end_dim 2 : (tensor<2x20x4xf32>) -> tensor<2x80xf32>
  return %6 : tensor<2x80xf32>
}
"""
SILENT = '''
from dataclasses import dataclass
from xdsl.pattern_rewriter import op_type_rewrite_pattern
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

class Nothing(Pattern):
    """add -> add"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter):
        return

class InPlace(Pattern):
    """add -> add"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter):
        if "seen" in op.attributes:
            return self.missed(op, "expected an op that was not seen")
        op.attributes["seen"] = op.lhs.type
        rewriter.notify_op_modified(op)

@dataclass(frozen=True)
class Mark(RewritePass):
    """Mark additions."""

    name = "mark"
    patterns = (Nothing, InPlace)
'''


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "in.mlir"
    path.write_text(GRAPH)
    return str(path)


@pytest.fixture
def silent(tmp_path: Path) -> str:
    path = tmp_path / "silent.py"
    path.write_text(SILENT)
    return str(path)


def report(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Run gawee-opt; return the lines of its report, with line numbers of sources as N."""
    assert gawee_opt.main([*words]) == 0
    return re.sub(r"\.py:\d+", ".py:N", capsys.readouterr().err).splitlines()


def test_each_rewrite_is_a_line(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [graph, "--canonicalize", "--fold-batch-norm", "--trace-patterns"]

    lines = report(capsys, *words)

    assert lines == [
        f"canonicalize: dead: gawee.relu at {graph}:11:3",
        f"canonicalize: folded: gawee.identity at {graph}:12:3 -> values that were there",
        "canonicalize: FlattenOfFlatten (gawee_dialect/passes/graph/canonicalization/shape.py:N): "
        f"gawee.flatten at {graph}:15:3 -> gawee.flatten",
        f"canonicalize: dead: gawee.flatten at {graph}:13:3",
        "fold-batch-norm: FoldIntoLayer (gawee_dialect/passes/graph/fold_batch_norm.py:N): "
        'gawee.batch_norm at model.json:41:7 (node "bn1") -> gawee.fold_batch_norm, gawee.conv',
        "fold-batch-norm: FoldIntoLayer (gawee_dialect/passes/graph/fold_batch_norm.py:N): "
        f"gawee.batch_norm at {graph}:8:3 -> gawee.fold_batch_norm, gawee.conv",
    ]


def test_an_op_that_stays_is_said_to_be_changed_in_place(
    graph: str, silent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = report(capsys, graph, "--load", silent, "--mark", "--trace-patterns")

    assert [line for line in lines if "InPlace" in line] == [
        f"mark: InPlace ({silent[:-3]}.py:N): gawee.add at {graph}:9:3 -> changed in place"
    ]


def test_what_was_declined_is_explained_by_pass(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [graph, "--explain-missed", "--fold-conv-add", "--canonicalize", "--fold-conv-add"]

    lines = report(capsys, *words)

    folding = [
        f"  gawee.add at {graph}:9:3",
        "    FoldIntoBias (gawee_dialect/passes/graph/fold_conv_add.py:N): expected an operand from "
        "'gawee.conv', got 'gawee.batch_norm' and 'gawee.batch_norm'",
        "    FoldIntoProduct (gawee_dialect/passes/graph/fold_conv_add.py:N): expected an operand from a "
        "product, got 'gawee.batch_norm' and 'gawee.batch_norm'",
    ]
    flatten = "gawee_dialect/passes/graph/canonicalization/shape.py:N"
    assert lines == [
        "missed in fold-conv-add:",
        *folding,
        "missed in canonicalize:",
        f"  gawee.flatten at {graph}:15:3",
        f"    FlattenOfFlatten ({flatten}): expected input from a flatten, got 'gawee.add'",
        f"    FlattenOfReshape ({flatten}): expected input from a reshape, got 'gawee.add'",
        "missed in fold-conv-add (run 2):",
        *folding,
    ]


def test_ops_that_are_named_are_told_where_no_pattern_is_for_them_too(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [graph, "--fold-conv-add", "--cse", "--explain-missed=gawee.conv,gawee.identity"]

    lines = report(capsys, *words)

    nothing = "    no pattern of this pass is for it"
    ops = [f"  gawee.conv at {graph}:4:3", nothing, f"  gawee.identity at {graph}:12:3", nothing]
    assert lines == ["missed in fold-conv-add:", *ops, "missed in cse:", *ops]


def test_a_pattern_that_declines_in_silence_is_said_to(
    graph: str, silent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = report(capsys, graph, "--load", silent, "--mark", "--explain-missed")

    assert lines == [
        "missed in mark:",
        f"  gawee.add at {graph}:9:3",
        f"    Nothing ({silent[:-3]}.py:N): no reason given",
        f"    InPlace ({silent[:-3]}.py:N): expected an op that was not seen",
    ]


def test_patterns_of_xdsl_are_told_for_ops_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text("""func.func @f(%x: i32, %y: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  return %0 : i32
}""")

    assert report(capsys, str(path), "--canonicalize", "--explain-missed") == [
        "missed: no op was declined"
    ]
    named = report(capsys, str(path), "--canonicalize", "--explain-missed=arith.addi")
    assert named[:2] == ["missed in canonicalize:", f"  arith.addi at {path}:2:3"]
    assert all(line.endswith("no reason given") for line in named[2:])
    assert len(named) > 2


def test_nothing_missed_is_said(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = report(capsys, graph, "--cse", "--explain-missed=gawee.cat")

    assert lines == ["missed: no op of gawee.cat was declined"]


def test_reasons_are_printed_where_the_pass_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text("""func.func @main(%x: tensor<2x3xf32>) -> !gawee.python_value {
  %0 = gawee.getattr %x "shape" : tensor<2x3xf32>
  return %0 : !gawee.python_value
}""")

    gawee_opt.main([str(path), "--lower-to-linalg", "--explain-missed"])

    err = capsys.readouterr().err
    assert "missed in lower-to-linalg:\n  gawee.getattr at " in err
    assert "RejectPythonValue (gawee_dialect/passes/graph/lower_to_linalg/__init__.py" in err
    assert err.count("leftover Python value") == 2  # in the report, and in the error


def test_reports_do_not_hear_of_passes_that_an_instrument_runs(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "lowers.py"
    plugin.write_text(
        """
from gawee_dialect.levels import lower_to
from gawee_dialect.passes.instrument import Instrument

class Lowers(Instrument):
    def after_pass(self, module_pass, module):
        lower_to(module, "linalg")
"""
    )

    words = [graph, "--load", str(plugin), "--cse", "--trace-patterns", "--mlir-print-ir-after-all"]
    lines = report(capsys, *words)

    assert [line for line in lines if "gawee" in line and "->" in line and "Dump" in line] == []
    assert sum("IR Dump" in line for line in lines) == 1
    assert not any(line.startswith("lower-to-linalg") for line in lines)


def test_the_passes_of_the_plugin_tests_have_no_patterns(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "rename.py"
    plugin.write_text(PASS)

    words = [graph, "--load", str(plugin), "--rename-functions", "--trace-patterns"]
    assert report(capsys, *words) == []
