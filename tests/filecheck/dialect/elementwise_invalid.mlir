// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ReluOp C1: element type is boolean.
// CHECK: error: 'gawee.relu' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @relu_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.relu %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// CHECK: error: 'gawee.relu' op expected result type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'
func.func @relu_result_type_differs(%x: tensor<2x3xf32>) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

// SqrtOp C1: element type is integer.
// CHECK: error: 'gawee.sqrt' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @sqrt_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.sqrt %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// AddOp C1: element type is boolean.
// CHECK: error: 'gawee.add' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @add_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.add %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// AddOp C2: element types differ.
// CHECK: error: 'gawee.add' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @add_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.add %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// AddOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.add' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @add_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.add %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.add' op expected result type 'tensor<2x3xf32>', got 'tensor<2x1xf32>'
func.func @add_result_is_not_broadcast(%x: tensor<2x1xf32>, %z: tensor<3xf32>) {
  %y = gawee.add %x, %z : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  func.return
}

// -----

// SubOp C1: element type is boolean.
// CHECK: error: 'gawee.sub' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @sub_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.sub %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// SubOp C2: element types differ.
// CHECK: error: 'gawee.sub' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @sub_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.sub %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// SubOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.sub' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @sub_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.sub %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.sub' op expected result type 'tensor<2x3xf32>', got 'tensor<2x1xf32>'
func.func @sub_result_is_not_broadcast(%x: tensor<2x1xf32>, %z: tensor<3xf32>) {
  %y = gawee.sub %x, %z : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  func.return
}

// -----

// MulOp C1: element type is boolean.
// CHECK: error: 'gawee.mul' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @mul_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.mul %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// MulOp C2: element types differ.
// CHECK: error: 'gawee.mul' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @mul_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.mul %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// MulOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.mul' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @mul_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.mul %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.mul' op expected result type 'tensor<2x3xf32>', got 'tensor<2x1xf32>'
func.func @mul_result_is_not_broadcast(%x: tensor<2x1xf32>, %z: tensor<3xf32>) {
  %y = gawee.mul %x, %z : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  func.return
}

// -----

// DivOp C1: element type is integer.
// CHECK: error: 'gawee.div' op unsupported element type 'i32' of lhs; supported: f16, f32, f64
func.func @div_c1_element_type_is_integer(%x: tensor<2xi32>) {
  %y = gawee.div %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// DivOp C2: element types differ.
// CHECK: error: 'gawee.div' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @div_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.div %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// DivOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.div' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @div_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.div %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.div' op expected result type 'tensor<2x3xf32>', got 'tensor<2x1xf32>'
func.func @div_result_is_not_broadcast(%x: tensor<2x1xf32>, %z: tensor<3xf32>) {
  %y = gawee.div %x, %z : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  func.return
}
