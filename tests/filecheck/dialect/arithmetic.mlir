// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @neg_on_i32
// CHECK-NEXT:  %r = gawee.neg %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
func.func @neg_on_i32(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = gawee.neg %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @abs_on_ui8
// CHECK-NEXT:  %r = gawee.abs %x : (tensor<2x3xui8>) -> tensor<2x3xui8>
func.func @abs_on_ui8(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  %r = gawee.abs %x : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @reciprocal_on_f64
// CHECK-NEXT:  %r = gawee.reciprocal %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @reciprocal_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.reciprocal %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @floor_on_f64
// CHECK-NEXT:  %r = gawee.floor %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @floor_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.floor %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @ceil_on_f64
// CHECK-NEXT:  %r = gawee.ceil %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @ceil_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.ceil %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @round_on_f64
// CHECK-NEXT:  %r = gawee.round %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @round_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.round %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @sign_on_i64
// CHECK-NEXT:  %r = gawee.sign %x : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @sign_on_i64(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %r = gawee.sign %x : (tensor<2x3xi64>) -> tensor<2x3xi64>
  func.return %r : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @pow_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.pow %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
func.func @pow_broadcasts_both_sides(%x: tensor<2x1x5xf16>, %y: tensor<3x1xf16>) -> tensor<2x3x5xf16> {
  %r = gawee.pow %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
  func.return %r : tensor<2x3x5xf16>
}

// CHECK-LABEL: func.func @maximum_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.maximum %x, %y : (tensor<2x1x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
func.func @maximum_broadcasts_both_sides(%x: tensor<2x1x5xi32>, %y: tensor<3x1xi32>) -> tensor<2x3x5xi32> {
  %r = gawee.maximum %x, %y : (tensor<2x1x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
  func.return %r : tensor<2x3x5xi32>
}

// CHECK-LABEL: func.func @minimum_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.minimum %x, %y : (tensor<2x1x5xui8>, tensor<3x1xui8>) -> tensor<2x3x5xui8>
func.func @minimum_broadcasts_both_sides(%x: tensor<2x1x5xui8>, %y: tensor<3x1xui8>) -> tensor<2x3x5xui8> {
  %r = gawee.minimum %x, %y : (tensor<2x1x5xui8>, tensor<3x1xui8>) -> tensor<2x3x5xui8>
  func.return %r : tensor<2x3x5xui8>
}

// CHECK-LABEL: func.func @remainder_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.remainder %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
func.func @remainder_broadcasts_both_sides(%x: tensor<2x1x5xi64>, %y: tensor<3x1xi64>) -> tensor<2x3x5xi64> {
  %r = gawee.remainder %x, %y : (tensor<2x1x5xi64>, tensor<3x1xi64>) -> tensor<2x3x5xi64>
  func.return %r : tensor<2x3x5xi64>
}

// CHECK-LABEL: func.func @fmod_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.fmod %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
func.func @fmod_broadcasts_both_sides(%x: tensor<2x1x5xf16>, %y: tensor<3x1xf16>) -> tensor<2x3x5xf16> {
  %r = gawee.fmod %x, %y : (tensor<2x1x5xf16>, tensor<3x1xf16>) -> tensor<2x3x5xf16>
  func.return %r : tensor<2x3x5xf16>
}

// CHECK-LABEL: func.func @floor_div_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.floor_div %x, %y : (tensor<2x1x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
func.func @floor_div_broadcasts_both_sides(%x: tensor<2x1x5xi32>, %y: tensor<3x1xi32>) -> tensor<2x3x5xi32> {
  %r = gawee.floor_div %x, %y : (tensor<2x1x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
  func.return %r : tensor<2x3x5xi32>
}

// CHECK-LABEL: func.func @atan2_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.atan2 %x, %y : (tensor<2x1x5xf64>, tensor<3x1xf64>) -> tensor<2x3x5xf64>
func.func @atan2_broadcasts_both_sides(%x: tensor<2x1x5xf64>, %y: tensor<3x1xf64>) -> tensor<2x3x5xf64> {
  %r = gawee.atan2 %x, %y : (tensor<2x1x5xf64>, tensor<3x1xf64>) -> tensor<2x3x5xf64>
  func.return %r : tensor<2x3x5xf64>
}
