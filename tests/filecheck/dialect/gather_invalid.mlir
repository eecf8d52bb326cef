// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// GatherOp C1: indices are floats.
// CHECK: error: 'gawee.gather' op unsupported element type 'f32' of indices; supported: i32, i64
func.func @gather_c1_indices_are_floats(%x: tensor<2x5x3xf32>, %i: tensor<4xf32>) {
  %y = gawee.gather %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// GatherOp C2: there is no such axis.
// CHECK: error: 'gawee.gather' op expected axis from -3 to 2, got 3
func.func @gather_c2_axis_is_none(%x: tensor<2x5x3xf32>, %i: tensor<4xi64>) {
  %y = gawee.gather %x, %i axis 3 : (tensor<2x5x3xf32>, tensor<4xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherOp C2: a scalar has no axis.
// CHECK: error: 'gawee.gather' op expected input of rank 1 or more for axis 0, got a scalar
func.func @gather_c2_input_is_a_scalar(%x: tensor<f32>, %i: tensor<4xi64>) {
  %y = gawee.gather %x, %i axis 0 : (tensor<f32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

// GatherElementsOp C1: indices are booleans.
// CHECK: error: 'gawee.gather_elements' op unsupported element type 'i1' of indices; supported: i32, i64
func.func @gather_elements_c1_indices_are_booleans(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi1>) {
  %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4x3xi1>) -> tensor<1xf32>
  func.return
}

// -----

// GatherElementsOp C2: there is no such axis.
// CHECK: error: 'gawee.gather_elements' op expected axis from -3 to 2, got -4
func.func @gather_elements_c2_axis_is_none(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>) {
  %y = gawee.gather_elements %x, %i axis -4 : (tensor<2x5x3xf32>, tensor<2x4x3xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherElementsOp C3: ranks differ.
// CHECK: error: 'gawee.gather_elements' op expected indices (2x4) of the input's rank and, off axis 1, not larger than the input (2x5x3)
func.func @gather_elements_c3_ranks_differ(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi64>) {
  %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherElementsOp C3: a size is larger.
// CHECK: error: 'gawee.gather_elements' op expected indices (2x4x4) of the input's rank and, off axis 1, not larger than the input (2x5x3)
func.func @gather_elements_c3_size_is_larger(%x: tensor<2x5x3xf32>, %i: tensor<2x4x4xi64>) {
  %y = gawee.gather_elements %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<2x4x4xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherNdOp C1: indices are floats.
// CHECK: error: 'gawee.gather_nd' op unsupported element type 'f32' of indices; supported: i32, i64
func.func @gather_nd_c1_indices_are_floats(%x: tensor<2x5x3xf32>, %i: tensor<4x2xf32>) {
  %y = gawee.gather_nd %x, %i batch_dims 0 : (tensor<2x5x3xf32>, tensor<4x2xf32>) -> tensor<1xf32>
  func.return
}

// -----

// GatherNdOp C2: no axis is left for rows.
// CHECK: error: 'gawee.gather_nd' op expected batch_dims from 0 to less than the rank of the indices (2), got 2
func.func @gather_nd_c2_no_axis_is_left(%x: tensor<2x5x3xf32>, %i: tensor<2x2xi64>) {
  %y = gawee.gather_nd %x, %i batch_dims 2 : (tensor<2x5x3xf32>, tensor<2x2xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherNdOp C3: batches differ.
// CHECK: error: 'gawee.gather_nd' op expected input (2x5x3) and indices (3x2) to agree in the first 1 sizes
func.func @gather_nd_c3_batches_differ(%x: tensor<2x5x3xf32>, %i: tensor<3x2xi64>) {
  %y = gawee.gather_nd %x, %i batch_dims 1 : (tensor<2x5x3xf32>, tensor<3x2xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherNdOp C4: too many axes are named.
// CHECK: error: 'gawee.gather_nd' op expected indices (2x3) to name 1 to 2 axes of the input with their last axis
func.func @gather_nd_c4_too_many_axes(%x: tensor<2x5x3xf32>, %i: tensor<2x3xi64>) {
  %y = gawee.gather_nd %x, %i batch_dims 1 : (tensor<2x5x3xf32>, tensor<2x3xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherNdOp C4: no axis is named.
// CHECK: error: 'gawee.gather_nd' op expected indices (4x0) to name 1 to 3 axes of the input with their last axis
func.func @gather_nd_c4_no_axis(%x: tensor<2x5x3xf32>, %i: tensor<4x0xi64>) {
  %y = gawee.gather_nd %x, %i batch_dims 0 : (tensor<2x5x3xf32>, tensor<4x0xi64>) -> tensor<1xf32>
  func.return
}

// -----

// GatherOp C3
// CHECK: error: 'gawee.gather' op expected constant index 5 to be one of axis 0 of size 5
func.func @gather_c3_a_constant_index_is_out_of_range(%x: tensor<5x3xf32>) {
  %i = gawee.constant dense<[0, -5, 5]> : tensor<3xi64>
  %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  func.return
}

// -----

// GatherElementsOp C4
// CHECK: error: 'gawee.gather_elements' op expected constant index -4 to be one of axis 1 of size 3
func.func @gather_elements_c4_a_constant_index_is_out_of_range(%x: tensor<5x3xf32>) {
  %i = gawee.constant dense<[[2, -4]]> : tensor<1x2xi32>
  %y = gawee.gather_elements %x, %i axis 1 : (tensor<5x3xf32>, tensor<1x2xi32>) -> tensor<1x2xf32>
  func.return
}

// -----

// GatherNdOp C5: each column has a range of its own.
// CHECK: error: 'gawee.gather_nd' op expected constant index 3 to be one of axis 1 of size 3
func.func @gather_nd_c5_a_constant_index_is_out_of_range(%x: tensor<5x3xf32>) {
  %i = gawee.constant dense<[[4, 2], [3, 3]]> : tensor<2x2xi64>
  %y = gawee.gather_nd %x, %i batch_dims 0 : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  func.return
}
