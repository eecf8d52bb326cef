"""Wrong passes on loops over scalars and vectors."""

from collections.abc import Mapping

from xdsl.dialects import arith, math, memref, vector

from tests.instruments.prove.networks import MOBILE, TRANSFORMER
from tests.instruments.wrong import changes
from tests.instruments.wrong.buffers import BUFFERS, KEPT, RETURN, WITH_GLOBAL, inserted
from tests.instruments.wrong.wrong_pass import Wrong, WrongPass

LOOPS = "gawee-to-kernels,gawee-kernels-to-loops"
PLAIN = "gawee-to-loops"

FILL = """
func.func @main(%y: memref<5x7xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %v = arith.constant 2.5 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      memref.store %v, %y[%i, %j] : memref<5x7xf32>
    }
  }
  func.return
}
"""

ROOM = """
func.func @main(%y: memref<5x7xf32> {gawee.output = "y"}, %m: memref<256xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %d7 = arith.constant 7 : index
  %v = arith.constant 2.5 : f32
  %t = memref.view %m[%c0][] : memref<256xi8> to memref<5x7xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      memref.store %v, %t[%i, %j] : memref<5x7xf32>
    }
  }
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %d7 step %c1 {
      %e = memref.load %t[%i, %j] : memref<5x7xf32>
      memref.store %e, %y[%i, %j] : memref<5x7xf32>
    }
  }
  func.return
}
"""

CASES: Mapping[str, WrongPass] = {
    "a loop that ends one earlier": WrongPass(
        MOBILE, Wrong(changes.nudge_index(3)), "'func.call'", "'func.call'", LOOPS
    ),
    "a sum of one vector with itself": WrongPass(
        MOBILE, Wrong(changes.same_operands(arith.AddfOp)), "'func.call'", "'func.call'", LOOPS
    ),
    "a fused product of other operands": WrongPass(
        MOBILE, Wrong(changes.swap_last_operands(math.FmaOp)), "'func.call'", "'func.call'", LOOPS
    ),
    "a constant, one unit in the last place": WrongPass(
        MOBILE, Wrong(changes.nudge_float(-1)), proof="'func.call'", before=LOOPS
    ),
    "a tail without its first lane": WrongPass(
        TRANSFORMER,
        Wrong(changes.set_mask(vector.MaskedStoreOp)),
        "'func.call'",
        "'func.call'",
        LOOPS,
    ),
    "a sum in the place of a difference": WrongPass(
        TRANSFORMER,
        Wrong(changes.replace_first(arith.SubfOp, arith.AddfOp)),
        "'func.call'",
        "'func.call'",
        PLAIN,
    ),
    "a quotient turned round": WrongPass(
        TRANSFORMER,
        Wrong(changes.exchange_operands(arith.DivfOp)),
        "'func.call'",
        "'func.call'",
        PLAIN,
    ),
    "a store that is left out": WrongPass(
        MOBILE, Wrong(changes.forget_first(memref.StoreOp)), "'func.call'", "'func.call'", PLAIN
    ),
    "a row after the last": WrongPass(
        FILL,
        Wrong(changes.nudge_index(2, by=1)),
        "cannot be run",
        "'@main' writes outside of its argument 0",
    ),
    "rows that are one too long, in room that is there": WrongPass(
        ROOM,
        Wrong(changes.nudge_index(3, by=1)),
        "cannot be run",
        "'memref.store' op writes index 7 of axis 1, which has 7 elements",
    ),
    "a loop writes its input": WrongPass(
        BUFFERS,
        inserted("memref.store %zero, %x[%c0, %c0] : memref<3x5xf32>\n", RETURN),
        "'memref.store' op writes its input 'x'",
        "'memref.store' op writes its input 'x'",
        before="lower-linalg-to-loops",
    ),
    "state that a run leaves for the next": WrongPass(
        WITH_GLOBAL,
        inserted(KEPT, RETURN),
        "on data with ties",
        "output 'y'",
        "lower-linalg-to-loops",
    ),
}
