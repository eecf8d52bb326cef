// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CastOp C1: the input has indices.
// CHECK: error: 'gawee.cast' op unsupported element type 'index' of input; supported: bf16, f16, f32, f64, integers
func.func @cast_c1_the_input_has_indices(%x: tensor<2xindex>) {
  %y = gawee.cast %x : (tensor<2xindex>) -> tensor<2xf32>
  func.return
}

// -----

// CastOp C1: the result has indices.
// CHECK: error: 'gawee.cast' op unsupported element type 'index' of result; supported: bf16, f16, f32, f64, integers
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

// -----

// BitcastOp C1: the input is of booleans, which have bytes.
// CHECK: error: 'gawee.bitcast' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @bitcast_c1_the_input_has_booleans(%x: tensor<2xi1>) {
  %y = gawee.bitcast %x : (tensor<2xi1>) -> tensor<2xi8>
  func.return
}

// -----

// BitcastOp C1: the result is of booleans.
// CHECK: error: 'gawee.bitcast' op unsupported element type 'i1' of result; supported: f16, f32, f64, integers of more than one bit
func.func @bitcast_c1_the_result_has_booleans(%x: tensor<2xi8>) {
  %y = gawee.bitcast %x : (tensor<2xi8>) -> tensor<2xi1>
  func.return
}

// -----

// BitcastOp C2: the result has fewer bits.
// CHECK: error: 'gawee.bitcast' op expected a result element of 32 bits, as 'f32' has, got 16 ('i16')
func.func @bitcast_c2_the_result_has_fewer_bits(%x: tensor<2xf32>) {
  %y = gawee.bitcast %x : (tensor<2xf32>) -> tensor<2xi16>
  func.return
}
