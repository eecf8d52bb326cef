// RUN: gawee-opt --bufferize --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @a_kernel_writes_a_fresh_buffer_or_the_output
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>{{.*}}, %[[OUT:.*]]: memref<5x3xf32>
// CHECK-NEXT:    %[[T:.*]] = memref.alloc() : memref<5x3xf32>
// CHECK-NEXT:    gawee.kernel parallel [3, 5] ins(%[[X]] : memref<3x5xf32>) outs(%[[T]])
// CHECK:         gawee.kernel parallel [5, 3] ins(%[[T]] : memref<5x3xf32>) outs(%[[OUT]])
// CHECK:           schedule #gawee.schedule<loops = [d0], vector = d1 by 3> : memref<5x3xf32>
// CHECK-NEXT:    func.return
func.func @a_kernel_writes_a_fresh_buffer_or_the_output(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %t = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<5x3xf32>
  %y = gawee.kernel parallel [5, 3] ins(%t : tensor<5x3xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0], vector = d1 by 3> : tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// -----

// A body may read what is computed outside of it.
// CHECK-LABEL: func.func @a_reduction_keeps_both_regions
// CHECK:         %[[C:.*]] = arith.constant
// CHECK-NEXT:    gawee.kernel parallel [2] reduce [3] ins(%{{.*}} : memref<2x3xf32>) outs(%{{.*}})
// CHECK-SAME:      initial 1.000000e+00 : f32 outside 2.000000e+00 : f32 accumulate {
// CHECK:             arith.mulf
// CHECK:         } finish {
// CHECK:             arith.addf %{{.*}}, %[[C]] : f32
func.func @a_reduction_keeps_both_regions(%x: tensor<2x3xf32>) -> tensor<4xf32> {
  %c = arith.constant 5.0 : f32
  %y = gawee.kernel parallel [2] reduce [3] ins(%x : tensor<2x3xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i + 1)>]
    initial 1.0 : f32 outside 2.0 : f32
    accumulate {
    ^bb0(%e: f32, %p: f32):
      %q = arith.mulf %e, %p : f32
      gawee.yield %q : f32
    } finish {
    ^bb0(%e: f32, %p: f32):
      %s = arith.addf %p, %c : f32
      gawee.yield %s : f32
    } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
