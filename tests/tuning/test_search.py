"""gawee-tune on a small network: what it writes, what the next run does, and what is compiled."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.kernels.winograd import Winograd
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.schedules.database import NO_CHOICES
from gawee_dialect.schedules.file import append, read_schedules
from gawee_dialect.schedules.keys import Decision
from gawee_dialect.tuning.search import Outcome, Settings, Tuner, choices_of, is_close
from tests.closeness import assert_allclose
from tests.passes.modules import evaluate
from tests.tuning.networks import network


def tune(model: Model, inputs: Mapping[str, np.ndarray], path: Path, **settings) -> list[Outcome]:
    tuner = Tuner(model.module, model.bound, inputs, path, Settings(patience=0, **settings))
    return [
        phase.tune(kernel, lambda text: None) for phase in tuner.phases() for kernel in phase.todo
    ]


@dataclass(frozen=True)
class Tuned:
    model: Model
    inputs: Mapping[str, np.ndarray]
    path: Path
    outcomes: list[Outcome]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    model, inputs = network()
    path = tmp_path_factory.mktemp("tuned") / "choices.jsonl"
    return Tuned(model, inputs, path, tune(model, inputs, path, most=3))


def kernels(model: Model, path: Path | None) -> str:
    options = CodeOptions(schedules=NO_CHOICES if path is None else read_schedules(path))
    return str(model.lowered(Level.KERNELS, options))


def assert_computes_what_pytorch_does(tuned: Tuned, path: Path) -> None:
    expected = evaluate(tuned.model.module, {**tuned.model.bound, **tuned.inputs})["y"]
    options = CodeOptions(schedules=read_schedules(path), num_threads=1)
    compiled = tuned.model.compile(options, cache=False)
    (result,) = compiled.run(tuned.inputs).values()
    # Winograd's algorithm on 144 products, in f32.
    assert_allclose(result, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


def test_a_line_is_written_for_each_kernel_and_says_what_was_measured(tuned: Tuned) -> None:
    lines = [json.loads(line) for line in tuned.path.read_text().splitlines()]

    assert next(line["kernel"].split()[0] for line in lines) == "conv"
    assert len(lines) == len(tuned.outcomes) == len({line["key"] for line in lines})
    for line in lines:
        assert line["threads"] == 1
        assert 0 < line["seconds"] <= line["default_seconds"]
        assert line["nodes"]
        assert line["versions"]["xdsl"]


def test_every_version_computed_the_same(tuned: Tuned) -> None:
    assert [outcome.wrong for outcome in tuned.outcomes] == [0] * len(tuned.outcomes)
    assert all(outcome.candidates > 1 for outcome in tuned.outcomes[:1])


def test_what_was_chosen_is_what_runs(tuned: Tuned) -> None:
    text = kernels(tuned.model, tuned.path)

    chosen = [outcome.entry.choice for outcome in tuned.outcomes]
    assert ("gawee.winograd" in text) == any(isinstance(each, Winograd) for each in chosen)
    for line in map(json.loads, tuned.path.read_text().splitlines()):
        assert line["choice"].get("schedule", "") in text
    assert_computes_what_pytorch_does(tuned, tuned.path)


def test_the_same_file_makes_the_same_code(tuned: Tuned) -> None:
    options = CodeOptions(schedules=read_schedules(tuned.path))

    first, again = (str(tuned.model.lowered(Level.LLVM, options)) for _ in range(2))

    assert first == again


def test_a_finished_search_measures_nothing_again(tuned: Tuned) -> None:
    before = tuned.path.read_text()

    assert tune(tuned.model, tuned.inputs, tuned.path) == []
    assert tuned.path.read_text() == before


def test_a_stopped_search_goes_on_where_it_was(tuned: Tuned, tmp_path: Path) -> None:
    lines = tuned.path.read_text().splitlines(keepends=True)
    path = tmp_path / "choices.jsonl"
    path.write_text("".join(lines[:-1]))

    (outcome,) = tune(tuned.model, tuned.inputs, path, most=1)

    assert outcome.entry.key == json.loads(lines[-1])["key"]
    assert path.read_text().startswith("".join(lines[:-1]))
    assert len(path.read_text().splitlines()) == len(lines)


def test_a_pattern_chooses_kernels(tuned: Tuned, tmp_path: Path) -> None:
    outcomes = tune(tuned.model, tuned.inputs, tmp_path / "choices.jsonl", most=1, pattern="pool *")

    assert [outcome.kernel.description.split()[0] for outcome in outcomes] == ["pool"]


def test_the_listing_names_the_models_choices_and_changes_nothing(
    tuned: Tuned, tmp_path: Path
) -> None:
    path = tmp_path / "choices.jsonl"
    for entry in choices_of(tuned.model.module):
        append(path, entry)

    assert path.read_text()
    assert kernels(tuned.model, path) == kernels(tuned.model, None)


@pytest.mark.parametrize(
    "choice",
    [
        {"algorithm": "direct"},
        {
            "algorithm": "winograd",
            **{"tile": 4, "by_channel": False, "block": 4, "rows": 3, "panel": 16, "lanes": 8},
        },
        {
            "algorithm": "winograd",
            **{"tile": 2, "by_channel": True, "block": 25, "rows": 6, "panel": 32, "lanes": 16},
        },
    ],
    ids=["direct", "F(4x4)", "F(2x2)"],
)
def test_an_algorithm_may_be_written_by_hand(
    choice: dict[str, object], tuned: Tuned, tmp_path: Path
) -> None:
    convolution = next(choices_of(tuned.model.module))
    form = {"key": convolution.key, "target": convolution.target, "choice": choice}
    path = tmp_path / "choices.jsonl"
    path.write_text(json.dumps(form) + "\n")

    text = kernels(tuned.model, path)

    assert ("gawee.winograd" in text) == (choice["algorithm"] == "winograd")
    assert "tile" not in choice or f"tile = {choice['tile']} :" in text
    assert_computes_what_pytorch_does(tuned, path)


def test_an_edited_file_is_compiled_again(
    tuned: Tuned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))
    path = tmp_path / "choices.jsonl"
    entries = list(choices_of(tuned.model.module))

    def kept() -> int:
        tuned.model.compile(CodeOptions(schedules=read_schedules(path), num_threads=1))
        return len(list(CompileCache().folder.iterdir()))

    append(path, entries[0])
    first, unchanged = kept(), kept()
    path.write_text('{"key": "", "target": "", "choice": {"algorithm": "direct"}}\n')
    edited = kept()

    assert first == unchanged
    assert edited > unchanged


def test_marks_are_not_part_of_the_code(tuned: Tuned) -> None:
    text = str(tuned.model.lowered(Level.LLVM, CodeOptions(schedules=read_schedules(tuned.path))))

    assert not any(each.value in text for each in Decision)
    assert read_schedules(tuned.path)


@pytest.mark.parametrize(
    ("output", "close"),
    [
        ([-np.inf, np.nan, 100.0, 0.01], True),
        ([-np.inf, np.nan, 100.0, 0.2], False),
        ([np.inf, np.nan, 100.0, 0.0], False),
        ([-np.inf, 1.0, 100.0, 0.0], False),
        ([-np.inf, np.nan, np.nan, 0.0], False),
    ],
)
def test_outputs_are_compared_by_their_range(output: list[float], *, close: bool) -> None:
    expected = np.array([-np.inf, np.nan, 100.0, 0.0], np.float32)

    assert is_close(np.array(output, np.float32), expected) == close
