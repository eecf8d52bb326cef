"""--insert, and files that say themselves where their passes go in, for every tool."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.tools import gawee_opt, gawee_reduce, gawee_run, gawee_tune

GRAPH = """func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"})
    -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
DOUBLE = '''
from dataclasses import dataclass
from xdsl.pattern_rewriter import op_type_rewrite_pattern
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

class ReluToDouble(Pattern):
    """gawee.relu %x -> gawee.add %x, %x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter):
        rewriter.replace(op, AddOp(op.input, op.input))

@dataclass(frozen=True)
class Double(RewritePass):
    """Double what was clamped."""

    name = "double"
    patterns = (ReluToDouble,)
'''
X = np.array([[1.5, -2.0, 3.25], [0.5, 8.0, -1.0]], np.float32)


def declaring(place: str) -> str:
    return DOUBLE + f'    place = "{place}"\n'


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))
    np.save(tmp_path / "x.npy", X)

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


Save = Callable[[str, str], str]


def outputs(words: list[str], folder: Path) -> np.ndarray:
    """Return what gawee-run writes of the one output."""
    out = str(folder / "out.npz")
    assert gawee_run.main([*words, "--input", f"x={folder / 'x.npy'}", "--output", out]) == 0
    (array,) = np.load(out).values()
    return array


@pytest.mark.parametrize("level", ["linalg", "kernels", "loops", "llvm"])
def test_to_load_a_file_is_enough_where_its_pass_says_its_place(
    level: str, save: Save, tmp_path: Path
) -> None:
    load = ["--load", save("double.py", declaring("after=fold-conv-add"))]

    array = outputs([save("in.mlir", GRAPH), *load, "--level", level], tmp_path)

    np.testing.assert_array_equal(array, 2 * X)


def test_the_level_that_is_compared_with_runs_without_the_pass(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [save("in.mlir", GRAPH), "--load", save("double.py", DOUBLE), "--level", "loops"]
    insert = ["--insert", "before=lower-to-linalg:double"]
    run = ["--compare", "linalg", "--input", f"x={tmp_path / 'x.npy'}"]

    assert gawee_run.main([*words, *run]) == 0
    assert gawee_run.main([*words, *run, *insert]) == 1
    assert gawee_run.main([*words, *run, *insert, "--insert", "before=lower-to-lin:double"]) == 1

    error = capsys.readouterr().err
    assert "unknown place 'lower-to-lin' in the pipeline" in error
    assert "hint: did you mean 'lower-to-linalg'? places: lower-quant-ops, " in error


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            "after=fold-conv-ad",
            "error: unknown place 'fold-conv-ad' in the pipeline\n"
            "hint: did you mean 'fold-conv-add'? places: assign-layouts, ",
        ),
        ("fold-conv-add", "error: expected a place, such as after=fold-conv-add, got 'fold"),
    ],
)
def test_a_wrong_place_in_a_file_is_an_error_at_the_class(
    place: str, message: str, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("double.py", declaring(place))

    assert gawee_opt.main([save("in.mlir", GRAPH), "--load", plugin]) == 1

    assert capsys.readouterr().err.startswith(f"{plugin}:14:1: {message}")


def test_a_pass_with_a_place_can_be_made_without_options(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    text = declaring("after=fold-conv-add") + "    times: int\n"
    plugin = save("double.py", text)

    assert gawee_opt.main([save("in.mlir", GRAPH), "--load", plugin]) == 1

    error = capsys.readouterr().err
    assert "cannot make pass 'double' without options for its place: " in error


def test_a_failing_pass_is_reduced_in_its_place(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = DOUBLE.replace("AddOp(op.input, op.input)", "AddOp(op.input, op.inputs)")
    words = [save("in.mlir", GRAPH), "--load", save("double.py", broken), "--gawee-optimize"]

    assert gawee_reduce.main([*words, "--insert=after=fold-conv-add:double"]) == 0

    out, err = capsys.readouterr()
    assert "gawee.relu" in out
    assert err.startswith("failure: AttributeError at double.py:12 at 'gawee.relu' op")


def test_kernels_are_tuned_as_the_pipeline_with_the_pass_makes_them(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [save("in.mlir", GRAPH), "--list", "--database", str(tmp_path / "none.jsonl")]

    assert gawee_tune.main(words) == 0
    plain = capsys.readouterr().out
    load = ["--load", save("double.py", DOUBLE)]
    assert gawee_tune.main([*words, *load, "--insert", "after=fold-conv-add:double"]) == 0
    doubled = capsys.readouterr().out

    assert ("maximumf" in plain, "maximumf" in doubled) == (True, False)
    assert "addf" in doubled
