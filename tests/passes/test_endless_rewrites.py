"""Patterns that never come to an end: one located error, by the limit and on Ctrl-C."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gawee_dialect.tools.gawee_opt import main

MODULE = """\
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
"""

HEAD = """\
from dataclasses import dataclass
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from gawee_dialect.dialect.graph.arithmetic import NegOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

"""

PATTERN = """
class {name}(Pattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: {before}, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, {after}(op.input))

"""

PASS = """
@dataclass(frozen=True)
class Endless(RewritePass):
    name = "endless"
    patterns = ({patterns},)
"""

AGAIN = (
    HEAD
    + PATTERN.format(name="Again", before="ReluOp", after="ReluOp")
    + PASS.format(patterns="Again")
)

THERE_AND_BACK = (
    HEAD
    + PATTERN.format(name="There", before="ReluOp", after="NegOp")
    + PATTERN.format(name="Back", before="NegOp", after="ReluOp")
    + PASS.format(patterns="There, Back")
)

IN_PLACE = (
    HEAD
    + """
from xdsl.dialects.builtin import IntegerAttr, i64

class Count(Pattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        before = op.attributes.get("count", IntegerAttr(0, i64))
        op.attributes["count"] = IntegerAttr(before.value.data + 1, i64)
        rewriter.notify_op_modified(op)

"""
    + PASS.format(patterns="Count")
)

LONG = (
    HEAD
    + """
from xdsl.dialects.builtin import IntegerAttr, i64

class Step(Pattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        steps = op.attributes.get("steps", IntegerAttr(0, i64)).value.data
        if steps < 15_000:
            new = ReluOp(op.input)
            new.attributes["steps"] = IntegerAttr(steps + 1, i64)
            rewriter.replace(op, new)

"""
    + PASS.format(patterns="Step")
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text(MODULE)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "fired"),
    [(AGAIN, "'Again'"), (THERE_AND_BACK, "'(There|Back)', '(There|Back)'"), (IN_PLACE, "'Count'")],
    ids=["an op that becomes itself", "two patterns in turn", "an op that is changed in place"],
)
def test_what_never_ends_is_stopped_at_the_op_with_the_patterns(
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    fired: str,
) -> None:
    if text != IN_PLACE:  # which is soon at the limit that users have
        monkeypatch.setattr("gawee_dialect.passes.pattern_walk.REWRITES", 500)
    (files / "own.py").write_text(text)

    code = main(["in.mlir", "--load", "own.py", "--endless", "-o", "out.mlir", "--reproducer-dir="])

    assert code == 1
    first, hint = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"in.mlir:3:3: error: 'gawee.(relu|neg)' op is rewritten without end: stopped after "
        rf"\d+ rewrites; fired last: {fired}",
        first,
    )
    assert hint.startswith("hint: a pattern must not match what it makes")
    assert not (files / "out.mlir").exists()


def test_a_long_way_that_ends_is_gone_to_its_end(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "own.py").write_text(LONG)

    assert main(["in.mlir", "--load", "own.py", "--endless"]) == 0

    assert "steps = 15000" in capsys.readouterr().out


INTERRUPTED = """
import signal, sys
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.tools.gawee_opt import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
count = PatternWalk._count_rewrite

def interrupted(walk):
    count(walk)
    if walk._rewrites == 1000:
        signal.raise_signal(signal.SIGINT)

PatternWalk._count_rewrite = interrupted
sys.exit(main(["in.mlir", "--load", "own.py", "--endless", "-o", "out.mlir"]))
"""
"""What the tool does when Ctrl-C comes after a thousand rewrites."""


def test_ctrl_c_says_what_was_being_rewritten(files: Path) -> None:
    (files / "own.py").write_text(AGAIN)

    result = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )

    assert result.returncode == 128 + signal.SIGINT
    first, hint = result.stderr.splitlines()
    assert first == (
        "in.mlir:3:3: error: 'gawee.relu' op was rewritten last when Ctrl-C came, after "
        "1000 rewrites; fired last: 'Again'"
    )
    assert hint.startswith("hint: ")
    assert not (files / "out.mlir").exists()
