"""What is no file in the place of one: every tool says so, ends with code 1 and opens nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_opt, gawee_reduce, gawee_run, gawee_translate, gawee_tune
from tests.fuzz.watched import limited_time

ROOT = Path(__file__).parents[2]
GRAPH = str(ROOT / "examples/digits/graph.json")
Make = Callable[[Path], object]


def _loop(path: Path) -> None:
    path.symlink_to(path)


ODD: dict[str, Make] = {
    "a folder": lambda path: path.mkdir(),
    "a link to a folder": lambda path: path.symlink_to("/etc"),
    "a link to itself": _loop,
    "a link to nothing": lambda path: path.symlink_to("/no/such/file"),
    "a link to an endless device": lambda path: path.symlink_to("/dev/zero"),
    "an empty file": lambda path: path.touch(),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 40),
}
COMMANDS = {
    "opt": (gawee_opt.main, ["{}"], (".mlir",)),
    "opt with passes": (gawee_opt.main, ["--load", "{}", GRAPH], (".py",)),
    "opt with ops": (gawee_opt.main, ["--load-ops", "{}", GRAPH], (".op", ".json")),
    "schedules": (gawee_opt.main, ["-p", "assign-schedules{{schedules={}}}", GRAPH], (".jsonl",)),
    "translate": (gawee_translate.main, ["{}"], (".json", ".onnx")),
    "info": (gawee_translate.main, ["info", "{}"], (".json",)),
    "weights": (
        gawee_translate.main,
        ["weights", "{}", "out.npz"],
        (".npz", ".safetensors", ".json"),
    ),
    "run": (gawee_run.main, ["{}", "--level", "gawee"], (".json", ".onnx")),
    "run with weights": (
        gawee_run.main,
        [GRAPH, "--level", "gawee", "--weights", "{}"],
        (".npz", ".x"),
    ),
    "run with an input": (
        gawee_run.main,
        [GRAPH, "--level", "gawee", "--input", "{}"],
        (".npy", ".png"),
    ),
    "run with inputs": (gawee_run.main, [GRAPH, "--level", "gawee", "--inputs", "{}"], (".npz",)),
    "reduce": (gawee_reduce.main, ["{}", "--test", "true"], (".mlir",)),
    "tune": (gawee_tune.main, ["{}", "-o", "out.jsonl"], (".json",)),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(
    ("command", "suffix"),
    [(name, suffix) for name, (_, _, suffixes) in COMMANDS.items() for suffix in suffixes],
)
def test_odd_files_are_refused(
    kind: str,
    command: str,
    suffix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"odd{suffix}"
    ODD[kind](path)
    monkeypatch.chdir(tmp_path)
    main, words, _ = COMMANDS[command]

    with limited_time(20):
        code = main([word.format(path) for word in words])

    _, error = capsys.readouterr()
    assert "internal error" not in error
    if kind == "an empty file" and command.startswith("opt"):  # a module without ops, no passes
        return
    assert code == 1
    assert "error: " in error
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
