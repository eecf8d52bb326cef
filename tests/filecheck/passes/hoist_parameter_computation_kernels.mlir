// RUN: gawee-opt --hoist-parameter-computation --split-input-file %s | filecheck %s

// The packed weight has lanes left over, yet no element is in two places.
// CHECK-LABEL: func.func @prepare
// CHECK-SAME:  (%{{.*}}: tensor<5x3xf32> {gawee.parameter = "w"}) -> (tensor<1x3x8xf32>
// CHECK:         gawee.kernel parallel [5, 3]
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[W:[a-z]+]]: tensor<1x3x8xf32> {gawee.prepared = "0"}
// CHECK-NEXT:    gawee.kernel parallel [5, 3] ins(%{{.*}}, %[[W]] :
func.func @main(%x: tensor<5x3xf32>, %w: tensor<5x3xf32> {gawee.parameter = "w"}) -> tensor<5x3xf32> {
  %p = gawee.kernel parallel [5, 3] ins(%w : tensor<5x3xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<1x3x8xf32>
  %y = gawee.kernel parallel [5, 3] ins(%x, %p : tensor<5x3xf32>, tensor<1x3x8xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      gawee.yield %s : f32
    } : tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// -----

// CHECK-NOT:   @prepare
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[W:[a-z]+]]: tensor<5xf32> {gawee.parameter = "w"}
// CHECK-NEXT:    %[[B:.*]] = gawee.kernel parallel [5, 3] ins(%[[W]] :
// CHECK:         gawee.kernel parallel [5, 3] ins(%{{.*}}, %[[B]] :
func.func @main(%x: tensor<5x3xf32>, %w: tensor<5xf32> {gawee.parameter = "w"}) -> tensor<5x3xf32> {
  %b = gawee.kernel parallel [5, 3] ins(%w : tensor<5xf32>)
    maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<5x3xf32>
  %y = gawee.kernel parallel [5, 3] ins(%x, %b : tensor<5x3xf32>, tensor<5x3xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      gawee.yield %s : f32
    } : tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// -----

// A number that the bodies of both kernels read from outside is on both sides.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:    %[[C:.*]] = arith.constant 7.000000e+00 : f32
// CHECK:           arith.mulf %{{.*}}, %[[C]]
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[C:.*]] = arith.constant 7.000000e+00 : f32
// CHECK:           arith.addf %{{.*}}, %[[C]]
func.func @main(%x: tensor<5xf32>, %w: tensor<5xf32> {gawee.parameter = "w"}) -> tensor<5xf32> {
  %c = arith.constant 7.0 : f32
  %p = gawee.kernel parallel [5] ins(%w : tensor<5xf32>)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      %m = arith.mulf %e, %c : f32
      gawee.yield %m : f32
    } : tensor<5xf32>
  %y = gawee.kernel parallel [5] ins(%x, %p : tensor<5xf32>, tensor<5xf32>)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %c : f32
      %t = arith.mulf %s, %f : f32
      gawee.yield %t : f32
    } : tensor<5xf32>
  func.return %y : tensor<5xf32>
}
