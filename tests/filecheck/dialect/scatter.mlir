// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @scatter_elements_adds
// CHECK-NEXT:  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "add" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
func.func @scatter_elements_adds(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>, %u: tensor<2x4x3xf32>) -> (tensor<2x5x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "add" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  func.return %y : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @scatter_nd_overwrites
// CHECK-NEXT:  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<5x3x7xi1>, tensor<4x2xi32>, tensor<4x7xi1>) -> tensor<5x3x7xi1>
func.func @scatter_nd_overwrites(%x: tensor<5x3x7xi1>, %i: tensor<4x2xi32>, %u: tensor<4x7xi1>) -> (tensor<5x3x7xi1>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<5x3x7xi1>, tensor<4x2xi32>, tensor<4x7xi1>) -> tensor<5x3x7xi1>
  func.return %y : tensor<5x3x7xi1>
}
