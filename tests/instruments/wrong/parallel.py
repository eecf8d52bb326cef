"""Wrong passes on loops whose iterations run at the same time."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.passes.loops.convert_scf_to_openmp import ConvertScfToOpenMP
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

# What data place: a sum into the rows that indices name, a copy of rows, and a chain of reads.
SCATTER = """
func.func @main(%x: memref<6xf32> {gawee.input = "x"}, %i: memref<6xi32> {gawee.input = "i"}, %y: memref<4xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %d4 = arith.constant 4 : i32
  scf.for %j = %c0 to %c4 step %c1 {
    memref.store %zero, %y[%j] : memref<4xf32>
  }
  scf.for %k = %c0 to %c6 step %c1 {
    %n = memref.load %i[%k] : memref<6xi32>
    %r = arith.remui %n, %d4 : i32
    %m = arith.index_cast %r : i32 to index
    %a = memref.load %x[%k] : memref<6xf32>
    %b = memref.load %y[%m] : memref<4xf32>
    %d = arith.addf %a, %b : f32
    memref.store %d, %y[%m] : memref<4xf32>
  } loc("net.json":40:5)
  return
}
"""
SUM_OF_ROW = """    %b = memref.load %y[%m] : memref<4xf32>
    %d = arith.addf %a, %b : f32
    memref.store %d, %y[%m]"""
LAST = SCATTER.replace(SUM_OF_ROW, "    memref.store %a, %y[%m]")
CHAIN = """
func.func @main(%x: memref<6xf32> {gawee.input = "x"}, %i: memref<6xi32> {gawee.input = "i"}, %y: memref<6xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %d6 = arith.constant 6 : i32
  scf.for %j = %c0 to %c6 step %c1 {
    %a = memref.load %x[%j] : memref<6xf32>
    memref.store %a, %y[%j] : memref<6xf32>
  }
  scf.for %k = %c0 to %c6 step %c1 {
    %n = memref.load %i[%k] : memref<6xi32>
    %r = arith.remui %n, %d6 : i32
    %m = arith.index_cast %r : i32 to index
    %b = memref.load %y[%m] : memref<6xf32>
    memref.store %b, %y[%k] : memref<6xf32>
  } loc("net.json":40:5)
  return
}
"""
AT_SAME_TIME = (
    "scf.for %k = %c0 to %c6 step %c1 {",
    "scf.parallel (%k) = (%c0) to (%c6) step (%c1) {",
)
PLACED = "'{}' op runs iterations at the same time, {}"
TWO_WRITE = "two of which write one element by 'memref.store', where data place it"
ONE_READS = (
    "one of which reads by 'memref.load' what another one writes by 'memref.store', where data "
    "place it"
)

# What bufferize once made of a part of a batch that is put into a tensor from outside of the loop.
PART = """
func.func @main(%x: tensor<2x4x3xf32> {gawee.input = "x"}, %start: tensor<5x3xf32> {gawee.parameter = "start"}) -> (tensor<2x5x3xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<2x5x3xf32>
  %y = scf.for %n = %c0 to %c2 step %c1 iter_args(%all = %e) -> (tensor<2x5x3xf32>) {
    %image = tensor.extract_slice %x[%n, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<4x3xf32>
    %part = gawee.kernel parallel [4, 3] ins(%image : tensor<4x3xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
      finish {
      ^bb0(%a: f32):
        %s = arith.addf %a, %a : f32
        gawee.yield %s : f32
      } : tensor<4x3xf32> loc("net.json":60:5)
    %own = tensor.insert_slice %part into %start[1, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<5x3xf32>
    %next = tensor.insert_slice %own into %all[%n, 0, 0] [1, 5, 3] [1, 1, 1] : tensor<5x3xf32> into tensor<2x5x3xf32>
    scf.yield %next : tensor<2x5x3xf32>
  } {gawee.scan, gawee.batch, gawee.threads = 2 : i64} loc("net.json":70:5)
  func.return %y : tensor<2x5x3xf32>
}
"""
PLACE_IN_START = "memref<4x3xf32, strided<[3, 1], offset: 3>>"
INTO_START = (
    (
        "%part = memref.alloc() : memref<4x3xf32>",
        "%part = memref.subview %start[1, 0] [4, 3] [1, 1] : memref<5x3xf32> to " + PLACE_IN_START,
    ),
    ("      } : memref<4x3xf32>", "      } : " + PLACE_IN_START),
    ("(%part, %0) : (memref<4x3xf32>", "(%part, %0) : (" + PLACE_IN_START),
)

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
    "a part of a batch in a weight, which all parts start from": WrongPass(
        PART,
        Edited(*INTO_START),
        "net.json:60:5: error: pass 'edited' left a module that cannot be run: 'gawee.kernel' op "
        "writes its parameter 'start'",
        f"net.json:60:5: error: pass 'edited' {RULE}'gawee.kernel' op writes its parameter 'start'",
        "bufferize",
    ),
    "a part of a batch in a buffer that threads share": WrongPass(
        PART,
        Edited(
            ("%part = memref.alloc()", "%unused = memref.alloc()"),
            ("    scf.for", "    %part = memref.alloc() : memref<4x3xf32>\n    scf.for"),
        ),
        f"net.json:70:5: error: pass 'edited' {RULE}'scf.for' op runs loop 0 in parallel, each "
        "iteration of which writes the same place by 'gawee.kernel'",
        before="bufferize",
    ),
    "a copy of a weight that threads share": WrongPass(
        PART,
        Edited(
            ("%own = memref.alloc()", "%unused = memref.alloc()"),
            ("    scf.for", "    %own = memref.alloc() : memref<5x3xf32>\n    scf.for"),
        ),
        f"net.json:70:5: error: pass 'edited' {RULE}'scf.for' op runs loop 0 in parallel, each "
        "iteration of which writes the same place by 'memref.copy'",
        before="bufferize",
    ),
    "a sum into rows that data choose": WrongPass(
        SCATTER,
        Edited(AT_SAME_TIME),
        f"net.json:40:5: error: pass 'edited' {RULE}{PLACED.format('scf.parallel', ONE_READS)}",
    ),
    "a sum into rows that data choose, in a team of threads": WrongPass(
        SCATTER,
        Team(AT_SAME_TIME),
        RULE + PLACED.format("omp.loop_nest", ONE_READS),
        is_race=True,
    ),
    "the last of the rows that data choose": WrongPass(
        LAST, Edited(AT_SAME_TIME), RULE + PLACED.format("scf.parallel", TWO_WRITE)
    ),
    "rows read where data say, which others write": WrongPass(
        CHAIN, Edited(AT_SAME_TIME), RULE + PLACED.format("scf.parallel", ONE_READS)
    ),
}
