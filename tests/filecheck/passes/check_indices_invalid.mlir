// RUN: not gawee-opt --check-indices %s 2>&1 | filecheck %s

// CHECK: check_indices_invalid.mlir:5:3: error: 'gawee.gather' op expected axis 0 to have elements that indices name, got 0
func.func @an_empty_axis_has_no_index(%x: tensor<0x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  %y = gawee.gather %x, %i axis 0 : (tensor<0x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
