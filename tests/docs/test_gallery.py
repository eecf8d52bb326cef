"""The gallery: its commands write the reports that its pictures are of."""

import re
from pathlib import Path

import pytest

from tests.docs.gallery_commands import ROOT, commands, run_commands
from tests.effort import full_run

NAMES = [
    "gallery_transformer",
    pytest.param("gallery_lstm", marks=full_run),
    "gallery_passes",
    pytest.param("gallery_phone", marks=full_run),
    "gallery_failing",
    "gallery_reduced",
    pytest.param("gallery_study", marks=full_run),
    "report_digits",
]
ELSEWHERE = ["gallery_resnet18"]
"""Reports whose commands `tests/report/test_resnet18.py` runs, and looks at what they write."""


@pytest.mark.parametrize("name", NAMES)
def test_a_command_writes_the_report_of_its_picture(name: str, tmp_path: Path) -> None:
    codes, report = run_commands(name, tmp_path)

    assert codes == [*[0] * (len(codes) - 1), int(name == "gallery_failing")]
    assert re.search(r"<title>[^<]*(gawee-\w+: |passes)", report.read_text())


def test_every_picture_stands_below_its_command(tmp_path: Path) -> None:
    known = commands(tmp_path)
    assert len(known) == len(NAMES) + len(ELSEWHERE)
    for name in known:
        (page,) = (
            text
            for text in map(Path.read_text, sorted((ROOT / "docs").glob("*.md")))
            if f"--html build/{name}.html" in text
        )
        assert page.index(f"--html build/{name}.html") < page.index(f"]({name}.png)")
        assert (ROOT / f"docs/{name}.png").is_file()
    assert re.search(r"\]\(gallery_\w+\.png\)", (ROOT / "docs/index.md").read_text())
