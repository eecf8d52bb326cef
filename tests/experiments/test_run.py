"""A study from its file to its table, as users run it: stopped, resumed, replayed."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gawee_dialect.experiments.results import read_results, table_text
from gawee_dialect.experiments.study import read_records
from gawee_dialect.tools.gawee_experiment import main
from tests.effort import full_run
from tests.experiments.studies import STUDY, write_study

SAME = ("network", "pipeline", "options", "code_bytes", "workspace_bytes", "valid", "error")
"""Columns of a table that do not change from run to run, as times do."""

TOOL = [sys.executable, "-m", "gawee_dialect.tools.gawee_experiment"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def results(study: Path) -> Path:
    """Measure it: the process is killed when the first record is there, and started again."""
    folder = study.parent / "conv.results"
    printed = killed_and_resumed(study, folder)
    assert "1 are measured already" in printed
    assert "2/2 conv, no bufferize, default: failed: " in printed
    return folder


def killed_and_resumed(study: Path, folder: Path) -> str:
    """Kill the tool when a record is there, the next one cut off; run it to its end."""
    command = [*TOOL, "run", str(study), "-o", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 120
        while not read_records(folder / "records.jsonl") and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b'{"key": "cut off')
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_a_study_that_was_killed_goes_on_and_measures_nothing_twice(results: Path) -> None:
    records = read_records(results / "records.jsonl")

    assert [record["pipeline"] for record in records] == [
        "all passes",
        "without convert-to-winograd",
        "no bufferize",
    ]
    assert len({record["key"] for record in records}) == 3


@full_run
def test_cells_that_were_killed_have_the_table_of_cells_that_were_not(
    study: Path, results: Path, tmp_path: Path
) -> None:
    assert main(["run", str(study), "-o", str(tmp_path)]) == 0

    tables: list[list[list[str]]] = []
    for folder in (tmp_path, results):
        lines = table_text(read_results(folder), "csv").splitlines()
        tables.append([[row[name] for name in SAME] for row in csv.DictReader(lines)])
    assert tables[0] == tables[1]
    assert len(tables[0]) == 3


def test_a_finished_study_measures_nothing(
    study: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (results / "records.jsonl").read_bytes()

    assert main(["run", str(study), "-o", str(results)]) == 0
    assert (results / "records.jsonl").read_bytes() == before
    assert main(["run", str(study), "-o", str(results), "--list", "--retry-failed"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "conv, no bufferize, default",
        "1 to measure, 2 measured",
    ]


def test_a_record_says_what_was_measured_of_what_and_where(results: Path) -> None:
    lines = (results / "records.jsonl").read_text().splitlines()
    base, direct, failed = map(json.loads, lines)
    figures = direct["figures"]

    assert figures["valid"] is True
    assert figures["seconds"] > 0
    assert figures["ratio"] == pytest.approx(figures["seconds"] / base["figures"]["seconds"], rel=9)
    assert len(figures["rounds"]) == len(figures["base_rounds"]) == 3
    assert base["figures"]["code_bytes"] != figures["code_bytes"]
    assert {"workspace_bytes", "compile_seconds", "instructions"} <= set(figures)
    assert "ratio" not in base["figures"]
    assert "figures" not in failed
    assert {"processor", "cpu", "microcode", "host"} <= set(direct["machine"])
    assert {"xdsl", "llvmlite", "python"} <= set(direct["versions"])
    assert set(direct["files"]) >= {"conv.mlir"}
    assert len(direct["source"]) == 16


def test_the_page_of_a_study_is_written_when_all_is_measured(
    study: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "study.html"
    assert main(["run", str(study), "-o", str(results), "--html", str(page)]) == 0
    assert "3 are measured already" in capsys.readouterr().out
    assert "without convert-to-winograd" in page.read_text()


def test_an_edited_network_is_measured_again(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = write_study(tmp_path)
    flags = ["-o", str(results), "--list"]
    assert main(["run", str(edited), *flags]) == 0
    assert "0 to measure, 3 measured" in capsys.readouterr().out  # the same files elsewhere

    (tmp_path / "conv.mlir").write_text((tmp_path / "conv.mlir").read_text() + "// edited\n")
    assert main(["run", str(edited), *flags]) == 0
    assert "3 to measure, 0 measured" in capsys.readouterr().out


def test_the_table_needs_the_folder_alone(
    study: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "other place"
    copy.mkdir()
    for name in ("study.toml", "records.jsonl"):
        (copy / name).write_bytes((results / name).read_bytes())

    assert main(["table", str(copy)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 2 + 3
    assert lines[2].startswith("| network | pipeline | ms | time / baseline | compile s |")
    assert lines[4].startswith("| conv | all passes | ")
    assert "| failed: " in lines[6]

    assert main(["table", str(copy), "--format", "latex", "-o", str(tmp_path / "a.tex")]) == 0
    latex = (tmp_path / "a.tex").read_text()
    assert latex.count(r" \\") == 4
    assert r"$\pm$" in latex
    assert r"\%" in latex

    assert main(["table", str(copy), "--format", "csv"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split(",")[:4] == ["processor", "network", "pipeline", "options"]
    assert len(rows) == 3


OWN = """\
import signal, os
from gawee_dialect.evaluation.evaluator import Evaluator
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

class Ops(Evaluator):
    def figures(self, candidates):
        return [{"ops": sum(1 for _ in each.model.module.walk())} for each in candidates]

class Crash(Evaluator):
    def figures(self, candidates):
        os.kill(os.getpid(), signal.SIGSEGV)

class Slow(Evaluator):
    def figures(self, candidates):
        import time
        time.sleep(60)

def network(size):
    return Model(module_of_text(f'''
      func.func @main(%x: tensor<1x{size}xf32> {{gawee.input = "x"}}) -> (tensor<1x{size}xf32> {{gawee.output = "y"}}) {{
        %y = gawee.relu %x : (tensor<1x{size}xf32>) -> tensor<1x{size}xf32>
        func.return %y : tensor<1x{size}xf32>
      }}'''))
"""

FACTORIES = """\
patience = 0
timeout = 300
evaluators = ["mine.py:{name}"]
[[network]]
factory = "mine.py:network"
arguments = [37]
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ops", {"ops": 4}),
        ("Crash", "stopped by SIGSEGV"),
        pytest.param("Absent", "expected 'Absent' in 'mine.py', got none", marks=full_run),
    ],
)
def test_networks_and_evaluators_of_ones_own(
    name: str, expected: str | dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "a.toml").write_text(FACTORIES.format(name=name))

    assert main(["run", str(tmp_path / "a.toml"), "-o", str(tmp_path / "out")]) == 0

    record = json.loads((tmp_path / "out" / "records.jsonl").read_text())
    assert record["network"] == "network-37"
    if isinstance(expected, str):
        assert record["error"] == expected
    else:
        assert expected.items() <= record["figures"].items()


def test_a_cell_that_takes_too_long_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    (tmp_path / "mine.py").write_text(OWN)
    text = FACTORIES.format(name="Slow").replace("timeout = 300", "timeout = 1")
    (tmp_path / "a.toml").write_text(text)

    assert main(["run", str(tmp_path / "a.toml"), "-o", str(tmp_path / "out")]) == 0

    (record,) = read_records(tmp_path / "out" / "records.jsonl")
    assert record["error"] == "took more than 1 s"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel"], "error: unknown command 'tabel'\nhint: did you mean 'table'?"),
        (["table", "."], "error: expected a study's folder, got '.' without study.toml"),
        (["run", "nowhere.toml"], "error: cannot open 'nowhere.toml': No such file or directory"),
        ([], "error: the following arguments are required: command"),
    ],
)
def test_mistakes_on_the_command_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_files_that_a_study_names_are_looked_for_before_anything_runs(
    tmp_path: Path, capsys
) -> None:
    text = STUDY.replace("conv.mlir", "absent.mlir").replace('"time"', '"none.py:X", "time"')
    path = write_study(tmp_path, text)

    assert main(["run", str(path), "-o", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert "error: cannot open 'absent.mlir', which the study names" in err
    assert "error: cannot open 'none.py', which the study names" in err
    assert not (tmp_path / "out" / "records.jsonl").exists()
    assert json.dumps(str(tmp_path.resolve())).strip('"') in err
