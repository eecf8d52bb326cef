// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @linear_layer_with_bias_on_rank_three
// CHECK-NEXT:  %r = gawee.matmul %x, %w bias %b : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
func.func @linear_layer_with_bias_on_rank_three(%x: tensor<2x5x8xf32>, %w: tensor<3x8xf32>, %b: tensor<3xf32>) -> tensor<2x5x3xf32> {
  %r = gawee.matmul %x, %w bias %b : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
  func.return %r : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @linear_layer_on_a_vector
// CHECK-NEXT:  %r = gawee.matmul %x, %w : (tensor<8xf64>, tensor<3x8xf64>) -> tensor<3xf64>
func.func @linear_layer_on_a_vector(%x: tensor<8xf64>, %w: tensor<3x8xf64>) -> tensor<3xf64> {
  %r = gawee.matmul %x, %w : (tensor<8xf64>, tensor<3x8xf64>) -> tensor<3xf64>
  func.return %r : tensor<3xf64>
}

// CHECK-LABEL: func.func @product_of_broadcast_matrices
// CHECK-NEXT:  %r = gawee.batch_matmul %a, %b transpose_a transpose_b : (tensor<2x1x8x5xf32>, tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32>
func.func @product_of_broadcast_matrices(%a: tensor<2x1x8x5xf32>, %b: tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32> {
  %r = gawee.batch_matmul %a, %b transpose_a transpose_b : (tensor<2x1x8x5xf32>, tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32>
  func.return %r : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @product_of_integer_matrices
// CHECK-NEXT:  %r = gawee.batch_matmul %a, %b : (tensor<5x8xi64>, tensor<8x7xi64>) -> tensor<5x7xi64>
func.func @product_of_integer_matrices(%a: tensor<5x8xi64>, %b: tensor<8x7xi64>) -> tensor<5x7xi64> {
  %r = gawee.batch_matmul %a, %b : (tensor<5x8xi64>, tensor<8x7xi64>) -> tensor<5x7xi64>
  func.return %r : tensor<5x7xi64>
}
