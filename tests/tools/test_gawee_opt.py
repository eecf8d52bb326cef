"""gawee-opt as a process sees it: exit codes, streams, files."""

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.passes.pass_manager import parse_passes
from gawee_dialect.tools import gawee_opt
from gawee_dialect.tools.command_line import write_text
from gawee_dialect.tools.expected_errors import compare_errors, expected_errors
from gawee_dialect.universe import all_passes

GOOD = """func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
WRONG = GOOD.replace("-> tensor<2x3xf32>\n", "-> tensor<3x2xf32>\n").replace("%y :", "%x :")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.mlir"
    path.write_text(GOOD)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.mlir"
    path.write_text(WRONG)
    return path


class CrashingPass(ModulePass):
    """A pass with a bug."""

    name = "crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise IndexError("list index out of range")


class RefusingPass(ModulePass):
    """A pass that refuses its input, as xDSL's passes do."""

    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("Expected a loop")


class BreakingPass(ModulePass):
    """A pass that leaves a module that does not verify."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name == "func.return":
                inner.operands = []


@pytest.fixture
def bad_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # reproducers of crashes go into the working directory
    classes = (CrashingPass, RefusingPass, BreakingPass)
    table = all_passes() | {cls.name: lambda cls=cls: cls for cls in classes}
    monkeypatch.setattr(gawee_opt, "all_passes", lambda: table)


def test_success_is_0_and_only_the_module_is_printed(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([str(good)]) == 0

    out, err = capsys.readouterr()
    assert "gawee.relu" in out
    assert err == ""


def test_wrong_input_is_1_with_one_located_line_and_no_output(
    wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([str(wrong)]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"{wrong}:2:3: error: 'gawee.relu' op expected result type 'tensor<2x3xf32>', "
        "got 'tensor<3x2xf32>'\n"
    )


def test_debug_adds_the_traceback(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee_opt.main([str(wrong), "--debug"]) == 1

    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.count("error: 'gawee.relu'") >= 1


@pytest.mark.usefixtures("bad_passes")
def test_a_bug_is_2_and_names_the_pass_and_how_to_see_the_traceback(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([str(good), "--crash"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    note, _, error = err.partition("\n")
    assert note.startswith("note: wrote a reproducer: gawee-reproducer-crash-")
    assert error == (
        "internal error: IndexError: list index out of range\n"
        "  in pass 'crash'\n"
        "hint: this is a bug, not a mistake of yours; gawee-opt --debug shows the traceback\n"
    )


@pytest.mark.usefixtures("bad_passes")
def test_a_pass_that_refuses_is_1_and_named(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee_opt.main([str(good), "--refuse"]) == 1
    assert capsys.readouterr().err == "error: pass 'refuse' failed: expected a loop\n"


@pytest.mark.usefixtures("bad_passes")
def test_verify_each_names_the_pass_that_broke_the_module(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([str(good), "--break", "--cse"]) == 1

    err = capsys.readouterr().err
    assert err.startswith(f"{good}:")
    assert "the module is wrong since pass 'break' ran" in err


@pytest.mark.usefixtures("bad_passes")
def test_verify_each_can_be_turned_off(good: Path) -> None:
    assert gawee_opt.main([str(good), "--break", "--verify-each=false"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lower-to-linag"], "unknown flag or pass '--lower-to-linag'\nhint: did you mean"),
        (["--verify-eech"], "did you mean '--verify-each'?"),
        (["--frobnicate=1"], "hint: gawee-opt --help lists the flags, --list-passes the passes"),
        (["-p", "canonicalise"], "unknown pass 'canonicalise'\nhint: did you mean 'canonicalize'?"),
        (["-p", "qqqqqq"], "unknown pass 'qqqqqq'\nhint: --list-passes lists all passes"),
        (["-p", "cse{"], "pipeline 'cse{': expected argument name here at column 5"),
        (["-p", f"cse{{x={'9' * 5000}}}"], "cannot read pass pipeline: exceeds the limit"),
        (["--pass-pipeline=gpu.module(cse)"], "cannot read pass pipeline 'gpu.module(cse)'"),
        (["--pass-pipeline=any(cse"], "pass pipeline 'any(cse': expected ')' at its end"),
        (["-p", "cse)"], "cannot read pass pipeline 'cse)': expected '(' before ')'"),
        (["--check-seed=-1"], "expected a whole number of at least 0, got '-1'"),
        (["--check-rtol=nan"], "expected a number of at least 0, got 'nan'"),
        (["--check-atol=-1"], "expected a number of at least 0, got '-1'"),
        (["--check-atol=inf"], "expected a number of at least 0, got 'inf'"),
        (["--check-atol=x"], "expected a number, got 'x'"),
        (["--debug-counter=Fold=5-2"], "expected a chunk to end behind its first number"),
        (["-p"], "expected a pipeline after -p, got nothing"),
        (["--apply-pdl=pdl-file=no.mlir"], "no.mlir}': unknown token at column 22"),
        (["--cse=speed=1"], "cannot make pass 'cse'"),
        (["--arith-add-fastmath=flag=none"], "hint: options of arith-add-fastmath: flags"),
        (["a.mlir", "b.mlir"], "expected one input file, got another: 'b.mlir'"),
        (["--verify-each=maybe"], "expected true or false, got 'maybe'"),
        (["-o"], "argument -o/--output: expected one argument\nhint: gawee-opt --help"),
        (["no_such_file.mlir"], "cannot open 'no_such_file.mlir': No such file or directory"),
    ],
)
def test_a_wrong_command_line_is_1_with_a_hint(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main(arguments) == 1

    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_a_binary_file_is_a_located_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"abc\xff\xfe")

    assert gawee_opt.main([str(path)]) == 1
    assert f"{path}:1:4: error: expected UTF-8 text, got byte 0x" in capsys.readouterr().err


def test_standard_input_has_a_name_in_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(WRONG.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)

    assert gawee_opt.main([]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:2:3: error:")


def test_an_error_leaves_the_output_file_as_it_was(wrong: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("as it was")

    assert gawee_opt.main([str(wrong), "-o", str(output)]) == 1

    assert output.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.mlir", "wrong.mlir"]


def test_output_replaces_the_file_keeps_its_mode_and_leaves_nothing_else(
    good: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("old")
    output.chmod(0o640)

    assert gawee_opt.main([str(good), "-o", str(output)]) == 0

    assert "gawee.relu" in output.read_text()
    assert output.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.mlir", "out.mlir"]


def test_a_failed_write_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(OSError, match="No space left"):
        write_text(str(tmp_path / "out.mlir"), "text")
    assert list(tmp_path.iterdir()) == []


def test_output_follows_a_symbolic_link_and_spares_devices(good: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.mlir", tmp_path / "link.mlir"
    target.write_text("old")
    link.symlink_to(target)

    assert gawee_opt.main([str(good), "-o", str(link)]) == 0
    assert gawee_opt.main([str(good), "-o", os.devnull]) == 0

    assert link.is_symlink()
    assert "gawee.relu" in target.read_text()
    assert not Path(os.devnull).is_file()


def test_mismatched_annotations_are_1_and_say_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "annotated.mlir"
    path.write_text(WRONG.replace("  return", "  // expected-error @below {{no such}}\n  return"))

    assert gawee_opt.main([str(path), "--verify-diagnostics"]) == 1

    err = capsys.readouterr().err
    assert f"{path}:3:1: error: expected error 'no such' was not produced" in err
    assert f"{path}:2:3: error: unexpected error: 'gawee.relu' op expected result type" in err


def test_annotations_are_read_relative_to_the_file_and_compared_by_line() -> None:
    text = "// expected-error @unknown {{nowhere}}\n// expected-error @-1 {{above}}"
    expected = expected_errors(text, line_offset=10)

    assert [(one.line, one.text) for one in expected] == [(None, "nowhere"), (11, "above")]
    got = [Diagnostic("it is above all", "dir/f.mlir:11:4"), Diagnostic("from nowhere")]
    assert compare_errors(expected, got, "dir/f.mlir") == []
    assert len(compare_errors(expected, got[:1], "dir/f.mlir")) == 1
    assert len(compare_errors(expected, got, "f.mlir")) == 2


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_help_does_not_import_what_it_does_not_need() -> None:
    code = (
        "import sys\n"
        "from gawee_dialect.tools.gawee_opt import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n"
        "    heavy = {'numpy', 'llvmlite', 'rich', 'torch', 'jsonschema', 'PIL'}\n"
        "    print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )

    result = run_python("-c", code)

    assert result.stdout.startswith("usage: gawee-opt")
    assert result.stderr.splitlines()[-1] == "[]"


def test_rewriting_does_not_import_numpy_or_llvmlite(good: Path) -> None:
    code = (
        "import sys\n"
        "from gawee_dialect.tools.gawee_opt import main\n"
        f"assert main([{str(good)!r}, '--canonicalize', '--cse']) == 0\n"
        "print(sorted({'numpy', 'llvmlite', 'torch'} & set(sys.modules)), file=sys.stderr)\n"
    )

    result = run_python("-c", code)

    assert result.stderr == "[]\n"


def test_a_reader_that_goes_away_is_no_crash() -> None:
    command = f"{sys.executable} -m gawee_dialect.tools.gawee_opt --list-passes | head -1"

    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )

    assert result.stdout == "passes of gawee:\n"
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("closed", "message"),
    [
        ("<&-", "error: expected a file on standard input, which is closed\n"),
        ("< /dev/null >&-", "error: cannot write standard output: Bad file descriptor\n"),
    ],
)
def test_a_closed_stream_is_an_error(closed: str, message: str) -> None:
    command = f"{sys.executable} -m gawee_dialect.tools.gawee_opt {closed}"

    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stderr) == (1, message)


def test_messages_of_a_closed_stream_are_not_part_of_the_output() -> None:
    command = f"{sys.executable} -m gawee_dialect.tools.gawee_opt --no-such-flag 2>&-"

    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (1, "")


def test_passes_of_nested_pipelines_run_on_the_module() -> None:
    nested = "builtin.module(func.func(canonicalize,cse),any(scf-for-loop-flatten),dce)"

    passes = parse_passes(nested, all_passes())

    names = ["canonicalize", "cse", "scf-for-loop-flatten", "dce"]
    assert [each.name for each in passes] == names


def test_version_names_everything_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee_opt.main(["--version"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("gawee-opt ")
    assert "xdsl 0.74" in out
    assert "Python 3." in out
