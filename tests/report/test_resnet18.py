"""The report of ResNet-18: what is in the file, and what is reached from a click on a convolution."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.resnet18.write_graph import write_resnet18
from gawee_dialect.tools import gawee_opt, gawee_translate
from tests.docs.gallery_commands import run_commands
from tests.effort import full_run
from tests.report.opened import Opened, first_paint

pytestmark = full_run

LEVELS = ("input", "gawee", "linalg", "kernels", "buffers", "loops", "llvm")
BYTES = 5_000_000
FIRST_PAINT = 2.0
"""Seconds until the page is seen."""


FILLED = """() => [...document.querySelectorAll("#details details[open]")].every(
  (each) => each.querySelector("pre"))"""


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with the time of each node: that of the gallery."""
    codes, target = run_commands("gallery_resnet18", tmp_path_factory.mktemp("resnet18"))
    assert codes == [0, 0]
    return target


@pytest.fixture
def opened(browser, run_file: Path) -> Iterator[Opened]:
    page = Opened(browser, run_file)
    yield page
    page.close()


def test_the_file_is_small_enough_to_send(run_file: Path) -> None:
    assert run_file.stat().st_size < BYTES


def test_levels_are_told_as_their_last_pass_left_them(run_file: Path) -> None:
    (data,) = re.findall('id="report">(.*?)</script>', run_file.read_text())
    report = json.loads(data)
    names = [each["name"] for each in report["passes"]]
    last = {each["name"]: names[: each["passes"]][-1:] for each in report["levels"]}
    assert list(last) == list(LEVELS)
    assert last["kernels"] == ["hoist-parameter-computation"]
    assert last["loops"] == ["split-prepare"]  # weights are prepared in parts
    assert last["llvm"] == ["convert-to-llvm"]


def test_it_is_seen_at_once(opened: Opened) -> None:
    # The best of some: the machine may be busy with other tests.
    assert any(first_paint(opened) < FIRST_PAINT for _ in range(5))


def test_a_click_on_a_convolution_leads_to_its_assembly_and_its_time(opened: Opened) -> None:
    opened.page.locator("#search").fill("layer2.0.conv2")
    opened.page.keyboard.press("Enter")  # which brings it into view
    opened.page.keyboard.press("Escape")
    opened.press("graph-a", "layer2.0.conv2")
    assert opened.texts("#details h2") == ["layer2.0.conv2"]
    headings = [heading.partition(":")[0] for heading in opened.texts("#details h3")]
    assert headings[: len(LEVELS) + 1] == [*LEVELS, "assembly"]
    summaries = opened.texts("#details summary")
    assert any(summary.startswith("linalg.conv_2d") for summary in summaries)
    assert any(summary.startswith("gawee.kernel in @main") for summary in summaries)
    assert any("schedule #gawee.schedule" in text for text in opened.texts("#details pre"))
    assert any("for d" in text or "at once" in text for text in opened.texts("#details .nest"))
    (row,) = (row for row in opened.texts("#details tr") if row.startswith("time"))
    (kernel,) = re.findall(r"time[0-9.]+ [mµ]s in (\w+)", row)
    for summary in opened.page.locator("#details summary", has_text=f"@{kernel}").all():
        summary.click()
    opened.page.wait_for_function(FILLED)  # what is opened is filled a moment later
    listings = opened.texts("#details details")
    assert any(f"func.func private @{kernel}" in text and "scf.for" in text for text in listings)
    assert any(f"define internal void @{kernel}(" in text for text in listings)
    assert any(re.search(r"^ +retq?$", text, re.MULTILINE) for text in listings)


def test_checks_of_every_pass_are_told(browser, tmp_path: Path) -> None:
    graph = write_resnet18(tmp_path, size=32, width=4)
    source, target = tmp_path / "net.mlir", tmp_path / "report.html"
    assert gawee_translate.main([str(graph), "-o", str(source)]) == 0
    words = [str(source), "--gawee-to-kernels", "--check-each", "-o", str(tmp_path / "out.mlir")]
    assert gawee_opt.main([*words, "--html", str(target)]) == 0
    opened = Opened(browser, target)
    changed = opened.page.locator("#passes button.changed")
    told = changed.all_text_contents()
    assert len(told) > 5
    assert all("checked" in text for text in told)
    changed.filter(has_text="form-kernels").click()
    (row,) = (row for row in opened.texts("#details tr") if row.startswith("check"))
    assert re.match(r"checklargest difference \d\S* \(\S+ relative, \d+ ulp\)", row)
    opened.close()
