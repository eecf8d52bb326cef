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

// CHECK-LABEL: func.func @convolution_of_sequences
// CHECK-NEXT:  %r = gawee.conv %x, %w strides [2] padding [1, 0] dilations [3] groups 1 : (tensor<2x4x9xf32>, tensor<5x4x2xf32>) -> tensor<2x5x4xf32>
func.func @convolution_of_sequences(%x: tensor<2x4x9xf32>, %w: tensor<5x4x2xf32>) -> tensor<2x5x4xf32> {
  %r = gawee.conv %x, %w strides [2] padding [1, 0] dilations [3] groups 1 : (tensor<2x4x9xf32>, tensor<5x4x2xf32>) -> tensor<2x5x4xf32>
  func.return %r : tensor<2x5x4xf32>
}

// CHECK-LABEL: func.func @convolution_of_volumes
// CHECK-NEXT:  %r = gawee.conv %x, %w strides [1, 2, 1] padding [0, 1, 0, 2, 0, 0] dilations [1, 1, 2] groups 4 : (tensor<2x4x5x7x6xf32>, tensor<4x1x3x2x2xf32>) -> tensor<2x4x5x4x4xf32>
func.func @convolution_of_volumes(%x: tensor<2x4x5x7x6xf32>, %w: tensor<4x1x3x2x2xf32>) -> tensor<2x4x5x4x4xf32> {
  %r = gawee.conv %x, %w strides [1, 2, 1] padding [0, 1, 0, 2, 0, 0] dilations [1, 1, 2] groups 4 : (tensor<2x4x5x7x6xf32>, tensor<4x1x3x2x2xf32>) -> tensor<2x4x5x4x4xf32>
  func.return %r : tensor<2x4x5x4x4xf32>
}

// CHECK-LABEL: func.func @convolution_of_integers
// CHECK-NEXT:  %r = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xi32>, tensor<5x4x3x2xi32>) -> tensor<2x5x7x6xi32>
func.func @convolution_of_integers(%x: tensor<2x4x9x7xi32>, %w: tensor<5x4x3x2xi32>) -> tensor<2x5x7x6xi32> {
  %r = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xi32>, tensor<5x4x3x2xi32>) -> tensor<2x5x7x6xi32>
  func.return %r : tensor<2x5x7x6xi32>
}

// CHECK-LABEL: func.func @transposed_convolution
// CHECK-NEXT:  %r = gawee.conv_transpose %x, %w bias %b strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>, tensor<6xf32>) -> tensor<2x6x11x7xf32>
func.func @transposed_convolution(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<6xf32>) -> tensor<2x6x11x7xf32> {
  %r = gawee.conv_transpose %x, %w bias %b strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>, tensor<6xf32>) -> tensor<2x6x11x7xf32>
  func.return %r : tensor<2x6x11x7xf32>
}
