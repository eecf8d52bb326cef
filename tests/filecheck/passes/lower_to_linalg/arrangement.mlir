// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @transpose_is_a_named_op
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<5x2x3xf32>
// CHECK:       linalg.transpose ins(%x:tensor<2x3x5xf32>) outs(%[[E]]:tensor<5x2x3xf32>) permutation = [2, 0, 1]
func.func @transpose_is_a_named_op(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32> {
  %y = gawee.transpose %x permutation [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  return %y : tensor<5x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @transpose_of_a_scalar_is_the_scalar
// CHECK-NEXT:  func.return %x
func.func @transpose_of_a_scalar_is_the_scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = gawee.transpose %x permutation [] : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @broadcast_reads_axes_of_one_element_at_position_zero
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
// CHECK-SAME:    ins(%x : tensor<3x1xi1>)
func.func @broadcast_reads_axes_of_one_element_at_position_zero(%x: tensor<3x1xi1>) -> tensor<2x3x5xi1> {
  %y = gawee.broadcast_to %x shape [2, 3, 5] : (tensor<3x1xi1>) -> tensor<2x3x5xi1>
  return %y : tensor<2x3x5xi1>
}

// -----

// CHECK-LABEL: func.func @tile_adds_an_axis_and_joins_it
// CHECK:       %[[B:.*]] = linalg.broadcast ins(%x:tensor<3x5xf32>) outs({{.*}}:tensor<2x3x5xf32>) dimensions = [0]
// CHECK:       tensor.collapse_shape %[[B]] {{.*}} : tensor<2x3x5xf32> into tensor<6x5xf32>
func.func @tile_adds_an_axis_and_joins_it(%x: tensor<3x5xf32>) -> tensor<6x5xf32> {
  %y = gawee.tile %x repeats [2, 1] : (tensor<3x5xf32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// -----

// CHECK-LABEL: func.func @reverse_reads_from_the_last_element_on
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, ((d1 * -1) + 2))>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:  ins(%x : tensor<2x3xf32>)
func.func @reverse_reads_from_the_last_element_on(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.reverse %x axes [-1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
