// RUN: gawee-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @adding_zero_on_either_side_vanishes
// CHECK-NEXT:  func.return %x, %x, %i : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>
func.func @adding_zero_on_either_side_vanishes(%x: tensor<2x3xf32>, %i: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>) {
  %z = gawee.constant dense<0.0> : tensor<1xf32>
  %n = gawee.constant dense<-0.0> : tensor<2x3xf32>
  %k = gawee.constant dense<0> : tensor<3xi32>
  %a = gawee.add %x, %z : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %b = gawee.add %n, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = gawee.add %k, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>
}

// The sum has another shape than %x.
// CHECK-LABEL: func.func @adding_zeros_that_widen_the_shape_stays
// CHECK:       gawee.add %x
func.func @adding_zeros_that_widen_the_shape_stays(%x: tensor<1x3x1x1xf32>) -> tensor<1x3x4x5xf32> {
  %z = gawee.constant dense<0.0> : tensor<1x3x4x5xf32>
  %a = gawee.add %x, %z : (tensor<1x3x1x1xf32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  func.return %a : tensor<1x3x4x5xf32>
}

// CHECK-LABEL: func.func @subtracting_zero_vanishes_but_not_from_zero
// CHECK-NEXT:  %[[ZERO:.*]] = gawee.constant
// CHECK-NEXT:  %[[NEGATED:.*]] = gawee.sub %[[ZERO]], %x
// CHECK-NEXT:  func.return %x, %[[NEGATED]]
func.func @subtracting_zero_vanishes_but_not_from_zero(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %z = gawee.constant dense<0.0> : tensor<f64>
  %a = gawee.sub %x, %z : (tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %b = gawee.sub %z, %x : (tensor<f64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %a, %b : tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK-LABEL: func.func @multiplying_with_one_vanishes
// CHECK-NEXT:  func.return %x, %x
func.func @multiplying_with_one_vanishes(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xf16>) {
  %o = gawee.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf16>
  %a = gawee.mul %x, %o : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  %b = gawee.mul %o, %x : (tensor<3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %a, %b : tensor<2x3xf16>, tensor<2x3xf16>
}

// Infinity and NaN times zero are NaN.
// CHECK-LABEL: func.func @multiplying_with_zero_stays
// CHECK:       gawee.mul
func.func @multiplying_with_zero_stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = gawee.constant dense<0.0> : tensor<f32>
  %a = gawee.mul %x, %z : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @dividing_by_one_vanishes_but_not_one_by_it
// CHECK-NEXT:  %[[ONE:.*]] = gawee.constant
// CHECK-NEXT:  %[[INVERSE:.*]] = gawee.div %[[ONE]], %x
// CHECK-NEXT:  func.return %x, %[[INVERSE]]
func.func @dividing_by_one_vanishes_but_not_one_by_it(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %o = gawee.constant dense<1.0> : tensor<f32>
  %a = gawee.div %x, %o : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = gawee.div %o, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @relu_of_relu_is_one_relu
// CHECK-NEXT:  %[[R:.*]] = gawee.relu %x
// CHECK-NEXT:  func.return %[[R]]
func.func @relu_of_relu_is_one_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constants_fold_with_broadcasting
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}1.100000e+01, 2.100000e+01], [1.200000e+01, 2.200000e+01]]> : tensor<2x2xf32>
// CHECK-NEXT:  gawee.constant dense<[-2, 2]> : tensor<2xi64>
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}1.000000e+01, 2.000000e+01], [2.000000e+01, 4.000000e+01]]> : tensor<2x2xf32>
func.func @constants_fold_with_broadcasting() -> (tensor<2x2xf32>, tensor<2xi64>, tensor<2x2xf32>) {
  %a = gawee.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %b = gawee.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %i = gawee.constant dense<[3, 7]> : tensor<2xi64>
  %j = gawee.constant dense<5> : tensor<i64>
  %c = gawee.add %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %d = gawee.sub %i, %j : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %e = gawee.mul %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  func.return %c, %d, %e : tensor<2x2xf32>, tensor<2xi64>, tensor<2x2xf32>
}

// 65504 is the largest f16, 2049 has no f16; NaN stays NaN under relu, -1 has no real root.
// CHECK-LABEL: func.func @constants_fold_in_their_own_precision
// CHECK-NEXT:  gawee.constant dense<[0x7c00, 2.048000e+03]> : tensor<2xf16>
// CHECK-NEXT:  gawee.constant dense<[-128, 5]> : tensor<2xi8>
// CHECK-NEXT:  gawee.constant dense<[0x7fc00000, 0.000000e+00, 2.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:  gawee.constant dense<[0x7f800000, 0x{{[7f]}}fc00000]> : tensor<2xf32>
// CHECK-NEXT:  gawee.constant dense<{{.*}}0x{{[7f]}}fc00000, 3.000000e+00]> : tensor<2xf32>
func.func @constants_fold_in_their_own_precision() -> (tensor<2xf16>, tensor<2xi8>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = gawee.constant dense<[65504.0, 2048.0]> : tensor<2xf16>
  %b = gawee.constant dense<[65504.0, 1.0]> : tensor<2xf16>
  %c = gawee.add %a, %b : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %d = gawee.constant dense<[127, 4]> : tensor<2xi8>
  %e = gawee.constant dense<1> : tensor<i8>
  %f = gawee.add %d, %e : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %g = gawee.constant dense<[0x7fc00000, -1.0, 2.0]> : tensor<3xf32>
  %h = gawee.relu %g : (tensor<3xf32>) -> tensor<3xf32>
  %i = gawee.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %j = gawee.constant dense<0.0> : tensor<f32>
  %k = gawee.div %i, %j : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %l = gawee.constant dense<[-1.0, 9.0]> : tensor<2xf32>
  %m = gawee.sqrt %l : (tensor<2xf32>) -> tensor<2xf32>
  func.return %c, %f, %h, %k, %m : tensor<2xf16>, tensor<2xi8>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @results_of_more_than_4096_elements_stay_computed
// CHECK:       gawee.constant dense<3.000000e+00> : tensor<64x64xf32>
// CHECK:       gawee.add
func.func @results_of_more_than_4096_elements_stay_computed() -> (tensor<64x64xf32>, tensor<17x241xf32>) {
  %a = gawee.constant dense<1.0> : tensor<64x64xf32>
  %b = gawee.constant dense<2.0> : tensor<f32>
  %c = gawee.add %a, %b : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %d = gawee.constant dense<1.0> : tensor<17x241xf32>
  %e = gawee.add %d, %b : (tensor<17x241xf32>, tensor<f32>) -> tensor<17x241xf32>
  func.return %c, %e : tensor<64x64xf32>, tensor<17x241xf32>
}
