// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// NegOp C1: element type is boolean.
// CHECK: error: 'gawee.neg' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @neg_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.neg %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// AbsOp C1: element type is boolean.
// CHECK: error: 'gawee.abs' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @abs_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.abs %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// ReciprocalOp C1: element type is integer.
// CHECK: error: 'gawee.reciprocal' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @reciprocal_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.reciprocal %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// FloorOp C1: element type is integer.
// CHECK: error: 'gawee.floor' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @floor_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.floor %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// CeilOp C1: element type is integer.
// CHECK: error: 'gawee.ceil' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @ceil_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.ceil %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// RoundOp C1: element type is integer.
// CHECK: error: 'gawee.round' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @round_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.round %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// SignOp C1: element type is boolean.
// CHECK: error: 'gawee.sign' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @sign_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.sign %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// PowOp C1: element type is boolean.
// CHECK: error: 'gawee.pow' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @pow_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.pow %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// PowOp C2: element types differ.
// CHECK: error: 'gawee.pow' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @pow_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.pow %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// PowOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.pow' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @pow_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.pow %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// MaximumOp C1: element type is boolean.
// CHECK: error: 'gawee.maximum' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @maximum_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.maximum %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// MaximumOp C2: element types differ.
// CHECK: error: 'gawee.maximum' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @maximum_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.maximum %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// MaximumOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.maximum' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @maximum_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.maximum %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// MinimumOp C1: element type is boolean.
// CHECK: error: 'gawee.minimum' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @minimum_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.minimum %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// MinimumOp C2: element types differ.
// CHECK: error: 'gawee.minimum' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @minimum_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.minimum %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// MinimumOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.minimum' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @minimum_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.minimum %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// RemainderOp C1: element type is boolean.
// CHECK: error: 'gawee.remainder' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @remainder_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.remainder %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// RemainderOp C2: element types differ.
// CHECK: error: 'gawee.remainder' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @remainder_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.remainder %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// RemainderOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.remainder' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @remainder_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.remainder %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// FmodOp C1: element type is boolean.
// CHECK: error: 'gawee.fmod' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @fmod_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.fmod %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// FmodOp C2: element types differ.
// CHECK: error: 'gawee.fmod' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @fmod_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.fmod %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// FmodOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.fmod' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @fmod_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.fmod %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// FloorDivOp C1: element type is boolean.
// CHECK: error: 'gawee.floor_div' op unsupported element type 'i1' of lhs; supported: f16, f32, f64, integers of more than one bit
func.func @floor_div_c1_element_type_is_boolean(%x: tensor<2xi1>) {
  %y = gawee.floor_div %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// FloorDivOp C2: element types differ.
// CHECK: error: 'gawee.floor_div' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @floor_div_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.floor_div %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// FloorDivOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.floor_div' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @floor_div_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.floor_div %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// Atan2Op C1: element type is integer.
// CHECK: error: 'gawee.atan2' op unsupported element type 'i32' of lhs; supported: f16, f32, f64
func.func @atan2_c1_element_type_is_integer(%x: tensor<2xi32>) {
  %y = gawee.atan2 %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// Atan2Op C2: element types differ.
// CHECK: error: 'gawee.atan2' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @atan2_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.atan2 %x, %z : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// Atan2Op C3: shapes do not broadcast.
// CHECK: error: 'gawee.atan2' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @atan2_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.atan2 %x, %z : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  func.return
}
