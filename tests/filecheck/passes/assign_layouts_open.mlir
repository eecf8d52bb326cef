// RUN: gawee-opt %s -p 'assign-layouts{target=haswell}' | filecheck %s

// Channels are stored in blocks, the open batch is not.
// CHECK-LABEL: func.func @main
// CHECK:       gawee.kernel parallel ["batch", 16, 5, 7] reduce [3, 3, 3] counts(batch = %batch)
// CHECK:       } : tensor<?x2x5x7x8xf32> shape ["batch", 2, 5, 7, 8]
func.func @main(%x: tensor<?x3x7x9xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<16x3x3x3xf32> {gawee.parameter = "w"})
    -> (tensor<?x16x5x7xf32> {gawee.output = "y"}) attributes {gawee.ranges = {batch = "1 to 9"}} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %x, %c0 : tensor<?x3x7x9xf32>
  %y = gawee.kernel parallel ["batch", 16, 5, 7] reduce [3, 3, 3] counts(batch = %batch)
    ins(%x, %w : tensor<?x3x7x9xf32>, tensor<16x3x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>, affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
          affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x16x5x7xf32> shape ["batch", 16, 5, 7]
  func.return %y : tensor<?x16x5x7xf32>
}
