"""Bounds of indices, as arithmetic on loop counters tells them."""

import pytest
from xdsl.ir import Operation

from gawee_dialect.analysis.index_bounds import Bounds, index_bounds, upper_bound
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.universe import make_context

# %i is 2, 5, 8 or 11; %j is from 0 to 6; %n is any number.
AROUND = """
func.func @main(%n: index, %m: memref<1xindex>) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c12 = arith.constant 12 : index
  %minus = arith.constant -4 : index
  scf.for %i = %c2 to %c12 step %c3 {{
    scf.for %j = %c0 to %c7 step %c1 {{
      {text}
      memref.store %r, %m[%c0] : memref<1xindex>
    }}
  }}
  return
}}
"""

CASES: dict[str, Bounds] = {
    "%r = arith.addi %i, %j : index": (2, 17),
    "%r = arith.subi %j, %i : index": (-11, 4),
    "%r = arith.muli %i, %minus : index": (-44, -8),
    "%r = arith.minsi %i, %n : index": (None, 11),
    "%r = arith.minui %i, %j : index": (0, 6),
    # -4 is a large number for an unsigned minimum
    "%r = arith.minui %i, %minus : index": (0, 11),
    "%r = arith.maxsi %j, %n : index": (0, None),
    "%r = arith.floordivsi %i, %c3 : index": (0, 3),
    "%r = arith.ceildivsi %i, %c3 : index": (1, 4),
    "%r = arith.remui %i, %c7 : index": (0, 6),
    "%r = arith.remui %j, %c12 : index": (0, 6),
    "%r = arith.divsi %n, %c3 : index": (None, None),
    "%r = arith.xori %i, %j : index": (None, None),
    "%t = arith.cmpi slt, %i, %n : index\n%r = arith.select %t, %i, %n : index": (None, 11),
    "%t = arith.cmpi sgt, %i, %n : index\n%r = arith.select %t, %n, %i : index": (None, 11),
    "%t = arith.cmpi sge, %i, %j : index\n%r = arith.select %t, %i, %j : index": (2, 11),
    "%t = arith.cmpi ult, %i, %j : index\n%r = arith.select %t, %i, %j : index": (0, 6),
    # unsigned, of a number that may be negative: either of the two
    "%t = arith.cmpi ult, %i, %n : index\n%r = arith.select %t, %i, %n : index": (None, None),
    "%t = arith.cmpi eq, %i, %j : index\n%r = arith.select %t, %i, %j : index": (0, 11),
}


def stored(text: str) -> Operation:
    module = parse_mlir(make_context(), AROUND.format(text=text), "bounds.mlir")
    (store,) = [op for op in module.walk() if op.name == "memref.store"]
    return store


@pytest.mark.parametrize("text", CASES)
def test_bounds_of_an_index(text: str) -> None:
    value = stored(text).operands[0]

    assert index_bounds(value) == CASES[text]
    assert upper_bound(value) == CASES[text][1]


def test_a_number_is_its_own_bound() -> None:
    assert upper_bound(7) == 7
