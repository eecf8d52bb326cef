"""The gallery: its commands write the reports that its pictures are of."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gawee_dialect.tools import (
    gawee_experiment,
    gawee_opt,
    gawee_reduce,
    gawee_run,
    gawee_translate,
)
from tests.effort import full_run

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "docs/draw_gallery.py"
TOOLS = {
    "gawee-experiment": gawee_experiment,
    "gawee-opt": gawee_opt,
    "gawee-reduce": gawee_reduce,
    "gawee-run": gawee_run,
    "gawee-translate": gawee_translate,
}
NAMES = [
    pytest.param("gallery_resnet18", marks=full_run),
    "gallery_transformer",
    pytest.param("gallery_lstm", marks=full_run),
    "gallery_passes",
    pytest.param("gallery_phone", marks=full_run),
    "gallery_failing",
    "gallery_reduced",
    pytest.param("gallery_study", marks=full_run),
    "report_digits",
]


def commands(folder: Path) -> dict[str, list[str]]:
    spec = importlib.util.spec_from_file_location("draw_gallery", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.reports(folder))


def run(command: str) -> int:
    program, *words = shlex.split(command)
    if program == "python":
        return subprocess.run([sys.executable, *words], check=False).returncode
    return TOOLS[program].main(words)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_writes_the_report_of_its_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("examples", "tests", "gawee_dialect"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    listed = commands(tmp_path)[name]
    for study in (tmp_path / "build").glob("*.toml"):
        # Other tests run beside it: these times are not used.
        study.write_text(study.read_text().replace("patience = 1", "patience = 0\nretries = 0"))
    codes = [run(command) for command in listed]
    assert codes == [*[0] * (len(codes) - 1), int(name == "gallery_failing")]
    text = (tmp_path / f"build/{name}.html").read_text()
    assert re.search(r"<title>[^<]*(gawee-\w+: |passes)", text)


def test_every_picture_stands_below_its_command(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    known = commands(tmp_path)
    assert len(known) == len(NAMES)
    for name in known:
        (page,) = (
            text
            for text in map(Path.read_text, sorted((ROOT / "docs").glob("*.md")))
            if f"--html build/{name}.html" in text
        )
        assert page.index(f"--html build/{name}.html") < page.index(f"]({name}.png)")
        assert (ROOT / f"docs/{name}.png").is_file()
    assert re.search(r"\]\(gallery_\w+\.png\)", (ROOT / "docs/index.md").read_text())
