// RUN: gawee-opt %s --split-input-file --canonicalize | filecheck %s

// What is left of the schedule is about rows.
// CHECK-LABEL: func.func @a_kernel_that_accumulates_nothing_has_no_reduction
// CHECK:       gawee.kernel parallel [3] ins() maps [affine_map<(d0) -> (d0)>] finish {
// CHECK-NEXT:    %[[SUM:.*]] = arith.constant 5 : i8
// CHECK-NEXT:    gawee.yield %[[SUM]] : i8
// CHECK-NEXT:  } schedule #gawee.schedule<loops = [d0 by 2], parallel = 1> : tensor<3xi8>
func.func @a_kernel_that_accumulates_nothing_has_no_reduction(%x: tensor<3x21xi8>) -> tensor<3xi8> {
  %y = gawee.kernel parallel [3] reduce [21] ins(%x : tensor<3x21xi8>)
    maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>] initial 5 : i8
    accumulate {
  ^bb0(%e: i8, %sum: i8):
    %0 = arith.constant 0 : i8
    %1 = arith.addi %sum, %0 : i8
    gawee.yield %1 : i8
  } finish {
  ^bb0(%e: i8, %sum: i8):
    gawee.yield %sum : i8
  } schedule #gawee.schedule<loops = [d0 by 2, d1 by 8], vector = d1 by 8, parallel = 1> : tensor<3xi8>
  func.return %y : tensor<3xi8>
}

// -----

// CHECK-LABEL: func.func @a_kernel_that_accumulates_a_constant_has_no_reduction
// CHECK:       gawee.kernel parallel [3] ins(%b : tensor<3xf32>)
// CHECK-NEXT:  ^bb0(%[[B:.*]]: f32):
// CHECK-NEXT:    %[[TOTAL:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    arith.addf %[[TOTAL]], %[[B]] : f32
func.func @a_kernel_that_accumulates_a_constant_has_no_reduction(%x: tensor<3x21xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %y = gawee.kernel parallel [3] reduce [21] ins(%x, %b : tensor<3x21xf32>, tensor<3xf32>)
    maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m)>] initial 0.0 : f32
    accumulate {
  ^bb0(%e: f32, %bias: f32, %sum: f32):
    %0 = arith.constant 2.0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e: f32, %bias: f32, %sum: f32):
    %1 = arith.addf %sum, %bias : f32
    gawee.yield %1 : f32
  } : tensor<3xf32>
  func.return %y : tensor<3xf32>
}
