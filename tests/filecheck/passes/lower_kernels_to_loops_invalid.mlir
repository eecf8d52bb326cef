// RUN: gawee-opt --lower-kernels-to-loops --split-input-file --verify-diagnostics %s | filecheck %s

// A difference depends on the order.
// CHECK: error: 'gawee.kernel' op cannot be removed by lower-kernels-to-loops: vector = d1 by 8: expected a reduction whose order is free, got another 'accumulate'
func.func @lanes_cannot_share_differences(%x: memref<3x16xf32>, %y: memref<3xf32>) {
  gawee.kernel parallel [3] reduce [16] ins(%x : memref<3x16xf32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.subf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : memref<3xf32>
  func.return
}

// -----

// Idle lanes would divide by zero.
// CHECK: error: 'gawee.kernel' op cannot be removed by lower-kernels-to-loops: vector = d1 by 8: expected a reduction whose order is free, got another 'accumulate'
func.func @lanes_cannot_share_quotients_of_integers(%x: memref<3x13xi32>, %y: memref<3xi32>) {
  gawee.kernel parallel [3] reduce [13] ins(%x : memref<3x13xi32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0 : i32 accumulate {
  ^bb0(%e0: i32, %s: i32):
    %q = arith.divsi %e0, %e0 : i32
    %0 = arith.addi %s, %e0 : i32
    gawee.yield %0 : i32
  } finish {
  ^bb0(%e0: i32, %s: i32):
    gawee.yield %s : i32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : memref<3xi32>
  func.return
}

// -----

// Buffers come first.
// CHECK: error: 'gawee.kernel' op cannot be removed by lower-kernels-to-loops: expected operands on buffers, got tensors; bufferize comes first
func.func @kernels_on_tensors(%x: tensor<3x16xf32>) -> tensor<3xf32> {
  %y = gawee.kernel parallel [3] reduce [16] ins(%x : tensor<3x16xf32>)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<3xf32>
  func.return %y : tensor<3xf32>
}
