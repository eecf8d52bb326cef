"""The study of passes: its networks compile, its file names passes that there are, its page is whole."""

from pathlib import Path

import pytest

from benchmarks import noise_check
from benchmarks.noise_check import Case, check, slowed
from benchmarks.passes_study import __main__ as passes_study
from benchmarks.passes_study import networks
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.evaluator import Build
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.results import read_results
from gawee_dialect.experiments.study import read_study
from gawee_dialect.levels import Level, passes_to
from tests.experiments.recorded import write_results
from tests.tuning.networks import network


def test_every_pass_that_is_left_out_is_one_of_the_pipeline() -> None:
    study = read_study(passes_study.STUDY)

    assert len(study.networks) == 5
    everything = len(passes_to(Level.LLVM, CodeOptions()))
    for pipeline in study.pipelines[1:]:
        assert len(passes_to(Level.LLVM, CodeOptions(without=tuple(pipeline.without)))) < everything
    for each in study.networks:
        where, _, name = str(each.factory).partition(":")
        assert where == networks.__name__
        assert callable(getattr(networks, name))


@pytest.mark.parametrize("name", ["digits", "perceptron", "attention"])
def test_networks_have_weights_and_kernels(name: str) -> None:
    model = getattr(networks, name)()

    assert model.bound
    assert "gawee.kernel" in str(model.lowered(Level.KERNELS, CodeOptions(num_threads=1)))


def test_the_page_has_a_row_for_each_pass_and_says_what_fails(tmp_path: Path) -> None:
    results = read_results(
        write_results(tmp_path / "study", {"all": 1, "slower": 1.2, "alike": 1.001})
    )

    lines = passes_study.page(results).splitlines()

    assert "| | net|work_1 |" in lines
    order = [
        line.split("|")[1].strip() for line in lines if line.startswith(("| slo", "| ali", "| bro"))
    ]
    assert order == ["slower", "alike", "broken"]
    assert "| broken | fails |" in lines
    assert next(line for line in lines if line.startswith("| alike")).count("(1.00)") == 1


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of docs/, which is not there yet."""
    monkeypatch.setattr(passes_study, "PAGE", tmp_path / "published.md")
    monkeypatch.setattr(passes_study, "FIGURE", tmp_path / "published.svg")
    return tmp_path / "published.md"


def test_a_study_that_is_not_whole_is_printed_and_leaves_the_page_as_it_is(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = write_results(tmp_path / "study", {"all": 1, "slower": 1.2})

    assert passes_study.main(["--page", "--results", str(results)]) == 0

    assert not published.exists()
    out, err = capsys.readouterr()
    assert "| slower | 1.20 |" in out
    assert "published.md is left as it is: no result of digits, all passes, default" in err


def test_a_study_that_is_whole_is_written(
    tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    results = write_results(tmp_path / "study", {"all": 1, "slower": 1.2})
    monkeypatch.setattr(passes_study, "STUDY", results / "study.toml")

    assert passes_study.main(["--page", "--results", str(results)]) == 0

    assert "| slower | 1.20 |" in published.read_text()


def test_a_study_that_was_not_measured_is_one_error(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert passes_study.main(["--page", "--results", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: expected a study's folder")
    assert passes_study.main(["--list", "--results", str(tmp_path / "new")]) == 0
    assert not published.exists()


def test_runs_that_are_slowed_take_longer_by_that_part() -> None:
    calls: list[int] = []
    run = slowed(lambda: calls.append(1), 0.5)
    run()

    assert calls == [1]
    assert slowed(run, 0) is run


def test_a_repetition_measures_both_and_enough_must_come_out_as_they_should() -> None:
    model, inputs = network()
    options = CodeOptions(num_threads=1, parallel=False)
    first, other = (Build(model, options, inputs=inputs) for _ in range(2))
    case = Case("a case", other, 3.0)

    ratio = noise_check.repetition(first, case, 3, 0.01, 0)

    assert ratio.value > 1.5
    apart, near = Ratio(1.2, 0.01), Ratio(1.0, 0.01)
    line, holds = check(case, [apart] * 19 + [near])
    assert holds
    assert "| significant in 19 of 20 | yes |" in line
    assert not check(case, [apart] * 18 + [near] * 2)[1]
    assert "not significant in 2 of 2" in check(Case("same", other, 0), [near] * 2)[0]
