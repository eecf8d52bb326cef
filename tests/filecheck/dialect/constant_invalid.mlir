// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ConstantOp C1: value is no tensor.
// CHECK: error: expected a dense value of tensor type, got 'vector<2xf32>'
func.func @c1_value_is_no_tensor() {
  %y = gawee.constant dense<1.0> : vector<2xf32>
  func.return
}

// -----

// ConstantOp C1: value is a number.
// CHECK: error: expected a dense value of tensor type
func.func @c1_value_is_a_number() {
  %y = gawee.constant 1.0 : f32
  func.return
}

// -----

// CHECK: error: shape mismatch in dense literal. Expected [3] shape from the type, but got [2] shape
func.func @the_shape_of_the_value_differs() {
  %y = gawee.constant dense<[1.0, 2.0]> : tensor<3xf32>
  func.return
}

// -----

// ConstantOp C1: result type differs.
// CHECK: error: 'gawee.constant' op expected result type 'tensor<2xf32>', got 'tensor<3xf32>'
func.func @c1_result_type_differs() {
  %y = "gawee.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  func.return
}
