"""The kernels in the loop of a recurrence have rows of their own. No test asserts a time."""

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.step_clock import has_clock, step_clock
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.instruments.kernel_profile import call_clock, lowered_to_loops
from gawee_dialect.levels import Level, native_stages
from gawee_dialect.model import Model
from gawee_dialect.passes.buffers.outline_kernels import OutlineKernels
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.tools.gawee_run import main
from gawee_dialect.universe import make_context

pytestmark = pytest.mark.skipif(not has_clock(), reason="this system has no POSIX clock")

STEPS = 9
RECURRENT = f"""func.func @main(%x: tensor<{STEPS}x2x5xf32> {{gawee.input = "x"}}, %s: tensor<2x5xf32> {{gawee.input = "s"}}, %w: tensor<5x5xf32> {{gawee.parameter = "w"}}) -> tensor<2x5xf32> {{
  %r = gawee.relu %x : (tensor<{STEPS}x2x5xf32>) -> tensor<{STEPS}x2x5xf32> loc("before"("net.json":2:1))
  %h = gawee.scan steps {STEPS} initial(%s : tensor<2x5xf32>) over(%r : tensor<{STEPS}x2x5xf32>) {{
  ^bb0(%state: tensor<2x5xf32>, %now: tensor<2x5xf32>):
    %p = gawee.matmul %state, %w : (tensor<2x5xf32>, tensor<5x5xf32>) -> tensor<2x5xf32> loc("cell"("net.json":3:1))
    %q = gawee.add %p, %now : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("cell"("net.json":3:1))
    %m = gawee.matmul %q, %w : (tensor<2x5xf32>, tensor<5x5xf32>) -> tensor<2x5xf32> loc("cell"("net.json":3:1))
    %t = gawee.tanh %m : (tensor<2x5xf32>) -> tensor<2x5xf32> loc("cell"("net.json":3:1))
    gawee.yield %t : tensor<2x5xf32>
  }} -> tensor<2x5xf32> loc("cell"("net.json":3:1))
  return %h : tensor<2x5xf32>
}}
"""


def model() -> Model:
    numbers = np.random.default_rng(0).standard_normal((5, 5), np.float32)
    return Model(parse_mlir(make_context(), RECURRENT, "net.mlir"), {"w": numbers})


def inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "x": rng.standard_normal((STEPS, 2, 5), np.float32),
        "s": rng.standard_normal((2, 5), np.float32),
    }


def test_kernels_of_a_step_have_rows_with_the_number_of_calls() -> None:
    times = model().profile(inputs())
    assert times[0].node == "before"
    assert times[0].within is None
    inner = [each for each in times if each.within is not None]
    assert {(each.node, each.within, each.calls) for each in inner} == {("cell", "steps_0", STEPS)}
    assert len({each.what for each in inner}) == len(inner)
    products = [each for each in inner if each.what.startswith("matmul")]
    assert len(products) == 2
    for each in products:  # the sum or tanh after it may be a part of it
        assert each.work is not None
        assert each.work.flops >= STEPS * 2 * (2 * 5 * 5)
        assert each.seconds > 0
    # What is left of the loop is a row too, so that the rows are all of the time.
    assert [each.what for each in times if each.within is None and each.node == "cell"]


def test_the_table_the_json_and_the_report_tell_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(RECURRENT)
    run, report = tmp_path / "run.json", tmp_path / "report.json"
    words = [str(source), "--weights", "random", "--profile", "--json", str(run)]
    assert main([*words, "--report-json", str(report)]) == 0
    assert f" {STEPS} x matmul_0 " in capsys.readouterr().out
    for document, what in (
        (json.loads(run.read_text())["profile"], "what"),
        (json.loads(report.read_text())["times"]["profile"], "kernel"),
    ):
        calls = {each[what]: (each["calls"], each["within"]) for each in document}
        assert calls["matmul_0"] == calls["matmul_1"] == (STEPS, "steps_0")
        assert calls["steps_0"] == (1, None)


def test_a_clock_that_has_too_few_places_is_not_called() -> None:
    stages = native_stages(CodeOptions(parallel=False), Level.GAWEE)
    passes = [*stages.to_tensors, *stages.to_loops]
    until = next(at for at, each in enumerate(passes) if isinstance(each, OutlineKernels))
    module = model().module.clone()
    run_passes(make_context(), module, passes[: until + 1])
    before = str(module)
    assert call_clock(module, "clock", places=2) == {}
    assert str(module) == before
    (parts,) = call_clock(module, "clock", places=1024).values()
    assert len(parts) >= 2
    assert str(module).count("call @clock(") == 1 + len(parts)


def test_a_network_without_a_recurrence_calls_no_clock() -> None:
    text = """func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}) -> tensor<3x5xf32> {
  %r = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
"""
    stages = native_stages(CodeOptions(parallel=False), Level.GAWEE)
    module = parse_mlir(make_context(), text, "net.mlir")
    loops = lowered_to_loops(module, (*stages.to_tensors, *stages.to_loops))
    assert loops.steps == {}
    assert "clock" not in str(loops.module)


def test_the_clock_adds_up_by_place() -> None:
    clock = step_clock()
    read = ctypes.CFUNCTYPE(None, ctypes.c_int64)(clock.address)
    clock.reset()
    for place in (0, 3, 3, 5):
        read(place)
    assert clock.seconds(3) > 0
    assert clock.seconds(5) > 0
    assert clock.seconds(4) == 0
    once = clock.seconds(3)
    read(3)
    assert clock.seconds(3) > once
    clock.reset()
    assert clock.seconds(3) == 0
