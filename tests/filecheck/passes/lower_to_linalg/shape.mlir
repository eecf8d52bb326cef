// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @flatten_joins_axes
// CHECK:       tensor.collapse_shape %x [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] : tensor<2x3x5x7xf32> into tensor<2x105xf32>
func.func @flatten_joins_axes(%x: tensor<2x3x5x7xf32>) -> tensor<2x105xf32> {
  %y = gawee.flatten %x start_dim 1 end_dim -1 : (tensor<2x3x5x7xf32>) -> tensor<2x105xf32>
  return %y : tensor<2x105xf32>
}

// -----

// CHECK-LABEL: func.func @flattened_scalar_is_broadcast_to_one_element
// CHECK:       linalg.broadcast ins(%x:tensor<f32>) {{.*}} dimensions = [0]
func.func @flattened_scalar_is_broadcast_to_one_element(%x: tensor<f32>) -> tensor<1xf32> {
  %y = gawee.flatten %x start_dim 0 end_dim 0 : (tensor<f32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_that_splits_axes_expands
// CHECK-NOT:   tensor.collapse_shape
// CHECK:       tensor.expand_shape %x {{.*}} output_shape [2, 3, 1, 5] : tensor<6x5xf32> into tensor<2x3x1x5xf32>
func.func @reshape_that_splits_axes_expands(%x: tensor<6x5xf32>) -> tensor<2x3x1x5xf32> {
  %y = gawee.reshape %x shape [2, 3, 1, 5] : (tensor<6x5xf32>) -> tensor<2x3x1x5xf32>
  return %y : tensor<2x3x1x5xf32>
}

// -----

// CHECK-LABEL: func.func @any_other_reshape_goes_through_one_axis
// CHECK:       %[[FLAT:.*]] = tensor.collapse_shape %x {{.*}} : tensor<4x6xi64> into tensor<24xi64>
// CHECK:       tensor.expand_shape %[[FLAT]] {{.*}} : tensor<24xi64> into tensor<3x8xi64>
func.func @any_other_reshape_goes_through_one_axis(%x: tensor<4x6xi64>) -> tensor<3x8xi64> {
  %y = gawee.reshape %x shape [3, 8] : (tensor<4x6xi64>) -> tensor<3x8xi64>
  return %y : tensor<3x8xi64>
}

// -----

// CHECK-LABEL: func.func @reshape_to_a_scalar_drops_all_axes
// CHECK:       tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
func.func @reshape_to_a_scalar_drops_all_axes(%x: tensor<1x1xf32>) -> tensor<f32> {
  %y = gawee.reshape %x shape [] : (tensor<1x1xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @cat_inserts_one_input_after_the_other
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<2x8x5xi1>
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice %x into %[[E]][0, 0, 0] [2, 3, 5] [1, 1, 1]
// CHECK:       %[[SECOND:.*]] = tensor.insert_slice %y into %[[FIRST]][0, 3, 0] [2, 4, 5] [1, 1, 1]
// CHECK:       tensor.insert_slice %z into %[[SECOND]][0, 7, 0] [2, 1, 5] [1, 1, 1]
func.func @cat_inserts_one_input_after_the_other(%x: tensor<2x3x5xi1>, %y: tensor<2x4x5xi1>, %z: tensor<2x1x5xi1>) -> tensor<2x8x5xi1> {
  %c = gawee.cat %x, %y, %z dim -2 : (tensor<2x3x5xi1>, tensor<2x4x5xi1>, tensor<2x1x5xi1>) -> tensor<2x8x5xi1>
  return %c : tensor<2x8x5xi1>
}

// -----

// CHECK-LABEL: func.func @identity_is_its_input
// CHECK-NEXT:  return %x
func.func @identity_is_its_input(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_goes_through_the_axes_that_both_shapes_split
// CHECK-NEXT:  %[[B:.*]] = tensor.collapse_shape %x {{.*}} : tensor<2x3x4x5x6xf32> into tensor<2x12x30xf32>
// CHECK-NEXT:  %[[Y:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<1x2x6x2x30xf32>
// CHECK-NEXT:  func.return %[[Y]]
func.func @reshape_goes_through_the_axes_that_both_shapes_split(%x: tensor<2x3x4x5x6xf32>) -> tensor<1x2x6x2x30xf32> {
  %y = gawee.reshape %x shape [1, 2, 6, 2, 30] : (tensor<2x3x4x5x6xf32>) -> tensor<1x2x6x2x30xf32>
  func.return %y : tensor<1x2x6x2x30xf32>
}
