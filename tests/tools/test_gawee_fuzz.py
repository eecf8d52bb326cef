"""gawee-fuzz from the command line: what it prints, what it writes, and what it refuses."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.tool_programs import Program
from gawee_dialect.fuzz.tool_session import PASSES
from gawee_dialect.instruments.tool.check import check_pipeline
from gawee_dialect.instruments.tool.pipeline import Tool, find_tool
from gawee_dialect.tools import gawee_fuzz, gawee_opt
from tests.instruments.tool.wrong_opt import as_program
from tests.upstream_mlir import requires_upstream

OWN = """
import os
from dataclasses import dataclass
from xdsl.passes import ModulePass
from gawee_dialect.dialect.graph.arithmetic import ExpOp, TanhOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from xdsl.pattern_rewriter import op_type_rewrite_pattern


class TanhForExp(Pattern):
    \"\"\"gawee.exp -> gawee.tanh\"\"\"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExpOp, rewriter):
        rewriter.replace(op, TanhOp(op.input))


@dataclass(frozen=True)
class WrongExp(RewritePass):
    name = "wrong-exp"
    patterns = (TanhForExp,)


@dataclass(frozen=True)
class Nothing(ModulePass):
    name = "nothing"
    def apply(self, ctx, op):
        pass


@dataclass(frozen=True)
class Die(ModulePass):
    name = "die"
    def apply(self, ctx, op):
        os.kill(os.getpid(), 9)
"""

WRONG_EXP = "--load own.py --wrong-exp --first 10 --graphs 9 --seed 1 -o found".split()

DRAWN = """
from gawee_dialect.fuzz.random_graph import Graphs


class Mine(Graphs):
    name = "mine"
    what = "of mine"
    needs = ()
"""
NEEDS = 'needs = ("re", "no_such_package")'
ONNX_MODELS = Path(__file__).parents[1] / "graph_fuzz" / "onnx_models.py"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)

    def run(*argv: str) -> tuple[int, str, str]:
        code = gawee_fuzz.main([*argv])
        out, err = capfd.readouterr()
        return code, out, err

    return run


def test_what_was_tried_is_counted(run: Run) -> None:
    code, out, _ = run("--graphs", "12", "--generators", "graphs,loops", "--jobs", "2")

    assert code == 0
    counts = re.match(r"(\d+) graphs and (\d+) loop nests in \d+ s, [\d.]+ a second: (.*)", out)
    assert counts is not None
    assert int(counts[1]) + int(counts[2]) == 12
    assert re.search(r"\d+ to kernels", counts[3])
    assert out.endswith("; no findings\n")


def test_a_wrong_pass_of_ones_own_is_found_reduced_and_written_as_a_test(run: Run) -> None:
    code, out, _ = run(*WRONG_EXP, "--share", "proved=0", "--share", "checked=0")

    assert code == 1
    assert "wrong: wrong-exp: 'gawee.exp'" in out
    (path,) = Path("found").glob("*.mlir")
    assert f"wrote {path} (1 ops, largest tensor 1 elements)" in out
    command, check, *_ = path.read_text().splitlines()
    assert command == (
        "// RUN: gawee-opt %s --load %S/../own.py --prove-each -p 'wrong-exp' | filecheck %s"
    )
    assert check == "// CHECK: @main"


def test_the_written_test_fails_as_long_as_the_pass_is_wrong(
    run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    run(*WRONG_EXP)
    (path,) = Path("found").glob("wrong_[0-9a-f]*.mlir")

    argv = [str(path), "--load", "own.py", "--prove-each", "-p"]

    assert gawee_opt.main([*argv, "wrong-exp"]) == 1
    assert "wrong-exp" in capfd.readouterr().err
    assert gawee_opt.main([*argv, "nothing"]) == 0


WRONG_ORACLE = """
from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.interpreter.run import run_module


class Mine(Oracle):
    name = "Mine"
    share = 1.0

    def outputs(self, module, arrays):
        said = run_module(module.clone(), arrays)
        if any(isinstance(op, ReshapeOp) for op in module.walk()):
            return {name: array + 7 for name, array in said.items() if array.dtype.kind == "f"}
        return said
"""


def test_graphs_that_are_one_when_they_are_small_are_one_cause(run: Run) -> None:
    Path("own.py").write_text(WRONG_ORACLE)

    _, out, _ = run(
        *"--load own.py --cse --graphs 9 --seed 12 --share proved=0 --share checked=0 -o found".split()
    )

    causes = re.findall(r"^not Mine's: (.*)", out, re.MULTILINE)
    again = re.findall(r"small, it is number (\d+): not Mine's: gawee.reshape$", out, re.MULTILINE)
    assert len(again) == len(causes) - 1 > 0
    assert len([*Path("found").iterdir()]) == 1


def test_a_number_is_the_same_graph_again(run: Run) -> None:
    _, out, _ = run(
        "--load", "own.py", "--wrong-exp", "--first", "10", "--graphs", "9", "--seed", "1"
    )
    number = re.search(r"wrong: wrong-exp.*\n.*the first is number (\d+)", out)
    assert number is not None

    again = (
        "--load",
        "own.py",
        "--wrong-exp",
        "--seed",
        "1",
        "--first",
        number[1],
        "--graphs",
        "1",
    )

    assert run(*again)[0] == 1


def test_a_graph_that_kills_its_process_is_found(run: Run) -> None:
    code, out, _ = run("--load", "own.py", "--die", "--graphs", "2", "-o", "found")

    assert code == 1
    assert (
        "kills the process: the process was stopped by SIGKILL\n  in 2, the first is number 0"
        in out
    )
    assert len([*Path("found").glob("kills_the_process_*.mlir")]) == 1


def test_a_pass_goes_into_random_pipelines(run: Run) -> None:
    code, out, _ = run(
        *("--load", "own.py", "--insert", "before=lower-to-linalg:wrong-exp", "--seed", "1"),
        *("--generators", "graphs", "--share", "native=0", "--share", "loops=0"),
        *("--first", "10", "--graphs", "24"),
    )

    assert code == 1
    assert "wrong: wrong-exp: 'gawee.exp'" in out


def test_time_ends_it(run: Run) -> None:
    code, out, _ = run("--minutes", "0.02", "--generators", "loops")

    assert code == 0
    assert re.match(r"\d+ loop nests in \d+ s", out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--garphs 3", "unknown flag or pass '--garphs'\nhint: did you mean '--graphs'?"),
        ("--graphs 0", "expected a whole number of at least 1, got '0'"),
        ("--seed -1", "expected a whole number of at least 0, got '-1'"),
        ("--minutes 0", "expected a positive number, got '0'"),
        ("--generators grahps", "unknown generator 'grahps'\nhint: did you mean 'graphs'?"),
        ("--share native", "expected WHAT=SHARE with a share from 0 to 1, got 'native'"),
        ("--share native=2", "expected WHAT=SHARE with a share from 0 to 1, got 'native=2'"),
        ("--share natve=0", "unknown share 'natve'\nhint: did you mean 'native'?"),
        ("--cse --insert after=cse:cse", "expected passes or --insert, got both"),
        ("--insert after=nowhere:cse", "unknown place 'nowhere' in the pipeline"),
        ("--load own.py --scheduler local", "expected --scheduler without --load, got both"),
    ],
)
def test_mistakes_are_named(run: Run, words: str, message: str) -> None:
    code, out, err = run(*words.split())

    assert code == 1
    assert out == ""
    assert message in err


def test_a_file_in_the_place_of_the_folder_is_refused_at_once(run: Run) -> None:
    Path("found").write_text("")

    for flags in ("--graphs 1 -o found", "--tool no-such-tool --graphs 1 -o found"):
        code, _, err = run(*flags.split())

        assert (code, err) == (1, "error: expected a folder for --output, got the file 'found'\n")


def test_a_generator_whose_packages_are_missing_is_named(
    run: Run,
) -> None:
    Path("own.py").write_text(DRAWN)
    Path("other.py").write_text(DRAWN.replace("mine", "other").replace("needs = ()", NEEDS))

    code, _, err = run(*"--load own.py --load other.py --generators mine,other".split())

    assert code == 1
    assert "generator 'other' needs re and no_such_package, which is not installed" in err


def test_a_file_adds_what_is_drawn(run: Run) -> None:
    Path("own.py").write_text(DRAWN)

    code, out, err = run(*"--load own.py --generators mine --graphs 3".split())

    assert (code, err) == (0, "")
    assert out.startswith("3 of mine in ")


def test_random_models_of_onnx_are_drawn_from_a_file(run: Run) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")

    code, out, _ = run("--load", str(ONNX_MODELS), *"--generators onnx --graphs 3".split())

    assert code == 0
    assert re.match(r"3 ONNX models in .* ONNX Runtime", out)


# Passes of another tool.


@requires_upstream
def test_a_wrong_pass_of_another_tool_is_named_reduced_and_reported(
    run: Run, tmp_path: Path
) -> None:
    tool = as_program(tmp_path, find_tool("mlir-opt"))
    flags = f"--tool {tool} --passes sum-for-product --graphs 6 --seed 3 -o found".split()
    code, out, _ = run(*flags)

    assert code == 1
    assert "wrong: sum-for-product\n" in out
    (wrong,) = Path("found").glob("wrong_*.mlir")
    pipeline = "builtin.module(sum-for-product)"
    assert wrong.read_text().startswith(f"// RUN: gawee-check %s --tool {tool} --pass-pipeline=")
    assert "arith.muli" in wrong.read_text()
    (report,) = Path("found").glob("wrong_*.md")
    assert "`sum-for-product` changes what a program computes" in report.read_text()
    assert not check_pipeline(wrong.read_text(), "builtin.module(canonicalize)").failure
    assert check_pipeline(wrong.read_text(), pipeline, tool).failure


@requires_upstream
def test_a_crash_of_another_tool_is_reduced_and_reported(run: Run) -> None:
    flags = "--tool mlir-opt --passes flatten-memref --generators vectors --first 1 --graphs 1 -o found".split()
    code, out, _ = run(*flags)

    assert code == 1
    assert "crash: mlir-opt: " in out
    (report,) = Path("found").glob("crash_*.md")
    assert "# `flatten-memref`: crash" in report.read_text()
    assert report.read_text().count("vector.transfer_") == 1


ROOT = Path(__file__).parents[2]
JAM = "affine-loop-unroll-jam{unroll-jam-factor=2}"
COPY = "affine-data-copy-generate{generate-dma=false fast-mem-space=0}"
HOIST = "affine-loop-invariant-code-motion"


@requires_upstream
@pytest.mark.parametrize(("number", "passes"), [(184, JAM), (7, COPY), (115, HOIST)])
def test_random_nests_find_what_the_docs_say(run: Run, number: int, passes: str) -> None:
    flags = f"--tool mlir-opt --generators nests --seed 3 --first {number} --graphs 1".split()
    code, out, _ = run(*flags, f"--passes=func.func({passes})")

    assert code == 1
    assert f"wrong: {passes.partition('{')[0]}\n" in out
    assert f"--first {number} --graphs 1" in (ROOT / "docs" / "found.md").read_text()


@requires_upstream
def test_right_passes_of_another_tool_raise_no_alarm(run: Run) -> None:
    code, out, _ = run(*"--tool mlir-opt --passes canonicalize,cse --graphs 8 --jobs 2".split())

    assert code == 0
    assert "8 the same; no findings" in out


def test_a_tool_that_refuses_everything_is_an_error(run: Run, tmp_path: Path) -> None:
    tool = tmp_path / "refuses"
    tool.write_text("#!/bin/sh\necho 'error: not today' >&2\nexit 1\n")
    tool.chmod(0o755)

    code, out, err = run(*f"--tool {tool} --graphs 3".split())

    assert code == 1
    assert "3 refused; no findings" in out
    assert err.startswith(
        f"error: expected '{tool}' to run a program, it refused all 3; number 0: "
    )
    assert "not today" in err


def test_a_tool_that_is_not_there_is_named(run: Run) -> None:
    code, _, err = run("--tool", "no-such-opt")

    assert code == 1
    assert "cannot run 'no-such-opt': it is no program" in err


@requires_upstream
@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.what)
def test_random_programs_are_read_and_run_by_mlir_opt(kind: type[Program]) -> None:
    for seed in range(5):
        text = kind(Draw(Random(f"{seed}"))).text()
        found = check_pipeline(text, "canonicalize")
        assert found.failure is None, text
        assert all(step.is_checked for step in found.steps)


@requires_upstream
def test_every_pass_that_is_drawn_is_one_of_mlir_opt() -> None:
    passes = {each for drawn in PASSES.values() for each in drawn}
    Tool("mlir-opt").run("module {}", f"builtin.module({','.join(sorted(passes))})")
