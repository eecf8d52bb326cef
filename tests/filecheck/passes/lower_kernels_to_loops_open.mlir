// RUN: gawee-opt %s --lower-kernels-to-loops | filecheck %s

// Without a sum, an open number of rows by 4: whole tiles, then the rows left one by one. Inside of a
// tile all is constant.
// CHECK-LABEL: func.func @main
// CHECK:       %[[TILES:.*]] = arith.divui %n, %{{.*}} : index
// CHECK:       %[[LEFT:.*]] = arith.remui %n, %{{.*}} : index
// CHECK:       scf.for %{{.*}} = %{{.*}} to %[[TILES]] step
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c4{{[_0-9]*}} step
// CHECK:           vector.load
// CHECK:         } {gawee.unroll = "full"}
// CHECK:       } {gawee.unroll = 1 : i64}
// CHECK:       scf.for %{{.*}} = %{{.*}} to %[[LEFT]] step
// CHECK-NOT:     gawee.unroll = "full"
// CHECK:       } {gawee.unroll = 1 : i64}
// CHECK-NEXT:  func.return
func.func @main(%x: memref<?x8xf32>, %n: index, %y: memref<?x8xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n", 8] counts(n = %n) ins(%x : memref<?x8xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 4], vector = d1 by 8> : memref<?x8xf32> shape ["n", 8]
  func.return
}

// With a sum, rows are in tiles of 3 and fewer that are about equal: 7 rows in 3, 2 and 2. There is a
// tile of each number of rows.
// CHECK-LABEL: func.func @rows
// CHECK:       %[[MORE:.*]] = arith.addi %n, %c2{{.*}} : index
// CHECK:       %[[TILES:.*]] = arith.divui %[[MORE]], %c3{{.*}} : index
// CHECK:       %[[ROWS:.*]] = arith.divui %n, %[[TILES]] : index
// CHECK:       %[[LONGER:.*]] = arith.remui %n, %[[TILES]] : index
// CHECK:       scf.for %[[TILE:.*]] = %{{.*}} to %[[TILES]] step
// CHECK:         arith.minui %[[TILE]], %[[LONGER]]
// CHECK:         %[[OWN:.*]] = arith.select
// CHECK:         arith.cmpi eq, %[[OWN]], %c3
// CHECK:         scf.if
// CHECK:           scf.for %{{.*}} = %{{.*}} to %c3{{[_0-9]*}} step
// CHECK:         } else {
// CHECK:           arith.cmpi eq, %[[OWN]], %c2
// CHECK:           scf.if
// CHECK:             scf.for %{{.*}} = %{{.*}} to %c2{{[_0-9]*}} step
// CHECK:           } else {
func.func @rows(%x: memref<?x5xf32>, %w: memref<5x8xf32>, %n: index, %y: memref<?x8xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n", 8] reduce [5] counts(n = %n) ins(%x, %w : memref<?x5xf32>, memref<5x8xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d0 by 3, d2], vector = d1 by 8> : memref<?x8xf32> shape ["n", 8]
  func.return
}

// The last points of a row are the first lanes of a vector.
// CHECK-LABEL: func.func @lanes
// CHECK:       %[[LEFT:.*]] = arith.remui %n, %c8
// CHECK:       arith.cmpi ne, %[[LEFT]], %c0
// CHECK:       scf.if
// CHECK:         %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK:         vector.maskedload %x[%{{.*}}], %[[MASK]]
// CHECK:         vector.maskedstore %y[%{{.*}}], %{{.*}}, %{{.*}} : memref<?xf32>
func.func @lanes(%x: memref<?xf32>, %n: index, %y: memref<?xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n"] counts(n = %n) ins(%x : memref<?xf32>) outs(%y)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 8], vector = d0 by 8> : memref<?xf32> shape ["n"]
  func.return
}

// The part of the weights that comes next is fetched by the first tiles of rows, a line in each step.
// CHECK-LABEL: func.func @prefetch
// CHECK:       scf.for
// CHECK:       arith.minui %{{.*}}, %c0
// CHECK:       memref.prefetch %w
func.func @prefetch(%x: memref<?x5xf32>, %w: memref<3x5x8xf32>, %n: index, %y: memref<?x24xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n", 24] reduce [5] counts(n = %n) ins(%x, %w : memref<?x5xf32>, memref<3x5x8xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j floordiv 8, k, j mod 8)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d1 by 8, d0 by 2, d2], vector = d1 by 8, prefetch = input 1 along d1> : memref<?x24xf32> shape ["n", 24]
  func.return
}

// One row has no time to fetch what is multiplied next.
// CHECK-LABEL: func.func @few_rows_fetch_nothing
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT:   memref.prefetch
func.func @few_rows_fetch_nothing(%x: memref<?x5xf32>, %w: memref<3x5x8xf32>, %n: index, %y: memref<?x24xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n", 24] reduce [5] counts(n = %n) ins(%x, %w : memref<?x5xf32>, memref<3x5x8xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j floordiv 8, k, j mod 8)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.addf %t, %1 : f32
    gawee.yield %2 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d1 by 8, d0 by 3, d2], vector = d1 by 8, prefetch = input 1 along d1> : memref<?x24xf32> shape ["n", 24]
  func.return
}

// Where each point takes many ops, one row has time: it fetches all that comes next.
// CHECK-LABEL: func.func @few_rows_of_many_ops_fetch_all
// CHECK-COUNT-1: arith.minui %{{.*}}, %c0
// CHECK-COUNT-3: memref.prefetch
// CHECK-NOT:   memref.prefetch
func.func @few_rows_of_many_ops_fetch_all(%x: memref<?x5xf32>, %w: memref<3x5x8xf32>, %n: index, %y: memref<?x24xf32>) attributes {gawee.ranges = {n = "1 to 99"}} {
  gawee.kernel parallel ["n", 24] reduce [5] counts(n = %n) ins(%x, %w : memref<?x5xf32>, memref<3x5x8xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j floordiv 8, k, j mod 8)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.addf %1, %b : f32
    %3 = arith.addf %2, %b : f32
    %4 = arith.addf %3, %b : f32
    %5 = arith.addf %4, %b : f32
    %6 = arith.addf %5, %b : f32
    %7 = arith.addf %6, %b : f32
    %8 = arith.addf %7, %b : f32
    %9 = arith.addf %8, %b : f32
    %10 = arith.addf %9, %b : f32
    %11 = arith.addf %10, %b : f32
    %12 = arith.addf %11, %b : f32
    %13 = arith.addf %12, %b : f32
    %14 = arith.addf %13, %b : f32
    %15 = arith.addf %14, %b : f32
    %16 = arith.addf %15, %b : f32
    %17 = arith.addf %16, %b : f32
    %18 = arith.addf %17, %b : f32
    %19 = arith.addf %18, %b : f32
    %20 = arith.addf %19, %b : f32
    %21 = arith.addf %20, %b : f32
    %22 = arith.addf %21, %b : f32
    %23 = arith.addf %22, %b : f32
    %24 = arith.addf %23, %b : f32
    %25 = arith.addf %24, %b : f32
    %26 = arith.addf %25, %b : f32
    %27 = arith.addf %26, %b : f32
    %28 = arith.addf %27, %b : f32
    %29 = arith.addf %28, %b : f32
    %30 = arith.addf %29, %b : f32
    %31 = arith.addf %t, %30 : f32
    gawee.yield %31 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d1 by 8, d0 by 3, d2], vector = d1 by 8, prefetch = input 1 along d1> : memref<?x24xf32> shape ["n", 24]
  func.return
}
