// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @relu_on_integers
// CHECK-NEXT:  %r = gawee.relu %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
func.func @relu_on_integers(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = gawee.relu %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sqrt_on_a_scalar
// CHECK-NEXT:  %r = gawee.sqrt %x : (tensor<f32>) -> tensor<f32>
func.func @sqrt_on_a_scalar(%x: tensor<f32>) -> tensor<f32> {
  %r = gawee.sqrt %x : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @add_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.add %x, %y : (tensor<2x1x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
func.func @add_broadcasts_both_sides(%x: tensor<2x1x5xf32>, %y: tensor<3x1xf32>) -> tensor<2x3x5xf32> {
  %r = gawee.add %x, %y : (tensor<2x1x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @sub_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.sub %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
func.func @sub_broadcasts_both_sides(%x: tensor<2x1x5xi64>, %y: tensor<3x1xi64>) -> tensor<2x3x5xi64> {
  %r = gawee.sub %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
  func.return %r : tensor<2x3x5xi64>
}

// CHECK-LABEL: func.func @mul_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.mul %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
func.func @mul_broadcasts_both_sides(%x: tensor<2x1x5xf16>, %y: tensor<3x1xf16>) -> tensor<2x3x5xf16> {
  %r = gawee.mul %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
  func.return %r : tensor<2x3x5xf16>
}

// CHECK-LABEL: func.func @div_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.div %x, %y : (tensor<2x1x5xf64>, tensor<3x1xf64>) -> tensor<2x3x5xf64>
func.func @div_broadcasts_both_sides(%x: tensor<2x1x5xf64>, %y: tensor<3x1xf64>) -> tensor<2x3x5xf64> {
  %r = gawee.div %x, %y : (tensor<2x1x5xf64>, tensor<3x1xf64>) -> tensor<2x3x5xf64>
  func.return %r : tensor<2x3x5xf64>
}
