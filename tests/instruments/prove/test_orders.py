"""What `--prove-each` proves of sorts, the largest few and positions of maxima.

Functions that saturate make numbers of which floats do not tell the larger one. Oracle: comparisons
of two numbers, one after the other.
"""

import numpy as np
import pytest

from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.prove.numbers import Numbers, numbers
from tests.effort import mostly_full
from tests.instruments.checking import parse
from tests.instruments.prove.proving import prove, unproved

ARG_MAX = """
func.func @main(%x: tensor<3x37xf32> {gawee.input = "x"}) -> (tensor<3xi64> {gawee.output = "i"}) {
  %s = gawee.sigmoid %x : (tensor<3x37xf32>) -> tensor<3x37xf32>
  %i = gawee.arg_max %s axis 1 : (tensor<3x37xf32>) -> tensor<3xi64>
  return %i : tensor<3xi64>
}
"""
SORT = """
func.func @main(%x: tensor<3x37xf32> {gawee.input = "x"})
    -> (tensor<3x37xf32> {gawee.output = "y"}, tensor<3x37xi64> {gawee.output = "i"}) {
  %s = gawee.sigmoid %x : (tensor<3x37xf32>) -> tensor<3x37xf32>
  %y, %i = gawee.sort %s axis 1 descending true : (tensor<3x37xf32>) -> (tensor<3x37xf32>, tensor<3x37xi64>)
  return %y, %i : tensor<3x37xf32>, tensor<3x37xi64>
}
"""
TOP_K = """
func.func @main(%x: tensor<3x5x37xf32> {gawee.input = "x"})
    -> (tensor<3x2xf32> {gawee.output = "y"}, tensor<3x2xi64> {gawee.output = "i"}) {
  %c = gawee.constant dense<2.000000e+01> : tensor<f32>
  %l = gawee.mul %x, %c : (tensor<3x5x37xf32>, tensor<f32>) -> tensor<3x5x37xf32>
  %s = gawee.softmax %l axis 2 : (tensor<3x5x37xf32>) -> tensor<3x5x37xf32>
  %m = gawee.reduce_max %s axes [2] : (tensor<3x5x37xf32>) -> tensor<3x5xf32>
  %y, %i = gawee.top_k %m k 2 axis 1 largest true : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %y, %i : tensor<3x2xf32>, tensor<3x2xi64>
}
"""


@pytest.mark.parametrize("seed", mostly_full(range(4)))
@pytest.mark.parametrize("network", [ARG_MAX, SORT, TOP_K], ids=["arg_max", "sort", "top_k"])
def test_orders_of_saturated_numbers_are_proved(network: str, seed: int) -> None:
    settings = CheckSettings(seed=seed)
    proof = prove(parse(network), "gawee-to-loops,convert-to-llvm", settings=settings)

    assert unproved(proof) == {}


def near_numbers() -> Numbers:
    """Return numbers some of which floats do not tell apart, an equal pair and infinities."""
    eighth = Numbers.constants(np.arange(-2, 3) / 8)
    tiny = Numbers.constants(np.array([1e-20, 3e-20, 0.0, 2e-20, 3e-20]))
    special = Numbers.constants(np.array([-np.inf, np.inf, 1e308, np.inf, -1e308]))
    near = numbers(np.add(eighth[2:3], numbers(np.add(1.0, tiny))))
    return numbers(np.concatenate((eighth, near, special, tiny)))


@np.errstate(over="ignore", invalid="ignore")  # as programs are run
def test_positions_go_by_the_order_of_comparisons() -> None:
    given = near_numbers()
    below = np.asarray(np.less(given[:, np.newaxis], given[np.newaxis])).sum(axis=0)

    assert np.argsort(given, kind="stable").tolist() == np.argsort(below, kind="stable").tolist()
    assert np.argmax(given) == np.argmax(below)
    assert np.argmin(given) == np.argmin(below)
    assert len(set(below.tolist())) > 12


@np.errstate(invalid="ignore")
def test_what_is_no_number_is_the_greatest_in_a_sort_and_the_first_of_extremes() -> None:
    given = Numbers.constants(np.array([[3.0, np.nan, -1.0, np.inf], [2.0, 2.0, 0.5, 2.0]]))

    assert np.argsort(given, axis=1, kind="stable").tolist() == [[2, 0, 3, 1], [2, 0, 1, 3]]
    assert np.argmax(given, axis=1).tolist() == [1, 0]
    assert np.argmin(given, axis=1).tolist() == [1, 2]


def test_whether_any_number_is_true_goes_by_the_number() -> None:
    x, y, z = (Numbers.constants(np.full(3, each)) for each in (0.1, 0.2, 0.3))
    left, right = np.add(np.add(x, y), z), np.add(x, np.add(y, z))
    zero = numbers(np.subtract(left, right))

    assert (zero.value != 0).all()
    assert not np.any(zero)
