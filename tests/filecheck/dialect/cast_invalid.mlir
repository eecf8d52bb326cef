// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CastOp C1: the input has indices.
// CHECK: error: 'gawee.cast' op unsupported element type 'index' of input; supported: f16, f32, f64, integers
func.func @cast_c1_the_input_has_indices(%x: tensor<2xindex>) {
  %y = gawee.cast %x : (tensor<2xindex>) -> tensor<2xf32>
  func.return
}

// -----

// CastOp C1: the result has indices.
// CHECK: error: 'gawee.cast' op unsupported element type 'index' of result; supported: f16, f32, f64, integers
func.func @cast_c1_the_result_has_indices(%x: tensor<2xf32>) {
  %y = gawee.cast %x : (tensor<2xf32>) -> tensor<2xindex>
  func.return
}

// -----

// CHECK: error: 'gawee.cast' op expected result type 'tensor<2x3xi32>', got 'tensor<3x2xi32>'
func.func @cast_shape_differs(%x: tensor<2x3xf32>) {
  %y = gawee.cast %x : (tensor<2x3xf32>) -> tensor<3x2xi32>
  func.return
}
