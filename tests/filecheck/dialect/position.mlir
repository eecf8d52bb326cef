// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @iota_counts_along_an_axis
// CHECK-NEXT:  %y = gawee.iota axis 1 : tensor<2x5xi64>
func.func @iota_counts_along_an_axis() -> (tensor<2x5xi64>) {
  %y = gawee.iota axis 1 : tensor<2x5xi64>
  func.return %y : tensor<2x5xi64>
}

// CHECK-LABEL: func.func @iota_says_a_shape_that_is_open
// CHECK:       gawee.iota axis 1 {shape = #gawee.sizes<[3, "length + 1"]>} : tensor<3x?xi32>
func.func @iota_says_a_shape_that_is_open(%x: tensor<?xi32> {gawee.sizes = ["length"]}) -> tensor<3x?xi32> {
  %y = gawee.iota axis 1 {shape = #gawee.sizes<[3, "length + 1"]>} : tensor<3x?xi32>
  func.return %y : tensor<3x?xi32>
}

// CHECK-LABEL: func.func @tri_keeps_a_triangle
// CHECK-NEXT:  %y = gawee.tri %x upper true diagonal -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
func.func @tri_keeps_a_triangle(%x: tensor<2x5x7xf32>) -> (tensor<2x5x7xf32>) {
  %y = gawee.tri %x upper true diagonal -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  func.return %y : tensor<2x5x7xf32>
}
