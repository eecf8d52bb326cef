// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @slice_with_positive_strides_is_extracted
// CHECK:       tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<3x5xf32> to tensor<2x3xf32>
func.func @slice_with_positive_strides_is_extracted(%x: tensor<3x5xf32>) -> tensor<2x3xf32> {
  %y = gawee.slice %x offsets [1, 0] sizes [2, 3] strides [1, 2] : (tensor<3x5xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @slice_with_a_negative_stride_is_read_element_by_element
// CHECK:       linalg.generic
// CHECK:       tensor.extract %x
func.func @slice_with_a_negative_stride_is_read_element_by_element(%x: tensor<5xf32>) -> tensor<3xf32> {
  %y = gawee.slice %x offsets [4] sizes [3] strides [-2] : (tensor<5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @slice_of_nothing_is_empty
// CHECK-NOT:   tensor.extract_slice
// CHECK:       linalg.fill {{.*}} -> tensor<0xf32>
func.func @slice_of_nothing_is_empty(%x: tensor<5xf32>) -> tensor<0xf32> {
  %y = gawee.slice %x offsets [5] sizes [0] strides [1] : (tensor<5xf32>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}

// -----

// CHECK-LABEL: func.func @insert_slice_keeps_offsets_and_strides
// CHECK:       tensor.insert_slice %u into %x[1, 0] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<3x5xf32>
func.func @insert_slice_keeps_offsets_and_strides(%x: tensor<3x5xf32>, %u: tensor<2x3xf32>) -> tensor<3x5xf32> {
  %y = gawee.insert_slice %x, %u offsets [1, 0] strides [1, 2] : (tensor<3x5xf32>, tensor<2x3xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @pad_that_takes_away_extracts_first
// CHECK:       %[[KEPT:.*]] = tensor.extract_slice %x[0, 1] [3, 4] [1, 1] : tensor<3x5xf32> to tensor<3x4xf32>
// CHECK:       tensor.pad %[[KEPT]] low[1, 0] high[0, 2]
func.func @pad_that_takes_away_extracts_first(%x: tensor<3x5xf32>) -> tensor<4x6xf32> {
  %y = gawee.pad %x low [1, -1] high [0, 2] mode "constant" value 0.5 : f64 : (tensor<3x5xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Upstream has no scalar constant of an unsigned integer, but casts of one.
// CHECK-LABEL: func.func @unsigned_integers_are_padded_with_a_cast_constant
// CHECK:       %[[C:.*]] = arith.constant -1 : i8
// CHECK:       %[[U:.*]] = builtin.unrealized_conversion_cast %[[C]] : i8 to ui8
// CHECK:       tensor.pad %x low[1] high[0]
// CHECK:       tensor.yield %[[U]] : ui8
func.func @unsigned_integers_are_padded_with_a_cast_constant(%x: tensor<3xui8>) -> tensor<4xui8> {
  %y = gawee.pad %x low [1] high [0] mode "constant" value 255 : i64 : (tensor<3xui8>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @circular_padding_reads_a_period_away
// CHECK:       %[[M:.*]] = tensor.insert_slice %x into %{{.*}}[1] [3] [1] : tensor<3xf32> into tensor<6xf32>
// CHECK:       arith.constant 3 : index
// CHECK:       tensor.extract %[[M]]
// CHECK:       %[[F:.*]] = tensor.insert_slice %{{.*}} into %[[M]][0] [1] [1] : tensor<1xf32> into tensor<6xf32>
// CHECK:       arith.constant 1 : index
// CHECK:       tensor.extract %[[F]]
// CHECK:       tensor.insert_slice %{{.*}} into %[[F]][4] [2] [1] : tensor<2xf32> into tensor<6xf32>
func.func @circular_padding_reads_a_period_away(%x: tensor<3xf32>) -> tensor<6xf32> {
  %y = gawee.pad %x low [1] high [2] mode "circular" : (tensor<3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @replicating_padding_reads_the_last_element
// CHECK:       tensor.insert_slice %x into %{{.*}}[1] [3] [1]
// CHECK:       arith.constant 1 : index
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[0] [1] [1]
// CHECK:       arith.constant 3 : index
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[4] [2] [1]
func.func @replicating_padding_reads_the_last_element(%x: tensor<3xf32>) -> tensor<6xf32> {
  %y = gawee.pad %x low [1] high [2] mode "replicate" : (tensor<3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @reflecting_padding_goes_backwards_an_axis_at_a_time
// CHECK:       tensor.insert_slice %x into %{{.*}}[1, 2] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<4x8xf32>
// CHECK:       arith.constant -1 : index
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[1, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<4x8xf32>
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[1, 7] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<4x8xf32>
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
func.func @reflecting_padding_goes_backwards_an_axis_at_a_time(%x: tensor<3x5xf32>) -> tensor<4x8xf32> {
  %y = gawee.pad %x low [1, 2] high [0, 1] mode "reflect" : (tensor<3x5xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
