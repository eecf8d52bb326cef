"""Which elements no pass decides, and that a check holds passes to all others.

Oracle: where zeros and ties are, by hand.
"""

import numpy as np
import pytest
from xdsl.dialects import math

from gawee_dialect.instruments.check import rounding
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.rounding import undecided
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES, Numerics
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context
from tests.instruments.checking import check, notes, parse
from tests.instruments.wrong.changes import replace_first
from tests.instruments.wrong.wrong_pass import Wrong

X = np.array([-1.5, -0.0, 0.0, 0.7, 3.1], np.float32)


def mask(body: str, result: str, numerics: Numerics = EXACT) -> list[bool]:
    module = parse(f"""
      func.func @main(%x: tensor<5xf32> {{gawee.input = "x"}})
          -> (tensor<5x{result}> {{gawee.output = "y"}}) {{
        {body}
        return %y : tensor<5x{result}>
      }}""")
    found = undecided(module, "main", DataSet({"x": X}), Tolerance((numerics,)))
    return found["y"].tolist() if "y" in found else NOWHERE


NEG = "%n = gawee.neg %x : (tensor<5xf32>) -> tensor<5xf32>"
BITS = ": (tensor<5xf32>) -> tensor<5xi32>"
BINARY = ": (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>"
NOWHERE, AT_ZEROS, EVERYWHERE = [False] * 5, [False, True, True, False, False], [True] * 5


@pytest.mark.parametrize("numerics", [EXACT, REASSOCIATES])
def test_the_bits_of_an_input_are_decided(numerics: Numerics) -> None:
    assert mask(f"%y = gawee.bitcast %x {BITS}", "i32", numerics) == NOWHERE


def test_the_sign_of_a_zero_that_is_computed_is_not() -> None:
    assert mask(f"{NEG}\n %y = gawee.bitcast %n {BITS}", "i32") == AT_ZEROS


def test_nor_is_any_bit_of_what_may_be_rounded_otherwise() -> None:
    cos = "%n = gawee.cos %x : (tensor<5xf32>) -> tensor<5xf32>"
    assert mask(f"{cos}\n %y = gawee.bitcast %n {BITS}", "i32", REASSOCIATES) == EVERYWHERE
    assert mask(f"{cos}\n %y = gawee.bitcast %n {BITS}", "i32") == NOWHERE


def test_an_angle_is_not_where_a_zero_has_either_sign() -> None:
    # Of negative x, the angle of +0 is pi and that of -0 is -pi; of positive x it is 0.
    zero = f"%z = gawee.sub %x, %x {BINARY}"
    assert mask(f"{zero}\n %y = gawee.atan2 %z, %x {BINARY}", "f32") == [
        *(True, True, False, False, False)
    ]


def test_zeros_of_constants_have_their_sign() -> None:
    zero = "%z = gawee.constant dense<0.0> : tensor<5xf32>"
    assert mask(f"{zero}\n %y = gawee.atan2 %z, %x {BINARY}", "f32", REASSOCIATES) == NOWHERE


def test_a_zero_that_is_the_least_of_updates_has_any_sign() -> None:
    scatter = """
      %z = gawee.constant dense<0.0> : tensor<5xf32>
      %i = gawee.constant dense<3> : tensor<5xi64>
      %n = gawee.scatter_elements %x, %i, %z axis 0 reduction "min" : (tensor<5xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<5xf32>"""
    assert mask(f"{scatter}\n %y = gawee.bitcast %n {BITS}", "i32") == [
        *(False, True, True, True, False)
    ]


def test_a_comparison_is_decided_but_for_ties() -> None:
    tie = f"%c = gawee.constant dense<[1.0, 2.0, 3.0, 1.4, 9.0]> : tensor<5xf32>\n %s = gawee.add %x, %x {BINARY}"
    less = (
        '%y = gawee.compare %s, %c predicate "lt" : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>'
    )
    assert mask(f"{tie}\n {less}", "i1", REASSOCIATES) == [False, False, False, True, False]


LOOPS = """
func.func @main(%x: memref<5xf32> {gawee.input = "x"}, %y: memref<5xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<5xf32>
  memref.store %v, %y[%c0] : memref<5xf32>
  return
}
"""


def test_loops_are_not_run_for_what_is_said_of_graphs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounding, "run_with", None)

    assert undecided(parse(LOOPS), "main", DataSet({"x": X}), Tolerance((REASSOCIATES,))) == {}


# The mean along no axis adds to zero, which makes 0 of -0; without it -0 stays.
MEAN_OF_NONE = """
func.func @main(%x: tensor<5xf32> {gawee.input = "x"}) -> (tensor<5xi32> {gawee.output = "y"}) {
  %0 = gawee.reduce_mean %x axes [] : (tensor<5xf32>) -> tensor<5xf32>
  %y = gawee.bitcast %0 : (tensor<5xf32>) -> tensor<5xi32>
  return %y : tensor<5xi32>
}
"""


def test_a_pass_may_change_the_sign_of_a_zero_that_a_bitcast_shows() -> None:
    found = notes(check(parse(MEAN_OF_NONE), "canonicalize", CheckSettings(arrays={"x": X})))

    assert "2 of 5 elements of 'y'" in found["canonicalize"]


ANGLES = """
func.func @main(%x: tensor<5xf32> {gawee.input = "x"}) -> (tensor<5xf32> {gawee.output = "y"}) {
  %0 = gawee.neg %x : (tensor<5xf32>) -> tensor<5xf32>
  %y = gawee.atan2 %0, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
"""


def test_a_pass_may_not_change_other_elements() -> None:
    module = parse(ANGLES)
    check(module, "lower-to-linalg")

    settings = CheckSettings(arrays={"x": X})
    with pytest.raises(CheckFailure), instrumented(CheckEach(settings)):
        run_passes(make_context(), module, [Wrong(replace_first(math.Atan2Op, math.PowFOp))])


def test_a_graph_may_not_either() -> None:
    from gawee_dialect.dialect.graph.arithmetic import AbsOp, NegOp

    settings = CheckSettings(arrays={"x": X})
    with pytest.raises(CheckFailure) as raised, instrumented(CheckEach(settings)):
        run_passes(make_context(), parse(ANGLES), [Wrong(replace_first(NegOp, AbsOp))])

    assert "at [3]" in str(raised.value) or "at [4]" in str(raised.value)
