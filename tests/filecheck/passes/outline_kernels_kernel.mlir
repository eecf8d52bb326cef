// RUN: gawee-opt --outline-kernels --plan-memory --split-input-file %s | filecheck %s

// A function is named after what the kernel is; equal kernels share one.
// CHECK-LABEL: func.func @each_kernel_is_a_function
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>, %[[OUT:.*]]: memref<3xf32>, %[[W:.*]]: memref<64xi8>
// CHECK:         %[[T:.*]] = memref.view %[[W]]
// CHECK-NEXT:    func.call @elementwise_0(%[[X]], %[[T]])
// CHECK-NEXT:    func.call @elementwise_0(%[[T]], %[[X]])
// CHECK-NEXT:    func.call @matmul_0(%[[X]], %[[T]], %[[OUT]])
// CHECK-NEXT:    func.return
// CHECK:       func.func private @elementwise_0(
// CHECK:       func.func private @matmul_0(%{{.*}}: memref<3x5xf32>, %{{.*}}: memref<3x5xf32>, %{{.*}}: memref<3xf32>)
func.func @each_kernel_is_a_function(%x: memref<3x5xf32>, %out: memref<3xf32>) {
  %t = memref.alloc() : memref<3x5xf32>
  gawee.kernel parallel [3, 5] ins(%x : memref<3x5xf32>) outs(%t)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : memref<3x5xf32> loc("node"("graph.json":3:5))
  gawee.kernel parallel [3, 5] ins(%t : memref<3x5xf32>) outs(%x)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : memref<3x5xf32> loc("node"("graph.json":3:5))
  gawee.kernel parallel [3] reduce [5] ins(%x, %t : memref<3x5xf32>, memref<3x5xf32>) outs(%out)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %p, %sum : f32
      gawee.yield %q : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      gawee.yield %sum : f32
    } : memref<3xf32> loc("node"("graph.json":3:5))
  func.return
}
