// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @sort_has_values_and_indices
// CHECK-NEXT:  %y, %i = gawee.sort %x axis 1 descending false : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xi64>)
func.func @sort_has_values_and_indices(%x: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xi64>) {
  %y, %i = gawee.sort %x axis 1 descending false : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xi64>)
  func.return %y, %i : tensor<2x5x3xf32>, tensor<2x5x3xi64>
}

// CHECK-LABEL: func.func @top_k_has_values_and_indices
// CHECK-NEXT:  %y, %i = gawee.top_k %x k 3 axis -1 largest true : (tensor<2x5xi32>) -> (tensor<2x3xi32>, tensor<2x3xi64>)
func.func @top_k_has_values_and_indices(%x: tensor<2x5xi32>) -> (tensor<2x3xi32>, tensor<2x3xi64>) {
  %y, %i = gawee.top_k %x k 3 axis -1 largest true : (tensor<2x5xi32>) -> (tensor<2x3xi32>, tensor<2x3xi64>)
  func.return %y, %i : tensor<2x3xi32>, tensor<2x3xi64>
}
