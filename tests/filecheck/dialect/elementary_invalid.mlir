// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ExpOp C1: element type is integer.
// CHECK: error: 'gawee.exp' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @exp_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.exp %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// LogOp C1: element type is integer.
// CHECK: error: 'gawee.log' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @log_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.log %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// Log1pOp C1: element type is integer.
// CHECK: error: 'gawee.log1p' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @log1p_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.log1p %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// TanhOp C1: element type is integer.
// CHECK: error: 'gawee.tanh' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @tanh_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.tanh %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// ErfOp C1: element type is integer.
// CHECK: error: 'gawee.erf' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @erf_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.erf %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// SinOp C1: element type is integer.
// CHECK: error: 'gawee.sin' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @sin_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.sin %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// CosOp C1: element type is integer.
// CHECK: error: 'gawee.cos' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @cos_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.cos %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// RsqrtOp C1: element type is integer.
// CHECK: error: 'gawee.rsqrt' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @rsqrt_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.rsqrt %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}
