// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @logical_not_on_truth_values
// CHECK-NEXT:  %r = gawee.logical_not %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_not_on_truth_values(%x: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %r = gawee.logical_not %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @bitwise_not_on_bytes
// CHECK-NEXT:  %r = gawee.bitwise_not %x : (tensor<2x3xui8>) -> tensor<2x3xui8>
func.func @bitwise_not_on_bytes(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  %r = gawee.bitwise_not %x : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @bitwise_and_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.bitwise_and %x, %y : (tensor<2x1x5xi1>, tensor<3x1xi1>) -> tensor<2x3x5xi1>
func.func @bitwise_and_broadcasts_both_sides(%x: tensor<2x1x5xi1>, %y: tensor<3x1xi1>) -> tensor<2x3x5xi1> {
  %r = gawee.bitwise_and %x, %y : (tensor<2x1x5xi1>, tensor<3x1xi1>) -> tensor<2x3x5xi1>
  func.return %r : tensor<2x3x5xi1>
}

// CHECK-LABEL: func.func @bitwise_or_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.bitwise_or %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
func.func @bitwise_or_broadcasts_both_sides(%x: tensor<2x1x5xi64>, %y: tensor<3x1xi64>) -> tensor<2x3x5xi64> {
  %r = gawee.bitwise_or %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
  func.return %r : tensor<2x3x5xi64>
}

// CHECK-LABEL: func.func @bitwise_xor_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.bitwise_xor %x, %y : (tensor<2x1x5xi8>, tensor<3x1xi8>) -> tensor<2x3x5xi8>
func.func @bitwise_xor_broadcasts_both_sides(%x: tensor<2x1x5xi8>, %y: tensor<3x1xi8>) -> tensor<2x3x5xi8> {
  %r = gawee.bitwise_xor %x, %y : (tensor<2x1x5xi8>, tensor<3x1xi8>) -> tensor<2x3x5xi8>
  func.return %r : tensor<2x3x5xi8>
}
