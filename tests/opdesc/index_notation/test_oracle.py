"""Wrong descriptions are found by comparing with an oracle, on the command line and in Python."""

from pathlib import Path
from time import process_time

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.oracle import compare_with_oracle, random_use
from gawee_dialect.opdesc.read import parse_descriptions
from gawee_dialect.tools.gawee_run import main

pytest.importorskip("pycparser")

RIGHT = """
dialect "mine"
window_sum { body: `
    int s = 1
    require s >= 1
    y[h] = sum(i) x[h*s + i] * k[i]
` }
mean { body: "y[n] = sum(c) x[n,c] / size(c)" }
"""

ORACLE = """
import numpy as np

def window_sum(x, k, s):
    return np.correlate(x, k, "valid")[::s]

def mean(x):
    return x.mean(1)
"""


def files(folder: Path, operators: str, oracle: str = ORACLE) -> list[str]:
    (folder / "ops.op").write_text(operators)
    (folder / "oracle.py").write_text(oracle)
    return ["compare", str(folder / "ops.op"), "--with", str(folder / "oracle.py")]


def test_right_descriptions_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(files(tmp_path, RIGHT)) == 0
    assert capsys.readouterr().out == "window_sum: same on 20 uses\nmean: same on 20 uses\n"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("x[h*s + i]", "x[h*s + i - 1]", "expected 'y' of shape "),
        ("x[h*s + i] * k[i]", "x[h*s + i] * k[i] * 2", "elements differ (x ["),
        ("sum(i)", "max(i)", "operator 'window_sum' differs from its oracle: expected y["),
        ("/ size(c)", "/ size(n)", "operator 'mean' differs from its oracle: expected y["),
    ],
)
def test_a_wrong_description_is_found_in_seconds(
    right: str, wrong: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = process_time()
    assert main(files(tmp_path, RIGHT.replace(right, wrong))) == 1
    assert process_time() - start < 10

    out = capsys.readouterr().out
    assert message in out
    assert f"{tmp_path / 'ops.op'}:" in out


def test_an_oracle_that_fails_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = files(tmp_path, RIGHT, "def mean(y): pass")
    assert main([*arguments, "--operator", "mean"]) == 1
    assert "operator 'mean' differs from its oracle: it fails: mean() got an unexpected" in (
        capsys.readouterr().out
    )


def test_an_oracle_of_another_number_of_results_is_a_difference() -> None:
    (_, mean) = parse_descriptions(RIGHT, "ops.op").operators
    found = compare_with_oracle(mean, lambda x: (x, x)).difference

    assert found is not None
    assert found.problem == "expected 2 outputs, got 1"


def test_the_smallest_use_is_shown() -> None:
    (_, mean) = parse_descriptions(RIGHT, "ops.op").operators
    found = compare_with_oracle(mean, lambda x: x.mean(1) + 1, uses=30).difference

    assert found is not None
    assert found.use.inputs["x"].size <= 4


def test_names_that_nobody_has_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*files(tmp_path, RIGHT), "--operator", "meen"]) == 1
    assert "error: unknown operator 'meen' in" in capsys.readouterr().err
    assert main(files(tmp_path, RIGHT, "def other(x): return x")) == 1
    assert "error: expected a function in" in capsys.readouterr().err


def test_requirements_that_cannot_be_met_are_told_of() -> None:
    text = 'one { body: "require size(x, 0) < 0; y[i] = x[i]" }'
    (one,) = parse_descriptions(text, "ops.op").operators

    with pytest.raises(GaweeError, match="cannot find random inputs of operator 'one' in 1000"):
        random_use(one, 0)


def test_what_subscripts_read_is_an_index_of_its_axis() -> None:
    text = 'one { body: "y[n,d] = keep[n] ? table[word[n], d] : 0" }'
    (one,) = parse_descriptions(text, "ops.op").operators

    for seed in range(5):
        use = random_use(one, seed)
        words, table = use.inputs["word"], use.inputs["table"]
        assert use.inputs["keep"].dtype == np.bool_
        assert words.dtype == np.int64
        assert words.min() >= 0
        assert words.max() < table.shape[0]
