// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @transpose_reorders_axes
// CHECK-NEXT:  %y = gawee.transpose %x permutation [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
func.func @transpose_reorders_axes(%x: tensor<2x3x5xf32>) -> (tensor<2x5x3xf32>) {
  %y = gawee.transpose %x permutation [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  func.return %y : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @transpose_of_a_scalar_has_no_axes
// CHECK-NEXT:  %y = gawee.transpose %x permutation [] : (tensor<i1>) -> tensor<i1>
func.func @transpose_of_a_scalar_has_no_axes(%x: tensor<i1>) -> (tensor<i1>) {
  %y = gawee.transpose %x permutation [] : (tensor<i1>) -> tensor<i1>
  func.return %y : tensor<i1>
}

// CHECK-LABEL: func.func @broadcast_to_repeats_axes_of_one_element_and_adds_axes
// CHECK-NEXT:  %y = gawee.broadcast_to %x shape [2, 3, 5] : (tensor<3x1xf32>) -> tensor<2x3x5xf32>
func.func @broadcast_to_repeats_axes_of_one_element_and_adds_axes(%x: tensor<3x1xf32>) -> (tensor<2x3x5xf32>) {
  %y = gawee.broadcast_to %x shape [2, 3, 5] : (tensor<3x1xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @tile_repeats_the_whole
// CHECK-NEXT:  %y = gawee.tile %x repeats [2, 1] : (tensor<3x5xui8>) -> tensor<6x5xui8>
func.func @tile_repeats_the_whole(%x: tensor<3x5xui8>) -> (tensor<6x5xui8>) {
  %y = gawee.tile %x repeats [2, 1] : (tensor<3x5xui8>) -> tensor<6x5xui8>
  func.return %y : tensor<6x5xui8>
}

// CHECK-LABEL: func.func @reverse_takes_negative_axes
// CHECK-NEXT:  %y = gawee.reverse %x axes [0, -1] : (tensor<2x3x5xi64>) -> tensor<2x3x5xi64>
func.func @reverse_takes_negative_axes(%x: tensor<2x3x5xi64>) -> (tensor<2x3x5xi64>) {
  %y = gawee.reverse %x axes [0, -1] : (tensor<2x3x5xi64>) -> tensor<2x3x5xi64>
  func.return %y : tensor<2x3x5xi64>
}
