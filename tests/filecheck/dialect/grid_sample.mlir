// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @sampling_with_aligned_corners
// CHECK-NEXT:  %r = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" align_corners : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
func.func @sampling_with_aligned_corners(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  %r = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" align_corners : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return %r : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @sampling_of_nearest_elements
// CHECK-NEXT:  %r = gawee.grid_sample %x, %g mode "nearest" padding_mode "border" : (tensor<2x3x5x7xf64>, tensor<2x4x6x2xf64>) -> tensor<2x3x4x6xf64>
func.func @sampling_of_nearest_elements(%x: tensor<2x3x5x7xf64>, %g: tensor<2x4x6x2xf64>) -> tensor<2x3x4x6xf64> {
  %r = gawee.grid_sample %x, %g mode "nearest" padding_mode "border" : (tensor<2x3x5x7xf64>, tensor<2x4x6x2xf64>) -> tensor<2x3x4x6xf64>
  func.return %r : tensor<2x3x4x6xf64>
}
