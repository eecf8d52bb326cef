// RUN: gawee-opt %s -p 'assign-layouts{target=znver5},assign-schedules{target=znver5}' | filecheck %s

// Of a long sum too, weights are read once for all rows, by the outermost loop.
// CHECK-LABEL: func.func @long_sums
// CHECK:       gawee.kernel parallel ["n", 2048] reduce [8192] counts(n = %n)
// CHECK:       } schedule #gawee.schedule<loops = [d1 by {{[0-9]+}}, d0 by {{[468]}}, d2], vector = d1 by 16{{.*}}> : tensor<?x2048xf32> shape ["n", 2048]
func.func @long_sums(%x: tensor<?x8192xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]},
                     %w: tensor<2048x8192xf32> {gawee.parameter = "w"})
    -> (tensor<?x2048xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {n = "1 to 64"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8192xf32>
  %y = gawee.kernel parallel ["n", 2048] reduce [8192] counts(n = %n) ins(%x, %w : tensor<?x8192xf32>, tensor<2048x8192xf32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x2048xf32> shape ["n", 2048]
  func.return %y : tensor<?x2048xf32>
}

// They are fetched ahead for as many rows as it takes to hide that.
// CHECK-LABEL: func.func @weights_are_fetched_for_many_rows
// CHECK:       } schedule #gawee.schedule<loops = [d1 by 48, d0 by 8, d2], vector = d1 by 16, parallel = 1, prefetch = input 1 along d1> : tensor<?x8192xf32> shape ["n", 8192]
func.func @weights_are_fetched_for_many_rows(%x: tensor<?x512xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]},
                                             %w: tensor<8192x512xf32> {gawee.parameter = "w"})
    -> (tensor<?x8192xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {n = "1 to 64"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x512xf32>
  %y = gawee.kernel parallel ["n", 8192] reduce [512] counts(n = %n) ins(%x, %w : tensor<?x512xf32>, tensor<8192x512xf32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x8192xf32> shape ["n", 8192]
  func.return %y : tensor<?x8192xf32>
}
