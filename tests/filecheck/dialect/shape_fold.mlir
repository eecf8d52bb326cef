// RUN: gawee-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @ops_that_change_nothing_vanish
// CHECK-NEXT:  func.return %x, %x, %x, %x
func.func @ops_that_change_nothing_vanish(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.flatten %x start_dim 1 end_dim -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = gawee.reshape %x shape [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = gawee.cat %x dim 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b, %c, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constants_are_moved_when_compiling
// CHECK-NEXT:  gawee.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
// CHECK-NEXT:  gawee.constant dense<{{\[\[\[}}1, 2]], {{\[\[}}3, 4]]]> : tensor<2x1x2xi64>
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}1, 2, 5], [3, 4, 6]]> : tensor<2x3xi64>
// CHECK-NEXT:  gawee.constant dense<[true, false, false]> : tensor<3xi1>
func.func @constants_are_moved_when_compiling() -> (tensor<4xi64>, tensor<2x1x2xi64>, tensor<2x3xi64>, tensor<3xi1>) {
  %a = gawee.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %b = gawee.constant dense<[[5], [6]]> : tensor<2x1xi64>
  %t = gawee.constant dense<true> : tensor<1xi1>
  %f = gawee.constant dense<false> : tensor<2xi1>
  %c = gawee.flatten %a start_dim 0 end_dim 1 : (tensor<2x2xi64>) -> tensor<4xi64>
  %d = gawee.reshape %a shape [2, 1, 2] : (tensor<2x2xi64>) -> tensor<2x1x2xi64>
  %e = gawee.cat %a, %b dim -1 : (tensor<2x2xi64>, tensor<2x1xi64>) -> tensor<2x3xi64>
  %g = gawee.cat %t, %f dim 0 : (tensor<1xi1>, tensor<2xi1>) -> tensor<3xi1>
  func.return %c, %d, %e, %g : tensor<4xi64>, tensor<2x1x2xi64>, tensor<2x3xi64>, tensor<3xi1>
}

// CHECK-LABEL: func.func @views_of_a_value_with_other_readers_merge_too
// CHECK-NEXT:  %[[A:.*]] = gawee.flatten %x start_dim 1 end_dim 2
// CHECK-NEXT:  %[[B:.*]] = gawee.flatten %x start_dim 0 end_dim 2
// CHECK-NEXT:  func.return %[[A]], %[[B]]
func.func @views_of_a_value_with_other_readers_merge_too(%x: tensor<2x3x5xf32>) -> (tensor<2x15xf32>, tensor<30xf32>) {
  %a = gawee.flatten %x start_dim 1 end_dim 2 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  %b = gawee.flatten %a start_dim 0 end_dim 1 : (tensor<2x15xf32>) -> tensor<30xf32>
  func.return %a, %b : tensor<2x15xf32>, tensor<30xf32>
}
