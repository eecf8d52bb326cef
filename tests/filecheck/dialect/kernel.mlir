// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_product_reduces_and_has_a_schedule
// CHECK-NEXT:  %y = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b : tensor<4x7xf32>, tensor<5x7xf32>) maps [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] initial 0.000000e+00 : f32 accumulate {
// CHECK:         gawee.yield %{{.*}} : f32
// CHECK-NEXT:  } finish {
// CHECK-NEXT:  ^bb0(%{{.*}}: f32, %{{.*}}: f32, %sum{{.*}}: f32):
// CHECK-NEXT:    gawee.yield %sum
// CHECK-NEXT:  } schedule #gawee.schedule<loops = [d0 by 2, d1, d2], vector = d1 by 4, parallel = 1, prefetch = input 1 along d1> attributes {note = "kept"} : tensor<4x5xf32>
func.func @a_product_reduces_and_has_a_schedule(%a: tensor<4x7xf32>, %b: tensor<5x7xf32>) -> tensor<4x5xf32> {
  %y = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b : tensor<4x7xf32>, tensor<5x7xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32
    accumulate {
    ^bb0(%x: f32, %w: f32, %sum: f32):
      %0 = arith.mulf %x, %w : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%x: f32, %w: f32, %sum: f32):
      gawee.yield %sum : f32
    } schedule #gawee.schedule<loops = [d0 by 2, d1, d2], vector = d1 by 4, parallel = 1, prefetch = input 1 along d1> attributes {note = "kept"} : tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @what_has_no_points_is_outside
// CHECK-NEXT:  %y = gawee.kernel parallel [3, 20] ins(%x : tensor<3x20xi32>)
// CHECK-SAME:    (d0, d1) -> ((d1 floordiv 16), (d0 + 1), (d1 mod 16))
// CHECK-SAME:    outside 7 : i32 finish {
// CHECK:       } : tensor<2x5x16xi32>
func.func @what_has_no_points_is_outside(%x: tensor<3x20xi32>) -> tensor<2x5x16xi32> {
  %y = gawee.kernel parallel [3, 20] ins(%x : tensor<3x20xi32>)
    maps [affine_map<(h, c) -> (h, c)>, affine_map<(h, c) -> (c floordiv 16, h + 1, c mod 16)>]
    outside 7 : i32
    finish {
    ^bb0(%e: i32):
      gawee.yield %e : i32
    } : tensor<2x5x16xi32>
  func.return %y : tensor<2x5x16xi32>
}

// CHECK-LABEL: func.func @on_buffers_the_output_is_an_operand
// CHECK-NEXT:  gawee.kernel parallel [3] ins(%x : memref<3xf32>) outs(%y) maps
// CHECK:       } : memref<3xf32>
func.func @on_buffers_the_output_is_an_operand(%x: memref<3xf32>, %y: memref<3xf32>) {
  gawee.kernel parallel [3] ins(%x : memref<3xf32>) outs(%y)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : memref<3xf32>
  func.return
}

// CHECK-LABEL: func.func @a_scalar_has_no_loops
// CHECK-NEXT:  %y = gawee.kernel parallel [] ins() maps [affine_map<() -> ()>] finish {
// CHECK:       } schedule #gawee.schedule<loops = []> : tensor<f32>
func.func @a_scalar_has_no_loops() -> tensor<f32> {
  %y = gawee.kernel parallel [] ins() maps [affine_map<() -> ()>]
    finish {
      %0 = arith.constant 2.5 : f32
      gawee.yield %0 : f32
    } schedule #gawee.schedule<loops = []> : tensor<f32>
  func.return %y : tensor<f32>
}
