"""Reproducers: what is in the folder shows the same failure, and passes as a test once it is mended."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.instruments import check_each
from gawee_dialect.instruments.reproducer import Command, Reproducer, literal_check
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes
from gawee_dialect.passes.pipelines import GaweeToLinalg, to_linalg
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import make_context
from tests.effort import full_run

ROOT = Path(__file__).parent.parent.parent

PASSES = '''
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError


class Crash(ModulePass):
    """Crash on a relu."""

    name = "crash"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "gawee.relu":
                raise IndexError("list index out of range")


class Refuse(ModulePass):
    """Refuse a relu."""

    name = "refuse"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "gawee.relu":
                raise GaweeError(Diagnostic.at(inner, "expected {{[[ 'no' ]]}} relu"))


class Break(ModulePass):
    """Leave a relu without a reader."""

    name = "break"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "func.return":
                inner.operands = []
'''

WRONG = '''

class Wrong(ModulePass):
    """Forget a relu."""

    name = "wrong"

    def apply(self, ctx, op):
        for inner in list(op.walk()):
            if inner.name == "gawee.relu":
                inner.results[0].replace_all_uses_with(inner.operands[0])
                inner.detach()
                inner.erase()
'''

IDENTITY = """func.func @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = gawee.relu %i : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an input and passes that fail on it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "passes.py").write_text(PASSES)
    (tmp_path / "in.mlir").write_text(IDENTITY)
    return tmp_path


class CrashOfOurs(ModulePass):
    """A pass with a bug, which no file defines."""

    name = "crash-of-ours"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise IndexError("list index out of range")


@pytest.fixture(autouse=True)
def our_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gawee_opt.all_passes
    monkeypatch.setattr(
        gawee_opt, "all_passes", lambda: {**table(), CrashOfOurs.name: lambda: CrashOfOurs}
    )


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*argv: str) -> tuple[int, str, str]:
        code = gawee_opt.main([*argv, "--load", "passes.py", "in.mlir"])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def reproducers(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("**/*") if path.name.startswith("gawee-reproducer"))


def lit(test: Path) -> subprocess.CompletedProcess[str]:
    """Run one lit test that lies anywhere, with the tools of this tree."""
    pytest.importorskip("lit")
    (test.parent / "lit.cfg.py").write_text(
        "import sys, lit.formats\n"
        "config.name = 'reproducer'\n"
        "config.test_format = lit.formats.ShTest(execute_external=False)\n"
        "config.suffixes = ['.mlir']\n"
        f"config.environment['PATH'] = {str(Path(sys.executable).parent)!r} + ':' + "
        f"{os.environ['PATH']!r}\n"
        f"config.environment['PYTHONPATH'] = {str(ROOT)!r}\n"
        r"config.substitutions += [(r'\bgawee-opt\b', sys.executable + "
        "' -m gawee_dialect.tools.gawee_opt')]\n"
    )
    return subprocess.run(
        [Path(sys.executable).parent / "lit", "-a", test],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_bug_of_ours_writes_a_folder_where_the_tool_runs(run: Run, folder: Path):
    code, out, err = run("--crash-of-ours")

    (written,) = reproducers(folder)
    assert (code, out) == (2, "")
    assert f"note: wrote a reproducer: {written.name}\n" in err
    assert written.parent == folder


def test_a_reproducer_has_all_that_a_failure_needs(run: Run, folder: Path):
    (folder / "beside.py").write_text("NAME = 'crash'\n")
    (folder / "passes.py").write_text(
        PASSES.replace('name = "crash"', "import beside\n\n    name = beside.NAME")
    )

    run("--canonicalize", "--crash", "--cse", "--reproducer-dir=.")

    (written,) = reproducers(folder)
    assert {path.name for path in written.iterdir()} == {
        *("before.mlir", "command.sh", "error.txt", "passes.py", "beside.py"),
        *("pipeline.txt", "report.html", "test.mlir", "versions.txt"),
    }
    assert (written / "pipeline.txt").read_text() == "crash,cse\n"
    before = (written / "before.mlir").read_text()
    assert "gawee.identity" not in before, "canonicalize has run"
    assert "gawee.relu" in before
    error = (written / "error.txt").read_text()
    assert error.startswith("pass 'crash' crashed: IndexError: list index out of range\n")
    assert "Traceback" in error
    assert "xdsl 0.74" in (written / "versions.txt").read_text()


def reported(page: Path) -> dict:
    """Return the data of a report's page."""
    (data,) = re.findall(
        '<script type="application/json" id="report">(.*?)</script>', page.read_text()
    )
    return json.loads(data)


@pytest.mark.parametrize(
    ("failing", "status", "message"),
    [
        ("--crash", "failed", "IndexError: list index out of range"),
        ("--break", "failed", "op expected arguments to have the same types"),
        ("--wrong", "changed", "pass 'wrong' moved output"),
    ],
)
def test_the_page_of_the_folder_tells_every_pass_until_the_failure(
    failing: str, status: str, message: str, run: Run, folder: Path
):
    (folder / "passes.py").write_text(PASSES + WRONG)

    run("--canonicalize", failing, "--cse", "--check-each", "--reproducer-dir=.")

    (written,) = reproducers(folder)
    report = reported(written / "report.html")
    assert [(each["name"], each["status"]) for each in report["passes"]] == [
        ("canonicalize", "changed"),
        (failing.removeprefix("--"), status),
    ]
    assert report["tool"]["arguments"][:2] == ["--canonicalize", failing]
    assert [each["name"] for each in report["levels"]] == ["input", "gawee"]
    assert any(message in error["message"] for error in report["errors"]), report["errors"]


def test_the_command_of_the_folder_fails_again(run: Run, folder: Path):
    run("--canonicalize", "--crash", "--reproducer-dir=.")
    (written,) = reproducers(folder)
    tool = folder / "gawee-opt"
    tool.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec {sys.executable} -m gawee_dialect.tools.gawee_opt "$@"\n'
    )
    tool.chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))

    again = subprocess.run(
        [written / "command.sh"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert again.returncode == 1
    assert "IndexError: list index out of range (in pass 'crash'" in again.stderr
    text = (written / "command.sh").read_text()
    assert "gawee-opt --canonicalize --crash --reproducer-dir=. --load passes.py in.mlir" in text
    assert "gawee-reduce before.mlir --load=passes.py -p crash -o small.mlir" in text


@pytest.mark.parametrize(
    ("flag", "code", "first"),
    [
        ("--crash-of-ours", 2, "pass 'crash-of-ours' crashed: IndexError: list index out"),
        ("--crash", 1, "pass 'crash' crashed: IndexError: list index out of range"),
        ("--break", 1, "pass 'break' left a module that does not verify: "),
        ("--refuse", 1, "pass 'refuse' refused the module: 'gawee.relu' op expected {{[[ "),
    ],
)
def test_with_the_flag_every_failure_writes_a_folder(
    run: Run, folder: Path, flag: str, code: int, first: str
):
    got, _, err = run(flag, "--reproducer-dir", "deep/er")

    (written,) = reproducers(folder)
    assert got == code
    assert written.parent == folder / "deep" / "er"
    assert f"note: wrote a reproducer: {written.relative_to(folder)}" in err
    assert (written / "error.txt").read_text().startswith(first)


@pytest.mark.parametrize("flag", ["--crash", "--break", "--refuse"])
def test_without_the_flag_the_mistake_of_an_input_writes_nothing(run: Run, folder: Path, flag: str):
    assert run(flag)[0] == 1
    assert reproducers(folder) == []


def test_an_empty_folder_name_is_none(run: Run, folder: Path):
    code, _, err = run("--crash-of-ours", "--reproducer-dir=")

    assert code == 2
    assert "reproducer" not in err
    assert reproducers(folder) == []


@pytest.mark.parametrize("flag", [pytest.param("--crash", marks=full_run), "--break"])
def test_the_test_of_a_bug_fails_until_it_is_mended(run: Run, folder: Path, flag: str):
    run(flag, "--reproducer-dir=out")
    (written,) = reproducers(folder)

    assert lit(written / "test.mlir").returncode == 1

    loaded = written / "passes.py"
    mended = loaded.read_text().replace("gawee.relu", "absent").replace("func.return", "absent")
    loaded.write_text(mended)
    result = lit(written / "test.mlir")
    assert result.returncode == 0, result.stdout


def test_the_test_of_a_refusal_expects_its_message(run: Run, folder: Path):
    run("--refuse", "--reproducer-dir=out")
    (written,) = reproducers(folder)

    result = lit(written / "test.mlir")
    assert result.returncode == 0, result.stdout

    loaded = written / "passes.py"
    loaded.write_text(loaded.read_text().replace("expected {{", "wanted {{"))
    assert lit(written / "test.mlir").returncode == 1


def test_the_same_failure_has_one_folder_and_another_one_its_own(run: Run, folder: Path):
    run("--crash-of-ours")
    (first,) = reproducers(folder)
    (first / "notes.txt").write_text("mine")

    run("--crash-of-ours")
    assert reproducers(folder) == [first]
    assert (first / "notes.txt").read_text() == "mine"

    (folder / "in.mlir").write_text(IDENTITY.replace("2x3", "4x5"))
    run("--crash-of-ours")
    assert len(reproducers(folder)) == 2


def test_mlir_spells_it_as_a_file(run: Run, folder: Path):
    flag = "--mlir-pass-pipeline-crash-reproducer=sub/crash.mlir"

    code, _, err = run("--canonicalize", "--crash", flag)

    assert code == 1
    assert "note: wrote a reproducer: sub/crash.mlir\n" in err
    text = (folder / "sub" / "crash.mlir").read_text()
    assert text.startswith("// RUN: gawee-opt %s --load=%S/passes.py -p crash | filecheck %s\n")
    assert [path.name for path in (folder / "sub").iterdir()] == ["crash.mlir"]


def test_a_folder_that_cannot_be_written_does_not_hide_the_error(run: Run, folder: Path):
    (folder / "taken").write_text("a file")

    code, _, err = run("--crash-of-ours", "--reproducer-dir=taken")

    assert code == 2
    assert "note: cannot write a reproducer: " in err
    assert "internal error: IndexError: list index out of range" in err


def test_what_comes_out_is_the_same_with_it(run: Run, folder: Path):
    _, plain, _ = run("--canonicalize", "--reproducer-dir=")
    code, out, err = run("--canonicalize", "--reproducer-dir=out")

    assert (code, out, err) == (0, plain, "")
    assert reproducers(folder) == []


class Objects(Instrument):
    """Stops the pipeline after a pass, as a check of the result does."""

    def __init__(self, name: str):
        self.name = name

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if module_pass.name == self.name:
            raise GaweeError("output 'y' differs")


@pytest.mark.parametrize("pipeline", ["fold-conv-add", "gawee-to-linalg"])
@pytest.mark.parametrize("first", [True, False])
def test_an_instrument_that_stops_the_pipeline_is_heard(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, pipeline: str, first: bool
):
    family = SimpleNamespace(
        add_flags=lambda parser: parser.add_argument("--check-each", action="store_true"),
        from_flags=lambda arguments, name: [Objects("fold-conv-add")],
    )
    others = [each for each in gawee_opt.FAMILIES if each is not check_each]
    families = (family, *others) if first else (*others, family)
    monkeypatch.setattr(gawee_opt, "FAMILIES", families)
    monkeypatch.setattr(gawee_opt, "FAMILIES", families)

    code, _, _ = run("--canonicalize", f"--{pipeline}", "--check-each", "--reproducer-dir=out")

    assert code == 1
    (written,) = reproducers(folder)
    assert "-fold-conv-add-" in written.name
    text = (written / "error.txt").read_text()
    assert text.startswith(
        "pass 'fold-conv-add' was stopped by a check of its result: output 'y' differs"
    )
    assert "-p fold-conv-add | filecheck" in (written / "test.mlir").read_text()
    assert "--numeric -o small.mlir" in (written / "command.sh").read_text()


def test_arrays_of_a_check_go_into_the_folder(folder: Path):
    (folder / "in.npz").write_bytes(b"arrays")
    checks = {"check_each": True, "check_seed": 3, "check_inputs": "in.npz"}
    words = ("--load=passes.py", "--verify-each=false", "--cse")
    command = Command(words, checks, [Path("passes.py")])

    assert command.files == [Path("passes.py"), Path("in.npz")]
    assert command.flags("%S/") == [
        *("--load=%S/passes.py", "--verify-each=false"),
        *("--check-each", "--check-seed=3", "--check-inputs=%S/in.npz"),
    ]


class Sometimes(ModulePass):
    """Fails the second time that it runs, and every time after that."""

    name = "sometimes"
    runs: list[int] = []  # noqa: RUF012

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.runs.append(1)
        if len(self.runs) > 1:
            raise ValueError("again")


class AlwaysFails(ModulePass):
    """Fails."""

    name = "always-fails"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise ValueError("wrong")


def test_where_a_pass_does_not_do_the_same_again_all_passes_are_kept(folder: Path):
    Sometimes.runs.clear()
    ctx = make_context()
    module = parse_mlir(ctx, IDENTITY, "in.mlir")
    reproducer = Reproducer(folder / "out")
    passes = [Sometimes(), AlwaysFails()]

    with instrumented(reproducer):
        reproducer.before_pipeline(ctx, module, passes)
        with pytest.raises(ValueError, match="wrong"):
            run_passes(ctx, module, passes)

    (written,) = reproducer.written
    assert (written / "pipeline.txt").read_text() == "sometimes,always-fails\n"


def test_passes_of_pipelines_are_counted_one_by_one():
    names = [each.name for each in to_linalg()]

    assert [each.name for each in leaf_passes([GaweeToLinalg(), AlwaysFails()])] == [
        *names,
        "always-fails",
    ]


@pytest.mark.parametrize("text", ["a {{b}} [[c]] d", "{{{[[[", "]] }}", "plain"])
def test_a_message_is_matched_as_it_is(text: str, tmp_path: Path):
    pytest.importorskip("filecheck")
    (tmp_path / "check").write_text(f"CHECK: x {literal_check(text)} y\n")

    result = subprocess.run(
        [Path(sys.executable).parent / "filecheck", tmp_path / "check"],
        input=f"x {text} y\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
