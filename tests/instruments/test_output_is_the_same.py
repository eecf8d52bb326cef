"""Whatever watches a pipeline, what the pipeline writes is the same, byte for byte."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from gawee_dialect.instruments import explain_missed, print_ir, timing, trace_patterns
from gawee_dialect.tools import gawee_opt, gawee_translate
from gawee_dialect.tools.gawee_opt import FAMILIES, InstrumentFamily
from tests.effort import FULL, full_run

ROOT = Path(__file__).parent.parent
DIGITS = ROOT.parent / "examples" / "digits" / "graph.json"
INPUTS = {
    "folds": ROOT / "filecheck" / "passes" / "fold_batch_norm.mlir",
    "elementwise": ROOT / "filecheck" / "passes" / "lower_to_linalg" / "elementwise.mlir",
    "digits": None,
}
FLAGS = {
    "--mlir-timing": "",
    "--mlir-print-ir-before": "=canonicalize",
    "--mlir-print-ir-before-all": "",
    "--mlir-print-ir-after": "",
    "--mlir-print-ir-after-all": "",
    "--mlir-print-ir-after-change": "",
    "--mlir-print-ir-after-failure": "",
    "--print-ir-diff": "",
    "--print-ir-to": "=ir",
    "--trace-patterns": "",
    "--explain-missed": "",
    "--reproducer-dir": "=failures",
    "--opt-bisect-limit": "=100000",
    "--debug-counter": "=FoldBatchNorm=1-100000",
    "--bisect": "",
}
SLOW = {"--check-each": "", "--prove-each": ""}
"""Flags that run the module: on the network alone."""
LOADED = """
from gawee_dialect.passes.instrument import Instrument

class Sees(Instrument):
    def pattern_fired(self, pattern, op_name):
        pass
"""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("digits") / "digits.mlir"
    words = [str(DIGITS), "-o", str(path), "--mlir-print-debuginfo"]
    assert gawee_translate.main(words) == 0
    return path


def spellings(family: InstrumentFamily) -> set[str]:
    parser = ArgumentParser(add_help=False)
    family.add_flags(parser)
    return {spelling for action in parser._actions for spelling in action.option_strings}


@pytest.mark.parametrize("family", [timing, print_ir, trace_patterns, explain_missed])
def test_every_flag_is_tried(family: InstrumentFamily) -> None:
    assert spellings(family) - {"--mlir-elide-elementsattrs-if-larger"} <= set(FLAGS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_tried(family: InstrumentFamily) -> None:
    assert spellings(family) & {*FLAGS, *SLOW}


@pytest.mark.parametrize(
    ("name", "locations"),
    [
        pytest.param("folds", [], marks=full_run),
        ("elementwise", []),
        ("digits", []),
        ("digits", ["--mlir-print-debuginfo"]),
    ],
    ids=["folds", "elementwise", "digits", "located"],
)
def test_output_is_that_without_instruments(
    name: str,
    locations: list[str],
    digits: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sees.py").write_text(LOADED)
    words = [str(INPUTS[name] or digits), "--gawee-to-linalg", "--split-input-file", *locations]
    assert gawee_opt.main(words) == 0
    expected = capsys.readouterr().out
    assert expected

    slow = SLOW if name == "digits" else {}
    alone = name == "elementwise" or (FULL and name == "digits" and not locations)
    each = {**FLAGS, **slow, "--load": "=sees.py"} if alone else {}
    for flag, value in each.items():
        assert gawee_opt.main([*words, flag + value]) == 0
        assert capsys.readouterr().out == expected, flag
    # `--bisect` chooses the limit itself.
    both = {flag: value for flag, value in (FLAGS | slow).items() if flag != "--opt-bisect-limit"}
    together = [flag + value for flag, value in both.items()]
    assert gawee_opt.main([*words, *together, "--load=sees.py"]) == 0
    assert capsys.readouterr().out == expected
