"""gawee-translate info and visualize: files, pictures by whatever renderer is there, mistakes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_translate
from tests.frontends.npu_ir.files import tiny

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("g.json").write_text(json.dumps(tiny()))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = gawee_translate.main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def install(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program on the path that is the only one there."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/bin{os.pathsep}/usr/bin")


def test_info(run: Run):
    code, out, _ = run("info", "g.json")
    assert (code, out.splitlines()[0]) == (0, "Model: Tiny")

    code, out, _ = run("info", "--json", "g.json", "-o", "figures.json")
    assert (code, out) == (0, "")
    assert json.loads(Path("figures.json").read_text())["total_parameters"] == 15


def test_visualize(run: Run):
    code, out, _ = run("visualize", "g.json", "--max-nodes", "1", "--no-weights")
    assert code == 0
    assert "… 1 more node …" in out
    assert "w_" not in out

    assert run("visualize", "g.json", "--pie")[1].startswith("pie showData\n")
    assert run("visualize", "g.json", "-o", "g.mmd")[0] == 0
    assert Path("g.mmd").read_text().startswith("flowchart TD\n")
    assert run("visualize", "g.json", "-o", "g.dot")[0] == 0
    assert Path("g.dot").read_text().startswith("digraph {\n")


def test_mermaids_own_renderer_comes_first(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path, "dot", "exit 1", monkeypatch)
    install(tmp_path, "mmdc", 'cat "$2" > "$4"', monkeypatch)

    assert run("visualize", "g.json", "-o", "g.svg") == (0, "", "")
    assert Path("g.svg").read_text().startswith("flowchart TD")
    assert run("visualize", "--pie", "g.json", "-o", "g.png") == (0, "", "")
    assert Path("g.png").read_text().startswith("pie showData")


def test_graphviz_draws_where_it_is_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path, "dot", 'echo "$1" > "$3"; cat "$4" >> "$3"', monkeypatch)
    monkeypatch.setattr(
        "shutil.which", lambda name: str(tmp_path / "programs" / name) if name == "dot" else None
    )

    assert run("visualize", "g.json", "-o", "g.png") == (0, "", "")
    assert Path("g.png").read_text().startswith("-Tpng\ndigraph {")
    code, _, err = run("visualize", "--pie", "g.json", "-o", "pie.svg")
    assert (code, err.splitlines()[0]) == (
        1,
        "error: cannot write 'pie.svg': no renderer is installed; supported: mmdc",
    )


def test_without_a_renderer_the_error_says_what_is_possible(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("shutil.which", lambda name: None)

    code, _, err = run("visualize", "g.json", "-o", "g.svg")

    assert code == 1
    assert err == (
        "error: cannot write 'g.svg': no renderer is installed; supported: mmdc, dot\n"
        "hint: -o FILE.mmd writes Mermaid text, which many pages show as a picture\n"
    )


def test_what_a_renderer_says_is_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path, "mmdc", "echo 'No browser' >&2; exit 3", monkeypatch)

    code, _, err = run("visualize", "g.json", "-o", "g.svg")

    assert (code, err) == (1, "error: cannot render: 'mmdc' failed: no browser\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "none.json"), "error: cannot open 'none.json': No such file or directory"),
        (("info",), "error: the following arguments are required: input"),
        (("info", "g.json", "--jsno"), "error: unknown argument '--jsno'"),
        (
            ("visualize", "g.json", "--max-nodes", "9" * 5000),
            "error: expected --max-nodes of at least 0, got '999",
        ),
        (
            ("visualize", "g.json", "--max-nodes", "two"),
            "error: expected --max-nodes of at least 0, got 'two'",
        ),
        (
            ("visualize", "g.json", "--max-nodes=-2"),
            "error: expected --max-nodes of at least 0, got '-2'",
        ),
        (
            ("visualize", "g.json", "-o", "g.pdf"),
            "error: unsupported output 'g.pdf'; supported: .mmd, .dot, .svg, .png",
        ),
        (("visualize", "g.json", "--from", "mlir"), "g.json:1:1: error: "),
    ],
)
def test_mistakes_are_one_line(run: Run, arguments: tuple[str, ...], message: str):
    code, _, err = run(*arguments)

    assert code == 1
    assert err.startswith(message), err


def test_a_file_called_info_is_translated(run: Run):
    Path("info").write_text("func.func @main() {\n  func.return\n}")

    code, out, _ = run("info")

    assert (code, out.startswith("builtin.module")) == (0, True)


def test_problems_of_the_graph_are_all_printed(run: Run):
    graph = tiny()
    graph["nodes"][0]["op_type"] = graph["nodes"][1]["name"] = ""
    Path("g.json").write_text(json.dumps(graph, indent=1))

    code, _, err = run("info", "g.json")

    assert code == 1
    assert err.count("error: ") == 2
    assert err.startswith("g.json:")


def test_files_of_the_user_are_loaded_first(run: Run):
    Path("mine.py").write_text(
        "from xdsl.irdl import IRDLOperation, irdl_op_definition\n"
        "@irdl_op_definition\nclass Nothing(IRDLOperation):\n    name = 'mine.nothing'\n"
    )
    Path("own.mlir").write_text(
        'func.func @main() {\n  "mine.nothing"() : () -> ()\n  func.return\n}'
    )

    assert run("info", "own.mlir")[0] == 1
    assert "mine.nothing  1" in run("info", "own.mlir", "--load", "mine.py")[1]
    assert run("--load=gone.py", "info", "own.mlir")[0] == 1
