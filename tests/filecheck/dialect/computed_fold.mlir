// RUN: gawee-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @what_is_done_twice_is_done_once
// CHECK-NEXT:  %a = gawee.abs %x
// CHECK-NEXT:  %c = gawee.floor %x
// CHECK-NEXT:  %e = gawee.clip %x min 0.000000e+00 max 6.000000e+00
// CHECK-NEXT:  %g = gawee.clip %e max 5.000000e+00
// CHECK-NEXT:  func.return %a, %c, %e, %g
func.func @what_is_done_twice_is_done_once(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = gawee.abs %x : (tensor<3xf32>) -> tensor<3xf32>
  %b = gawee.abs %a : (tensor<3xf32>) -> tensor<3xf32>
  %c = gawee.floor %x : (tensor<3xf32>) -> tensor<3xf32>
  %d = gawee.floor %c : (tensor<3xf32>) -> tensor<3xf32>
  %e = gawee.clip %x min 0.0 max 6.0 : (tensor<3xf32>) -> tensor<3xf32>
  %f = gawee.clip %e min 0.0 max 6.0 : (tensor<3xf32>) -> tensor<3xf32>
  %g = gawee.clip %f max 5.0 : (tensor<3xf32>) -> tensor<3xf32>
  func.return %b, %d, %f, %g : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @what_is_undone_vanishes
// CHECK-NEXT:  func.return %x, %p, %i
func.func @what_is_undone_vanishes(%x: tensor<3xf32>, %p: tensor<3xi1>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi1>, tensor<3xi32>) {
  %a = gawee.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %b = gawee.neg %a : (tensor<3xf32>) -> tensor<3xf32>
  %c = gawee.logical_not %p : (tensor<3xi1>) -> tensor<3xi1>
  %d = gawee.logical_not %c : (tensor<3xi1>) -> tensor<3xi1>
  %e = gawee.bitwise_not %i : (tensor<3xi32>) -> tensor<3xi32>
  %f = gawee.bitwise_not %e : (tensor<3xi32>) -> tensor<3xi32>
  func.return %b, %d, %f : tensor<3xf32>, tensor<3xi1>, tensor<3xi32>
}

// CHECK-LABEL: func.func @what_changes_nothing_vanishes
// CHECK-NEXT:  func.return %x, %x, %x, %i, %x
func.func @what_changes_nothing_vanishes(%x: tensor<2x1xf32>, %i: tensor<3xi32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<3xi32>, tensor<2x1xf32>) {
  %one = gawee.constant dense<1.0> : tensor<f32>
  %zero = gawee.constant dense<0> : tensor<3xi32>
  %a = gawee.cast %x : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %b = gawee.clip %x : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %c = gawee.pow %x, %one : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %d = gawee.bitwise_or %zero, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %e = gawee.reduce_sum %x axes [1] keep_dims : (tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %a, %b, %c, %d, %e : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<3xi32>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @a_known_choice_is_made
// CHECK:       %c = gawee.where
// CHECK-NEXT:  func.return %x, %y, %x, %c
func.func @a_known_choice_is_made(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf32>, %s: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %true = gawee.constant dense<true> : tensor<3xi1>
  %false = gawee.constant dense<false> : tensor<i1>
  %a = gawee.where %true, %x, %y : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = gawee.where %false, %x, %y : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %same = gawee.where %p, %x, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // The scalar has another shape than the result.
  %c = gawee.where %true, %s, %x : (tensor<3xi1>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %a, %b, %same, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// 300 is 44 in a byte; erf(0) is 0, and the mean of [1, 3] 2.
// CHECK-LABEL: func.func @constants_fold
// CHECK-NEXT:  gawee.constant dense<[44, 255]> : tensor<2xui8>
// CHECK-NEXT:  gawee.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT:  gawee.constant dense<0.000000e+00> : tensor<f64>
// CHECK-NEXT:  gawee.constant dense<2.000000e+00> : tensor<f16>
// CHECK-NEXT:  gawee.constant dense<[1, 4, 9]> : tensor<3xi64>
// CHECK-NEXT:  gawee.constant dense<1> : tensor<i64>
func.func @constants_fold() -> (tensor<2xui8>, tensor<2xi1>, tensor<f64>, tensor<f16>, tensor<3xi64>, tensor<i64>) {
  %i = gawee.constant dense<[300, -1]> : tensor<2xi32>
  %z = gawee.constant dense<0.0> : tensor<f64>
  %h = gawee.constant dense<[1.0, 3.0]> : tensor<2xf16>
  %n = gawee.constant dense<[1, 3, 5]> : tensor<3xi64>
  %a = gawee.cast %i : (tensor<2xi32>) -> tensor<2xui8>
  %b = gawee.compare %i, %i predicate "eq" : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %zero = gawee.constant dense<0> : tensor<i32>
  %c = gawee.compare %i, %zero predicate "gt" : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  %both = gawee.bitwise_and %b, %c : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %d = gawee.erf %z : (tensor<f64>) -> tensor<f64>
  %e = gawee.reduce_mean %h axes [0] : (tensor<2xf16>) -> tensor<f16>
  %f = gawee.cumsum %n axis 0 : (tensor<3xi64>) -> tensor<3xi64>
  %g = gawee.arg_max %h axis 0 : (tensor<2xf16>) -> tensor<i64>
  func.return %a, %both, %d, %e, %f, %g : tensor<2xui8>, tensor<2xi1>, tensor<f64>, tensor<f16>, tensor<3xi64>, tensor<i64>
}
