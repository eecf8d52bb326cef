"""Tables, comparisons and pictures of recorded studies."""

import csv
import io
import re
from math import inf
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.statistics import noise_text
from gawee_dialect.experiments.results import compare, comparison_text, read_results, table_text
from gawee_dialect.tools.gawee_experiment import main
from tests.experiments.recorded import write_results

TIMES = {"all": 0.0100, "slower": 0.0110, "alike": 0.01002}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_results(tmp_path / "first", TIMES)


def test_what_is_not_told_apart_is_in_brackets_and_what_failed_is_a_row(folder: Path) -> None:
    lines = table_text(read_results(folder)).splitlines()
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[4:]]

    assert lines[0] == "first: P (c)"
    assert [row[1] for row in cells] == ["all", "slower", "alike", "broken"]
    assert cells[0][0] == r"net\|work_1"
    assert cells[0][2:4] == ["10.00 ± 1.0 %", "1"]
    assert re.fullmatch(r"1\.(09|10|11)\d ± 1.2 %", cells[1][3])
    assert re.fullmatch(r"\((0.99|1.00)\d ± 1.2 %\)", cells[2][3])
    assert cells[3][2] == "failed: a.mlir:1:2: it is broken & more"


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        (0.0123, "± 1.2 %"),
        (0.994, "± 99.4 %"),
        (6455.147, "± more than 100 %"),
        (inf, "± more than 100 %"),
    ],
)
def test_noise_beyond_the_figure_itself_is_no_number(noise: float, text: str) -> None:
    assert noise_text(noise) == text


def test_latex_has_no_character_that_it_would_read(folder: Path) -> None:
    text = table_text(read_results(folder), "latex")

    assert r"net|work\_1" in text
    assert r"it is broken \& more" in text
    assert not re.search(r"(?<!\\)[%_#]", text)


def test_csv_has_every_figure(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(table_text(read_results(folder), "csv"))))

    assert [row["pipeline"] for row in rows] == ["all", "slower", "alike", "broken"]
    assert float(rows[1]["seconds"]) == 0.011
    assert "rounds" not in rows[0]
    assert rows[3]["error"].startswith("/home/me/a.mlir")


def test_two_studies_differ_where_they_do(folder: Path, tmp_path: Path) -> None:
    other = write_results(tmp_path / "second", {**TIMES, "slower": 0.0105, "new": 1.0}, seed=50)
    before, after = read_results(folder), read_results(other)

    pairs = {pair.after.pipeline: pair for pair in compare(before, after)}

    assert {name: pair.verdict for name, pair in pairs.items()} == {
        "all": "same",
        "slower": "faster",
        "alike": "same",
    }
    assert pairs["slower"].ratio.value == pytest.approx(105 / 110, abs=0.01)
    text = comparison_text(before, after)
    assert text.count("| same |") == 2
    assert "different processors" not in text


def test_records_of_another_processor_are_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_results(tmp_path / "second", TIMES, processor="Q")

    assert main(["compare", str(folder), str(other)]) == 0
    assert "measured on different processors: P (c), Q (c)" in capsys.readouterr().out


def test_studies_of_other_things_cannot_be_compared(folder: Path, tmp_path: Path) -> None:
    other = write_results(tmp_path / "second", TIMES)
    text = (other / "records.jsonl").read_text().replace("work_1", "work_2")
    (other / "records.jsonl").write_text(text)
    study = (other / "study.toml").read_text().replace("work_1", "work_2")
    (other / "study.toml").write_text(study)

    with pytest.raises(
        GaweeError, match="expected studies with cells of one name, got none in both"
    ):
        compare(read_results(folder), read_results(other))


def test_the_picture_names_networks_and_pipelines(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "a.svg"

    assert main(["plot", str(folder), "-o", str(picture)]) == 0

    text = picture.read_text()
    for words in ("net|work_1", "slower", "alike", "first: P (c)", "time of the baseline"):
        assert words in text
    first = text
    assert main(["plot", str(folder), "-o", str(picture)]) == 0
    assert picture.read_text() == first  # the same in every run


@pytest.mark.parametrize(
    ("times", "name", "message"),
    [
        (TIMES, "a.pdf", "error: unsupported picture"),
        ({"all": 1.0}, "a.svg", "error: expected ratios to a baseline to draw, got none"),
    ],
)
def test_what_cannot_be_drawn(
    times: dict[str, float], name: str, message: str, tmp_path: Path, capsys
) -> None:
    pytest.importorskip("matplotlib")
    folder = write_results(tmp_path / "study", times)

    assert main(["plot", str(folder), "-o", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_ratios_that_are_far_apart_are_drawn_by_factors(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    near = write_results(tmp_path / "near", {"all": 0.01, "slower": 0.02})
    far = write_results(tmp_path / "far", {"all": 0.01, "slower": 0.5, "faster": 0.005})
    ticks: list[list[str]] = []
    for folder in (near, far):
        picture = folder / "picture.svg"
        assert main(["plot", str(folder), "-o", str(picture)]) == 0
        ticks.append(re.findall(r">([0-9.]+)</text>", picture.read_text()))

    assert ticks[1] == ["0.5", "1", "2", "5", "10", "20", "50"]
    assert ticks[0][0] == "1.0"
    assert len(ticks[0]) > 3


def test_without_matplotlib_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("gawee_dialect.plots.find_spec", lambda _: None)

    assert main(["plot", str(folder), "-o", "a.svg"]) == 1
    assert "error: cannot draw 'a.svg': pictures need matplotlib" in capsys.readouterr().err
