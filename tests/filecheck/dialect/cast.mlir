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

// CHECK-LABEL: func.func @bitcast_to_integers
// CHECK-NEXT:  %r = gawee.bitcast %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
func.func @bitcast_to_integers(%x: tensor<2x3xf32>) -> tensor<2x3xi32> {
  %r = gawee.bitcast %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  func.return %r : tensor<2x3xi32>
}
