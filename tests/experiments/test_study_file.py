"""The file of a study: what it means, and every mistake with its line."""

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.study import Cell, Options, Pipeline, study_of
from gawee_dialect.source import Source

STUDY = """\
name = "two by three"
rounds = 9
evaluators = ["time", "mine.py:Spills"]
[[network]]
file = "resnet18/graph.json"
weights = "random"
shape = {x = [1, 3, 224, 224]}
from = "gawee"
[[network]]
factory = "benchmarks.models:build"
arguments = ["unet"]
[[pipeline]]
name = "all"
[[pipeline]]
without = ["fold-batch-norm", "canonicalize#2"]
[[pipeline]]
load = ["mine.py"]
insert = ["after=inline:mine{x=1}"]
[[options]]
num-threads = 2
fast-math = "contract"
trust-indices = true
"""


def read(text: str):
    return study_of(Source.of_text(text, "study.toml"))


def test_a_study_is_all_combinations() -> None:
    study = read(STUDY)
    cells = list(study.cells())

    assert study.name == "two by three"
    assert [cell.names for cell in cells][:4] == [
        ("resnet18", "all", "num-threads 2, fast-math contract, trust-indices True"),
        ("resnet18", "without fold-batch-norm, canonicalize#2", cells[0].options.name),
        ("resnet18", "with after=inline:mine{x=1}", cells[0].options.name),
        ("build-unet", "all", cells[0].options.name),
    ]
    assert cells[0].is_baseline
    assert not cells[1].is_baseline
    assert cells[0].network.source == "gawee"
    assert cells[0].network.shape == {"x": [1, 3, 224, 224]}
    assert cells[0].measuring.rounds == 9
    assert (cells[0].options.num_threads, cells[0].options.trust_indices) == (2, True)


def test_a_cell_goes_to_another_process_and_back() -> None:
    for cell in read(STUDY).cells():
        assert Cell.of(cell.form()) == cell


def test_what_is_not_said_has_defaults() -> None:
    study = read('[[network]]\nfile = "a.onnx"\n')

    assert study.name == "study"
    assert study.pipelines == [Pipeline("default")]
    assert study.options == [Options()]


NETWORK = '[[network]]\nfile = "a.onnx"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "study.toml:1:1: error: expected at least one [[network]], got none"),
        (
            "round = 3\n" + NETWORK,
            "study.toml:1:1: error: unknown key 'round' of a study\nhint: did you mean 'rounds'?",
        ),
        (
            NETWORK + "[[pipeline]]\nwithot = []\n",
            "study.toml:4:1: error: unknown key 'withot' of [[pipeline]]\nhint: did you mean 'without'?",
        ),
        (
            "rounds = 0\n" + NETWORK,
            "study.toml:1:1: error: expected 'rounds' to be a whole number of at least 1, got 0",
        ),
        (
            "rounds = true\n" + NETWORK,
            "study.toml:1:1: error: expected 'rounds' to be a whole number of at least 1, got True",
        ),
        (
            "seconds = 'long'\n" + NETWORK,
            "study.toml:1:1: error: expected 'seconds' to be a number of seconds, got 'long'",
        ),
        (
            NETWORK + "[[pipeline]]\nwithout = 'cse'\n",
            "study.toml:4:1: error: expected 'without' to be a list of texts, got 'cse'",
        ),
        (
            NETWORK + "[[options]]\nalgorithms = 'slow'\n",
            "study.toml:4:1: error: expected 'algorithms' to be fast or exact or plain, got 'slow'",
        ),
        (
            "[[network]]\nshape = {x = [1.5]}\nfile = 'a'\n",
            "study.toml:2:1: error: expected 'shape' to be lists of sizes by name, got {'x': [1.5]}",
        ),
        (
            "[[network]]\nname = 'a'\n",
            "study.toml:1:1: error: expected 'file' or 'factory', got neither",
        ),
        (
            NETWORK + "factory = 'm:f'\n",
            "study.toml:1:1: error: expected 'file' or 'factory', got both",
        ),
        (
            NETWORK + NETWORK,
            "study.toml:3:1: error: expected names of [[network]] to differ, got 'a' twice",
        ),
        (
            NETWORK + "[options]\nnum-threads = 2\n",
            "study.toml:3:1: error: expected [[options]], got another value 'options'",
        ),
    ],
)
def test_mistakes_have_their_line(text: str, message: str) -> None:
    with pytest.raises(GaweeError) as error:
        read(text)

    assert str(error.value) == message


def test_all_mistakes_are_listed_at_once() -> None:
    with pytest.raises(GaweeError) as error:
        read("rounds = 0\nseed = -1\n[[network]]\nfile = 3\n")

    assert [problem.place for problem in error.value.diagnostics] == [
        f"study.toml:{line}:1" for line in (1, 2, 4)
    ]
