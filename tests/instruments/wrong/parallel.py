"""Wrong passes on loops whose iterations run at the same time."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.passes.convert_scf_to_openmp import ConvertScfToOpenMP
from tests.instruments.edited import Edited
from tests.instruments.wrong.wrong_pass import RULE, WrongPass

LOOPS = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    memref.store %zero, %y[%i] : memref<3xf32>
    scf.for %k = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %k] : memref<3x5xf32>
      %b = memref.load %y[%i] : memref<3xf32>
      %d = arith.addf %a, %b : f32
      memref.store %d, %y[%i] : memref<3xf32>
    }
    scf.reduce
  } loc("net.json":20:5)
  return
}
"""

VECTORS = """
func.func @main(%x: memref<24xf32> {gawee.input = "x"}, %y: memref<24xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c17 = arith.constant 17 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%i) = (%c0) to (%c24) step (%c8) {
    %a = vector.load %x[%i] : memref<24xf32>, vector<8xf32>
    %d = arith.addf %a, %a : vector<8xf32>
    vector.store %d, %y[%i] : memref<24xf32>, vector<8xf32>
    scf.reduce
  } loc("net.json":30:5)
  return
}
"""

# Sequential loops: each row is a sum with the row before, or several rows end up in one.
SCAN = """
func.func @main(%x: memref<6x5xf32> {gawee.input = "x"}, %y: memref<6x5xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.for %j = %c0 to %c5 step %c1 {
    memref.store %zero, %y[%c0, %j] : memref<6x5xf32>
  }
  scf.for %i = %c1 to %c6 step %c1 {
    %w = arith.subi %i, %c1 : index
    scf.for %k = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %k] : memref<6x5xf32>
      %b = memref.load %y[%w, %k] : memref<6x5xf32>
      %d = arith.addf %a, %b : f32
      memref.store %d, %y[%i, %k] : memref<6x5xf32>
    }
  } loc("net.json":40:5)
  return
}
"""

ROWS = """
func.func @main(%x: memref<6x5xf32> {gawee.input = "x"}, %y: memref<3x5xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %j = arith.divui %i, %c2 : index
    scf.for %k = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %k] : memref<6x5xf32>
      memref.store %a, %y[%j, %k] : memref<3x5xf32>
    }
  } loc("net.json":40:5)
  return
}
"""
ROUND = ROWS.replace("arith.divui %i, %c2", "arith.remui %i, %c3")

SLICES = """
func.func @main(%x: tensor<6x5xf32> {gawee.input = "x"}) -> (tensor<6x5xf32> {gawee.output = "y"}) {
  %e = tensor.empty() : tensor<6x5xf32>
  %y = scf.forall (%i) = (0) to (6) step (2) shared_outs(%o = %e) -> (tensor<6x5xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [2, 5] [1, 1] : tensor<6x5xf32> to tensor<2x5xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [2, 5] [1, 1] : tensor<2x5xf32> into tensor<6x5xf32>
    }
  } loc("net.json":50:5)
  return %y : tensor<6x5xf32>
}
"""

INNER = ("scf.for %k = %c0 to %c5 step %c1 {", "scf.parallel (%k) = (%c0) to (%c5) step (%c1) {")
PLACE = "'{}' op runs loop 0 in parallel, each iteration of which writes the same place"
SHARED = "'{}' op runs loop 0 in parallel, two iterations of which write one element by '{}'"
READ = (
    "'{}' op runs loop 0 in parallel, an iteration of which reads by 'memref.load' what another "
    "one writes by 'memref.store'"
)

SCANNED = ("scf.for %i = %c1 to %c6 step %c1 {", "scf.parallel (%i) = (%c1) to (%c6) step (%c1) {")
SHARED_OUT = (
    "scf.for %i = %c0 to %c6 step %c1 {",
    "scf.parallel (%i) = (%c0) to (%c6) step (%c1) {",
)


@dataclass(frozen=True, init=False)
class Team(Edited):
    """An edit, after which a team of threads gets what is parallel."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        ConvertScfToOpenMP().apply(ctx, op)


CASES: Mapping[str, WrongPass] = {
    "a sum in a parallel loop": WrongPass(
        LOOPS, Edited(INNER), RULE + PLACE.format("scf.parallel")
    ),
    "one scratch element for all iterations": WrongPass(
        LOOPS,
        Edited(
            ("    scf.parallel", "    %s = memref.alloca() : memref<1xf32>\n    scf.parallel"),
            (
                "memref.store %zero, %y[%i] : memref<3xf32>",
                "memref.store %zero, %s[%c0] : memref<1xf32>",
            ),
            ("memref.load %y[%i] : memref<3xf32>", "memref.load %s[%c0] : memref<1xf32>"),
            (
                "memref.store %d, %y[%i] : memref<3xf32>",
                "memref.store %d, %s[%c0] : memref<1xf32>\n"
                "        memref.store %d, %y[%i] : memref<3xf32>",
            ),
        ),
        f"net.json:20:5: error: pass 'edited' {RULE}{PLACE.format('scf.parallel')}",
    ),
    "vectors that are wider than their step": WrongPass(
        VECTORS,
        Edited(("to (%c24) step (%c8)", "to (%c17) step (%c4)")),
        RULE + SHARED.format("scf.parallel", "vector.store"),
    ),
    "two iterations for one row": WrongPass(
        ROWS, Edited(SHARED_OUT), RULE + SHARED.format("scf.parallel", "memref.store")
    ),
    "rows that come round again": WrongPass(
        ROUND, Edited(SHARED_OUT), RULE + SHARED.format("scf.parallel", "memref.store")
    ),
    "a row that needs the row before": WrongPass(
        SCAN,
        Edited(SCANNED),
        f"net.json:40:5: error: pass 'edited' {RULE}{READ.format('scf.parallel')}",
    ),
    "a row that needs the row before, in a team of threads": WrongPass(
        SCAN, Team(SCANNED), RULE + READ.format("omp.loop_nest"), is_race=True
    ),
    "two threads for one row": WrongPass(
        ROWS,
        Team(SHARED_OUT),
        RULE + SHARED.format("omp.loop_nest", "memref.store"),
        is_race=True,
    ),
    "a sum in the iterations of a team": WrongPass(
        LOOPS, Team(INNER), RULE + PLACE.format("scf.parallel"), is_race=True
    ),
    "slices of which two overlap": WrongPass(
        SLICES,
        Edited(("to (6) step (2)", "to (5) step (1)")),
        RULE + SHARED.format("scf.forall", "tensor.parallel_insert_slice"),
        RULE,
    ),
    "one slice for all iterations": WrongPass(
        SLICES, Edited(("into %o[%i, 0]", "into %o[0, 0]")), "'scf.forall'", "'scf.forall'"
    ),
}
