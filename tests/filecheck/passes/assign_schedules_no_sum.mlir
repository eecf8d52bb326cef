// RUN: gawee-opt %s --assign-schedules=target=haswell | filecheck %s

// CHECK-LABEL: @a_kernel_that_sums_over_nothing
// CHECK: gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 0]
// CHECK: schedule
func.func @a_kernel_that_sums_over_nothing(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 0] ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) maps [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, (d2 + d5), (d3 + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>] initial 0.000000e+00 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 fastmath<nnan> : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    gawee.yield %sum : f32
  } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}
