// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// BatchNormOp C1: input has no channels.
// CHECK: error: 'gawee.batch_norm' op expected input of rank 2 or more, got rank 1 ('tensor<3xf32>')
func.func @c1_input_has_no_channels(%x: tensor<3xf32>, %m: tensor<3xf32>) {
  %y = gawee.batch_norm %x mean %m variance %m eps 1.0e-5 : tensor<3xf32>, tensor<3xf32>
  func.return
}

// -----

// BatchNormOp C2: element type is not float.
// CHECK: error: 'gawee.batch_norm' op expected input of element type f16, f32 or f64, got 'i32'
func.func @c2_element_type_is_not_float(%x: tensor<2x3xi32>, %m: tensor<3xi32>) {
  %y = gawee.batch_norm %x mean %m variance %m eps 1.0e-5 : tensor<2x3xi32>, tensor<3xi32>
  func.return
}

// -----

// BatchNormOp C2: mean element type differs.
// CHECK: error: 'gawee.batch_norm' op expected mean element type 'f16' to match input element type 'f32'
func.func @c2_mean_element_type_differs(%x: tensor<2x3xf32>, %m: tensor<3xf16>) {
  %y = gawee.batch_norm %x mean %m variance %m eps 1.0e-5 : tensor<2x3xf32>, tensor<3xf16>
  func.return
}

// -----

// BatchNormOp C3: mean is too long.
// CHECK: error: 'gawee.batch_norm' op expected mean of shape 3, got 5
func.func @c3_mean_is_too_long(%x: tensor<2x3x5xf32>, %m: tensor<5xf32>) {
  %y = gawee.batch_norm %x mean %m variance %m eps 1.0e-5 : tensor<2x3x5xf32>, tensor<5xf32>
  func.return
}

// -----

// BatchNormOp C3: scale is too long.
// CHECK: error: 'gawee.batch_norm' op operand 'scale' at position 3 does not verify: attribute tensor<3xf32> expected from variable 'PER_CHANNEL', but got tensor<5xf32>
func.func @c3_scale_is_too_long(%x: tensor<2x3x5xf32>, %m: tensor<3xf32>, %s: tensor<5xf32>) {
  %y = "gawee.batch_norm"(%x, %m, %m, %s) <{eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<2x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// BatchNormOp C4: eps is negative.
// CHECK: error: 'gawee.batch_norm' op expected eps of at least 0, got -1e-05
func.func @c4_eps_is_negative(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  %y = gawee.batch_norm %x mean %m variance %m eps -1.0e-5 : tensor<2x3xf32>, tensor<3xf32>
  func.return
}

// -----

// BatchNormOp C4: eps is nan.
// CHECK: error: 'gawee.batch_norm' op expected eps of at least 0, got nan
func.func @c4_eps_is_nan(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  %y = "gawee.batch_norm"(%x, %m, %m) <{eps = 0x7FF8000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.batch_norm' op result 'result' at position 0 does not verify: attribute tensor<2x3xf32> expected from variable 'T', but got tensor<2x4xf32>
func.func @result_type_differs(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  %y = "gawee.batch_norm"(%x, %m, %m) <{eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  func.return
}
