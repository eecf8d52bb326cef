// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CompareOp C1: element type is index.
// CHECK: error: 'gawee.compare' op unsupported element type 'index' of lhs; supported: f16, f32, f64, integers
func.func @compare_c1_element_type_is_index(%x: tensor<2xindex>) {
  %y = gawee.compare %x, %x predicate "eq" : (tensor<2xindex>, tensor<2xindex>) -> tensor<2xi1>
  func.return
}

// -----

// CompareOp C2: element types differ.
// CHECK: error: 'gawee.compare' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @compare_c2_element_types_differ(%x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.compare %x, %z predicate "eq" : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  func.return
}

// -----

// CompareOp C3: shapes do not broadcast.
// CHECK: error: 'gawee.compare' op expected shapes to broadcast, got 2x3x5 and 2x5
func.func @compare_c3_shapes_do_not_broadcast(%x: tensor<2x3x5xf32>, %z: tensor<2x5xf32>) {
  %y = gawee.compare %x, %z predicate "eq" : (tensor<2x3x5xf32>, tensor<2x5xf32>) -> tensor<2x3x5xi1>
  func.return
}

// -----

// IsNanOp C1: element type is integer.
// CHECK: error: 'gawee.isnan' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @isnan_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.isnan %x : (tensor<2x3xi32>) -> tensor<2x3xi1>
  func.return
}

// -----

// CompareOp C4: predicate is unknown.
// CHECK: error: 'gawee.compare' op unsupported predicate 'slt'; supported: eq, ne, lt, le, gt, ge
func.func @compare_c4_predicate_is_unknown(%x: tensor<2xf32>) {
  %y = gawee.compare %x, %x predicate "slt" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return
}

// -----

// WhereOp C1: the condition is no truth value.
// CHECK: error: 'gawee.where' op unsupported element type 'i8' of condition; supported: i1
func.func @where_c1_the_condition_is_no_truth_value(%c: tensor<2xi8>, %x: tensor<2xf32>) {
  %y = gawee.where %c, %x, %x : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// WhereOp C2: element types differ.
// CHECK: error: 'gawee.where' op expected rhs element type 'f64' to match lhs element type 'f32'
func.func @where_c2_element_types_differ(%c: tensor<2xi1>, %x: tensor<2xf32>, %z: tensor<2xf64>) {
  %y = gawee.where %c, %x, %z : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// WhereOp C2: the element type is neither float nor integer.
// CHECK: error: 'gawee.where' op unsupported element type 'index' of lhs; supported: f16, f32, f64, integers
func.func @where_c2_the_element_type_is_index(%c: tensor<2xi1>, %x: tensor<2xindex>) {
  %y = gawee.where %c, %x, %x : (tensor<2xi1>, tensor<2xindex>, tensor<2xindex>) -> tensor<2xindex>
  func.return
}

// -----

// WhereOp C3: the condition does not broadcast.
// CHECK: error: 'gawee.where' op expected shapes to broadcast, got 3 and 2
func.func @where_c3_the_condition_does_not_broadcast(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  %y = gawee.where %c, %x, %x : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}
