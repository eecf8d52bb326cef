// RUN: gawee-opt %s --outline-kernels | filecheck %s
// RUN: gawee-opt %s -p outline-kernels,canonicalize | gawee-opt | filecheck %s

// Two kernels that differ in the names of their sizes share one function, which takes the sizes.
// CHECK-LABEL: func.func @main
// CHECK:       func.call @elementwise_0(%x, %y, %n, %batch)
// CHECK-NEXT:  func.call @elementwise_0(%y, %z, %batch, %length)
// CHECK:       func.func private @elementwise_0(%{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>, %[[N:.*]]: index, %[[M:.*]]: index) attributes {gawee.ranges = {n0 = "1 to 9", n1 = "1 to 9"}} {
// CHECK:         gawee.kernel parallel ["n0", "n1 + 1"] counts(n0 = %[[N]], n1 = %[[M]])
// CHECK-NOT:   func.func private
func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>, %n: index, %batch: index, %length: index)
    attributes {gawee.ranges = {batch = "1 to 9", length = "1 to 9", a = "1 to 9", b = "1 to 9"}} {
  gawee.kernel parallel ["a", "b + 1"] counts(a = %n, b = %batch) ins(%x : memref<?x?xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    gawee.yield %0 : f32
  } : memref<?x?xf32> shape ["a", "b + 1"]
  gawee.kernel parallel ["batch", "length + 1"] counts(batch = %batch, length = %length) ins(%y : memref<?x?xf32>) outs(%z)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    gawee.yield %0 : f32
  } : memref<?x?xf32> shape ["batch", "length + 1"]
  func.return
}
