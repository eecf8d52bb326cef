// RUN: gawee-opt %s --lower-kernels-to-loops | filecheck %s

// An open number of rows by 4: whole tiles, then the rows left one by one. Inside of a tile all is constant.
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
