// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @constant_keeps_its_elements
// CHECK:       %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:       return %[[C]]
func.func @constant_keeps_its_elements() -> tensor<2xf32> {
  %c = gawee.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @constants_may_be_unsigned_or_boolean
// CHECK:       arith.constant dense<[1, 200]> : tensor<2xui8>
// CHECK:       arith.constant dense<[true, false]> : tensor<2xi1>
func.func @constants_may_be_unsigned_or_boolean() -> (tensor<2xui8>, tensor<2xi1>) {
  %c = gawee.constant dense<[1, 200]> : tensor<2xui8>
  %d = gawee.constant dense<[true, false]> : tensor<2xi1>
  return %c, %d : tensor<2xui8>, tensor<2xi1>
}
