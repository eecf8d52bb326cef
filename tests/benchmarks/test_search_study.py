"""The study of strategies: curves of what is best so far, the page, and a run that goes on."""

from pathlib import Path

import pytest

from benchmarks import search_study
from benchmarks.search_study import best_so_far, together
from gawee_dialect.diagnostics import GaweeError

pytest.importorskip("matplotlib")


def test_a_curve_is_the_best_so_far_by_the_first_figure() -> None:
    assert best_so_far([4.0, 5.0, 2.0, 3.0], 5) == [1, 1, 0.5, 0.5, 0.5]
    assert together([[1.0, 0.5], [4.0, 2.0]]) == pytest.approx([2, 1])


def test_the_page_has_a_row_a_strategy_and_what_was_measured_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = {"ranked": [4e-3, 2e-3], "random": [4e-3, 5e-3]}
    monkeypatch.setattr(search_study, "measure", lambda kernel, name, *_: figures[name])
    arguments = ["--budget", "2", "--kernels", "conv", "--strategies", "ranked,random"]
    arguments += ["--results", str(tmp_path / "kept"), "--page", str(tmp_path / "page.md")]

    search_study.main(arguments)
    first = (tmp_path / "page.md").read_text()
    said = capsys.readouterr().out
    monkeypatch.delattr(search_study, "measure")
    search_study.main(arguments)

    assert "| ranked | 0.500 | 0.500 | 1.000 |" in first
    assert "| random | 1.000 | 1.000 | 1.000 |" in first
    assert "ranked: conv: 0.500 of the model's choice" in said
    assert (tmp_path / "page.md").read_text() == first
    assert (tmp_path / "search_study.svg").read_text().count("ranked")


def test_a_kernel_is_searched_from_the_models_choice_on() -> None:
    assert len(search_study.measure("softmax", "random", 2, 0.0)) == 2


def test_a_strategy_whose_package_is_missing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> list[float]:
        raise GaweeError("it needs optuna")

    monkeypatch.setattr(search_study, "measure", refuse)
    arguments = ["--kernels", "conv", "--strategies", "optuna", "--results", str(tmp_path)]

    assert search_study.main(arguments) == 1
    assert capsys.readouterr().err == "error: it needs optuna\n"


@pytest.mark.parametrize(
    "chosen", [["--kernels", "conv"], ["--strategies", "ranked"], ["--budget", "2"]]
)
def test_a_part_alone_leaves_the_page_of_all_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: list[str]
) -> None:
    monkeypatch.setattr(search_study, "measure", lambda *_: [4e-3, 2e-3])
    monkeypatch.setattr(search_study, "PAGE", tmp_path / "published.md")

    search_study.main([*chosen, "--results", str(tmp_path / "kept")])

    assert not (tmp_path / "published.md").exists()
