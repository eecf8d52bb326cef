"""gawee: tools under one name, `gawee doctor`, and completion in shells."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from gawee_dialect.target.host import Measured, detect, write_measured
from gawee_dialect.tools import doctor, gawee

ROOT = Path(__file__).parents[2]
RELU = """func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


def test_each_tool_is_a_command_and_a_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    programs = {name.removeprefix("gawee-") for name in project["scripts"]} - {"gawee"}

    assert programs == gawee.TOOLS.keys()


def test_a_command_does_what_the_tool_of_its_name_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "relu.mlir"
    source.write_text(RELU)

    code = gawee.main(["opt", str(source), "--lower-to-linalg"])

    assert code == 0
    assert "linalg.generic" in capsys.readouterr().out


def test_the_exit_code_and_the_message_are_those_of_the_tool(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gawee.main(["opt", "--no-such-pass"]) == 1
    assert "unknown flag or pass '--no-such-pass'" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [(), ("--help",)])
def test_without_a_command_all_are_listed(
    argv: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee.main(argv) == 0
    out = capsys.readouterr().out
    assert all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in gawee.TOOLS)


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee.main(["docter"]) == 1
    assert capsys.readouterr().err == (
        "error: unknown command 'docter'\nhint: did you mean 'doctor'?\n"
    )


def test_the_version_names_what_a_bug_report_should(capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee.main(["--version"]) == 0
    assert re.fullmatch(
        r"gawee [\d.]+, xdsl 0\.74\.\d+, Python 3\.\d+\.\d+\n", capsys.readouterr().out
    )


def test_doctor_knows_what_each_extra_serves() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert doctor.SERVES.keys() == project["optional-dependencies"].keys()


def test_doctor_tells_extras_that_are_there_from_those_that_are_missing() -> None:
    lines = list(
        doctor.extra_lines(
            (
                "numpy>=1.26",
                'numpy>=1.26; extra == "onnx"',
                'no-such-package>=3; extra == "lsp"',
                'numpy; extra == "lsp"',
                "no-such-package; (sys_platform == 'linux') and extra == 'threads'",
            )
        )
    )

    assert re.fullmatch(r"onnx +numpy [\d.]+: reading and writing ONNX models", lines[0])
    assert lines[1].split(":")[0].split() == ["threads", "missing", "no-such-package"]
    assert lines[2].split(":")[0].split() == ["lsp", "missing", "no-such-package"]
    assert len(lines) == 3


def test_doctor_of_a_source_tree_says_that_extras_are_unknown() -> None:
    assert list(doctor.extra_lines(None)) == [
        "unknown: gawee-dialect is not installed as a package"
    ]


def test_doctor_shows_versions_the_cache_and_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))

    assert gawee.main(["doctor"]) == 0

    out = capsys.readouterr().out
    processor = detect()
    assert f"python {'.'.join(map(str, sys.version_info[:3]))}" in out
    assert re.search(r"^  LLVM \d+\.\d+\.\d+", out, re.MULTILINE)
    assert f"{tmp_path / 'compiled'}, usable" in out
    assert "0 entries, 0.0 MiB of at most 512 MiB" in out
    assert f"LLVM's name: {processor.cpu}" in out
    assert f"{processor.vector_registers} vector registers of {processor.vector_bits} bits" in out
    assert "not measured on this machine: gawee run GRAPH --measure does that, once" in out


def test_doctor_shows_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))
    write_measured(detect(), Measured(1.25e11, {"DRAM": 1.5e10}, "2026-11-24"))

    assert gawee.main(["doctor"]) == 0

    out = capsys.readouterr().out
    assert "host: 125 GFLOP/s" in out
    assert "DRAM 15 GB/s (measured 2026-11-24" in out
    assert "never measured" not in out


def test_doctor_says_why_code_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "file"))

    assert gawee.main(["doctor"]) == 1
    assert "not usable: Not a directory" in capsys.readouterr().out


needs_argcomplete = pytest.mark.skipif(
    find_spec("argcomplete") is None, reason="argcomplete is not installed"
)


def completed(line: str, module: str, tmp_path: Path) -> list[str]:
    """Return what a shell is offered at the end of a line."""
    output = tmp_path / "offered"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(output),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = (sys.executable, "-m", f"gawee_dialect.tools.{module}")
    subprocess.run(command, env=environment, check=True, capture_output=True, cwd=tmp_path)
    return [each.strip() for each in output.read_text().split("\n")]


@needs_argcomplete
@pytest.mark.parametrize(
    ("line", "module", "offered"),
    [
        ("gawee doc", "gawee", {"doctor"}),
        ("gawee opt --fold-b", "gawee", {"--fold-batch-norm"}),
        ("gawee-opt --fold-b", "gawee_opt", {"--fold-batch-norm"}),
        ("gawee-opt -p canonicalize,fold-c", "gawee_opt", {"canonicalize,fold-conv-add"}),
        ("gawee run --level ker", "gawee", {"kernels"}),
        ("gawee experiment ta", "gawee", {"table"}),
        ("gawee experiment table --form", "gawee", {"--format"}),
        ("gawee translate inf", "gawee", {"info"}),
        ("gawee completion f", "gawee", {"fish"}),
        ("gawee-run gra", "gawee_run", {"graph.json"}),
    ],
)
def test_shells_complete(line: str, module: str, offered: set[str], tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text("{}")

    assert set(completed(line, module, tmp_path)) == offered


@needs_argcomplete
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_code_for_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee.main(["completion", shell]) == 0

    out = capsys.readouterr().out
    assert "gawee-opt" in out
    assert "_ARGCOMPLETE" in out


def test_completion_without_argcomplete_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)

    assert gawee.main(["completion", "bash"]) == 1
    assert capsys.readouterr().err == (
        "error: completion needs argcomplete, which is not installed\n"
        "hint: pip install 'gawee-dialect[completion]'\n"
    )


def test_lsp_without_pygls_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)

    assert gawee.main(["lsp"]) == 1
    assert capsys.readouterr().err == (
        "error: an editor is served by pygls, which is not installed\n"
        "hint: pip install 'gawee-dialect[lsp]'\n"
    )
