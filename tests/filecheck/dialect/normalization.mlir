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

// CHECK-LABEL: func.func @layer_norm_without_scale_and_bias
// CHECK-NEXT:  %r = gawee.layer_norm %x normalized_rank 1 eps 1.000000e-05 : tensor<2x3x5xf32>
func.func @layer_norm_without_scale_and_bias(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = gawee.layer_norm %x normalized_rank 1 eps 1.000000e-05 : tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @layer_norm_with_bias_alone
// CHECK-NEXT:  %r = gawee.layer_norm %x bias %b : tensor<3x5xf32> normalized_rank 2 eps 1.000000e-05 : tensor<2x3x5xf32>
func.func @layer_norm_with_bias_alone(%x: tensor<2x3x5xf32>, %b: tensor<3x5xf32>) -> tensor<2x3x5xf32> {
  %r = gawee.layer_norm %x bias %b : tensor<3x5xf32> normalized_rank 2 eps 1.000000e-05 : tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @fold_with_bias_scale_and_shift
// CHECK-NEXT:  %y, %z = gawee.fold_batch_norm %w bias %b mean %m variance %v scale %g shift %t eps 1.000000e-05 : tensor<3x2x5xf32>, tensor<3xf32>
func.func @fold_with_bias_scale_and_shift(%w: tensor<3x2x5xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<3xf32>, %t: tensor<3xf32>) -> (tensor<3x2x5xf32>, tensor<3xf32>) {
  %y, %z = gawee.fold_batch_norm %w bias %b mean %m variance %v scale %g shift %t eps 1.000000e-05 : tensor<3x2x5xf32>, tensor<3xf32>
  func.return %y, %z : tensor<3x2x5xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @fold_with_shift_alone
// CHECK-NEXT:  %y, %z = gawee.fold_batch_norm %w mean %m variance %v shift %t eps 0.000000e+00 : tensor<3xf16>, tensor<3xf16>
func.func @fold_with_shift_alone(%w: tensor<3xf16>, %m: tensor<3xf16>, %v: tensor<3xf16>, %t: tensor<3xf16>) -> (tensor<3xf16>, tensor<3xf16>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %v shift %t eps 0.000000e+00 : tensor<3xf16>, tensor<3xf16>
  func.return %y, %z : tensor<3xf16>, tensor<3xf16>
}

// CHECK-LABEL: func.func @rms_norm_with_scale
// CHECK-NEXT:  %r = gawee.rms_norm %x scale %g : tensor<5xf32> normalized_rank 1 eps 1.000000e-06 : tensor<2x3x5xf32>
func.func @rms_norm_with_scale(%x: tensor<2x3x5xf32>, %g: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %r = gawee.rms_norm %x scale %g : tensor<5xf32> normalized_rank 1 eps 1.000000e-06 : tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @rms_norm_without_scale
// CHECK-NEXT:  %r = gawee.rms_norm %x normalized_rank 3 eps 0.000000e+00 : tensor<2x3x5xf32>
func.func @rms_norm_without_scale(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = gawee.rms_norm %x normalized_rank 3 eps 0.000000e+00 : tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @group_norm_with_scale_and_bias
// CHECK-NEXT:  %r = gawee.group_norm %x scale %g : tensor<6xf32> bias %b : tensor<6xf32> groups 3 eps 1.000000e-05 : tensor<2x6x5xf32>
func.func @group_norm_with_scale_and_bias(%x: tensor<2x6x5xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<2x6x5xf32> {
  %r = gawee.group_norm %x scale %g : tensor<6xf32> bias %b : tensor<6xf32> groups 3 eps 1.000000e-05 : tensor<2x6x5xf32>
  func.return %r : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @group_norm_without_scale_and_bias
// CHECK-NEXT:  %r = gawee.group_norm %x groups 6 eps 1.000000e-05 : tensor<2x6x5xf32>
func.func @group_norm_without_scale_and_bias(%x: tensor<2x6x5xf32>) -> tensor<2x6x5xf32> {
  %r = gawee.group_norm %x groups 6 eps 1.000000e-05 : tensor<2x6x5xf32>
  func.return %r : tensor<2x6x5xf32>
}
