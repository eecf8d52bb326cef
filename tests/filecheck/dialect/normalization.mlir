// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @norm_with_scale_and_bias
// CHECK-NEXT:  %r = gawee.batch_norm %x mean %m variance %v scale %g bias %b eps 1.000000e-05 : tensor<2x3x5x7xf32>, tensor<3xf32>
func.func @norm_with_scale_and_bias(%x: tensor<2x3x5x7xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x5x7xf32> {
  %r = gawee.batch_norm %x mean %m variance %v scale %g bias %b eps 1.000000e-05 : tensor<2x3x5x7xf32>, tensor<3xf32>
  func.return %r : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @norm_with_bias_alone
// CHECK-NEXT:  %r = gawee.batch_norm %x mean %m variance %v bias %b eps 1.000000e-03 : tensor<2x3xf16>, tensor<3xf16>
func.func @norm_with_bias_alone(%x: tensor<2x3xf16>, %m: tensor<3xf16>, %v: tensor<3xf16>, %b: tensor<3xf16>) -> tensor<2x3xf16> {
  %r = gawee.batch_norm %x mean %m variance %v bias %b eps 1.000000e-03 : tensor<2x3xf16>, tensor<3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @norm_with_scale_alone
// CHECK-NEXT:  %r = gawee.batch_norm %x mean %m variance %v scale %g eps 0.000000e+00 : tensor<2x3x5xf64>, tensor<3xf64>
func.func @norm_with_scale_alone(%x: tensor<2x3x5xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>, %g: tensor<3xf64>) -> tensor<2x3x5xf64> {
  %r = gawee.batch_norm %x mean %m variance %v scale %g eps 0.000000e+00 : tensor<2x3x5xf64>, tensor<3xf64>
  func.return %r : tensor<2x3x5xf64>
}

// CHECK-LABEL: func.func @norm_with_an_eps_of_many_digits
// CHECK-NEXT:  %r = gawee.batch_norm %x mean %m variance %v eps 0.0010000000474974513 : tensor<2x3x5xf64>, tensor<3xf64>
func.func @norm_with_an_eps_of_many_digits(%x: tensor<2x3x5xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>) -> tensor<2x3x5xf64> {
  %r = gawee.batch_norm %x mean %m variance %v eps 0.0010000000474974513 : tensor<2x3x5xf64>, tensor<3xf64>
  func.return %r : tensor<2x3x5xf64>
}
