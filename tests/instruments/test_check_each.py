"""What `--check-each` runs, on which data, and what it says."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, llvm, scf, test
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnknownLoc, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.backend import program
from gawee_dialect.backend.jit import NativeModule, Target
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.graph.arithmetic import NegOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.instruments.check import execute
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.functions import argument_specs
from gawee_dialect.instruments.check.inputs import seeded_array
from gawee_dialect.instruments.check.native_run import run_isolated
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import EXACT, Numerics, declared_numerics
from gawee_dialect.passes.pass_manager import Pipeline, parse_passes, run_passes
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import check, notes, parse
from tests.instruments.edited import Edited

CHAIN = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %s = gawee.add %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %y = gawee.relu %s : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":20:5))
  return %y : tensor<3x5xf32> loc("output"("net.json":30:5))
}
"""


@dataclass(frozen=True)
class FromFunction(ModulePass):
    """A pass that is one function."""

    name = "from-function"
    change: Callable[[ModuleOp], None]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.change(op)


@dataclass(frozen=True)
class Twice(Pipeline):
    """Two passes under one name."""

    name = "twice"
    second: ModulePass

    def passes(self) -> list[ModulePass]:
        return [*parse_passes("canonicalize", all_passes()), self.second]


def drop_relu(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, ReluOp):
            op.result.replace_all_uses_with(op.input)
            op.detach()
            op.erase()


def checked(module: ModuleOp, *passes: ModulePass) -> CheckEach:
    each = CheckEach()
    with instrumented(each):
        run_passes(make_context(), module, passes)
    return each


def failure(module: ModuleOp, *passes: ModulePass) -> CheckFailure:
    with pytest.raises(CheckFailure) as caught:
        checked(module, *passes)
    return caught.value


def test_each_pass_of_a_nested_pipeline_is_checked_and_named() -> None:
    error = failure(parse(CHAIN), Twice(FromFunction(drop_relu)))

    assert error.pass_name == "from-function"
    assert str(error).startswith("net.json:30:5: error: pass 'from-function' moved output 'y' at ")


def test_op_that_is_gone_is_named_where_its_value_is_missed() -> None:
    error = failure(parse(CHAIN), FromFunction(drop_relu))

    (diagnostic,) = error.diagnostics
    assert diagnostic.hint == ("the pass removed 'gawee.relu' op of node \"act\" (net.json:20:5)")


def test_pass_that_changes_nothing_is_not_run_again() -> None:
    each = check(parse(CHAIN), "canonicalize,cse")

    assert notes(each) == {"canonicalize": "unchanged", "cse": "unchanged"}


def test_passes_after_which_nothing_runs_share_the_blame() -> None:
    def wrap(module: ModuleOp) -> None:
        for op in list(module.walk()):
            if isinstance(op, ReturnOp):
                wrapper = test.TestOp(op.operands, [op.operands[0].type])
                assert op.parent is not None
                op.parent.insert_op_before(wrapper, op)
                op.operands[0] = wrapper.results[0]

    def unwrap_and_drop(module: ModuleOp) -> None:
        for op in list(module.walk()):
            if isinstance(op, test.TestOp):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.detach()
                op.erase()
        drop_relu(module)

    @dataclass(frozen=True)
    class Wrap(FromFunction):
        name = "wrap"
        numerics: ClassVar[Numerics] = EXACT

    error = failure(parse(CHAIN), Wrap(wrap), FromFunction(unwrap_and_drop))

    assert "pass 'from-function' (or 'wrap', which could not be run) moved output 'y'" in str(error)
    assert "allowed: exact or reassociates" in str(error)


def test_program_that_no_longer_runs_is_the_fault_of_the_pass() -> None:
    error = failure(
        parse(CHAIN), FromFunction(lambda module: setattr(main_of(module), "sym_name", StringAttr("g")))
    )  # fmt: skip

    assert "pass 'from-function' left a module that cannot be run: expected a function" in str(
        error
    )


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def test_output_that_gets_another_name_is_the_fault_of_the_pass() -> None:
    error = failure(
        parse(CHAIN), FromFunction(lambda module: setattr(main_of(module), "res_attrs", None))
    )

    assert (
        "pass 'from-function' changed the outputs of '@main': expected 'y': 3x5xfloat32, "
        in str(error)
    )
    assert "got 'output0': 3x5xfloat32" in str(error)


def test_module_that_cannot_be_run_at_first_is_checked_from_where_it_can() -> None:
    text = CHAIN.replace("%y = gawee.relu %s", '%i = "test.op"() : () -> i32\n  %y = gawee.relu %s')
    module = parse(text)

    def erase_unknown(module: ModuleOp) -> None:
        for op in list(module.walk()):
            if op.name == "test.op":
                op.detach()
                op.erase()

    each = checked(
        module, FromFunction(erase_unknown), *parse_passes("lower-to-linalg", all_passes())
    )

    assert notes(each) == {
        "(as it was read)": "not run: 'test.op' op unsupported by the interpreter"
    }
    assert each.steps[-1].engine == "interpreter"
    assert [step.is_checked for step in each.steps] == [True, False, True]


def test_what_does_not_run_is_checked_where_a_later_pass_runs_again() -> None:
    def insert(module: ModuleOp) -> None:
        first = next(op for op in module.walk() if op.name == "gawee.relu")
        assert first.parent is not None
        first.parent.insert_op_before(test.TestOp(result_types=[i32]), first)

    def erase(module: ModuleOp) -> None:
        for op in [op for op in module.walk() if op.name == "test.op"]:
            op.detach()
            op.erase()

    waits = checked(parse(CHAIN), FromFunction(insert))
    goes_on = checked(parse(CHAIN), FromFunction(insert), FromFunction(erase))

    assert [step.is_checked for step in waits.steps] == [True, False]
    assert [step.is_checked for step in goes_on.steps] == [True, True, True]


LOOP = """
func.func @f(%a: memref<9xf32>, %b: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  func.call @k(%a, %b) : (memref<9xf32>, memref<9xf32>) -> () loc("kernel"("net.json":10:5))
  return
}
func.func private @k(%a: memref<9xf32>, %b: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %x = memref.load %a[%i] : memref<9xf32>
    %y = memref.load %b[%i] : memref<9xf32>
    %z = arith.subf %x, %y : f32
    memref.store %z, %b[%i] : memref<9xf32>
  }
  return
}
"""


def swap_operands(module: ModuleOp) -> None:
    for op in module.walk():
        if isinstance(op, arith.SubfOp | llvm.FSubOp):
            op.operands = tuple(reversed(op.operands))


def test_function_on_buffers_leaves_its_results_in_what_it_writes() -> None:
    each = check(parse(LOOP), "cse,convert-to-llvm")

    assert notes(each) == {}
    assert [step.engine for step in each.steps] == ["interpreter", "interpreter", "native"]


def test_wrong_kernel_is_found_at_its_call() -> None:
    error = failure(parse(LOOP), FromFunction(swap_operands))

    assert str(error).startswith("net.json:10:5: error: pass 'from-function' moved output 'b'")
    assert "first op that differs: 'func.call' of '@k'" in str(error)


def test_loops_too_large_for_the_interpreter_run_natively_and_are_seen_call_by_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execute, "LARGEST_INTERPRETED", 20)

    each = check(parse(LOOP), "cse")
    error = failure(parse(LOOP), FromFunction(swap_operands))

    assert each.steps[0].engine == "native"
    assert str(error).startswith("net.json:10:5: error: pass 'from-function' moved output 'b'")
    assert "first op that differs: 'func.call' of '@k'" in str(error)


def test_functions_that_call_each_other_without_end_are_not_run() -> None:
    module = parse("""
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = func.call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}""")

    each = check(module, "canonicalize")

    assert notes(each)["(as it was read)"] == (
        "not run: 'func.call' op cannot run: functions call each other more deeply than Python can"
    )


# 56: six ops in @f; three constants, a loop of nine times five ops and the return in @k.
def test_large_loops_that_cannot_be_lowered_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "LARGEST_INTERPRETED", 20)
    module = parse(
        LOOP.replace("  func.call", "  %t = tensor.empty() : tensor<9xf32>\n  func.call")
    )

    each = check(module, "canonicalize,cse")

    assert notes(each)["(as it was read)"] == (
        "not run: too large for the interpreter: 56 scalar operations"
    )
    assert each.steps[1].engine == "native"


SCATTER = """
func.func @main(%x: tensor<7x3xf32> {gawee.input = "x"}, %i: tensor<5x3xi64> {gawee.input = "i"},
                %u: tensor<5x3xf32> {gawee.input = "u"}) -> (tensor<7x3xf32> {gawee.output = "y"}) {
  %y = gawee.scatter_elements %x, %i, %u axis 0 reduction "add" : (tensor<7x3xf32>, tensor<5x3xi64>, tensor<5x3xf32>) -> tensor<7x3xf32> loc("scatter"("net.json":10:5))
  return %y : tensor<7x3xf32>
}
"""


def subtract_instead(module: ModuleOp) -> None:
    op = next(op for op in module.walk() if isinstance(op, arith.AddfOp))
    assert op.parent is not None
    other = arith.SubfOp(op.lhs, op.rhs)
    op.parent.insert_op_before(other, op)
    op.result.replace_all_uses_with(other.result)
    op.detach()
    op.erase()


def test_large_loops_on_tensors_run_natively(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "LARGEST_INTERPRETED", 20)

    each = check(parse(SCATTER), "lower-to-linalg,cse")
    passes = parse_passes("lower-to-linalg", all_passes())
    error = failure(parse(SCATTER), *passes, FromFunction(subtract_instead))

    assert [step.engine for step in each.steps] == ["interpreter", "native", "native"]
    assert "pass 'from-function' moved output 'y'" in str(error)


def test_wrong_kernel_of_the_llvm_level_is_found_at_its_call() -> None:
    error = failure(
        parse(LOOP), *parse_passes("convert-to-llvm", all_passes()), FromFunction(swap_operands)
    )

    assert str(error).startswith("net.json:10:5: error: pass 'from-function' moved output 'b' at [")
    assert "first op that differs: 'func.call' of '@k'" in str(error)


def test_wrong_pass_on_the_llvm_level_is_found_beside_kernels() -> None:
    call = "llvm.call @k(%a, %b) : (!llvm.ptr, !llvm.ptr) -> ()"
    to_llvm = parse_passes("convert-to-llvm", all_passes())

    error = failure(parse(LOOP), *to_llvm, Edited((call, f"{call}\n    {call}")))

    assert str(error).startswith("error: pass 'edited' moved output 'b' at [")
    assert "first op that the pass changed: 'llvm.return' in '@f', now 'llvm.call'" in str(error)


TWO = """
func.func @one(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
func.func @other(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = gawee.neg %x : (tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}
"""


def test_functions_of_a_module_are_compiled_once_as_long_as_their_code_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execute, "LARGEST_INTERPRETED", 0)
    compiled: list[ModuleOp] = []
    compile_joined = program.compile_joined

    def counted(module: ModuleOp, target: Target) -> NativeModule:
        compiled.append(module)
        return compile_joined(module, target)

    monkeypatch.setattr(program, "compile_joined", counted)

    checked = check(parse(TWO), "gawee-to-llvm")

    assert len(compiled) == 1
    native = [step.name for step in checked.steps if step.engine == "native"]
    assert native == ["lower-linalg-to-loops", "convert-to-llvm"]


def test_native_code_that_writes_anywhere_is_stopped_in_a_process_of_its_own() -> None:
    def run_far(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, arith.ConstantOp) and op.result.name_hint == "c9":
                op.properties["value"] = IntegerAttr.from_index_int_value(2**40)

    error = failure(parse(LOOP), *parse_passes("canonicalize", all_passes()), FromFunction(run_far))

    assert "left a module that cannot be run: native code was stopped by SIGSEGV" in str(error)


COUNTING = """
func.func @main(%n: i32) -> i32 {
  %c9 = arith.constant 9 : i32
  %one = arith.constant 1 : i32
  %r = scf.while (%a = %one) : (i32) -> i32 {
    %b = arith.addi %a, %one : i32
    %more = arith.cmpi ult, %b, %c9 : i32
    scf.condition(%more) %b : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return %r : i32
}
"""


def never_end(module: ModuleOp) -> None:
    for op in module.walk():
        if isinstance(op, scf.ConditionOp):
            true = arith.ConstantOp(IntegerAttr.from_bool(True))
            Rewriter.insert_op(true, InsertPoint.before(op))
            op.operands[0] = true.result


def test_a_pass_that_leaves_a_loop_without_end_is_named_and_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gawee_dialect.instruments.check.execute.MOST_ROUNDS", 1000)
    error = failure(parse(COUNTING), FromFunction(never_end))

    assert str(error).splitlines() == [
        "test.mlir:5:3: error: pass 'from-function' left a module that cannot be run: "
        "'scf.while' op has not ended after 1000 rounds",
        "hint: give data for which it ends",
    ]


def test_a_loop_that_had_no_end_before_is_told_and_ends_no_pipeline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gawee_dialect.instruments.check.execute.MOST_ROUNDS", 1000)
    module = parse(COUNTING)
    never_end(module)
    each = checked(module, *parse_passes("canonicalize,cse", all_passes()))

    assert notes(each)["(as it was read)"] == (
        "not run: 'scf.while' op has not ended after 1000 rounds; give data for which it ends"
    )
    assert each.steps[0].place == "test.mlir:5:3"


def test_native_code_without_end_is_stopped() -> None:
    def spin() -> dict[str, np.ndarray]:
        while True:
            pass

    with pytest.raises(GaweeError, match="has not ended after 1 s of processor time"):
        run_isolated(spin, 1)


def test_isolated_code_hands_back_errors_and_exit_codes() -> None:
    def refuse() -> dict[str, np.ndarray]:
        raise GaweeError("expected something else")

    assert run_isolated(lambda: {"a b": np.arange(3)})["a b"].tolist() == [0, 1, 2]
    with pytest.raises(GaweeError, match="expected something else"):
        run_isolated(refuse)

    def stop() -> dict[str, np.ndarray]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    with pytest.raises(GaweeError, match="native code was stopped by SIGKILL"):
        run_isolated(stop)
    with pytest.raises(GaweeError, match="native code ended with exit code 3"):
        run_isolated(lambda: os._exit(3))


def test_data_depend_on_the_seed_and_the_name_alone() -> None:
    (x, z) = argument_specs(parse(CHAIN), "main")

    assert np.array_equal(seeded_array(x, 1), seeded_array(x, 1))
    assert not np.array_equal(seeded_array(x, 1), seeded_array(x, 2))
    assert not np.array_equal(seeded_array(x, 1), seeded_array(z, 1))


def test_data_suit_the_ops_that_read_them() -> None:
    module = parse("""
      func.func @main(%x: tensor<2x64x3x3xf32>, %w: tensor<32x64x1x1xf32> {gawee.parameter = "w"},
          %m: tensor<32xf32> {gawee.parameter = "m"}, %v: tensor<32xf32> {gawee.parameter = "v"},
          %d: tensor<32x3x3xf32>, %i: tensor<50xi8>, %u: tensor<50xui8>, %b: tensor<50xi1>)
          -> tensor<2x32x3x3xf32> {
        %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x64x3x3xf32>, tensor<32x64x1x1xf32>) -> tensor<2x32x3x3xf32>
        %n = gawee.batch_norm %c mean %m variance %v eps 1.000000e-05 : tensor<2x32x3x3xf32>, tensor<32xf32>
        %q = gawee.div %n, %d : (tensor<2x32x3x3xf32>, tensor<32x3x3xf32>) -> tensor<2x32x3x3xf32>
        return %q : tensor<2x32x3x3xf32>
      }
    """)
    data = {spec.name: seeded_array(spec, 0) for spec in argument_specs(module, "main")}

    assert data["v"].min() > 0
    assert np.abs(data["d"]).min() >= 0.5
    assert 0.1 < data["w"].std() < 0.25  # He's scale: sqrt(2 / 64) = 0.18
    assert data["i"].min() == -4
    assert data["u"].max() == 9
    assert set(data["b"].tolist()) == {False, True}


def test_given_arrays_are_used_and_checked() -> None:
    arrays = {"x": np.full((3, 5), 2.0), "z": np.zeros((3, 5), np.float32)}
    each = check(parse(CHAIN), "lower-to-linalg", CheckSettings(arrays=arrays))

    assert notes(each)["(as it was read)"] == "'y' is 2.0 everywhere"
    for wrong, message in (
        ({"w": np.zeros(3)}, "unknown argument 'w'"),
        ({"x": np.zeros((5, 3))}, "expected 'x' of shape 3x5, got 5x3"),
        ({"x": np.zeros((3, 5), complex)}, "expected 'x' of dtype float32, got complex128"),
    ):
        with pytest.raises(GaweeError, match=message):
            check(parse(CHAIN), "lower-to-linalg", CheckSettings(arrays=wrong))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func private @f()", "expected a public function to run, got none in the module"),
        (
            "func.func @f(%v: !gawee.python_value) { return }",
            "cannot make data for argument 'v' of type '!gawee.python_value'",
        ),
        (
            "func.func @f(%v: memref<2x3xf32, strided<[4, 1]>>) { return }",
            "cannot make data for argument 'v' of type 'memref<2x3xf32, strided<.4, 1.>>'",
        ),
    ],
)
def test_module_without_anything_to_run_is_refused(text: str, message: str) -> None:
    with pytest.raises(GaweeError, match=message):
        check(parse(text), "canonicalize")


def test_passes_of_xdsl_are_known_or_reassociate() -> None:
    declared = {
        name: str(declared_numerics(made))
        for name in ("cse", "licm", "linalg-fuse-multiply-add")
        for made in parse_passes(name, all_passes())
    }

    assert declared == {"cse": "exact", "licm": "exact", "linalg-fuse-multiply-add": "reassociates"}


def test_fast_math_takes_back_the_promise_to_be_exact() -> None:
    strict, fast = parse_passes("convert-to-llvm,convert-to-llvm{fast-math=fast}", all_passes())

    assert str(declared_numerics(strict)) == "exact"
    assert str(declared_numerics(fast)) == "reassociates"


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.mlir"
    path.write_text(CHAIN)
    return path


def test_output_is_the_same_with_and_without(
    chain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs: list[str] = []
    for flags in ([], ["--check-each"]):
        assert (
            gawee_opt.main([*flags, "--gawee-to-llvm", "--mlir-print-debuginfo", str(chain)]) == 0
        )
        outputs.append(capsys.readouterr().out)

    assert outputs[0] == outputs[1]


def test_arrays_come_from_a_file(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "inputs.npz"
    np.savez(file, x=np.zeros((3, 5), np.float32), z=np.full((3, 5), 7, np.float32))

    code = gawee_opt.main(
        ["--check-each", f"--check-inputs={file}", "--lower-to-linalg", str(chain)]
    )

    assert code == 0
    assert "'y' is 7.0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--check-each", "--check-inputs=missing.npz"], "cannot open 'missing.npz': "),
        (["--check-seed=3"], "expected --check-each with --check-seed, got none"),
    ],
)
def test_wrong_flags_are_refused(
    flags: list[str], message: str, chain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([*flags, "--canonicalize", str(chain)]) == 1
    assert message in capsys.readouterr().err


def test_ops_of_one_place_that_are_gone_are_told_by_their_values() -> None:
    # What is gone reads what is gone with it, at the same place.
    text = CHAIN.replace(
        "%y = gawee.relu %s",
        '%m = gawee.neg %s : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("turned"("net.json":15:5))\n'
        '  %n = gawee.neg %m : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("turned"("net.json":15:5))\n'
        "  %y = gawee.relu %n",
    )

    def drop_one(module: ModuleOp) -> None:
        first, second = (op for op in module.walk() if isinstance(op, NegOp))
        second.result.replace_all_uses_with(first.result)
        second.detach()
        second.erase()
        first.location = UnknownLoc()

    error = failure(parse(text), FromFunction(drop_one))

    assert str(error).startswith("net.json:15:5: error: pass 'from-function' moved output 'y' at ")
    assert "first op that differs: 'gawee.neg'" in str(error)


def test_the_report_says_which_ops_no_data_reaches() -> None:
    text = CHAIN.replace(
        "%y = gawee.relu %s",
        '%n = gawee.clip %s min -1.000000e+05 max -1.000000e+04 : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("deep"("net.json":15:5))\n  %y = gawee.relu %n',
    )
    each = check(parse(text), "canonicalize")

    each.note_unreached()

    (note,) = (step.note for step in each.steps if step.name == "(as it was read)")
    assert note.startswith("'y' is 0.0 everywhere, no data reaches ")
    assert "'gawee.add' op of node \"sum\" (net.json:10:5)" in note
