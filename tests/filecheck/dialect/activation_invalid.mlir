// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// SigmoidOp C1: element type is integer.
// CHECK: error: 'gawee.sigmoid' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @sigmoid_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.sigmoid %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// SiluOp C1: element type is integer.
// CHECK: error: 'gawee.silu' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @silu_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.silu %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// HardSigmoidOp C1: element type is integer.
// CHECK: error: 'gawee.hard_sigmoid' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @hard_sigmoid_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.hard_sigmoid %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// HardSwishOp C1: element type is integer.
// CHECK: error: 'gawee.hard_swish' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @hard_swish_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.hard_swish %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// SoftplusOp C1: element type is integer.
// CHECK: error: 'gawee.softplus' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @softplus_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.softplus %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// LeakyReluOp C1: element type is integer.
// CHECK: error: 'gawee.leaky_relu' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @leaky_relu_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.leaky_relu %x alpha 1.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// EluOp C1: element type is integer.
// CHECK: error: 'gawee.elu' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @elu_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.elu %x alpha 1.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// GeluOp C1: element type is integer.
// CHECK: error: 'gawee.gelu' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @gelu_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.gelu %x approximate "none" : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// ClipOp C1: element type is boolean.
// CHECK: error: 'gawee.clip' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @clip_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.clip %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// GeluOp C2: approximate is unknown.
// CHECK: error: 'gawee.gelu' op unsupported approximation 'fast'; supported: none, tanh
func.func @gelu_c2_approximate_is_unknown(%x: tensor<2x3xf32>) {
  %y = gawee.gelu %x approximate "fast" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// ClipOp C2: a bound is infinite.
// CHECK: error: 'gawee.clip' op expected a finite bound, got inf
func.func @clip_c2_a_bound_is_infinite(%x: tensor<2x3xf32>) {
  %y = "gawee.clip"(%x) <{max = 0x7FF0000000000000 : f64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// ClipOp C2: a bound of integers is not whole.
// CHECK: error: 'gawee.clip' op expected a whole bound for integers, got 0.5
func.func @clip_c2_a_bound_of_integers_is_not_whole(%x: tensor<2x3xi32>) {
  %y = gawee.clip %x min 5.000000e-01 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}
