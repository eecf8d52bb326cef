// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @max_pool_with_dilation_and_ceil_mode
// CHECK-NEXT:  %r = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] ceil_mode true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32>
func.func @max_pool_with_dilation_and_ceil_mode(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32> {
  %r = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] ceil_mode true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32>
  func.return %r : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @max_pool_on_integers
// CHECK-NEXT:  %r = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xi8>) -> tensor<2x3x4x7xi8>
func.func @max_pool_on_integers(%x: tensor<2x3x9x8xi8>) -> tensor<2x3x4x7xi8> {
  %r = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xi8>) -> tensor<2x3x4x7xi8>
  func.return %r : tensor<2x3x4x7xi8>
}

// CHECK-LABEL: func.func @avg_pool_that_counts_padding
// CHECK-NEXT:  %r = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
func.func @avg_pool_that_counts_padding(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32> {
  %r = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
  func.return %r : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @avg_pool_with_ceil_mode
// CHECK-NEXT:  %r = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] ceil_mode true count_include_pad false : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32>
func.func @avg_pool_with_ceil_mode(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32> {
  %r = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] ceil_mode true count_include_pad false : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32>
  func.return %r : tensor<2x3x4x7xf32>
}

// CHECK-LABEL: func.func @ad_avg_pool_to_more_bins_than_inputs
// CHECK-NEXT:  %r = gawee.ad_avg_pool %x output_size [3, 6] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x6xf32>
func.func @ad_avg_pool_to_more_bins_than_inputs(%x: tensor<2x4x7x5xf32>) -> tensor<2x4x3x6xf32> {
  %r = gawee.ad_avg_pool %x output_size [3, 6] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x6xf32>
  func.return %r : tensor<2x4x3x6xf32>
}

// CHECK-LABEL: func.func @pooling_of_sequences
// CHECK-NEXT:  %r = gawee.max_pool %x kernel [3] strides [2] padding [1, 0] dilations [2] ceil_mode true : (tensor<2x3x9xf32>) -> tensor<2x3x4xf32>
func.func @pooling_of_sequences(%x: tensor<2x3x9xf32>) -> tensor<2x3x4xf32> {
  %r = gawee.max_pool %x kernel [3] strides [2] padding [1, 0] dilations [2] ceil_mode true : (tensor<2x3x9xf32>) -> tensor<2x3x4xf32>
  func.return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @pooling_of_volumes
// CHECK-NEXT:  %r = gawee.avg_pool %x kernel [3, 2, 1] strides [2, 1, 3] padding [1, 0, 0, 0, 1, 0] ceil_mode false count_include_pad false : (tensor<2x3x9x8x4xf32>) -> tensor<2x3x4x8x2xf32>
func.func @pooling_of_volumes(%x: tensor<2x3x9x8x4xf32>) -> tensor<2x3x4x8x2xf32> {
  %r = gawee.avg_pool %x kernel [3, 2, 1] strides [2, 1, 3] padding [1, 0, 0, 0, 1, 0] ceil_mode false count_include_pad false : (tensor<2x3x9x8x4xf32>) -> tensor<2x3x4x8x2xf32>
  func.return %r : tensor<2x3x4x8x2xf32>
}

// CHECK-LABEL: func.func @adaptive_max_pooling
// CHECK-NEXT:  %r = gawee.ad_max_pool %x output_size [3, 5] : (tensor<2x4x7x5xi32>) -> tensor<2x4x3x5xi32>
func.func @adaptive_max_pooling(%x: tensor<2x4x7x5xi32>) -> tensor<2x4x3x5xi32> {
  %r = gawee.ad_max_pool %x output_size [3, 5] : (tensor<2x4x7x5xi32>) -> tensor<2x4x3x5xi32>
  func.return %r : tensor<2x4x3x5xi32>
}
