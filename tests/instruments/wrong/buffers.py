"""Wrong passes on buffers: what is written where, and what memory holds."""

from collections.abc import Mapping

from xdsl.dialects import arith, memref

from tests.instruments.edited import Edited
from tests.instruments.prove.networks import MOBILE
from tests.instruments.wrong import changes
from tests.instruments.wrong.graphs import BRANCHES
from tests.instruments.wrong.kernels import BATCH, PARTS
from tests.instruments.wrong.wrong_pass import RULE, Wrong, WrongPass

BUFFERS = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %p: memref<5xf32> {gawee.prepared = "0"},
                %y: memref<3x5xf32> {gawee.output = "y"},
                %m: memref<256xi8> {gawee.workspace}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %t = memref.view %m[%c0][] : memref<256xi8> to memref<3x5xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<3x5xf32>) loc("net.json":5:5)
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %p : memref<3x5xf32>, memref<5xf32>) outs(%t : memref<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.mulf %a, %b : f32
    %e = arith.maxnumf %d, %c : f32
    linalg.yield %e : f32
  } loc("net.json":10:5)
  "memref.copy"(%t, %y) : (memref<3x5xf32>, memref<3x5xf32>) -> () loc("net.json":20:5)
  return
}
func.func @prepare(%w: memref<5xf32> {gawee.parameter = "fc.weight"},
                   %o: memref<5xf32> {gawee.output = "0"}) {
  "memref.copy"(%w, %o) : (memref<5xf32>, memref<5xf32>) -> () loc("net.json":30:5)
  return
}
"""

SUM = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<3xf32>)
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x5xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  } loc("net.json":10:5)
  return
}
"""

# Two transposes, from one half of the workspace to the other.
TURNED = """
func.func @main(%x: memref<4x4xf32> {gawee.input = "x"}, %y: memref<4x4xf32> {gawee.output = "y"},
                %m: memref<128xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %t = memref.view %m[%c0][] : memref<128xi8> to memref<4x4xf32>
  %u = memref.view %m[%c64][] : memref<128xi8> to memref<4x4xf32>
  "memref.copy"(%x, %t) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (b, a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<4x4xf32>) outs(%u : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } loc("net.json":10:5)
  "memref.copy"(%u, %y) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}
"""

# Each row is the one after it, or what a table says of it.
ROWS = """
func.func @main(%x: memref<4x5xf32> {gawee.input = "x"}, %y: memref<4x5xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloc() : memref<4x5xf32>
  %u = memref.alloc() : memref<4x5xf32>
  "memref.copy"(%x, %t) : (memref<4x5xf32>, memref<4x5xf32>) -> ()
  "memref.copy"(%x, %u) : (memref<4x5xf32>, memref<4x5xf32>) -> ()
  %a = memref.subview %t[%c1, 0] [3, 5] [1, 1] : memref<4x5xf32> to memref<3x5xf32, strided<[5, 1], offset: ?>>
  %b = memref.subview %u[%c0, 0] [3, 5] [1, 1] : memref<4x5xf32> to memref<3x5xf32, strided<[5, 1], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<3x5xf32, strided<[5, 1], offset: ?>>) outs(%b : memref<3x5xf32, strided<[5, 1], offset: ?>>) {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %e : f32
    linalg.yield %g : f32
  } loc("net.json":10:5)
  "memref.copy"(%u, %y) : (memref<4x5xf32>, memref<4x5xf32>) -> ()
  return
}
"""

COPIED = """
func.func @main(%x: memref<4x5xf32> {gawee.input = "x"}, %y: memref<4x5xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloc() : memref<4x5xf32>
  "memref.copy"(%x, %t) : (memref<4x5xf32>, memref<4x5xf32>) -> ()
  "memref.copy"(%x, %y) : (memref<4x5xf32>, memref<4x5xf32>) -> ()
  %a = memref.subview %t[%c0, 0] [3, 5] [1, 1] : memref<4x5xf32> to memref<3x5xf32, strided<[5, 1], offset: ?>>
  %b = memref.subview %y[%c1, 0] [3, 5] [1, 1] : memref<4x5xf32> to memref<3x5xf32, strided<[5, 1], offset: ?>>
  "memref.copy"(%a, %b) : (memref<3x5xf32, strided<[5, 1], offset: ?>>, memref<3x5xf32, strided<[5, 1], offset: ?>>) -> () loc("net.json":10:5)
  return
}
"""

GATHERED = """
func.func @main(%x: memref<6xf32> {gawee.input = "x"}, %y: memref<6xf32> {gawee.output = "y"}) {
  %c5 = arith.constant 5 : index
  %t = memref.alloc() : memref<6xf32>
  "memref.copy"(%x, %t) : (memref<6xf32>, memref<6xf32>) -> ()
  "memref.copy"(%x, %y) : (memref<6xf32>, memref<6xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]} outs(%y : memref<6xf32>) {
  ^bb0(%e: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c5, %i : index
    %g = memref.load %t[%j] : memref<6xf32>
    linalg.yield %g : f32
  } loc("net.json":10:5)
  return
}
"""

COPY = '"memref.copy"({}, {}) : (memref<{}xf32>, memref<{}xf32>) -> () loc("net.json":40:5)\n'
RETURN = "    func.return"
ON_BUFFERS = "lower-to-linalg,bufferize,outline-kernels,plan-memory"

GLOBAL = '"memref.global"() {sym_name = "kept", type = memref<3x5xf32>, initial_value = dense<0.0> : tensor<3x5xf32>, sym_visibility = "private"} : () -> ()\n'
WITH_GLOBAL = BUFFERS.replace("func.func @main", f"{GLOBAL}func.func @main")

# Each run adds to what the last one left; the first one finds zeros.
KEPT = """    %g = memref.get_global @kept : memref<3x5xf32>
    linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<3x5xf32>) outs(%g : memref<3x5xf32>) {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      linalg.yield %d : f32
    } loc("net.json":15:5)
    "memref.copy"(%g, %y) : (memref<3x5xf32>, memref<3x5xf32>) -> ()
"""


def inserted(text: str, before: str) -> Edited:
    return Edited((before, text + before))


CASES: Mapping[str, WrongPass] = {
    "main writes its input": WrongPass(
        BUFFERS,
        inserted(COPY.format("%t", "%x", "3x5", "3x5"), RETURN),
        "net.json:40:5: error: pass 'edited' left a module that cannot be run: 'memref.copy' op "
        "writes its input 'x'",
        "'memref.copy' op writes its input 'x'",
    ),
    "main writes what was prepared": WrongPass(
        BUFFERS,
        inserted("linalg.fill ins(%zero : f32) outs(%p : memref<5xf32>)\n", RETURN),
        "'linalg.fill' op writes its prepared '0'",
        "'linalg.fill' op writes its prepared '0'",
    ),
    "prepare writes a weight": WrongPass(
        BUFFERS,
        inserted(COPY.format("%o", "%w", "5", "5"), f'{RETURN} loc("test.mlir":21'),
        "'memref.copy' op writes its parameter 'fc.weight'",
        "'memref.copy' op writes its parameter 'fc.weight'",
    ),
    "a sum starts as what lies in the workspace": WrongPass(
        BUFFERS,
        Edited(("linalg.fill ins(%zero : f32) outs(%t", "linalg.fill ins(%zero : f32) outs(%y")),
        "net.json:10:5: error: pass 'edited' moved output 'y' at ",
        "'linalg.generic'",
    ),
    "state that a run leaves for the next": WrongPass(
        WITH_GLOBAL, inserted(KEPT, RETURN), "on data with ties"
    ),
    "all buffers in one place": WrongPass(
        BRANCHES, Wrong(changes.all_at_the_start), "'func.call'", "'func.call'", ON_BUFFERS
    ),
    "a buffer that begins a byte later": WrongPass(
        MOBILE,
        Wrong(changes.misplace_view),
        proof="byte 1 is no place for elements of 4 bytes",
        before="gawee-to-kernels,bufferize,plan-memory",
    ),
    "a copy that is left out": WrongPass(
        BUFFERS, Wrong(changes.forget_first(memref.CopyOp)), "output 'y'", "output 'y'"
    ),
    "a reduction that is called parallel": WrongPass(
        SUM,
        Edited(('"reduction"', '"parallel"')),
        f"net.json:10:5: error: pass 'edited' {RULE}'linalg.generic' op "
        "calls loop 1 parallel, which no index of its output depends on",
    ),
    "a transpose in place": WrongPass(
        TURNED,
        Edited(
            ("outs(%u : memref<4x4xf32>)", "outs(%t : memref<4x4xf32>)"), ("(%u, %y)", "(%t, %y)")
        ),
        f"net.json:10:5: error: pass 'edited' {RULE}'linalg.generic' op operand 1 is written over "
        "operand 0, which it reads as well",
    ),
    "a result that is written over half of what is read": WrongPass(
        TURNED,
        Edited(("memref.view %m[%c64]", "memref.view %m[%c32]")),
        f"net.json:10:5: error: pass 'edited' {RULE}'linalg.generic' op operand 1 is written over "
        "operand 0, which it reads as well",
    ),
    "rows that move up by one, in place": WrongPass(
        ROWS,
        Edited(("memref.subview %u", "memref.subview %t"), ("(%u, %y)", "(%t, %y)")),
        f"net.json:10:5: error: pass 'edited' {RULE}'linalg.generic' op writes elements of "
        "operand 1 that other points of its loops read as operand 0",
    ),
    "a copy onto a part of itself": WrongPass(
        COPIED,
        Edited(("memref.subview %t", "memref.subview %y")),
        f"net.json:10:5: error: pass 'edited' {RULE}'memref.copy' op writes elements of "
        "operand 1 that other points of its loops read as operand 0",
    ),
    "a gather in place": WrongPass(
        GATHERED,
        Edited(("memref.load %t", "memref.load %y")),
        f"net.json:10:5: error: pass 'edited' {RULE}'linalg.generic' op loads in its body of the "
        "buffer that it writes as operand 0",
    ),
    "a sum in the place of a product, in the parts of a batch that threads share": WrongPass(
        BATCH,
        Wrong(changes.replace_first(arith.MulfOp, arith.AddfOp)),
        "net.json:20:5: error: pass 'wrong' moved output 'y'",
        "net.json:20:5: error: pass 'wrong' moved output 'y'",
        f"{PARTS},bufferize,outline-kernels,distribute-batch,plan-memory",
    ),
}
