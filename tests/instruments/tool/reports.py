"""Programs that mlir-opt 22 gets wrong: of open reports on MLIR, written anew and smaller, and found here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """A program, the pipeline that changes what it computes, and the pass that does."""

    number: int
    """Of llvm-project; 0 of what was found by random programs."""

    wrong: str
    said: str
    """What the message has in it."""

    pipeline: str
    program: str


REPORTS = (
    Report(
        129415,
        "lower-vector-multi-reduction",
        "expected 2, got 1",
        "func.func(lower-vector-multi-reduction),canonicalize",
        """
func.func @main() -> i32 {
  %one = arith.constant 1 : index
  %m = vector.create_mask %one, %one : vector<3x3xi1>
  %c = arith.constant 1 : i32
  %v = vector.broadcast %c : i32 to vector<3x3xi32>
  %s = vector.mask %m { vector.multi_reduction <add>, %v, %v [] : vector<3x3xi32> to vector<3x3xi32> } : vector<3x3xi1> -> vector<3x3xi32>
  %e = vector.extract %s[0, 0] : i32 from vector<3x3xi32>
  return %e : i32
}
""",
    ),
    Report(
        128273,
        "affine-loop-invariant-code-motion",
        "expected -5, got 7",
        "canonicalize,func.func(affine-loop-invariant-code-motion),lower-affine",
        """
func.func @main(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %a = arith.constant 7 : i32
  %b = arith.constant -5 : i32
  %m = memref.alloc() : memref<1xi32>
  memref.store %b, %m[%c0] : memref<1xi32>
  affine.for %i = 9 to %n {
    affine.store %a, %m[%c0] : memref<1xi32>
  }
  %r = memref.load %m[%c0] : memref<1xi32>
  return %r : i32
}
""",
    ),
    Report(
        113687,
        "affine-scalrep",
        "expected 15, got ",
        "func.func(affine-scalrep),lower-affine",
        """
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %k = arith.constant 1 : i64
  %n = arith.constant 2 : i64
  %b = memref.alloc() : memref<8xi64>
  %v = vector.broadcast %n : i64 to vector<4xi64>
  affine.vector_store %v, %b[%c0] : memref<8xi64>, vector<4xi64>
  affine.vector_store %v, %b[%c0 + 4] : memref<8xi64>, vector<4xi64>
  %w = vector.broadcast %k : i64 to vector<2xi64>
  affine.vector_store %w, %b[%c0] : memref<8xi64>, vector<2xi64>
  %r = affine.for %i = 0 to 8 iter_args(%s = %k) -> (i64) {
    %e = memref.load %b[%i] : memref<8xi64>
    %t = arith.addi %s, %e : i64
    affine.yield %t : i64
  }
  return %r : i64
}
""",
    ),
    Report(
        113690,
        "one-shot-bufferize",
        "expected 0, got 10",
        "one-shot-bufferize{dialect-filter=tensor,linalg,bufferization},canonicalize,"
        "one-shot-bufferize{dialect-filter=scf},convert-linalg-to-loops",
        """
func.func @main() -> i16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %true = arith.constant true
  %z = arith.constant 0 : i16
  %one = arith.constant 1 : i16
  %a = memref.alloc() : memref<1xi16>
  memref.store %z, %a[%c0] : memref<1xi16>
  %l = memref.load %a[%c0] : memref<1xi16>
  %t = tensor.from_elements %l, %l, %l, %l, %l, %l, %l, %l, %l, %l : tensor<5x2xi16>
  %i = scf.if %true -> (tensor<5x2xi16>) {
    scf.yield %t : tensor<5x2xi16>
  } else {
    scf.yield %t : tensor<5x2xi16>
  }
  %ones = tensor.splat %one : tensor<5x2xi16>
  %cp = linalg.copy ins(%ones : tensor<5x2xi16>) outs(%t : tensor<5x2xi16>) -> tensor<5x2xi16>
  %c = tensor.collapse_shape %i [[0, 1]] : tensor<5x2xi16> into tensor<10xi16>
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%s = %z) -> (i16) {
    %e = tensor.extract %c[%j] : tensor<10xi16>
    %u = arith.addi %s, %e : i16
    scf.yield %u : i16
  }
  return %r : i16
}
""",
    ),
    Report(
        132155,
        "affine-loop-fusion",
        "moved output 'result0'",
        "one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-affine-loops,"
        "func.func(affine-loop-fusion),lower-affine",
        """
#in = affine_map<(n, h, w, o, i, j, c) -> (n, h + i, w + j * 2, c)>
#by = affine_map<(n, h, w, o, i, j, c) -> (o, i, j, c)>
#to = affine_map<(n, h, w, o, i, j, c) -> (n, h, w, o)>
func.func @main(%x: tensor<1x3x5x2xf32>, %k: tensor<3x2x3x2xf32>) -> tensor<1x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x3x5x2xf32> to tensor<1x5x7x2xf32>
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.generic {indexing_maps = [#in, #by, #to], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %k : tensor<1x5x7x2xf32>, tensor<3x2x3x2xf32>) outs(%f : tensor<1x4x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x4x3x3xf32>
  %o = tensor.empty() : tensor<1x3x3xf32>
  %g = linalg.fill ins(%z : f32) outs(%o : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<1x4x3x3xf32>) outs(%g : tensor<1x3x3xf32>) dimensions = [1]
  return %r : tensor<1x3x3xf32>
}
""",
    ),
    Report(
        218191,
        "arith-int-range-narrowing",
        "expected 0, got 4294967295",
        "arith-int-range-narrowing{int-bitwidths-supported=32},canonicalize",
        """
memref.global "private" @v : memref<1xi64> = dense<32>
func.func @main() -> i64 {
  %g = memref.get_global @v : memref<1xi64>
  %z = arith.constant 0 : index
  %a = memref.load %g[%z] : memref<1xi64>
  %mask = arith.constant 63 : i64
  %by = arith.andi %a, %mask : i64
  %v = arith.constant 4 : i64
  %r = arith.shrsi %v, %by : i64
  return %r : i64
}
""",
    ),
    Report(
        137281,
        "int-range-optimizations",
        "expected 52.0, got 4.0",
        "int-range-optimizations",
        """
func.func @main() {
  %no = arith.constant false
  %n = arith.constant 8 : i32
  %six = arith.trunci %n : i32 to i6
  %seven = arith.constant 7 : i64
  %sum, %carry = arith.addui_extended %no, %no : i1, i1
  cf.cond_br %no, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%seven, %six : i64, i6)
^bb2:
  %four = arith.constant 4 : i64
  cf.br ^bb3(%four, %six : i64, i6)
^bb3(%x: i64, %w: i6):
  cf.br ^bb4
^bb4:
  cf.cond_br %sum, ^bb5, ^bb6
^bb5:
  %nine = arith.constant 9 : i64
  cf.br ^bb7(%nine : i64)
^bb6:
  %eight = arith.constant 52 : i64
  cf.br ^bb7(%eight : i64)
^bb7(%y: i64):
  cf.br ^bb8
^bb8:
  vector.print %y : i64
  return
}
""",
    ),
    Report(
        126195,
        "int-range-optimizations",
        "expected 29.0, got 9.0",
        "int-range-optimizations,convert-arith-to-llvm",
        """
func.func @main() {
  %nine = index.constant 9
  %eleven = index.constant 11
  %zero = index.constant 0
  %yes = llvm.mlir.constant(true) : i1
  %c = llvm.mlir.constant(29 : index) : i64
  %k = builtin.unrealized_conversion_cast %c : i64 to index
  %no = index.bool.constant false
  cf.cond_br %no, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%k : index)
^bb2:
  cf.br ^bb3(%nine : index)
^bb3(%x: index):
  cf.br ^bb4
^bb4:
  vector.print %x : index
  cf.cond_br %no, ^bb5, ^bb6
^bb5:
  cf.br ^bb7(%k : index)
^bb6:
  cf.br ^bb7(%eleven : index)
^bb7(%y: index):
  cf.br ^bb8
^bb8:
  vector.print %y : index
  cf.cond_br %yes, ^bb9, ^bb10
^bb9:
  cf.br ^bb11(%k : index)
^bb10:
  cf.br ^bb11(%zero : index)
^bb11(%z: index):
  cf.br ^bb12
^bb12:
  vector.print %z : index
  return
}
""",
    ),
    Report(
        137509,
        "sccp",
        "expected 55.0, got -1089.0",
        "sccp",
        """
func.func @main() {
  %no = llvm.mlir.constant(false) : i1
  %wide = llvm.mlir.constant(11 : i128) : i128
  %five = llvm.mlir.constant(5 : index) : i64
  %many = llvm.mlir.constant(-99 : index) : i64
  %zero = llvm.mlir.constant(0 : index) : i64
  llvm.cond_br %no, ^bb1, ^bb2
^bb1:
  llvm.br ^bb3(%many, %many : i64, i64)
^bb2:
  %s = llvm.ashr %zero, %five : i64
  llvm.br ^bb3(%s, %five : i64, i64)
^bb3(%x: i64, %y: i64):
  %a = builtin.unrealized_conversion_cast %y : i64 to index
  llvm.br ^bb4
^bb4:
  %b = builtin.unrealized_conversion_cast %a : index to i64
  %w = llvm.zext %b : i64 to i128
  %p = llvm.mul %w, %wide : i128
  %t = llvm.trunc %p : i128 to i64
  vector.print %x : i64
  vector.print %t : i64
  return
}
""",
    ),
    Report(
        140259,
        "scf-parallel-loop-fusion",
        "moved output 'printed' at [",
        "func.func(tosa-to-linalg),func.func(tosa-to-arith),cse,"
        "one-shot-bufferize{bufferize-function-boundaries},finalize-memref-to-llvm,"
        "convert-linalg-to-parallel-loops,func.func(scf-parallel-loop-fusion)",
        """
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %c = "tosa.const"() <{values = dense<[[1, 2, 4], [8, 16, 32]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %x = tosa.cast %c : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %f = tosa.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = tosa.reverse %f {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u = tensor.cast %r : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
""",
    ),
    Report(
        0,
        "affine-super-vectorize",
        "moved output 'argument0'",
        "func.func(affine-super-vectorize{virtual-vector-size=4}),lower-affine",
        """
func.func @main(%x: memref<32xi32>, %s: i32) {
  affine.for %i = 0 to 32 step 2 {
    affine.store %s, %x[%i] : memref<32xi32>
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-data-copy-generate",
        "moved output 'argument0' at [1]",
        "func.func(affine-data-copy-generate{generate-dma=false fast-mem-space=0}),lower-affine",
        """
func.func @main(%x: memref<8xi32>, %s: i32) {
  affine.for %i = 0 to 4 {
    affine.store %s, %x[%i * 2] : memref<8xi32>
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-super-vectorize",
        "moved output 'argument1'",
        "func.func(affine-super-vectorize{virtual-vector-size=4}),lower-affine",
        """
func.func @main(%x: memref<8xi32>, %y: memref<8xi32>) {
  affine.for %i = 0 to 8 {
    %a = affine.load %x[%i floordiv 2] : memref<8xi32>
    affine.store %a, %y[%i] : memref<8xi32>
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-loop-invariant-code-motion",
        "moved output 'argument0' at [3]",
        "func.func(affine-loop-invariant-code-motion),lower-affine",
        """
func.func @main(%x: memref<8xi32>, %s: i32) {
  %v = memref.subview %x[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
  affine.for %i = 0 to 4 {
    %a = affine.load %x[3] : memref<8xi32>
    %b = arith.addi %a, %s : i32
    affine.store %b, %v[1] : memref<4xi32, strided<[1], offset: 2>>
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-loop-tile",
        "moved output 'argument0'",
        "func.func(affine-loop-tile{tile-size=2}),lower-affine",
        """
func.func @main(%x: memref<8x8xi32>) {
  %v = memref.subview %x[0, 0] [7, 8] [1, 1] : memref<8x8xi32> to memref<7x8xi32, strided<[8, 1]>>
  affine.for %i = 1 to 7 {
    affine.for %j = 0 to 6 {
      %a = affine.load %x[%i - 1, %j + 2] : memref<8x8xi32>
      affine.store %a, %v[%i, %j] : memref<7x8xi32, strided<[8, 1]>>
    }
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-data-copy-generate",
        "moved output 'argument0' at [3]",
        "func.func(affine-data-copy-generate{generate-dma=false fast-mem-space=0}),lower-affine",
        """
func.func @main(%x: memref<8xi32>) {
  %v = memref.subview %x[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
  affine.for %i = 0 to 4 {
    %a = affine.load %x[%i + 1] : memref<8xi32>
    affine.store %a, %v[%i] : memref<4xi32, strided<[1], offset: 2>>
  }
  return
}
""",
    ),
    Report(
        0,
        "affine-parallelize",
        "where parallel loops run backwards",
        "func.func(affine-parallelize),lower-affine",
        """
func.func @main(%x: memref<8xi32>) {
  %v = memref.subview %x[1] [7] [1] : memref<8xi32> to memref<7xi32, strided<[1], offset: 1>>
  affine.for %i = 0 to 7 {
    %a = affine.load %x[%i] : memref<8xi32>
    affine.store %a, %v[%i] : memref<7xi32, strided<[1], offset: 1>>
  }
  return
}
""",
    ),
)

CRASHES = (
    (
        "canonicalize",
        """
func.func @main(%x: memref<4xi32>, %s: i32) {
  affine.for %i = 1 to 1 {
    affine.for %j = max affine_map<(d) -> (d, 0)>(%i) to 0 {
      affine.store %s, %x[%j] : memref<4xi32>
    }
  }
  return
}
""",
    ),
    (
        "func.func(affine-super-vectorize{virtual-vector-size=2})",
        """
func.func @main(%x: memref<7x5xf32>, %s: f32) {
  affine.for %i = 1 to 6 step 4 {
    affine.for %j = affine_map<(d) -> (d)>(%i) to min affine_map<(d) -> (d + 4, 6)>(%i) step 2 {
      affine.store %s, %x[%j, (%j + 2) mod 5] : memref<7x5xf32>
    }
  }
  return
}
""",
    ),
    (
        "flatten-memref",
        """
func.func @main(%m: memref<2x4xi32>, %v: vector<2x2xi32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %m[%c0, %c0] : vector<2x2xi32>, memref<2x4xi32>
  return
}
""",
    ),
)
"""Passes that fail an assertion of mlir-opt 22 on a program."""
