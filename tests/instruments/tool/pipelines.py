"""Programs at each of upstream's levels, and pipelines of upstream's passes, all of them right."""

from collections.abc import Mapping, Sequence

BUFFERS = (
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}"
)
TO_LLVM = (
    "expand-strided-metadata,lower-affine,convert-vector-to-llvm,convert-math-to-llvm,"
    "convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts"
)

PROGRAMS: Mapping[str, str] = {
    "linalg: a product, a bias and a maximum": """
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
  %m = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x7xf32>) outs(%f : tensor<3x7xf32>) -> tensor<3x7xf32>
  %c = linalg.broadcast ins(%b : tensor<7xf32>) outs(%e : tensor<3x7xf32>) dimensions = [0]
  %s = linalg.map { arith.addf } ins(%m, %c : tensor<3x7xf32>, tensor<3x7xf32>) outs(%e : tensor<3x7xf32>)
  %r = linalg.map ins(%s : tensor<3x7xf32>) outs(%e : tensor<3x7xf32>) (%v: f32, %o: f32) {
    %n = arith.maximumf %v, %zero : f32
    linalg.yield %n : f32
  }
  return %r : tensor<3x7xf32>
}
""",
    "linalg: sums of rows of open sizes, and what they are divided by": """
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  %o = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %k : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %s, %y : tensor<?xf32>, tensor<?x?xf32>
}
""",
    "linalg: a convolution of a padded image, and its maxima": """
func.func @main(%x: tensor<1x2x6x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x6x5xf32> to tensor<1x2x8x7xf32>
  %e = tensor.empty() : tensor<1x3x6x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x6x5xf32>) -> tensor<1x3x6x5xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%p, %w : tensor<1x2x8x7xf32>, tensor<3x2x3x3xf32>) outs(%f : tensor<1x3x6x5xf32>) -> tensor<1x3x6x5xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %g = tensor.empty() : tensor<1x3x3x2xf32>
  %h = linalg.fill ins(%low : f32) outs(%g : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%c, %k : tensor<1x3x6x5xf32>, tensor<2x2xf32>) outs(%h : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %y : tensor<1x3x3x2xf32>
}
""",
    "tensor: slices, inserted and extracted": """
func.func @main(%x: tensor<6x8xi32>, %y: tensor<3x4xi32>, %i: index) -> (tensor<6x8xi32>, tensor<12xi32>, i32) {
  %a = tensor.extract_slice %x[2, 1] [3, 4] [1, 1] : tensor<6x8xi32> to tensor<3x4xi32>
  %e = tensor.empty() : tensor<3x4xi32>
  %s = linalg.map { arith.muli } ins(%a, %y : tensor<3x4xi32>, tensor<3x4xi32>) outs(%e : tensor<3x4xi32>)
  %z = tensor.insert_slice %s into %x[%i, 0] [3, 4] [1, 2] : tensor<3x4xi32> into tensor<6x8xi32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %v = tensor.extract %z[%i, %i] : tensor<6x8xi32>
  return %z, %c, %v : tensor<6x8xi32>, tensor<12xi32>, i32
}
""",
    "affine: a nest that fills, and one that sums": """
func.func @main(%x: memref<5x9xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<5x9xf32>
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 9 {
      %a = affine.load %x[%i, %j] : memref<5x9xf32>
      %b = arith.mulf %a, %a : f32
      affine.store %b, %m[%i, %j] : memref<5x9xf32>
    }
  }
  %r = affine.for %i = 0 to 5 iter_args(%s = %zero) -> (f32) {
    %t = affine.for %j = 0 to min affine_map<(d) -> (d + 3, 9)>(%i) iter_args(%u = %s) -> (f32) {
      %a = affine.load %m[%i, %j] : memref<5x9xf32>
      %b = arith.addf %u, %a : f32
      affine.yield %b : f32
    }
    affine.yield %t : f32
  }
  return %r : f32
}
""",
    "affine: a stencil in a buffer that is the caller's": """
func.func @main(%x: memref<10xf64>, %n: index) {
  affine.for %i = 1 to 9 {
    affine.if affine_set<(d)[s] : (d - s >= 0)>(%i)[%n] {
      %a = affine.load %x[%i - 1] : memref<10xf64>
      %b = affine.load %x[%i + 1] : memref<10xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %x[%i] : memref<10xf64>
    }
  }
  return
}
""",
    "scf: a loop that may not run, and a choice": """
func.func @main(%n: index, %x: i64, %y: i64) -> (i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (i64, i64) {
    %l = arith.cmpi slt, %a, %b : i64
    %c = scf.if %l -> (i64) {
      %d = arith.subi %b, %a : i64
      scf.yield %d : i64
    } else {
      %d = arith.xori %b, %a : i64
      scf.yield %d : i64
    }
    %k = arith.muli %c, %a : i64
    scf.yield %k, %a : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}
""",
    "scf: a while loop, and an odd number of steps": """
func.func @main(%x: memref<7xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %most = arith.constant 100 : i32
  %s = scf.for %i = %c0 to %c7 step %c2 iter_args(%a = %zero) -> (i32) {
    %e = memref.load %x[%i] : memref<7xi32>
    %b = arith.addi %a, %e : i32
    memref.store %a, %x[%i] : memref<7xi32>
    scf.yield %b : i32
  }
  %w:2 = scf.while (%a = %one, %k = %zero) : (i32, i32) -> (i32, i32) {
    %l = arith.cmpi slt, %a, %most : i32
    scf.condition(%l) %a, %k : i32, i32
  } do {
  ^bb0(%a: i32, %k: i32):
    %d = arith.addi %a, %a : i32
    %m = arith.addi %k, %one : i32
    scf.yield %d, %m : i32, i32
  }
  return %s, %w#1 : i32, i32
}
""",
    "scf: parallel loops": """
func.func @main(%x: memref<4x6xf32>, %y: memref<4x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c6) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<4x6xf32>
    %b = arith.mulf %a, %a : f32
    memref.store %b, %y[%i, %j] : memref<4x6xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c6) step (%c1, %c1) {
    %a = memref.load %y[%i, %j] : memref<4x6xf32>
    %b = arith.negf %a : f32
    memref.store %b, %y[%i, %j] : memref<4x6xf32>
    scf.reduce
  }
  return
}
""",
    "vector: transfers beyond the end, and a reduction": """
func.func @main(%x: memref<5x7xf32>, %i: index) -> (f32, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.5 : f32
  %v = vector.transfer_read %x[%i, %c5], %z : memref<5x7xf32>, vector<4xf32>
  %w = vector.transfer_read %x[%c0, %c0], %z {in_bounds = [true, true]} : memref<5x7xf32>, vector<2x4xf32>
  %o = vector.extract %w[1] : vector<4xf32> from vector<2x4xf32>
  %f = vector.fma %v, %o, %v : vector<4xf32>
  %s = vector.reduction <add>, %f : vector<4xf32> into f32
  vector.transfer_write %f, %x[%i, %c0] : vector<4xf32>, memref<5x7xf32>
  return %s, %f : f32, vector<4xf32>
}
""",
    "vector: a contraction, a transpose and sums of its columns": """
func.func @main(%x: memref<2x4xf32>, %y: memref<4x2xf32>, %o: memref<2x2xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x2xf32>
  %start = arith.constant dense<0.0> : vector<2xf32>
  %a = vector.transfer_read %x[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x4xf32>, vector<2x4xf32>
  %b = vector.transfer_read %y[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x2xf32>, vector<4x2xf32>
  %c = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %zero : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
  %t = vector.transpose %c, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
  vector.transfer_write %t, %o[%c0, %c0] {in_bounds = [true, true]} : vector<2x2xf32>, memref<2x2xf32>
  %r = vector.multi_reduction <add>, %t, %start [0] : vector<2x2xf32> to vector<2xf32>
  %e = vector.extract %r[1] : f32 from vector<2xf32>
  return %e : f32
}
""",
    "cf: blocks that pass values on": """
func.func @main(%x: i32, %y: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %l = arith.cmpi slt, %x, %y : i32
  cf.cond_br %l, ^less(%x : i32), ^more(%y, %c3 : i32, i32)
^less(%a: i32):
  %b = arith.muli %a, %c3 : i32
  cf.br ^more(%b, %y : i32, i32)
^more(%d: i32, %e: i32):
  %f = arith.subi %d, %e : i32
  return %f : i32
}
""",
}

PIPELINES: Mapping[str, Sequence[str]] = {
    "linalg": (
        "canonicalize,cse,linalg-generalize-named-ops,linalg-fuse-elementwise-ops",
        "linalg-fold-unit-extent-dims,func.func(linalg-inline-scalar-operands),canonicalize",
        f"{BUFFERS},buffer-deallocation-pipeline,canonicalize",
        f"{BUFFERS},convert-linalg-to-affine-loops,func.func(affine-scalrep),lower-affine",
        f"{BUFFERS},buffer-results-to-out-params,convert-linalg-to-loops",
        f"{BUFFERS},convert-linalg-to-parallel-loops,scf-parallel-loop-tiling{{parallel-loop-tile-sizes=2,3}}",
        f"{BUFFERS},convert-linalg-to-loops,convert-scf-to-cf,{TO_LLVM}",
        "linalg-specialize-generic-ops,eliminate-empty-tensors,empty-tensor-to-alloc-tensor",
    ),
    "tensor": (
        "canonicalize,cse,sccp,symbol-dce",
        "fold-tensor-subset-ops,canonicalize,remove-dead-values",
        f"{BUFFERS},fold-memref-alias-ops,canonicalize",
        f"{BUFFERS},func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack)",
        f"{BUFFERS},convert-linalg-to-loops,{TO_LLVM}".replace(
            "expand", "convert-scf-to-cf,expand"
        ),
        "linalg-generalize-named-ops,int-range-optimizations,canonicalize",
    ),
    "affine": (
        "func.func(affine-loop-unroll{unroll-factor=3}),canonicalize",
        "func.func(affine-loop-tile{tile-size=4}),lower-affine,canonicalize",
        "func.func(affine-loop-fusion),lower-affine",
        "func.func(affine-scalrep),func.func(affine-loop-normalize),canonicalize",
        "func.func(affine-simplify-structures,affine-loop-coalescing),lower-affine",
        "func.func(affine-loop-unroll-jam{unroll-jam-factor=2}),cse",
        "func.func(affine-pipeline-data-transfer,affine-parallelize),lower-affine",
        f"lower-affine,convert-scf-to-cf,{TO_LLVM}",
    ),
    "scf": (
        "canonicalize,cse,loop-invariant-code-motion,sccp",
        "scf-for-loop-canonicalization,scf-for-loop-range-folding,canonicalize",
        "func.func(scf-for-loop-peeling),canonicalize",
        "scf-for-to-while,canonicalize",
        "scf-parallel-loop-fusion,canonicalize",
        "func.func(scf-for-loop-specialization,scf-parallel-loop-specialization)",
        "control-flow-sink,loop-invariant-subset-hoisting,cse",
        "int-range-optimizations,arith-unsigned-when-equivalent,canonicalize",
        "convert-scf-to-cf,canonicalize,sccp",
        f"convert-scf-to-cf,{TO_LLVM}",
    ),
    "vector": (
        "canonicalize,cse,convert-vector-to-scf,canonicalize",
        "func.func(lower-vector-mask),convert-vector-to-scf{full-unroll=true},lower-affine",
        "func.func(lower-vector-multi-reduction),canonicalize",
        f"convert-vector-to-scf,lower-affine,convert-scf-to-cf,{TO_LLVM}",
        "convert-vector-to-scf{lower-tensors=true},fold-memref-alias-ops,loop-invariant-code-motion",
        "sccp,int-range-optimizations,remove-dead-values,canonicalize",
    ),
    "cf": (
        "canonicalize,cse,sccp,symbol-dce",
        "lift-cf-to-scf,canonicalize",
        "int-range-optimizations,canonicalize,remove-dead-values",
        f"lift-cf-to-scf,convert-scf-to-cf,{TO_LLVM}",
        "arith-expand,canonicalize,arith-emulate-wide-int{widest-int-supported=64}",
    ),
}

MORE = {"linalg": ("tensor",)}
"""Levels whose passes programs of a level are run by, too."""


def levels_of(name: str) -> Sequence[str]:
    """Return the levels whose pipelines a program is run by."""
    level = name.partition(":")[0]
    return level, *MORE.get(level, ())


CHECKED = [
    (name, each)
    for name in PROGRAMS
    # Two levels may have a pipeline in common.
    for each in dict.fromkeys(each for level in levels_of(name) for each in PIPELINES[level])
]
"""A program and a pipeline: over a hundred."""
