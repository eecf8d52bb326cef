// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ScatterElementsOp C1: indices are i8.
// CHECK: error: 'gawee.scatter_elements' op unsupported element type 'i8' of indices; supported: i32, i64
func.func @scatter_elements_c1_indices_are_i8(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi8>, %u: tensor<2x4x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<2x5x3xf32>, tensor<2x4x3xi8>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C2: there is no such axis.
// CHECK: error: 'gawee.scatter_elements' op expected axis from -3 to 2, got 3
func.func @scatter_elements_c2_axis_is_none(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>, %u: tensor<2x4x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 3 reduction "none" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C3: a size is larger.
// CHECK: error: 'gawee.scatter_elements' op expected indices (3x4x3) of the input's rank and, off axis 1, not larger than the input (2x5x3)
func.func @scatter_elements_c3_size_is_larger(%x: tensor<2x5x3xf32>, %i: tensor<3x4x3xi64>, %u: tensor<3x4x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<2x5x3xf32>, tensor<3x4x3xi64>, tensor<3x4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C4: updates have another shape.
// CHECK: error: 'gawee.scatter_elements' op expected updates of shape 2x4x3, got 2x3x3
func.func @scatter_elements_c4_shapes_differ(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>, %u: tensor<2x3x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C4: updates have another element type.
// CHECK: error: 'gawee.scatter_elements' op expected updates element type 'f64' to match input element type 'f32'
func.func @scatter_elements_c4_element_types_differ(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>, %u: tensor<2x4x3xf64>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf64>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C5: the reduction is unknown.
// CHECK: error: 'gawee.scatter_elements' op unsupported reduction 'sub'; supported: none, add, mul, max, min
func.func @scatter_elements_c5_reduction_is_unknown(%x: tensor<2x5x3xf32>, %i: tensor<2x4x3xi64>, %u: tensor<2x4x3xf32>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "sub" : (tensor<2x5x3xf32>, tensor<2x4x3xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterElementsOp C6: booleans have no sum.
// CHECK: error: 'gawee.scatter_elements' op unsupported element type 'i1' of input; supported: f16, f32, f64, signless integers of more than one bit
func.func @scatter_elements_c6_booleans_have_no_sum(%x: tensor<2x5x3xi1>, %i: tensor<2x4x3xi64>, %u: tensor<2x4x3xi1>) {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "add" : (tensor<2x5x3xi1>, tensor<2x4x3xi64>, tensor<2x4x3xi1>) -> tensor<2x5x3xi1>
  func.return
}

// -----

// ScatterNdOp C1: indices are floats.
// CHECK: error: 'gawee.scatter_nd' op unsupported element type 'f32' of indices; supported: i32, i64
func.func @scatter_nd_c1_indices_are_floats(%x: tensor<2x5x3xf32>, %i: tensor<4x2xf32>, %u: tensor<4x3xf32>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<2x5x3xf32>, tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterNdOp C2: too many axes are named.
// CHECK: error: 'gawee.scatter_nd' op expected indices (4x4) to name 1 to 3 axes of the input with their last axis
func.func @scatter_nd_c2_too_many_axes(%x: tensor<2x5x3xf32>, %i: tensor<4x4xi64>, %u: tensor<4xf32>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<2x5x3xf32>, tensor<4x4xi64>, tensor<4xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterNdOp C3: slices have another shape.
// CHECK: error: 'gawee.scatter_nd' op expected updates of shape 4x3, got 4x5
func.func @scatter_nd_c3_slices_differ(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x5xf32>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<2x5x3xf32>, tensor<4x2xi64>, tensor<4x5xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterNdOp C3: updates have another element type.
// CHECK: error: 'gawee.scatter_nd' op expected updates element type 'i32' to match input element type 'f32'
func.func @scatter_nd_c3_element_types_differ(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x3xi32>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<2x5x3xf32>, tensor<4x2xi64>, tensor<4x3xi32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterNdOp C4: the reduction is unknown.
// CHECK: error: 'gawee.scatter_nd' op unsupported reduction 'mean'; supported: none, add, mul, max, min
func.func @scatter_nd_c4_reduction_is_unknown(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x3xf32>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "mean" : (tensor<2x5x3xf32>, tensor<4x2xi64>, tensor<4x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// -----

// ScatterNdOp C5: unsigned integers have no sum.
// CHECK: error: 'gawee.scatter_nd' op unsupported element type 'ui8' of input; supported: f16, f32, f64, signless integers of more than one bit
func.func @scatter_nd_c5_unsigned_integers_have_no_sum(%x: tensor<2x5x3xui8>, %i: tensor<4x2xi64>, %u: tensor<4x3xui8>) {
  %y = gawee.scatter_nd %x, %i, %u reduction "add" : (tensor<2x5x3xui8>, tensor<4x2xi64>, tensor<4x3xui8>) -> tensor<2x5x3xui8>
  func.return
}

// -----

// ScatterElementsOp C7
// CHECK: error: 'gawee.scatter_elements' op expected constant index 5 to be one of axis 0 of size 5
func.func @scatter_elements_c7_a_constant_index_is_out_of_range(%x: tensor<5x3xf32>, %u: tensor<1x2xf32>) {
  %i = gawee.constant dense<[[1, 5]]> : tensor<1x2xi64>
  %y = gawee.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<5x3xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<5x3xf32>
  func.return
}

// -----

// ScatterNdOp C6
// CHECK: error: 'gawee.scatter_nd' op expected constant index -6 to be one of axis 0 of size 5
func.func @scatter_nd_c6_a_constant_index_is_out_of_range(%x: tensor<5x3xf32>, %u: tensor<2x3xf32>) {
  %i = gawee.constant dense<[[1], [-6]]> : tensor<2x1xi64>
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return
}
