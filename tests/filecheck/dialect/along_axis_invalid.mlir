// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CumSumOp C1: element type is boolean.
// CHECK: error: 'gawee.cumsum' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @cumsum_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.cumsum %x axis 1 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// CumSumOp C2: there is no such axis.
// CHECK: error: 'gawee.cumsum' op expected axis from -2 to 1, got 2
func.func @cumsum_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.cumsum %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// SoftmaxOp C1: element type is integer.
// CHECK: error: 'gawee.softmax' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @softmax_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.softmax %x axis 1 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// SoftmaxOp C2: there is no such axis.
// CHECK: error: 'gawee.softmax' op expected axis from -2 to 1, got 2
func.func @softmax_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.softmax %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// LogSoftmaxOp C1: element type is integer.
// CHECK: error: 'gawee.log_softmax' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @log_softmax_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.log_softmax %x axis 1 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// LogSoftmaxOp C2: there is no such axis.
// CHECK: error: 'gawee.log_softmax' op expected axis from -2 to 1, got 2
func.func @log_softmax_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.log_softmax %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
