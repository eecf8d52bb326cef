"""Pictures of studies: more threads, and what was predicted, from recorded times."""

import json
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.results import read_results
from gawee_dialect.plots import (
    draw_predictions,
    draw_scaling,
    prediction_points,
    scaling_curves,
)
from gawee_dialect.tools.gawee_experiment import main
from tests.experiments.recorded import rounds

STUDY = """\
name = "threads"
[[network]]
name = "net"
file = "n"
[[pipeline]]
name = "all"
[[options]]
name = "one"
[[options]]
name = "two"
num-threads = 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """10 ms on one thread, where 4 are predicted; 5.5 ms on two."""
    (tmp_path / "study.toml").write_text(STUDY)
    lines: list[str] = []
    for number, (options, threads, seconds) in enumerate([("two", 2, 0.0055), ("one", 1, 0.010)]):
        figures = {
            "seconds": seconds,
            "rounds": rounds(seconds, number),
            "predicted_seconds": 0.004,
        }
        names = {"network": "net", "pipeline": "all", "options": options, "baseline": "all"}
        record = {"key": options, **names, "num_threads": threads, "figures": figures}
        lines.append(json.dumps({**record, "machine": {"processor": "P", "cpu": "c"}}) + "\n")
    (tmp_path / "records.jsonl").write_text("".join(lines))
    return tmp_path


def test_scaling_is_by_the_fewest_threads_with_the_noise_of_both(folder: Path) -> None:
    (points,) = scaling_curves(read_results(folder)).values()

    assert [threads for threads, _ in points] == [1, 2]
    assert points[0][1].value == 1
    assert points[1][1].value == pytest.approx(10 / 5.5, rel=0.01)  # rounds of 0.5 % noise
    assert 0.004 < points[1][1].noise < 0.03


def test_predictions_are_of_one_thread(folder: Path) -> None:
    assert prediction_points(read_results(folder)) == {"net": [(0.004, 0.010)]}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("scaling", ["net, all", "threads: P (c)", "times as fast as on 1"]),
        ("predictions", ["net", "threads: P (c)", "ms measured", "ms that the limits predict"]),
    ],
)
def test_a_picture_says_what_it_shows(
    folder: Path, tmp_path: Path, kind: str, words: list[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "a.svg"

    assert main(["plot", str(folder), "--kind", kind, "-o", str(picture)]) == 0
    text = picture.read_text()
    assert all(each in text for each in words)
    assert main(["plot", str(folder), "--kind", kind, "-o", str(picture)]) == 0
    assert picture.read_text() == text  # the same in every run


def test_what_a_study_did_not_measure_is_not_drawn(folder: Path) -> None:
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text(lines[0])  # two threads alone
    results = read_results(folder)

    with pytest.raises(GaweeError, match="expected a network on several numbers of threads"):
        draw_scaling(results, "a.svg")
    with pytest.raises(GaweeError, match="expected predicted times on one thread to draw, got"):
        draw_predictions(results, "a.svg")
