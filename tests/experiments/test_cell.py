"""One cell: what it is measured by, and what is wrong with names of one's own."""

from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.cell import (
    code_options,
    error_text,
    evaluator_of,
    key_of,
    measure,
    named_object,
    network_of,
)
from gawee_dialect.experiments.study import Cell, Measuring, Network, Options, Pipeline
from tests.tuning.networks import CONVOLUTION


def cell(folder: Path, **parts: object) -> Cell:
    base = Pipeline("all")
    chosen = {
        "network": Network("n", file="n.mlir"),
        "pipeline": base,
        "options": Options(num_threads=2),
        "baseline": base,
        "measuring": Measuring(),
        **parts,
    }
    return Cell(str(folder), **chosen)


def test_the_flags_of_a_pipeline_become_options(tmp_path: Path) -> None:
    pipeline = Pipeline("p", insert=["after=inline:cse"], without=["fold-batch-norm"])

    options = code_options(cell(tmp_path, pipeline=pipeline), pipeline)

    assert [each.place for each in options.passes] == ["inline"]
    assert options.without == ("fold-batch-norm",)
    assert options.num_threads == 2
    assert options.parallel


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tame", "unknown evaluator 'tame'"),
        ("pathlib:Path", "expected an Evaluator 'pathlib:Path', got another object"),
        ("pathlib:nothing", "expected 'nothing' in 'pathlib', got none"),
        ("no_such_module:X", "cannot import 'no_such_module:X': ModuleNotFoundError"),
        (":X", "expected module:name or file.py:name, got ':X'"),
    ],
)
def test_an_evaluator_that_there_is_not_is_an_error(
    name: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(GaweeError, match=message):
        evaluator_of(name, cell(tmp_path))


def test_code_of_a_user_that_raises_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0\n")

    with pytest.raises(GaweeError, match=r"cannot import 'mine.py:f': ZeroDivisionError: division"):
        named_object("mine.py:f", tmp_path)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("f = 3", "expected a function 'mine.py:f', got another object"),
        (
            "f = lambda: 3",
            "expected 'mine.py:f' to return a Model, or a module and its inputs, got int",
        ),
    ],
)
def test_a_factory_that_makes_no_network_is_an_error(
    code: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(code)

    with pytest.raises(GaweeError, match=message):
        network_of(cell(tmp_path, network=Network("n", factory="mine.py:f")))


def test_a_module_of_pytorch_is_a_network(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "mine.py").write_text(
        "import torch\ndef f(width):\n    return torch.nn.Linear(5, width), torch.zeros(3, 5)\n"
    )

    model = network_of(cell(tmp_path, network=Network("n", factory="mine.py:f", arguments=[7])))

    assert {array.shape for array in model.parameters.values()} == {(7, 5), (7,)}


def test_what_goes_wrong_is_the_record(tmp_path: Path) -> None:
    (tmp_path / "n.mlir").write_text("func.func @main() {")

    record = measure(cell(tmp_path))

    assert "figures" not in record
    assert str(record["error"]).startswith(f"{tmp_path}/n.mlir:1:")
    assert error_text(KeyError("x")) == "KeyError: 'x'"


EDITS = """
from pathlib import Path
from gawee_dialect.evaluation.evaluator import Evaluator
class Edits(Evaluator):
    def figures(self, builds):
        file = Path(__file__).with_name("n.mlir")
        file.write_text(file.read_text() + "// edited\\n")
        return [{"edits": 1}]
"""


def test_a_file_that_is_edited_while_it_is_measured_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.mlir").write_text(CONVOLUTION)
    (tmp_path / "edits.py").write_text(EDITS)
    measuring = Measuring(evaluators=["edits.py:Edits"])
    asked = cell(
        tmp_path,
        network=Network("n", file="n.mlir", weights="random"),
        options=Options(num_threads=1),
        measuring=measuring,
    )
    key = key_of(asked)

    record = measure(asked)

    assert "figures" not in record
    assert record["error"] == "'n.mlir' was edited while the cell was measured; run it again"
    assert record["key"] == key != key_of(asked)
