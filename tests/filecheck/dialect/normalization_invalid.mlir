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

// -----

// LayerNormOp C1: there are no such axes.
// CHECK: error: 'gawee.layer_norm' op expected normalized_rank from 1 to the rank of the input (3), got 4
func.func @layer_norm_c1_there_are_no_such_axes(%x: tensor<2x3x5xf32>) {
  %y = gawee.layer_norm %x normalized_rank 4 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// LayerNormOp C2: element type is integer.
// CHECK: error: 'gawee.layer_norm' op expected input of element type f16, f32 or f64, got 'i32'
func.func @layer_norm_c2_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.layer_norm %x normalized_rank 1 eps 1.0e-05 : tensor<2x3xi32>
  func.return
}

// -----

// LayerNormOp C2: element types differ.
// CHECK: error: 'gawee.layer_norm' op expected scale element type 'f64' to match input element type 'f32'
func.func @layer_norm_c2_element_types_differ(%x: tensor<2x3x5xf32>, %g: tensor<5xf64>) {
  %y = gawee.layer_norm %x scale %g : tensor<5xf64> normalized_rank 1 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// LayerNormOp C3: scale has another shape.
// CHECK: error: 'gawee.layer_norm' op expected scale of shape 3x5, got 5
func.func @layer_norm_c3_scale_has_another_shape(%x: tensor<2x3x5xf32>, %g: tensor<5xf32>) {
  %y = gawee.layer_norm %x scale %g : tensor<5xf32> normalized_rank 2 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// LayerNormOp C4: eps is negative.
// CHECK: error: 'gawee.layer_norm' op expected eps of at least 0, got -1.0
func.func @layer_norm_c4_eps_is_negative(%x: tensor<2x3x5xf32>) {
  %y = gawee.layer_norm %x normalized_rank 1 eps -1.0 : tensor<2x3x5xf32>
  func.return
}

// -----

// RmsNormOp C1: there are no such axes.
// CHECK: error: 'gawee.rms_norm' op expected normalized_rank from 1 to the rank of the input (3), got 4
func.func @rms_norm_c1_there_are_no_such_axes(%x: tensor<2x3x5xf32>) {
  %y = gawee.rms_norm %x normalized_rank 4 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// RmsNormOp C2: element type is integer.
// CHECK: error: 'gawee.rms_norm' op expected input of element type f16, f32 or f64, got 'i32'
func.func @rms_norm_c2_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.rms_norm %x normalized_rank 1 eps 1.0e-05 : tensor<2x3xi32>
  func.return
}

// -----

// RmsNormOp C2: element types differ.
// CHECK: error: 'gawee.rms_norm' op expected scale element type 'f64' to match input element type 'f32'
func.func @rms_norm_c2_element_types_differ(%x: tensor<2x3x5xf32>, %g: tensor<5xf64>) {
  %y = gawee.rms_norm %x scale %g : tensor<5xf64> normalized_rank 1 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// RmsNormOp C3: scale has another shape.
// CHECK: error: 'gawee.rms_norm' op expected scale of shape 3x5, got 5
func.func @rms_norm_c3_scale_has_another_shape(%x: tensor<2x3x5xf32>, %g: tensor<5xf32>) {
  %y = gawee.rms_norm %x scale %g : tensor<5xf32> normalized_rank 2 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// RmsNormOp C4: eps is negative.
// CHECK: error: 'gawee.rms_norm' op expected eps of at least 0, got -1.0
func.func @rms_norm_c4_eps_is_negative(%x: tensor<2x3x5xf32>) {
  %y = gawee.rms_norm %x normalized_rank 1 eps -1.0 : tensor<2x3x5xf32>
  func.return
}

// -----

// LayerNormOp C3: bias has another shape.
// CHECK: error: 'gawee.layer_norm' op expected bias of shape 5, got 3
func.func @layer_norm_c3_bias_has_another_shape(%x: tensor<2x3x5xf32>, %b: tensor<3xf32>) {
  %y = gawee.layer_norm %x bias %b : tensor<3xf32> normalized_rank 1 eps 1.0e-05 : tensor<2x3x5xf32>
  func.return
}

// -----

// GroupNormOp C1: input has rank 1.
// CHECK: error: 'gawee.group_norm' op expected input of rank 2 or more, got rank 1 ('tensor<6xf32>')
func.func @group_norm_c1_input_has_rank_1(%x: tensor<6xf32>) {
  %y = gawee.group_norm %x groups 2 eps 1.0e-05 : tensor<6xf32>
  func.return
}

// -----

// GroupNormOp C2: element type is integer.
// CHECK: error: 'gawee.group_norm' op expected input of element type f16, f32 or f64, got 'i32'
func.func @group_norm_c2_element_type_is_integer(%x: tensor<2x6xi32>) {
  %y = gawee.group_norm %x groups 2 eps 1.0e-05 : tensor<2x6xi32>
  func.return
}

// -----

// GroupNormOp C3: groups is zero.
// CHECK: error: 'gawee.group_norm' op expected groups of at least 1, got 0
func.func @group_norm_c3_groups_is_zero(%x: tensor<2x6x5xf32>) {
  %y = gawee.group_norm %x groups 0 eps 1.0e-05 : tensor<2x6x5xf32>
  func.return
}

// -----

// GroupNormOp C3: groups do not divide the channels.
// CHECK: error: 'gawee.group_norm' op expected groups (4) to divide channels (6)
func.func @group_norm_c3_groups_do_not_divide_the_channels(%x: tensor<2x6x5xf32>) {
  %y = gawee.group_norm %x groups 4 eps 1.0e-05 : tensor<2x6x5xf32>
  func.return
}

// -----

// GroupNormOp C4: scale has one entry a group.
// CHECK: error: 'gawee.group_norm' op expected scale of shape 6, got 2
func.func @group_norm_c4_scale_has_one_entry_a_group(%x: tensor<2x6x5xf32>, %g: tensor<2xf32>) {
  %y = gawee.group_norm %x scale %g : tensor<2xf32> groups 2 eps 1.0e-05 : tensor<2x6x5xf32>
  func.return
}

// -----

// GroupNormOp C5: eps is negative.
// CHECK: error: 'gawee.group_norm' op expected eps of at least 0, got -1.0
func.func @group_norm_c5_eps_is_negative(%x: tensor<2x6x5xf32>) {
  %y = gawee.group_norm %x groups 2 eps -1.0 : tensor<2x6x5xf32>
  func.return
}

// -----

// FoldBatchNormOp C1: weight is a scalar.
// CHECK: error: 'gawee.fold_batch_norm' op expected weight of rank 1 or more, got rank 0 ('tensor<f32>')
func.func @c1_weight_is_a_scalar(%w: tensor<f32>, %m: tensor<3xf32>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %m eps 1.0e-5 : tensor<f32>, tensor<3xf32>
  func.return
}

// -----

// FoldBatchNormOp C2: mean element type differs.
// CHECK: error: 'gawee.fold_batch_norm' op expected mean element type 'f16' to match weight element type 'f32'
func.func @c2_mean_element_type_differs_of_a_fold(%w: tensor<3x2xf32>, %m: tensor<3xf16>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %m eps 1.0e-5 : tensor<3x2xf32>, tensor<3xf16>
  func.return
}

// -----

// FoldBatchNormOp C3: mean has an entry per input channel.
// CHECK: error: 'gawee.fold_batch_norm' op expected mean of shape 3, got 2
func.func @c3_mean_has_an_entry_per_input_channel(%w: tensor<3x2xf32>, %m: tensor<2xf32>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %m eps 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  func.return
}

// -----

// FoldBatchNormOp C4: eps is negative.
// CHECK: error: 'gawee.fold_batch_norm' op expected eps of at least 0, got -1e-05
func.func @c4_eps_of_a_fold_is_negative(%w: tensor<3x2xf32>, %m: tensor<3xf32>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %m eps -1.0e-5 : tensor<3x2xf32>, tensor<3xf32>
  func.return
}
