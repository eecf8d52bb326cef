// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// LogicalNotOp C1: element type is integer.
// CHECK: error: 'gawee.logical_not' op unsupported element type 'i32' of input; supported: i1
func.func @logical_not_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.logical_not %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// BitwiseNotOp C1: element type is float.
// CHECK: error: 'gawee.bitwise_not' op unsupported element type 'f32' of input; supported: integers
func.func @bitwise_not_c1_element_type_is_float(%x: tensor<2x3xf32>) {
  %y = gawee.bitwise_not %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// BitwiseAndOp C1: element type is float.
// CHECK: error: 'gawee.bitwise_and' op unsupported element type 'f32' of lhs; supported: integers
func.func @bitwise_and_c1_element_type_is_float(%x: tensor<2xf32>) {
  %y = gawee.bitwise_and %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// BitwiseAndOp C2: element types differ.
// CHECK: error: 'gawee.bitwise_and' op expected rhs element type 'i64' to match lhs element type 'i32'
func.func @bitwise_and_c2_element_types_differ(%x: tensor<2xi32>, %z: tensor<2xi64>) {
  %y = gawee.bitwise_and %x, %z : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  func.return
}

// -----

// BitwiseAndOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.bitwise_and' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @bitwise_and_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xi32>, %z: tensor<2x5xi32>) {
  %y = gawee.bitwise_and %x, %z : (tensor<2x3x5xi32>, tensor<2x5xi32>) -> tensor<2x3x5xi32>
  func.return
}

// -----

// BitwiseOrOp C1: element type is float.
// CHECK: error: 'gawee.bitwise_or' op unsupported element type 'f32' of lhs; supported: integers
func.func @bitwise_or_c1_element_type_is_float(%x: tensor<2xf32>) {
  %y = gawee.bitwise_or %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// BitwiseOrOp C2: element types differ.
// CHECK: error: 'gawee.bitwise_or' op expected rhs element type 'i64' to match lhs element type 'i32'
func.func @bitwise_or_c2_element_types_differ(%x: tensor<2xi32>, %z: tensor<2xi64>) {
  %y = gawee.bitwise_or %x, %z : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  func.return
}

// -----

// BitwiseOrOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.bitwise_or' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @bitwise_or_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xi32>, %z: tensor<2x5xi32>) {
  %y = gawee.bitwise_or %x, %z : (tensor<2x3x5xi32>, tensor<2x5xi32>) -> tensor<2x3x5xi32>
  func.return
}

// -----

// BitwiseXorOp C1: element type is float.
// CHECK: error: 'gawee.bitwise_xor' op unsupported element type 'f32' of lhs; supported: integers
func.func @bitwise_xor_c1_element_type_is_float(%x: tensor<2xf32>) {
  %y = gawee.bitwise_xor %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// BitwiseXorOp C2: element types differ.
// CHECK: error: 'gawee.bitwise_xor' op expected rhs element type 'i64' to match lhs element type 'i32'
func.func @bitwise_xor_c2_element_types_differ(%x: tensor<2xi32>, %z: tensor<2xi64>) {
  %y = gawee.bitwise_xor %x, %z : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  func.return
}

// -----

// BitwiseXorOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.bitwise_xor' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @bitwise_xor_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xi32>, %z: tensor<2x5xi32>) {
  %y = gawee.bitwise_xor %x, %z : (tensor<2x3x5xi32>, tensor<2x5xi32>) -> tensor<2x3x5xi32>
  func.return
}
