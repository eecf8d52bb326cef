// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @identity_on_booleans
// CHECK-NEXT:  %r = gawee.identity %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @identity_on_booleans(%x: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %r = gawee.identity %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @flatten_counts_axes_from_both_ends
// CHECK-NEXT:  %r = gawee.flatten %x start_dim -3 end_dim 2 : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32>
func.func @flatten_counts_axes_from_both_ends(%x: tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32> {
  %r = gawee.flatten %x start_dim -3 end_dim 2 : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32>
  func.return %r : tensor<2x15x7xf32>
}

// CHECK-LABEL: func.func @flatten_of_a_scalar_is_a_vector
// CHECK-NEXT:  %r = gawee.flatten %x start_dim 0 end_dim -1 : (tensor<ui8>) -> tensor<1xui8>
func.func @flatten_of_a_scalar_is_a_vector(%x: tensor<ui8>) -> tensor<1xui8> {
  %r = gawee.flatten %x start_dim 0 end_dim -1 : (tensor<ui8>) -> tensor<1xui8>
  func.return %r : tensor<1xui8>
}

// CHECK-LABEL: func.func @reshape_to_a_scalar
// CHECK-NEXT:  %r = gawee.reshape %x shape [] : (tensor<1x1xi32>) -> tensor<i32>
func.func @reshape_to_a_scalar(%x: tensor<1x1xi32>) -> tensor<i32> {
  %r = gawee.reshape %x shape [] : (tensor<1x1xi32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// CHECK-LABEL: func.func @reshape_of_an_empty_tensor
// CHECK-NEXT:  %r = gawee.reshape %x shape [0, 7] : (tensor<2x0xf32>) -> tensor<0x7xf32>
func.func @reshape_of_an_empty_tensor(%x: tensor<2x0xf32>) -> tensor<0x7xf32> {
  %r = gawee.reshape %x shape [0, 7] : (tensor<2x0xf32>) -> tensor<0x7xf32>
  func.return %r : tensor<0x7xf32>
}

// CHECK-LABEL: func.func @cat_of_three_along_the_last_axis
// CHECK-NEXT:  %r = gawee.cat %x, %y, %x dim -1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
func.func @cat_of_three_along_the_last_axis(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x7xf32> {
  %r = gawee.cat %x, %y, %x dim -1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  func.return %r : tensor<2x7xf32>
}
