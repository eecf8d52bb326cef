// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @cast_to_bytes
// CHECK-NEXT:  %r = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xui8>
func.func @cast_to_bytes(%x: tensor<2x3xf32>) -> tensor<2x3xui8> {
  %r = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xui8>
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @cast_of_a_scalar
// CHECK-NEXT:  %r = gawee.cast %x : (tensor<i1>) -> tensor<f16>
func.func @cast_of_a_scalar(%x: tensor<i1>) -> tensor<f16> {
  %r = gawee.cast %x : (tensor<i1>) -> tensor<f16>
  func.return %r : tensor<f16>
}
