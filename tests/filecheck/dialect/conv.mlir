// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @grouped_convolution_with_bias
// CHECK-NEXT:  %r = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
func.func @grouped_convolution_with_bias(%x: tensor<2x4x9x7xf32>, %w: tensor<6x2x3x1xf32>, %b: tensor<6xf32>) -> tensor<2x6x5x7xf32> {
  %r = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
  func.return %r : tensor<2x6x5x7xf32>
}

// CHECK-LABEL: func.func @dilated_convolution_without_bias
// CHECK-NEXT:  %r = gawee.conv %x, %w strides [1, 3] padding [0, 2, 1, 0] dilations [2, 3] groups 1 : (tensor<2x4x9x7xf16>, tensor<5x4x3x2xf16>) -> tensor<2x5x6x2xf16>
func.func @dilated_convolution_without_bias(%x: tensor<2x4x9x7xf16>, %w: tensor<5x4x3x2xf16>) -> tensor<2x5x6x2xf16> {
  %r = gawee.conv %x, %w strides [1, 3] padding [0, 2, 1, 0] dilations [2, 3] groups 1 : (tensor<2x4x9x7xf16>, tensor<5x4x3x2xf16>) -> tensor<2x5x6x2xf16>
  func.return %r : tensor<2x5x6x2xf16>
}
