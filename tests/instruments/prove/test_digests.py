"""Which functions a proof takes for the same, and does not lower, compile and run again.

Oracle: pairs of functions of which it is known whether they compute the same in the same order.
"""

import pytest

from gawee_dialect.instruments.prove.lowered import Digests
from tests.instruments.checking import parse

HEAD = """
func.func @f(%m: memref<8xi32>, %a: i32, %b: i32, %i: index, %c: i1) {
"""

SAME = {
    "a constant twice": (
        """
  %one = arith.constant 1 : i32
  %x = arith.addi %a, %one : i32
  memref.store %x, %m[%i] : memref<8xi32>
  %again = arith.constant 1 : i32
  %y = arith.addi %a, %again : i32
  memref.store %y, %m[%i] : memref<8xi32>
""",
        """
  %one = arith.constant 1 : i32
  %x = arith.addi %a, %one : i32
  memref.store %x, %m[%i] : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
""",
    ),
    "a sum before a load": (
        """
  %x = memref.load %m[%i] : memref<8xi32>
  %y = arith.addi %a, %b : i32
  %z = arith.muli %x, %y : i32
  memref.store %z, %m[%i] : memref<8xi32>
""",
        """
  %y = arith.addi %a, %b : i32
  %x = memref.load %m[%i] : memref<8xi32>
  %z = arith.muli %x, %y : i32
  memref.store %z, %m[%i] : memref<8xi32>
""",
    ),
    "a product that nothing reads": (
        """
  %y = arith.muli %a, %b : i32
  memref.store %a, %m[%i] : memref<8xi32>
""",
        """
  memref.store %a, %m[%i] : memref<8xi32>
""",
    ),
    "a product taken out of a branch": (
        """
  scf.if %c {
    %y = arith.muli %a, %b : i32
    memref.store %y, %m[%i] : memref<8xi32>
  }
""",
        """
  %y = arith.muli %a, %b : i32
  scf.if %c {
    memref.store %y, %m[%i] : memref<8xi32>
  }
""",
    ),
}

OTHER = {
    "operands exchanged": (
        "  %x = arith.subi %a, %b : i32\n  memref.store %x, %m[%i] : memref<8xi32>\n",
        "  %x = arith.subi %b, %a : i32\n  memref.store %x, %m[%i] : memref<8xi32>\n",
    ),
    "a claim more": (
        "  %x = arith.addi %a, %b : i32\n  memref.store %x, %m[%i] : memref<8xi32>\n",
        "  %x = arith.addi %a, %b overflow<nsw> : i32\n  memref.store %x, %m[%i] : memref<8xi32>\n",
    ),
    "a load behind a store": (
        """
  %x = memref.load %m[%i] : memref<8xi32>
  memref.store %a, %m[%i] : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
""",
        """
  memref.store %a, %m[%i] : memref<8xi32>
  %x = memref.load %m[%i] : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
""",
    ),
    "one load for two": (
        """
  %x = memref.load %m[%i] : memref<8xi32>
  memref.store %a, %m[%i] : memref<8xi32>
  %y = memref.load %m[%i] : memref<8xi32>
  memref.store %y, %m[%i] : memref<8xi32>
""",
        """
  %x = memref.load %m[%i] : memref<8xi32>
  memref.store %a, %m[%i] : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
""",
    ),
    "a store out of a branch": (
        "  scf.if %c {\n    memref.store %a, %m[%i] : memref<8xi32>\n  }\n",
        "  memref.store %a, %m[%i] : memref<8xi32>\n  scf.if %c {\n  }\n",
    ),
    "a division out of a branch": (
        """
  scf.if %c {
    %x = arith.divsi %a, %b : i32
    memref.store %x, %m[%i] : memref<8xi32>
  }
""",
        """
  %x = arith.divsi %a, %b : i32
  scf.if %c {
    memref.store %x, %m[%i] : memref<8xi32>
  }
""",
    ),
}


def digest(body: str) -> bytes:
    (function,) = parse(f"{HEAD}{body}  func.return\n}}\n").ops
    return Digests().digest(function)


@pytest.mark.parametrize("name", SAME)
def test_functions_that_compute_the_same_in_the_same_order_have_one_digest(name: str) -> None:
    first, second = map(digest, SAME[name])
    assert first == second


@pytest.mark.parametrize("name", OTHER)
def test_all_others_have_another(name: str) -> None:
    first, second = map(digest, OTHER[name])
    assert first != second
