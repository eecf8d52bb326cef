"""What exact numbers are, whatever floating point does to their values beside them.

Oracle: arithmetic of the rational numbers.
"""

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp

from gawee_dialect.dialect.graph.arithmetic import ExpOp
from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.instruments.prove.numbers import Numbers, numbers
from gawee_dialect.instruments.prove.run import drawn
from tests.instruments.checking import parse
from tests.instruments.prove.proving import prove_after, unproved
from tests.instruments.wrong.wrong_pass import Wrong


def rounded_zero() -> Numbers:
    """Return (x + y) + z - (x + (y + z)), whose value is no zero."""
    x, y, z = (numbers(drawn(np.full(3, each), 0)) for each in (0.1, 0.2, 0.3))
    left = numbers(np.add(np.add(x, y), z))
    return numbers(np.subtract(left, np.add(x, np.add(y, z))))


def test_a_function_of_zero_is_known_whatever_rounding_did_to_it() -> None:
    zero = rounded_zero()

    assert (zero.value != 0).all()
    assert (numbers(np.exp(zero)).words() == Numbers.constants(np.ones(3)).words()).all()


def test_what_rounding_swallows_is_no_zero() -> None:
    x = numbers(drawn(np.full(3, 0.1), 0))
    swallowed = numbers(np.subtract(np.add(x, 1e20), 1e20))

    assert (swallowed.value == 0).all()
    assert (numbers(np.exp(swallowed)).words() == numbers(np.exp(x)).words()).all()


def test_equal_numbers_compare_as_equal_whatever_rounding_did_to_them() -> None:
    zero = rounded_zero()
    three = numbers(np.add(zero, 3.0))

    assert not np.asarray(np.less(zero, 0.0)).any()
    assert not np.asarray(np.greater(zero, 0.0)).any()
    assert np.asarray(np.equal(three, 3.0)).all()
    assert (numbers(np.floor(np.subtract(three, zero))).value == 3).all()
    assert (np.asarray(np.subtract(three, np.multiply(zero, 2.0)).astype(np.int64)) == 3).all()


VANISHING = """
func.func @main(%x: tensor<3x5xf64> {gawee.input = "x"}, %z: tensor<3x5xf64> {gawee.input = "z"}) -> (tensor<3x5xf64> {gawee.output = "y"}) {
  %s = gawee.add %x, %z : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  %r = gawee.sub %s, %x : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  %d = gawee.sub %r, %z : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  %y = gawee.exp %d : (tensor<3x5xf64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}
"""


SATURATED = """
func.func @main(%x: tensor<3x37xf32> {gawee.input = "x"}) -> (tensor<3x37xf32> {gawee.output = "y"}) {
  %c = gawee.constant dense<1.000000e+20> : tensor<f32>
  %s = gawee.add %x, %c : (tensor<3x37xf32>, tensor<f32>) -> tensor<3x37xf32>
  %d = gawee.sub %s, %c : (tensor<3x37xf32>, tensor<f32>) -> tensor<3x37xf32>
  %y = gawee.exp %d : (tensor<3x37xf32>) -> tensor<3x37xf32>
  return %y : tensor<3x37xf32>
}
"""


def skip_shift(module: ModuleOp) -> None:
    """exp((x + c) - c) -> exp(x), which is the same number; in loops each is a call"""
    steps = [op for op in module.walk() if isinstance(op, CallOp | AddOp | ExpOp)]
    steps[-1].operands[0] = steps[0].operands[0]


@pytest.mark.parametrize("before", ["", "gawee-to-loops"])
def test_what_rounding_swallows_is_no_zero_natively_and_on_arrays(before: str) -> None:
    assert unproved(prove_after(parse(SATURATED), before, Wrong(skip_shift))) == {}


def vanish(kind: type[SubOp | arith.SubfOp]) -> Wrong:
    """Make the last difference, which is 0, one of a number and itself; right, for once."""

    def change(module: ModuleOp) -> None:
        *_, last = (op for op in module.walk() if isinstance(op, kind))
        last.operands[0] = last.operands[1]

    return Wrong(change)


@pytest.mark.parametrize("before", ["", "gawee-to-loops", "gawee-to-kernels"])
def test_zero_is_proved_to_be_zero_natively_and_on_arrays(before: str) -> None:
    kind = arith.SubfOp if before else SubOp

    assert unproved(prove_after(parse(VANISHING), before, vanish(kind))) == {}


def test_zero_and_what_is_next_to_it_are_two_numbers() -> None:
    one = Numbers.constants(np.ones(3)).words()
    tiny = Numbers.constants(np.full(3, 1e-20))

    assert (numbers(np.exp(tiny)).words() != one).all()
