"""`gawee-check` on mlir-opt 22: programs of open reports, wrong passes of a tool of its own, and over
a hundred pipelines that are right.

Oracle: what a program computes by its text, and passes that are wrong by hand.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.tool import native
from gawee_dialect.instruments.tool.check import assert_pipeline_correct, check_pipeline
from gawee_dialect.instruments.tool.native import described
from gawee_dialect.instruments.tool.pipeline import (
    Tool,
    find_tool,
    pass_of,
    run_program,
    split_pipeline,
)
from gawee_dialect.instruments.tool.reproducer import reduced
from gawee_dialect.tools import gawee_check
from tests.effort import mostly_full
from tests.instruments.tool.pipelines import CHECKED, PROGRAMS
from tests.instruments.tool.reports import CRASHES, REPORTS, Report
from tests.instruments.tool.tables import count
from tests.instruments.tool.wrong_opt import as_program
from tests.upstream_mlir import requires_upstream

LOOP = PROGRAMS["scf: a while loop, and an odd number of steps"]
CHOICE = PROGRAMS["scf: a loop that may not run, and a choice"]


@pytest.fixture
def wrong_opt(tmp_path: Path) -> str:
    """A program that runs `wrong_opt.py`."""
    return as_program(tmp_path, find_tool("mlir-opt"))


NO_END = """
func.func @main(%x: i32) -> i32 {
  %true = arith.constant true
  %r = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%true) %a : i32
  } do {
  ^bb0(%b: i32):
    %c = arith.addi %b, %x : i32
    scf.yield %c : i32
  }
  return %r : i32
}
"""


@requires_upstream
def test_a_program_without_end_is_refused_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "MOST_SECONDS", 1)
    with pytest.raises(GaweeError) as caught:
        check_pipeline(NO_END, "canonicalize", name="loop.mlir")
    place, message = str(caught.value).split(": error: ")
    assert place.startswith("loop.mlir:")
    assert message.startswith("cannot run the module: native code has not ended after 1 s")


# Pipelines as MLIR writes them.


def test_a_pipeline_is_cut_into_passes_in_the_ops_that_they_are_nested_in() -> None:
    assert split_pipeline("builtin.module(func.func(a{x=1,2 y={z=(1)}},b),c)") == [
        "builtin.module(func.func(a{x=1,2 y={z=(1)}}))",
        "builtin.module(func.func(b))",
        "builtin.module(c)",
    ]


def test_passes_stand_alone_too() -> None:
    assert split_pipeline("a, func.func(b)") == [
        "builtin.module(a)",
        "builtin.module(func.func(b))",
    ]
    assert pass_of("builtin.module(func.func(b{x=1}))") == "b"


@pytest.mark.parametrize("text", ["builtin.module(a", "a{x=1", "a)", "a{x='1}"])
def test_a_pipeline_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(GaweeError, match="cannot read pass pipeline"):
        split_pipeline(text)


# Programs of open reports on MLIR.


@requires_upstream
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: f"{report.number} {report.wrong}")
def test_a_wrong_pass_of_mlir_opt_is_named(report: Report) -> None:
    found = check_pipeline(report.program, report.pipeline)

    assert found.failure is not None
    assert found.failure.pass_name == report.wrong
    assert report.said in str(found.failure)


@requires_upstream
@pytest.mark.parametrize(("pipeline", "program"), CRASHES)
def test_a_crash_of_mlir_opt_is_named(pipeline: str, program: str) -> None:
    with pytest.raises(GaweeError, match=f"pass '{pass_of(pipeline)}': .* ended with a crash: "):
        check_pipeline(program, f"cse,{pipeline}")


@requires_upstream
def test_a_wrong_pass_is_reduced_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = next(each for each in REPORTS if each.number == 128273)
    path = tmp_path / "in.mlir"
    path.write_text(report.program)
    flags = [f"--passes={report.pipeline}", f"--reproducer={tmp_path / 'found'}", "--time-limit=20"]

    assert gawee_check.main([str(path), *flags]) == 1
    assert "pass 'affine-loop-invariant-code-motion' moved output" in capsys.readouterr().err
    test = (tmp_path / "found" / "wrong.mlir").read_text()
    alone = "builtin.module(func.func(affine-loop-invariant-code-motion))"
    assert test.startswith(f"// RUN: gawee-check %s --tool mlir-opt --pass-pipeline='{alone}'\n")
    assert "affine.for" in test
    issue = (tmp_path / "found" / "issue.md").read_text()
    assert f"    mlir-opt in.mlir --pass-pipeline='{alone}'" in issue

    again = tmp_path / "found" / "wrong.mlir"
    assert gawee_check.main([str(again), f"--pass-pipeline={alone}"]) == 1
    assert "affine-loop-invariant-code-motion' moved output" in capsys.readouterr().err


@requires_upstream
@pytest.mark.parametrize(
    ("number", "ops", "has"),
    [
        (137281, 16, ("vector.print", "cf.br")),
        (137509, 16, ("vector.print", "llvm.br")),
        (113687, 8, ("affine.vector_store",)),
    ],
)
def test_a_report_is_reduced_and_still_shows_its_wrong_pass(
    number: int, ops: int, has: Sequence[str]
) -> None:
    report = next(each for each in REPORTS if each.number == number)
    found = check_pipeline(report.program, report.pipeline)

    small = reduced(found, Tool("mlir-opt"), CheckSettings(), 60.0)

    assert small.failure is not None
    assert small.failure.pass_name == report.wrong
    assert count(small.text) <= ops < count(found.text)
    assert all(each in small.text for each in has)


# Parallel loops run backwards too.

RACE = """
func.func @main(%x: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  KIND %i = BOUNDS {
    %j = arith.addi %i, %c1 : index
    %a = memref.load %x[%i] : memref<8xi32>
    memref.store %a, %x[%j] : memref<8xi32>
    END
  }
  return
}
"""


@requires_upstream
@pytest.mark.parametrize("pipeline", ["cse", "scf-parallel-for-to-nested-fors"])
def test_what_depended_on_the_order_of_parallel_loops_before_is_no_fault_of_a_pass(
    pipeline: str,
) -> None:
    parallel = "(%c0) to (%c7) step (%c1)"
    text = RACE.replace("KIND %i", "scf.parallel (%i)").replace("BOUNDS", parallel)

    assert_pipeline_correct(text.replace("END", "scf.reduce"), pipeline)


PARALLEL_NEST = """
func.func @main(%x: memref<6x5xi32>, %s: i32, %n: index) {
  affine.parallel (%i, %j) = (0, max(1, %n - 2)) to (min(6, %n + 3), 5) step (2, 1) {
    %r = affine.if affine_set<(a, b)[c] : (a - b >= 0, c - 1 >= 0)>(%i, %j)[%n] -> i32 {
      %a = affine.load %x[%i, %j] : memref<6x5xi32>
      affine.yield %a : i32
    } else {
      affine.yield %s : i32
    }
    affine.if affine_set<(a) : (a mod 2 == 0)>(%j) {
      affine.store %r, %x[%i + 1, %j] : memref<6x5xi32>
    }
  }
  return
}
"""


@requires_upstream
def test_parallel_nests_and_choices_of_affine_are_interpreted_as_upstream_lowers_them() -> None:
    found = check_pipeline(PARALLEL_NEST, "lower-affine,convert-scf-to-cf")

    assert found.failure is None
    assert [step.engine for step in found.steps] == [*2 * ["interpreter"], "native"]


# All passes of a pipeline at once.

CALLS = """
func.func private @other(%x: i32) -> i32
func.func private @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %z = arith.addi %x, %x : i32
  return %z : i32
}
func.func @main(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %a = call @twice(%x) : (i32) -> i32
  %b = arith.addi %a, %c0 : i32
  return %b : i32
}
"""
PASSES = split_pipeline(
    "func.func(cse),func.func(canonicalize),inline,convert-arith-to-llvm,convert-func-to-llvm"
)


@requires_upstream
def test_what_a_tool_prints_behind_passes_is_what_each_of_them_makes() -> None:
    text = CALLS
    printed = Tool("mlir-opt").printed(text, PASSES)

    assert len(printed) == len(PASSES)
    for pipeline, made in zip(PASSES, printed, strict=True):
        alone = Tool("mlir-opt").run(text, pipeline)
        assert run_program("mlir-opt", [], made) == run_program("mlir-opt", [], alone)
        text = alone


@requires_upstream
def test_what_a_tool_refuses_ends_what_it_prints() -> None:
    refused = "builtin.module(convert-scf-to-cf{no-such-option})"
    pipeline, crashing = CRASHES[2]
    parts = split_pipeline(f"cse,{pipeline},canonicalize")

    assert Tool("mlir-opt").printed(CALLS, [PASSES[0], refused]) == []
    assert len(Tool("mlir-opt").printed(crashing, parts)) == 1


@requires_upstream
def test_a_text_with_resources_keeps_them() -> None:
    text = """
func.func @main() -> tensor<2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2xf32>
  return %w : tensor<2xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}
"""
    tool = Tool("mlir-opt")
    tool.run_through(text, PASSES[:2])

    assert "0x040000000000803F00000040" in tool.run(text, PASSES[0])


@requires_upstream
@pytest.mark.parametrize(
    ("pipeline", "more"),
    [
        ("canonicalize,cse,sccp,canonicalize", 0),
        # It is asked whether it takes many modules, and lowers all of them to machine code.
        ("convert-scf-to-cf,canonicalize,sccp,convert-cf-to-llvm,convert-arith-to-llvm", 2),
    ],
)
def test_a_tool_is_started_once_for_all_passes(pipeline: str, more: int, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    program = tmp_path / "counted-opt"
    program.write_text(f'#!/bin/sh\necho >> {starts}\nexec {find_tool("mlir-opt")} "$@"\n')
    program.chmod(0o700)

    assert_pipeline_correct(LOOP, pipeline, str(program))

    asked_for_printing, reading, passes = 1, 1, 1
    assert len(starts.read_text()) == asked_for_printing + reading + passes + more


# Many modules at once.


@requires_upstream
def test_modules_that_a_tool_runs_at_once_are_what_it_makes_of_each() -> None:
    texts = [CHOICE, "module { func.func @f( }", LOOP]
    made = Tool("mlir-opt").run_many(texts, "builtin.module(cse)")
    refused = made[1]

    assert refused is None
    with pytest.raises(GaweeError, match="'mlir-opt' refuses what is one of many modules"):
        Tool("mlir-opt").run(texts[1], "builtin.module(cse)")
    for text, each in zip(texts, made, strict=True):
        if each is not None:
            alone = run_program("mlir-opt", ["--pass-pipeline=builtin.module(cse)"], text)
            again = run_program("mlir-opt", [], each)
            assert again.strip() == alone.strip()


@requires_upstream
def test_a_module_that_crashes_a_tool_leaves_the_others_of_many() -> None:
    pipeline, crashing = CRASHES[2]
    texts = [CHOICE, LOOP, crashing, LOOP]
    made = Tool("mlir-opt").run_many(texts, f"builtin.module({pipeline})")

    assert [each is None for each in made] == [False, False, True, False]


# Wrong passes of a tool of its own.


@requires_upstream
@pytest.mark.parametrize(
    ("name", "program", "op"),
    [
        ("sum-for-product", CHOICE, "first op that differs: 'scf.for'"),
        ("other-predicate", CHOICE, "first op that differs: 'scf.for'"),
        ("shorter-loop", LOOP, "in.mlir:4:9: error: pass 'shorter-loop' moved"),
    ],
)
def test_a_wrong_pass_of_any_tool_is_named_and_its_first_op(
    wrong_opt: str, name: str, program: str, op: str
) -> None:
    pipeline = f"cse,{name},canonicalize"
    found = check_pipeline(program, pipeline, wrong_opt)

    assert found.failure is not None
    assert found.failure.pass_name == name
    assert op in str(found.failure)


@requires_upstream
def test_a_wrong_pass_on_blocks_runs_as_machine_code(wrong_opt: str) -> None:
    pipeline = "convert-scf-to-cf,canonicalize,sum-for-product,cse"
    found = check_pipeline(CHOICE, pipeline, wrong_opt)

    assert found.failure is not None
    assert found.failure.pass_name == "sum-for-product"
    assert "first op that the pass replaced: 'arith.muli'" in str(found.failure)
    assert [step.engine for step in found.steps[:2]] == ["interpreter", "native"]


@requires_upstream
def test_a_pass_that_ends_badly_is_named(wrong_opt: str) -> None:
    with pytest.raises(GaweeError, match=r"pass 'crash': .* ended with exit code 3: no such luck"):
        check_pipeline(CHOICE, "canonicalize,crash", wrong_opt)


@requires_upstream
def test_an_assertion_of_a_test_names_the_pass(wrong_opt: str) -> None:
    assert_pipeline_correct(CHOICE, "canonicalize,cse", wrong_opt)
    with pytest.raises(AssertionError, match="pass 'sum-for-product' moved output"):
        assert_pipeline_correct(CHOICE, "canonicalize,sum-for-product", Tool(wrong_opt))


# What the program prints is compared too.

PRINTS = """
func.func private @printMemrefI32(memref<*xi32>)
func.func @main(%c7: i32) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<2x3xi32>
  linalg.fill ins(%c7 : i32) outs(%m : memref<2x3xi32>)
  %n = arith.muli %c7, %c7 : i32
  memref.store %n, %m[%c0, %c0] : memref<2x3xi32>
  vector.print %n : i32
  %u = memref.cast %m : memref<2x3xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
"""


@requires_upstream
def test_what_is_printed_is_an_output(wrong_opt: str) -> None:
    assert_pipeline_correct(PRINTS, "convert-linalg-to-loops,cse", wrong_opt)
    found = check_pipeline(PRINTS, "convert-linalg-to-loops,sum-for-product", wrong_opt)

    assert found.failure is not None
    assert "moved output 'printed' at [0]: expected " in str(found.failure)


# Pipelines that are right.


@requires_upstream
@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("case", mostly_full(CHECKED))
def test_a_right_pipeline_raises_no_alarm(case: tuple[str, str]) -> None:
    name, pipeline = case

    assert_pipeline_correct(PROGRAMS[name], pipeline)


def test_there_are_a_hundred_pipelines() -> None:
    assert len(CHECKED) >= 100


# Mistakes of users.


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(GaweeError, match="cannot run 'no-such-opt': it is no program"):
        find_tool("no-such-opt")


def test_a_tool_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gawee_dialect.instruments.tool.pipeline.MOST_SECONDS", 0.1)
    with pytest.raises(GaweeError, match="'sleep' took longer than"):
        run_program("sleep", ["5"], "")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "expected --passes or --pass-pipeline, got neither"),
        (["-p", "a", "--pass-pipeline=b"], "expected --passes or --pass-pipeline, got both"),
        (["-p", ","], "expected a pass pipeline, got none"),
    ],
)
def test_a_command_line_without_one_pipeline_is_refused(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(CHOICE)

    assert gawee_check.main([str(path), *flags]) == 1
    assert message in capsys.readouterr().err


@requires_upstream
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("module {}", "expected a function to run, got none in the module"),
        (
            "func.func @f(%x: memref<*xf32>) { return }",
            "no data for argument 0 of type",
        ),
        (
            "func.func @f(%x: memref<2xi1>) -> i1 {\n %c = arith.constant 9 : index\n"
            " %y = memref.load %x[%c] : memref<2xi1>\n return %y : i1 }",
            "cannot run the module: ",
        ),
        (
            "func.func @f() -> i32 {\n %c = arith.constant 0 : index\n"
            " %m = memref.alloc() : memref<2xi32>\n"
            " %y = memref.load %m[%c] : memref<2xi32>\n return %y : i32 }",
            "cannot check the module: '@f' returns what it reads of memory that it never wrote",
        ),
        (
            "func.func @f() -> i32 {\n %c = arith.constant 0 : index\n"
            " %m = memref.alloc() : memref<2xi32>\n cf.br ^end\n^end:\n"
            " %y = memref.load %m[%c] : memref<2xi32>\n return %y : i32 }",
            "cannot check the module: '@f' returns what it reads of memory that it never wrote",
        ),
        (
            "func.func @f(%x: i32, %i: index) -> i32 {\n %c = arith.constant 9 : index\n"
            " %m = memref.alloc() : memref<2xi32>\n cf.br ^end\n^end:\n"
            " memref.store %x, %m[%c] : memref<2xi32>\n"
            " %y = memref.load %m[%i] : memref<2xi32>\n return %y : i32 }",
            "cannot run the module: '@f' writes outside of what it allocates",
        ),
        ("func.func @f( {", "'mlir-opt' ended with exit code 1: expected"),
    ],
)
def test_a_module_that_cannot_be_run_is_refused(program: str, message: str) -> None:
    with pytest.raises(GaweeError) as raised:
        check_pipeline(program, "cse")
    assert message in str(raised.value)


@requires_upstream
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("renamed", "left a module that cannot be run: the tool left no function '@main'"),
        (
            "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
            "'@main' takes or returns something else than it did",
        ),
    ],
)
def test_a_pass_that_changes_a_function_s_type_is_named(
    wrong_opt: str, wrong: str, message: str
) -> None:
    found = check_pipeline(LOOP, f"convert-scf-to-cf,{wrong},reconcile-unrealized-casts", wrong_opt)

    assert found.failure is not None
    assert message in str(found.failure)


@requires_upstream
def test_a_vector_of_several_axes_is_no_result_of_machine_code() -> None:
    program = """
func.func @main(%x: vector<2x2xf32>) -> vector<2x2xf32> {
  cf.br ^end(%x : vector<2x2xf32>)
^end(%y: vector<2x2xf32>):
  return %y : vector<2x2xf32>
}
"""
    with pytest.raises(GaweeError, match="cannot run the module: no array for a result of type"):
        check_pipeline(program, "cse")


def test_a_tool_that_writes_no_mlir_is_refused() -> None:
    with pytest.raises(GaweeError, match="cannot read the module: "):
        check_pipeline(CHOICE, "cse", "echo")


def test_a_memref_that_goes_backwards_is_refused() -> None:
    words = np.array([0, 0, 0, 2, -1])
    with pytest.raises(GaweeError, match="a result has a negative stride"):
        described(words.ctypes.data, 1, np.dtype(np.float32))


# Passes that cannot be checked.


@requires_upstream
@pytest.mark.parametrize(
    ("program", "pipeline", "said"),
    [
        (
            "func.func @main(%x: i32) -> i32 {\n"
            "  %y = arith.addi %x, %x : i32\n  return %y : i32\n}\n",
            "canonicalize,arith-emulate-wide-int{widest-int-supported=16}",
            "in.mlir:1:1: warning: pass 'arith-emulate-wide-int' could not be checked: not run: "
            "'func.func' op cannot be compared: 'i32' of '@main' has become 'vector<2xi16>'\n",
        ),
        (
            "func.func @main(%x: vector<2x2xf32>) -> vector<2x2xf32> {\n"
            "  %y = arith.addf %x, %x : vector<2x2xf32>\n  return %y : vector<2x2xf32>\n}\n",
            "convert-arith-to-llvm,convert-func-to-llvm",
            "warning: pass 'convert-arith-to-llvm' could not be checked: not run: no array for a "
            "result of type 'vector<2x2xf32>'\n",
        ),
    ],
)
def test_a_pass_that_cannot_be_checked_ends_with_a_code_of_its_own(
    program: str, pipeline: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(program)

    assert gawee_check.main([str(path), f"--passes={pipeline}"]) == 3
    assert said in capsys.readouterr().err.replace(f"{tmp_path}/", "")


@requires_upstream
@pytest.mark.parametrize(("lanes", "is_checked"), [(4, True), (3, False)])
def test_rows_of_vectors_are_arguments_where_they_lie_side_by_side(
    lanes: int, is_checked: bool
) -> None:
    program = """
func.func @main(%x: vector<2xNxi32>) -> i32 {
  %y = arith.muli %x, %x : vector<2xNxi32>
  %z = vector.extract %y[1, 2] : i32 from vector<2xNxi32>
  return %z : i32
}
"""
    text = program.replace("N", str(lanes))
    found = check_pipeline(text, "canonicalize,convert-vector-to-llvm,convert-arith-to-llvm")

    assert found.failure is None
    assert all(step.is_checked for step in found.steps) == is_checked
    noted = any("no array for an argument of type" in step.note for step in found.steps)
    assert noted != is_checked
