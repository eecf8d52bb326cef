// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @gather_puts_the_axes_of_indices_in_the_place_of_an_axis
// CHECK-NEXT:  %y = gawee.gather %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<4x1xi64>) -> tensor<2x4x1x3xf32>
func.func @gather_puts_the_axes_of_indices_in_the_place_of_an_axis(%x: tensor<2x5x3xf32>, %i: tensor<4x1xi64>) -> (tensor<2x4x1x3xf32>) {
  %y = gawee.gather %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<4x1xi64>) -> tensor<2x4x1x3xf32>
  func.return %y : tensor<2x4x1x3xf32>
}

// CHECK-LABEL: func.func @gather_of_one_index_drops_the_axis
// CHECK-NEXT:  %y = gawee.gather %x, %i axis -1 : (tensor<2x5xf32>, tensor<i32>) -> tensor<2xf32>
func.func @gather_of_one_index_drops_the_axis(%x: tensor<2x5xf32>, %i: tensor<i32>) -> (tensor<2xf32>) {
  %y = gawee.gather %x, %i axis -1 : (tensor<2x5xf32>, tensor<i32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @gather_elements_reads_one_element_an_index
// CHECK-NEXT:  %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4x3xi64>) -> tensor<2x4x3xf32>
func.func @gather_elements_reads_one_element_an_index(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>) -> (tensor<2x4x3xf32>) {
  %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4x3xi64>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @gather_nd_reads_a_slice_a_row
// CHECK-NEXT:  %y = gawee.gather_nd %x, %i batch_dims 1 : (tensor<2x5x3x7xf32>, tensor<2x4x2xi64>) -> tensor<2x4x7xf32>
func.func @gather_nd_reads_a_slice_a_row(%x: tensor<2x5x3x7xf32>, %i: tensor<2x4x2xi64>) -> (tensor<2x4x7xf32>) {
  %y = gawee.gather_nd %x, %i batch_dims 1 : (tensor<2x5x3x7xf32>, tensor<2x4x2xi64>) -> tensor<2x4x7xf32>
  func.return %y : tensor<2x4x7xf32>
}
