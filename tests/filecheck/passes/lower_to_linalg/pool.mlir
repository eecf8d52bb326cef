// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @max_pool_pads_with_minus_infinity
// CHECK:       %[[LOWEST:.*]] = arith.constant 0xff800000 : f32
// CHECK:       %[[WINDOW:.*]] = tensor.empty() : tensor<3x2xf32>
// CHECK:       %[[P:.*]] = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 0] {
// CHECK:         tensor.yield %[[LOWEST]] : f32
// CHECK:       %[[INIT:.*]] = linalg.fill ins(%[[LOWEST]] : f32)
// CHECK:       linalg.pooling_nchw_max {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%[[P]], %[[WINDOW]] : {{.*}} outs(%[[INIT]] :
func.func @max_pool_pads_with_minus_infinity(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32> {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32>
  return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @max_pool_of_integers_starts_at_the_lowest
// CHECK:       %[[LOWEST:.*]] = arith.constant -128 : i8
// CHECK-NOT:   tensor.pad
// CHECK:       linalg.fill ins(%[[LOWEST]] : i8)
// CHECK:       linalg.pooling_nchw_max
func.func @max_pool_of_integers_starts_at_the_lowest(%x: tensor<2x3x9x8xi8>) -> tensor<2x3x4x7xi8> {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xi8>) -> tensor<2x3x4x7xi8>
  return %y : tensor<2x3x4x7xi8>
}

// -----

// The fourth window covers rows 6, 7 and one row that is not there.
// CHECK-LABEL: func.func @last_partial_window_is_padded
// CHECK:       tensor.pad %x low[0, 0, 0, 0] high[0, 0, 1, 0]
// CHECK:       linalg.pooling_nchw_max {{.*}} -> tensor<2x3x4x7xf32>
func.func @last_partial_window_is_padded(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32> {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode true : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32>
  return %y : tensor<2x3x4x7xf32>
}

// -----

// CHECK-LABEL: func.func @padding_that_no_window_reaches_is_left_out
// CHECK:       tensor.pad %x low[0, 0, 1, 0] high[0, 0, 0, 0]
func.func @padding_that_no_window_reaches_is_left_out(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32> {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x7xf32>
  return %y : tensor<2x3x4x7xf32>
}

// -----

// CHECK-LABEL: func.func @avg_pool_divides_by_a_constant_where_windows_count_the_same
// CHECK:       %[[SUM:.*]] = linalg.pooling_nchw_sum
// CHECK:       linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK:         %[[COUNT:.*]] = arith.constant 6.000000e+00 : f32
// CHECK:         arith.divf %{{.*}}, %[[COUNT]] : f32
func.func @avg_pool_divides_by_a_constant_where_windows_count_the_same(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32> {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
  return %y : tensor<2x3x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @avg_pool_without_padding_counts_input_positions_only
// CHECK:       linalg.pooling_nchw_sum
// CHECK:         %[[ROW:.*]] = linalg.index 2 : index
// CHECK:         arith.minsi
// CHECK:         arith.maxsi
// CHECK-NOT:     linalg.index 3
// CHECK:         %[[COUNT:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK:         arith.divf %{{.*}}, %[[COUNT]] : f32
func.func @avg_pool_without_padding_counts_input_positions_only(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32> {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad false : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
  return %y : tensor<2x3x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @equal_bins_are_windows
// CHECK:       %[[BIN:.*]] = tensor.empty() : tensor<3x7xf32>
// CHECK:       linalg.pooling_nchw_sum {dilations = {{.*}}, strides = dense<[3, 7]> : tensor<2xi64>} ins(%x, %[[BIN]] :
// CHECK:         arith.constant 2.100000e+01 : f32
// CHECK:         arith.divf
func.func @equal_bins_are_windows(%x: tensor<2x4x9x7xf32>) -> tensor<2x4x3x1xf32> {
  %y = gawee.ad_avg_pool %x output_size [3, 1] : (tensor<2x4x9x7xf32>) -> tensor<2x4x3x1xf32>
  return %y : tensor<2x4x3x1xf32>
}

// -----

// The longest bin has 4 rows and 2 columns.
// CHECK-LABEL: func.func @uneven_bins_are_a_masked_reduction
// CHECK:       %[[BIN:.*]] = tensor.empty() : tensor<4x2xf32>
// CHECK:       linalg.generic {{.*}}"reduction", "reduction"]} ins(%[[BIN]] :
// CHECK:         %[[VALUE:.*]] = tensor.extract %x[
// CHECK:         %[[IN_ROW:.*]] = arith.select %{{.*}}, %[[VALUE]], %{{.*}} : f32
// CHECK:         %[[IN_BIN:.*]] = arith.select %{{.*}}, %[[IN_ROW]], %{{.*}} : f32
// CHECK:         arith.addf %{{.*}}, %[[IN_BIN]] : f32
// CHECK:       arith.divf
func.func @uneven_bins_are_a_masked_reduction(%x: tensor<2x4x10x5xf32>) -> tensor<2x4x3x4xf32> {
  %y = gawee.ad_avg_pool %x output_size [3, 4] : (tensor<2x4x10x5xf32>) -> tensor<2x4x3x4xf32>
  return %y : tensor<2x4x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @max_pool_of_a_sequence_is_a_reduction
// CHECK:       %[[WINDOW:.*]] = tensor.empty() : tensor<3xf32>
// CHECK:       %[[P:.*]] = tensor.pad %x low[0, 0, 1] high[0, 0, 1]
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, ((d2 * 2) + (d3 * 2)))>, affine_map<(d0, d1, d2, d3) -> (d3)>, {{.*}} ins(%[[P]], %[[WINDOW]] :
// CHECK:       arith.maximumf
func.func @max_pool_of_a_sequence_is_a_reduction(%x: tensor<2x3x9xf32>) -> tensor<2x3x4xf32> {
  %y = gawee.max_pool %x kernel [3] strides [2] padding [1, 0] dilations [2] ceil_mode true : (tensor<2x3x9xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @even_bins_of_adaptive_max_pooling_are_windows
// CHECK:       linalg.pooling_nchw_max {dilations = {{.*}}, strides = dense<[2, 3]> : tensor<2xi64>
// CHECK-NOT:   linalg.generic
func.func @even_bins_of_adaptive_max_pooling_are_windows(%x: tensor<2x3x8x9xf32>) -> tensor<2x3x4x3xf32> {
  %y = gawee.ad_max_pool %x output_size [4, 3] : (tensor<2x3x8x9xf32>) -> tensor<2x3x4x3xf32>
  return %y : tensor<2x3x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @uneven_bins_of_adaptive_max_pooling_are_gathered
// CHECK:       tensor.empty() : tensor<4xf32>
// CHECK:       linalg.generic
// CHECK:       tensor.extract %x
// CHECK:       arith.select
// CHECK:       arith.maximumf
func.func @uneven_bins_of_adaptive_max_pooling_are_gathered(%x: tensor<2x3x8xf32>) -> tensor<2x3x3xf32> {
  %y = gawee.ad_max_pool %x output_size [3] : (tensor<2x3x8xf32>) -> tensor<2x3x3xf32>
  return %y : tensor<2x3x3xf32>
}
