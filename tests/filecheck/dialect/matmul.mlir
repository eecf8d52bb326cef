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
