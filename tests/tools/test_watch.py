"""gawee-opt --watch: what a run prints after a file was saved."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_opt
from gawee_dialect.tools.watch import Hits, Watch, stamp

GRAPH = """func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
TWO_RELUS = GRAPH.replace(
    "  return", "  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return"
).replace("return %y", "return %z")
PASS = '''
from dataclasses import dataclass
from xdsl.pattern_rewriter import op_type_rewrite_pattern
from gawee_dialect.dialect.graph.elementwise import ReluOp, SqrtOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

class ReluToSqrt(Pattern):
    """relu -> sqrt"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter):
        rewriter.replace(op, SqrtOp(op.input))

@dataclass(frozen=True)
class Wrong(RewritePass):
    """Turn relu into sqrt."""

    name = "relu-to-sqrt"
    patterns = (ReluToSqrt,)
'''


class Editor:
    """An editor that saves a file at each look of the watcher at the files, and then ends."""

    def __init__(self, *edits: Callable[[], object]):
        self.edits = iter(edits)
        self.pending: Iterator[Callable[[], object]] = iter(())

    def __call__(self, seconds: float) -> None:
        # A watcher waits until no file is being written: a look at an edit, and one that finds no other.
        if next(self.pending, None) is not None:
            return
        edit = next(self.edits, None)
        if edit is None:
            raise KeyboardInterrupt
        edit()
        self.pending = iter([edit])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    graph, plugin = tmp_path / "in.mlir", tmp_path / "wrong_pass.py"
    graph.write_text(GRAPH)
    plugin.write_text(PASS)
    return graph, plugin


def watched(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], *edits: Callable[[], object]
) -> int:
    monkeypatch.setattr(gawee_opt, "Watch", partial(Watch, sleep=Editor(*edits)))
    return gawee_opt.main([*arguments, "--watch"])


def test_a_run_after_a_save_shows_differences_and_counts(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = files
    monkeypatch.chdir(graph.parent)

    code = watched(
        monkeypatch,
        [str(graph), "--load", str(plugin), "--relu-to-sqrt"],
        lambda: graph.write_text(TWO_RELUS),
        lambda: plugin.write_text(PASS.replace("SqrtOp(op.input)", "SqrtOp(op.inputs)")),
        lambda: plugin.write_text(
            PASS.replace("SqrtOp", "AddOp").replace("input)", "input, op.input)")
        ),
    )

    out, err = capsys.readouterr()
    assert code == 0
    runs = out.split("// run ")[1:]
    assert runs[0].startswith("1\nbuiltin.module {")
    assert "// relu-to-sqrt: ReluToSqrt fired 1\n" in runs[0]
    assert runs[1].startswith("2: in.mlir saved\n--- the output before\n+++ the output now\n")
    assert "+    %z = gawee.sqrt %y" in runs[1]
    assert "ReluToSqrt fired 2 (was 1)" in runs[1]
    assert runs[2] == "3: wrong_pass.py saved\n"
    assert f"{plugin}:12:" in err
    assert "error: AttributeError: 'ReluOp' object has no attribute 'inputs'" in err
    assert [path for path in graph.parent.iterdir() if path.is_dir()] == []  # no reproducer
    assert "-    %z = gawee.sqrt %y" in runs[3]
    assert "+    %z = gawee.add %y, %y" in runs[3]


def test_an_error_is_printed_and_watching_goes_on(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = files
    plugin.write_text("def broken(:\n")

    code = watched(
        monkeypatch,
        [str(graph), "--load", str(plugin), "--relu-to-sqrt"],
        lambda: plugin.write_text(PASS),
        lambda: graph.write_text(GRAPH.replace("%y :", "%absent :")),
        lambda: graph.write_text(GRAPH),
    )

    out, err = capsys.readouterr()
    assert code == 0
    assert f"{plugin}:1:12: error: cannot load this file: SyntaxError: invalid syntax" in err
    assert "use of undefined value '%absent'" in err
    assert out.count("// run ") == 4
    assert "(was" not in out
    assert out.endswith(
        "// run 4: in.mlir saved\n// the output is what it was\n// relu-to-sqrt: ReluToSqrt fired 1\n"
    )


def test_a_file_beside_a_loaded_one_is_watched_and_read_again(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = files
    beside = plugin.with_name("what_to_make.py")
    beside.write_text("from gawee_dialect.dialect.graph.elementwise import SqrtOp as Made\n")
    plugin.write_text(
        PASS.replace("class Relu", "from what_to_make import Made\nclass Relu").replace(
            "SqrtOp(op", "Made(op"
        )
    )

    watched(
        monkeypatch,
        [str(graph), "--load", str(plugin), "--relu-to-sqrt"],
        lambda: beside.write_text(
            "from gawee_dialect.dialect.graph.movement import IdentityOp as Made  # a longer file\n"
        ),
    )

    out = capsys.readouterr().out
    assert "// run 2: what_to_make.py saved" in out
    assert "+    %y = gawee.identity" in out
    assert "what_to_make" not in sys.modules


def test_output_goes_to_the_file_that_is_asked_for(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, _ = files
    output = graph.with_name("out.mlir")

    watched(
        monkeypatch,
        [str(graph), "-o", str(output), "--cse"],
        lambda: graph.write_text(TWO_RELUS),
    )

    assert output.read_text().count("gawee.relu") == 2
    assert "builtin.module" not in capsys.readouterr().out.partition("// run 2")[0]


def test_standard_input_cannot_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee_opt.main(["--watch", "--cse"]) == 1
    assert "expected a file to watch, got standard input" in capsys.readouterr().err


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("one")
    looks: list[str] = []
    # Gone as editors do it, then written in two steps; a run at any of these would see half of it.
    steps = iter([path.unlink, lambda: path.write_text("t"), lambda: path.write_text("two"), None])

    def sleep(seconds: float) -> None:
        step = next(steps, None)
        if step is not None:
            step()

    def run(hits: Hits) -> str:
        looks.append(path.read_text())
        return looks[-1]

    assert Watch("tool", run, {path}, sleep=sleep).loop(runs=2) == 0

    assert looks == ["one", "two"]


def test_a_save_in_the_same_moment_and_of_the_same_size_is_seen(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("1")
    before = stamp(path)
    other.write_text("2")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)

    assert stamp(path) != before


def test_control_c_ends_it_with_0(files: tuple[Path, Path]) -> None:
    command = [sys.executable, "-m", "gawee_dialect.tools.gawee_opt", "--watch", str(files[0])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "// run 1\n"

    process.send_signal(signal.SIGINT)

    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err == ""


def test_control_c_that_something_swallows_ends_it_all_the_same(files: tuple[Path, Path]) -> None:
    def run(hits: Hits) -> str:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        return ""

    assert Watch("gawee-opt", run, {files[0]}).loop() == 0
