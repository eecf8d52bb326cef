// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// MatMulOp C1: input is a scalar.
// CHECK: error: 'gawee.matmul' op expected input of rank 1 or more, got a scalar
func.func @c1_input_is_a_scalar(%x: tensor<f32>, %w: tensor<3x8xf32>) {
  %y = gawee.matmul %x, %w : (tensor<f32>, tensor<3x8xf32>) -> tensor<3xf32>
  func.return
}

// -----

// MatMulOp C1: weight is not a matrix.
// CHECK: error: 'gawee.matmul' op expected weight of rank 2, got rank 1 ('tensor<8xf32>')
func.func @c1_weight_is_not_a_matrix(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  %y = gawee.matmul %x, %w : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// MatMulOp C2: element type is not float.
// CHECK: error: 'gawee.matmul' op expected input of element type f16, f32 or f64, got 'i32'
func.func @c2_element_type_is_not_float(%x: tensor<2x8xi32>, %w: tensor<3x8xi32>) {
  %y = gawee.matmul %x, %w : (tensor<2x8xi32>, tensor<3x8xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// MatMulOp C2: weight element type differs.
// CHECK: error: 'gawee.matmul' op expected weight element type 'f16' to match input element type 'f32'
func.func @c2_weight_element_type_differs(%x: tensor<2x8xf32>, %w: tensor<3x8xf16>) {
  %y = gawee.matmul %x, %w : (tensor<2x8xf32>, tensor<3x8xf16>) -> tensor<2x3xf32>
  func.return
}

// -----

// MatMulOp C3: weight is stored the other way round.
// CHECK: error: 'gawee.matmul' op expected last input dimension (8) to equal weight input features (3)
func.func @c3_weight_is_stored_the_other_way_round(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>) {
  %y = gawee.matmul %x, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// MatMulOp C4: bias is too long.
// CHECK: error: 'gawee.matmul' op expected bias of shape 3, got 8
func.func @c4_bias_is_too_long(%x: tensor<2x8xf32>, %w: tensor<3x8xf32>, %b: tensor<8xf32>) {
  %y = gawee.matmul %x, %w bias %b : (tensor<2x8xf32>, tensor<3x8xf32>, tensor<8xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.matmul' op expected result type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'
func.func @result_type_differs(%x: tensor<2x8xf32>, %w: tensor<3x8xf32>) {
  %y = gawee.matmul %x, %w : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

// BatchMatMulOp C1: vector.
// CHECK: error: 'gawee.batch_matmul' op expected b of rank 2 or more, got rank 1 ('tensor<8xf32>')
func.func @batch_matmul_c1_vector(%a: tensor<5x8xf32>, %b: tensor<8xf32>) {
  %y = gawee.batch_matmul %a, %b : (tensor<5x8xf32>, tensor<8xf32>) -> tensor<5xf32>
  func.return
}

// -----

// BatchMatMulOp C2: element types differ.
// CHECK: error: 'gawee.batch_matmul' op expected b element type 'f64' to match a element type 'f32'
func.func @batch_matmul_c2_element_types_differ(%a: tensor<5x8xf32>, %b: tensor<8x7xf64>) {
  %y = gawee.batch_matmul %a, %b : (tensor<5x8xf32>, tensor<8x7xf64>) -> tensor<5x7xf32>
  func.return
}

// -----

// BatchMatMulOp C2: element type is one bit.
// CHECK: error: 'gawee.batch_matmul' op expected a of a float or signless integer element type, got 'i1'
func.func @batch_matmul_c2_element_type_is_one_bit(%a: tensor<5x8xi1>, %b: tensor<8x7xi1>) {
  %y = gawee.batch_matmul %a, %b : (tensor<5x8xi1>, tensor<8x7xi1>) -> tensor<5x7xi1>
  func.return
}

// -----

// BatchMatMulOp C3: inner sizes differ.
// CHECK: error: 'gawee.batch_matmul' op expected columns of a (8) to equal rows of b (7)
func.func @batch_matmul_c3_inner_sizes_differ(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>) {
  %y = gawee.batch_matmul %a, %b transpose_b : (tensor<5x8xf32>, tensor<8x7xf32>) -> tensor<5x8xf32>
  func.return
}

// -----

// BatchMatMulOp C4: leading axes differ.
// CHECK: error: 'gawee.batch_matmul' op expected shapes to broadcast, got 2 and 3
func.func @batch_matmul_c4_leading_axes_differ(%a: tensor<2x5x8xf32>, %b: tensor<3x8x7xf32>) {
  %y = gawee.batch_matmul %a, %b : (tensor<2x5x8xf32>, tensor<3x8x7xf32>) -> tensor<2x5x7xf32>
  func.return
}
