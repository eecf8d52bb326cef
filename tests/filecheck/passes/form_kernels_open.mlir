// RUN: gawee-opt %s --form-kernels --canonicalize | filecheck %s

// The loops of what has open sizes are forms of names, which the kernel has as operands.
// CHECK-LABEL: @main
// CHECK-DAG:   %length = tensor.dim %x, %c1
// CHECK-DAG:   %batch = tensor.dim %x, %c0
// CHECK:       %[[ROWS:.*]] = tensor.collapse_shape %x
// A product and the relu of it are one kernel: the forms of their rows are the same.
// CHECK:       %[[P:.*]] = gawee.kernel parallel ["batch * length", 5] reduce [6] counts(batch = %batch, length = %length) ins(%[[ROWS]], %w
// CHECK:         arith.maximumf
// CHECK:       } : tensor<?x5xf32> shape ["batch * length", 5]
// A reshape to rows takes a quotient by an open size: it stays a view.
// CHECK-NEXT:  %[[V:.*]] = tensor.expand_shape %[[P]]
// The slice and the padding are part of the maps; the output is larger than the points.
// CHECK-NEXT:  gawee.kernel parallel ["batch", "length", 3] counts(batch = %batch, length = %length) ins(%[[V]]
// CHECK-SAME:    maps [affine_map<(d0, d1, d2) -> (d0, d1, (d2 + 1))>, affine_map<(d0, d1, d2) -> (d0, (d1 + 2), d2)>] outside 1.000000e+00
// CHECK:       } : tensor<?x?x3xf32> shape ["batch", "length + 3", 3]
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]},
                %w: tensor<6x5xf32> {gawee.parameter = "w"})
    -> (tensor<?x?x3xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {batch = "1 to 9", length = "1 to 70"}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %rows = tensor.collapse_shape %x [[0 : i64, 1 : i64], [2 : i64]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %n = arith.muli %batch, %length : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%rows, %w : tensor<?x6xf32>, tensor<6x5xf32>) outs(%f : tensor<?x5xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x5xf32>
  %g = tensor.empty(%n) : tensor<?x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x5xf32>) outs(%g : tensor<?x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<?x5xf32>
  %v = tensor.expand_shape %r [[0 : i64, 1 : i64], [2 : i64]] output_shape [%batch, %length, 5] : tensor<?x5xf32> into tensor<?x?x5xf32>
  %c = tensor.extract_slice %v[0, 0, 1] [%batch, %length, 3] [1, 1, 1] : tensor<?x?x5xf32> to tensor<?x?x3xf32>
  %one = arith.constant 1.0 : f32
  %y = tensor.pad %c low[0, 2, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %one : f32
  } : tensor<?x?x3xf32> to tensor<?x?x3xf32>
  func.return %y : tensor<?x?x3xf32>
}
