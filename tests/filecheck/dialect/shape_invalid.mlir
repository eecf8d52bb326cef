// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'gawee.identity' op expected result type 'tensor<2x3xf32>', got 'tensor<2x3xf64>'
func.func @identity_result_type_differs(%x: tensor<2x3xf32>) {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf64>
  func.return
}

// -----

// FlattenOp C1: start dim is no axis.
// CHECK: error: 'gawee.flatten' op expected start_dim from -3 to 2, got 3
func.func @flatten_c1_start_dim_is_no_axis(%x: tensor<2x3x5xf32>) {
  %y = gawee.flatten %x start_dim 3 end_dim -1 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  func.return
}

// -----

// FlattenOp C1: end dim is no axis.
// CHECK: error: 'gawee.flatten' op expected end_dim from -3 to 2, got -4
func.func @flatten_c1_end_dim_is_no_axis(%x: tensor<2x3x5xf32>) {
  %y = gawee.flatten %x start_dim 1 end_dim -4 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  func.return
}

// -----

// FlattenOp C2: range is reversed.
// CHECK: error: 'gawee.flatten' op expected start_dim (2) not to come after end_dim (1)
func.func @flatten_c2_range_is_reversed(%x: tensor<2x3x5xf32>) {
  %y = gawee.flatten %x start_dim 2 end_dim 1 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.flatten' op expected result type 'tensor<6x5xf32>', got 'tensor<2x15xf32>'
func.func @flatten_result_type_differs(%x: tensor<2x3x5xf32>) {
  %y = gawee.flatten %x start_dim 0 end_dim 1 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  func.return
}

// -----

// ReshapeOp C1: size is negative.
// CHECK: error: 'gawee.reshape' op expected shape of at least 0, got [2, -1]
func.func @reshape_c1_size_is_negative(%x: tensor<2x3xf32>) {
  %y = gawee.reshape %x shape [2, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// ReshapeOp C1: number of elements differs.
// CHECK: error: 'gawee.reshape' op expected shape 2x4 (8 elements) to keep the 6 elements of the input
func.func @reshape_c1_number_of_elements_differs(%x: tensor<2x3xf32>) {
  %y = gawee.reshape %x shape [2, 4] : (tensor<2x3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.reshape' op expected result type 'tensor<3x2xf32>', got 'tensor<6xf32>'
func.func @reshape_result_type_differs(%x: tensor<2x3xf32>) {
  %y = gawee.reshape %x shape [3, 2] : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return
}

// -----

// CatOp C1: no input.
// CHECK: error: 'gawee.cat' op expected at least one input, got none
func.func @cat_c1_no_input() {
  %y = "gawee.cat"() <{dim = 0 : i64}> : () -> tensor<2x3xf32>
  func.return
}

// -----

// CatOp C1: input is a scalar.
// CHECK: error: 'gawee.cat' op expected inputs of rank 1 or more, got a scalar ('tensor<f32>')
func.func @cat_c1_input_is_a_scalar(%x: tensor<f32>) {
  %y = gawee.cat %x, %x dim 0 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

// CatOp C2: element types differ.
// CHECK: error: 'gawee.cat' op expected input #1 element type 'i32' to match input #0 element type 'f32'
func.func @cat_c2_element_types_differ(%x: tensor<2x3xf32>, %z: tensor<2x3xi32>) {
  %y = gawee.cat %x, %z dim 0 : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CatOp C3: dim is no axis.
// CHECK: error: 'gawee.cat' op expected dim from -2 to 1, got 2
func.func @cat_c3_dim_is_no_axis(%x: tensor<2x3xf32>) {
  %y = gawee.cat %x, %x dim 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CatOp C4: ranks differ.
// CHECK: error: 'gawee.cat' op expected input #1 (2x3x1) to match input #0 (2x3) off axis 0
func.func @cat_c4_ranks_differ(%x: tensor<2x3xf32>, %z: tensor<2x3x1xf32>) {
  %y = gawee.cat %x, %z dim 0 : (tensor<2x3xf32>, tensor<2x3x1xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CatOp C4: sizes differ off axis.
// CHECK: error: 'gawee.cat' op expected input #1 (2x4) to match input #0 (2x3) off axis -2
func.func @cat_c4_sizes_differ_off_axis(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) {
  %y = gawee.cat %x, %z dim -2 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.cat' op expected result type 'tensor<2x6xf32>', got 'tensor<4x3xf32>'
func.func @cat_result_type_differs(%x: tensor<2x3xf32>) {
  %y = gawee.cat %x, %x dim 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return
}
