// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @nearest
// CHECK-NEXT:  %r = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
func.func @nearest(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32> {
  %r = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return %r : tensor<2x4x6x10xf32>
}

// CHECK-LABEL: func.func @nearest_on_integers_with_a_size_of_scalars
// CHECK-NEXT:  %r = gawee.interpolate %x size_from %h, %w size [2, 7] mode "nearest" : (tensor<2x4x3x5xui8>, tensor<i64>, tensor<i64>) -> tensor<2x4x2x7xui8>
func.func @nearest_on_integers_with_a_size_of_scalars(%x: tensor<2x4x3x5xui8>, %h: tensor<i64>, %w: tensor<i64>) -> tensor<2x4x2x7xui8> {
  %r = gawee.interpolate %x size_from %h, %w size [2, 7] mode "nearest" : (tensor<2x4x3x5xui8>, tensor<i64>, tensor<i64>) -> tensor<2x4x2x7xui8>
  func.return %r : tensor<2x4x2x7xui8>
}

// CHECK-LABEL: func.func @bilinear_with_scales_and_align_corners
// CHECK-NEXT:  %r = gawee.interpolate %x size [6, 7] mode "bilinear" scales [2.000000e+00, 1.500000e+00] align_corners : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x7xf32>
func.func @bilinear_with_scales_and_align_corners(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x6x7xf32> {
  %r = gawee.interpolate %x size [6, 7] mode "bilinear" scales [2.000000e+00, 1.500000e+00] align_corners : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x7xf32>
  func.return %r : tensor<2x4x6x7xf32>
}

// CHECK-LABEL: func.func @resampling_of_sequences
// CHECK-NEXT:  %r = gawee.interpolate %x size [7] mode "linear" align_corners : (tensor<2x4x3xf32>) -> tensor<2x4x7xf32>
func.func @resampling_of_sequences(%x: tensor<2x4x3xf32>) -> tensor<2x4x7xf32> {
  %r = gawee.interpolate %x size [7] mode "linear" align_corners : (tensor<2x4x3xf32>) -> tensor<2x4x7xf32>
  func.return %r : tensor<2x4x7xf32>
}

// CHECK-LABEL: func.func @resampling_of_volumes
// CHECK-NEXT:  %r = gawee.interpolate %x size [6, 10, 2] mode "nearest" scales [2.000000e+00, 2.000000e+00, 5.000000e-01] float_positions : (tensor<2x4x3x5x4xui8>) -> tensor<2x4x6x10x2xui8>
func.func @resampling_of_volumes(%x: tensor<2x4x3x5x4xui8>) -> tensor<2x4x6x10x2xui8> {
  %r = gawee.interpolate %x size [6, 10, 2] mode "nearest" scales [2.000000e+00, 2.000000e+00, 5.000000e-01] float_positions : (tensor<2x4x3x5x4xui8>) -> tensor<2x4x6x10x2xui8>
  func.return %r : tensor<2x4x6x10x2xui8>
}

// CHECK-LABEL: func.func @cubic_resampling
// CHECK-NEXT:  %r = gawee.interpolate %x size [6, 10] mode "bicubic" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
func.func @cubic_resampling(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32> {
  %r = gawee.interpolate %x size [6, 10] mode "bicubic" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return %r : tensor<2x4x6x10xf32>
}
