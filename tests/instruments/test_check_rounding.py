"""What rounding does not explain is caught where it is far below the bound for reassociation.

The oracle of the passes here is arithmetic: each computes another function, by less than 1e-4 of
the output's largest magnitude.
"""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
    f64,
)

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp, LayerNormOp
from gawee_dialect.instruments.check import execute
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.rounding import in_f64
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import notes, parse
from tests.instruments.prove import networks
from tests.instruments.wrong.changes import first, gelu_by_tanh
from tests.instruments.wrong.linalg import SUM
from tests.instruments.wrong.wrong_pass import Wrong
from tests.opdesc.index_notation.modules import model_of
from tests.opdesc.index_notation.test_lowering import operator

# The outputs are ten times as large as what the activation changes.
ACTIVATION = """
func.func @main(%x: tensor<3x50xf32> {gawee.input = "x"}, %z: tensor<3x50xf32> {gawee.input = "z"})
    -> (tensor<3x50xf32> {gawee.output = "y"}) {
  %ten = gawee.constant dense<1.000000e+01> : tensor<f32> loc("ten"("net.json":5:5))
  %g = gawee.gelu %x approximate "none" : (tensor<3x50xf32>) -> tensor<3x50xf32> loc("act"("net.json":10:5))
  %s = gawee.mul %z, %ten : (tensor<3x50xf32>, tensor<f32>) -> tensor<3x50xf32> loc("scale"("net.json":20:5))
  %y = gawee.add %s, %g : (tensor<3x50xf32>, tensor<3x50xf32>) -> tensor<3x50xf32> loc("sum"("net.json":30:5))
  return %y : tensor<3x50xf32>
}
"""


def forget_epsilon(kind: type[BatchNormOp | LayerNormOp]) -> Callable[[ModuleOp], None]:
    def change(module: ModuleOp) -> None:
        first(module, kind).properties["eps"] = FloatAttr(0.0, f64)

    return change


def check_of(
    text: str, change: Callable[[ModuleOp], None], settings: CheckSettings | None = None
) -> CheckEach:
    check = CheckEach(settings)
    with instrumented(check):
        run_passes(make_context(), parse(text), [Wrong(change)])
    return check


@pytest.mark.parametrize(
    ("text", "change", "op"),
    [
        (ACTIVATION, gelu_by_tanh, "'gawee.gelu'"),
        (networks.RESIDUAL, forget_epsilon(BatchNormOp), "'gawee.batch_norm'"),
        (networks.TRANSFORMER, forget_epsilon(LayerNormOp), "'gawee.layer_norm'"),
    ],
    ids=["gelu by tanh", "a batch norm without epsilon", "a layer norm without epsilon"],
)
def test_another_function_is_caught_below_the_bound_for_reassociation(
    text: str, change: Callable[[ModuleOp], None], op: str
) -> None:
    # By that bound alone it passes: 2^-14 of the largest magnitude, and one rounding at 1.
    check_of(text, change, CheckSettings(rtol=2**-14))

    with pytest.raises(CheckFailure) as caught:
        check_of(text, change)

    message = str(caught.value)
    assert "pass 'wrong' moved output 'y' at [" in message
    assert "apart, where rounding explains " in message
    assert f"first op that differs: {op}" in message


# (x + c) - c in f32 has the roundings of c, a hundred thousand times as large as x.
CANCELLING = """
func.func @main(%x: tensor<3x50xf32> {gawee.input = "x"}) -> (tensor<3x50xf32> {gawee.output = "y"}) {
  %c = gawee.constant dense<1.000000e+05> : tensor<f32>
  %s = gawee.add %x, %c : (tensor<3x50xf32>, tensor<f32>) -> tensor<3x50xf32>
  %y = gawee.sub %s, %c : (tensor<3x50xf32>, tensor<f32>) -> tensor<3x50xf32>
  return %y : tensor<3x50xf32>
}
"""


def shift(module: ModuleOp, value: float) -> None:
    constant = first(module, ConstantOp)
    constant.value = DenseIntOrFPElementsAttr.from_list(TensorType(f32, []), [value])


def test_roundings_that_a_pass_takes_away_are_no_false_alarm() -> None:
    assert notes(check_of(CANCELLING, lambda module: shift(module, 0.0))) == {}


def test_what_was_rounded_to_f32_is_not_held_to_the_digits_of_f64() -> None:
    text = """
    func.func @main(%x: tensor<1x2x5x7xf32> {gawee.input = "x"}) -> (tensor<1x2x5x7xf64> {gawee.output = "y"}) {
      %0 = gawee.avg_pool %x kernel [1, 3] strides [1, 1] padding [0, 0, 0, 2] ceil_mode false count_include_pad false : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32>
      %1 = gawee.exp %0 : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32>
      %2 = gawee.cast %1 : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf64>
      func.return %2 : tensor<1x2x5x7xf64>
    }
    """

    check = CheckEach()
    with instrumented(check):
        run_passes(make_context(), parse(text), parse_passes("lower-to-linalg", all_passes()))

    assert notes(check) == {}


def test_roundings_that_a_pass_adds_are_caught() -> None:
    with pytest.raises(CheckFailure, match="moved output 'y'"):
        check_of(CANCELLING, lambda module: shift(module, 1e9))


def test_what_rounding_nearly_does_not_explain_is_a_near_miss() -> None:
    def nudge(module: ModuleOp) -> None:
        first(module, LayerNormOp).properties["eps"] = FloatAttr(1.4e-5, f64)

    check = check_of(networks.TRANSFORMER, nudge)

    assert notes(check)["wrong"].startswith("near miss: output 'y' at [")


def test_a_declared_approximation_is_held_to_what_it_declares_alone() -> None:
    class Approximate(Wrong):
        numerics: ClassVar[Numerics] = approximates(2**20)

    check = CheckEach()
    with instrumented(check):
        run_passes(make_context(), parse(ACTIVATION), [Approximate(gelu_by_tanh)])

    assert notes(check) == {}


@pytest.mark.parametrize("pipeline", ["gawee-to-linalg", "gawee-to-kernels"])
@pytest.mark.parametrize("text", [networks.RESIDUAL, networks.MOBILE, networks.TRANSFORMER])
def test_our_own_passes_are_no_near_miss(pipeline: str, text: str) -> None:
    check = CheckEach()
    with instrumented(check):
        run_passes(make_context(), parse(text), parse_passes(pipeline, all_passes()))

    assert set(notes(check).values()) <= {"unchanged"}


def test_a_module_in_f64_computes_in_f64() -> None:
    x = np.linspace(-3, 3, 2100, dtype=np.float64).reshape(3, 700)
    copy = in_f64(parse(SUM))
    assert copy is not None

    (y,) = run_module(copy, {"x": x}).values()

    # NumPy's own sum of squares in f64; in f32 it would be off by 1e-7 of it.
    assert np.allclose(y, (x * x).sum(axis=1), rtol=1e-13, atol=0)


def test_conversions_to_f32_in_a_body_are_to_f64_in_a_module_in_f64(tmp_path: Path) -> None:
    n, x = np.array([3, 5, 7], np.int32), np.array([1e-9, 1e-3, -1e3])
    made = operator(tmp_path, "inputs n, x\ny[i] = f32(n[i]) / 3 + x[i]")
    module = model_of(made, {"n": n, "x": x.astype(np.float32)}, {}).module
    copy = in_f64(module)
    assert copy is not None

    (y,) = run_module(copy, {"n": n, "x": x}).values()

    # In f32 each of them would be off by 1e-8 and more.
    assert np.allclose(y, n / 3 + x, rtol=1e-15, atol=0)


# Running sums are loops over elements, more than the interpreter takes; the others are summed by
# their schedule, in lanes or one after the other.
SCHEDULED = """
func.func @main(%x: tensor<7x611xf32> {gawee.input = "x"})
    -> (tensor<7xf32> {gawee.output = "y"}, tensor<7x611xf32> {gawee.output = "z"}) {
  %y = gawee.reduce_sum %x axes [1] : (tensor<7x611xf32>) -> tensor<7xf32>
  %z = gawee.cumsum %x axis 1 : (tensor<7x611xf32>) -> tensor<7x611xf32>
  return %y, %z : tensor<7xf32>, tensor<7x611xf32>
}
"""


def test_kernels_that_are_lowered_to_be_run_sum_by_their_schedules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execute, "LARGEST_INTERPRETED", 100)
    check = CheckEach()
    with instrumented(check):
        passes = parse_passes("gawee-to-kernels", all_passes())
        run_passes(make_context(), parse(SCHEDULED), passes)

    step = next(step for step in check.steps if step.name == "assign-schedules")
    assert step.engine == "native"
    assert step.ulp
