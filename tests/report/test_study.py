"""The page and the JSON of a study."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import gawee_dialect.report
from gawee_dialect.tools.gawee_experiment import main
from tests.experiments.recorded import write_results
from tests.experiments.studies import write_study
from tests.report.opened import Opened

TIMES = {"all": 0.0100, "slower": 0.0110, "alike": 0.01002}
SCHEMA = Path(gawee_dialect.report.__file__).parent / "study.schema.json"
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study with a network whose name is markup, and a record that is not a number."""
    folder = write_results(tmp_path / "first", TIMES)
    for name in ("study.toml", "records.jsonl"):
        text = (folder / name).read_text().replace("net|work_1", MARKUP)
        (folder / name).write_text(text.replace('"noise": 0.01', '"spread": NaN', 1))
    return folder


@pytest.fixture
def page_file(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    target = tmp_path / "study.html"
    assert main(["table", str(folder), "--html", str(target)]) == 0
    assert capsys.readouterr().out.startswith("first: P (c)\n")
    return target


def test_the_document_is_as_documented(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "study.json"
    assert main(["table", str(folder), "-o", "/dev/null", "--report-json", str(target)]) == 0
    document = json.loads(target.read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    rows = {each["pipeline"]: each for each in document["rows"]}
    assert document["header"][:3] == ["network", "pipeline", "ms"]
    assert rows["all"]["baseline"]
    assert rows["all"]["ratio"] is None
    assert rows["all"]["figures"]["spread"] is None
    assert rows["slower"]["milliseconds"] == pytest.approx(11.0)
    assert len(rows["slower"]["rounds"]) == 7
    assert rows["slower"]["ratio"]["different"]
    assert rows["slower"]["ratio"]["low"] < 1.1 < rows["slower"]["ratio"]["high"]
    assert not rows["alike"]["ratio"]["different"]
    assert rows["broken"]["error"].startswith("/home/me/a.mlir:1:2")


def test_what_cannot_be_written_is_said_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, words = tmp_path / "study.html", ["run", str(write_study(tmp_path))]
    words += ["--html", str(target)]
    assert main([*words, "--list"]) == 1
    assert "error: expected --html without --list, got both" in capsys.readouterr().err
    missing = tmp_path / "no" / "study.html"
    assert main(["run", words[1], "--html", str(missing)]) == 1
    assert f"error: cannot write '{missing}'" in capsys.readouterr().err
    assert not target.exists()


def test_the_same_study_is_the_same_page(folder: Path, page_file: Path) -> None:
    text = page_file.read_text()
    assert main(["table", str(folder), "--html", str(page_file)]) == 0
    assert page_file.read_text() == text


def test_nothing_in_the_file_leads_elsewhere_and_names_end_no_element(page_file: Path) -> None:
    text = page_file.read_text()
    assert set(re.findall(r"https?://[^\s\"']*", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|url\(", text)
    assert "default-src 'none'" in text
    assert text.count("<script") == text.count("</script>") == 2


@pytest.fixture
def opened(browser, page_file: Path):
    page = Opened(browser, page_file)
    yield page
    page.close()


def test_a_mark_and_its_row_belong_together(opened: Opened) -> None:
    page = opened.page
    assert opened.texts("h3")[:2] == ["Against the baseline", f"Times of {MARKUP}"]
    assert page.locator(".mark").count() == 2 + 3
    assert page.locator(".mark circle.hollow").count() == 1
    page.locator('tr[data-row="1"]').hover()
    assert re.match(
        re.escape(MARKUP) + r", slower · 11 ms, 7 rounds · 1\.\d+ times the baseline \(1\.\d+ to",
        page.locator("#readout").text_content(),
    )
    assert page.locator(".mark.chosen").count() == 2
    page.locator('.mark[data-row="2"]').first.hover()
    assert "not significantly different from 1" in page.locator("#readout").text_content()
    assert opened.texts("tr.chosen td:nth-child(2)") == ["alike"]


def test_the_link_keeps_the_row(opened: Opened, browser, page_file: Path) -> None:
    opened.page.keyboard.press("j")
    opened.page.keyboard.press("j")
    fragment = opened.page.evaluate("location.hash")
    again = Opened(browser, page_file, fragment)
    assert again.texts("tr.chosen td:nth-child(2)") == ["slower"]
    again.page.keyboard.press("k")
    assert again.texts("tr.chosen td:nth-child(2)") == ["all"]
    again.page.keyboard.press("Escape")
    assert again.texts("tr.chosen td:nth-child(2)") == []
    again.close()


def test_rows_are_searched_and_sorted(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("ali")
    assert page.locator("#found").text_content() == "1 of 4"
    assert page.locator("tbody tr:visible").count() == 1
    assert page.locator(".mark").count() == 1 + 1
    page.keyboard.press("Escape")
    assert page.locator("tbody tr:visible").count() == 4
    ms = page.locator("th button", has_text="ms")
    ms.click()
    assert opened.texts("tbody td:nth-child(2)") == ["all", "alike", "slower", "broken"]
    ms.click()
    assert opened.texts("tbody td:nth-child(2)")[-3:] == ["slower", "alike", "all"]


def test_a_ratio_beyond_the_scale_is_said(browser, tmp_path: Path) -> None:
    folder = write_results(tmp_path / "far", {"all": 0.01, "far": 0.4})
    target = tmp_path / "far.html"
    assert main(["table", str(folder), "--html", str(target)]) == 0
    opened = Opened(browser, target)
    (said,) = opened.texts("svg[aria-label^=time] .mark text")
    assert 38 < float(said) < 42
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_has_no_more_than_its_width(browser, page_file: Path, scheme: str) -> None:
    opened = Opened(browser, page_file, viewport={"width": 390, "height": 800}, color_scheme=scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    colour = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}[scheme]
    opened.close()
