// RUN: gawee-opt %s --split-input-file --fold-batch-norm | filecheck %s

// CHECK-LABEL: func.func @scale_and_shift_become_part_of_weight_and_bias
// CHECK-SAME:  %[[X:.*]]: tensor<2x4x9x7xf32>, %[[W:.*]]: tensor<6x2x3x1xf32> {{.*}}, %[[B:.*]]: tensor<6xf32> {{.*}}, %[[MEAN:.*]]: tensor<6xf32> {{.*}}, %[[VAR:.*]]: tensor<6xf32> {{.*}}, %[[SCALE:.*]]: tensor<6xf32> {{.*}}, %[[BETA:.*]]: tensor<6xf32>
// CHECK:       %[[W2:.*]], %[[B2:.*]] = gawee.fold_batch_norm %[[W]] bias %[[B]] mean %[[MEAN]] variance %[[VAR]] scale %[[SCALE]] shift %[[BETA]] eps 1.000000e-05
// CHECK-NEXT:  %[[Z:.*]] = gawee.conv %[[X]], %[[W2]] bias %[[B2]] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2
// CHECK-NEXT:  func.return %[[Z]]
func.func @scale_and_shift_become_part_of_weight_and_bias(%x: tensor<2x4x9x7xf32>, %w: tensor<6x2x3x1xf32> {gawee.parameter = "w"}, %b: tensor<6xf32> {gawee.parameter = "b"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}, %g: tensor<6xf32> {gawee.parameter = "g"}, %t: tensor<6xf32> {gawee.parameter = "t"}) -> tensor<2x6x5x7xf32> {
  %y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
  %z = gawee.batch_norm %y mean %m variance %v scale %g bias %t eps 1.000000e-05 : tensor<2x6x5x7xf32>, tensor<6xf32>
  func.return %z : tensor<2x6x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @absent_scale_and_biases_stay_absent
// CHECK:       %[[W2:.*]], %[[B2:.*]] = gawee.fold_batch_norm %w mean %m variance %v eps 1.000000e-03
// CHECK-NEXT:  gawee.conv %x, %[[W2]] bias %[[B2]]
// CHECK-NOT:   gawee.batch_norm
func.func @absent_scale_and_biases_stay_absent(%x: tensor<2x4x9x7xf64>, %w: tensor<6x4x3x2xf64> {gawee.parameter = "w"}, %m: tensor<6xf64> {gawee.parameter = "m"}, %v: tensor<6xf64> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf64> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf64>, tensor<6x4x3x2xf64>) -> tensor<2x6x7x6xf64>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf64>, tensor<6xf64>
  func.return %z : tensor<2x6x7x6xf64>
}

// -----

// CHECK-LABEL: func.func @shared_weight_stays_for_its_other_reader
// CHECK:       gawee.fold_batch_norm %w
// CHECK:       gawee.conv %x, %{{[a-z0-9_]+}} bias
// CHECK:       gawee.conv %x, %w strides
func.func @shared_weight_stays_for_its_other_reader(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32> {gawee.parameter = "w"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> (tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  %o = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  func.return %z, %o : tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @convolution_with_two_readers_is_left
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.batch_norm
// CHECK-NEXT:  gawee.add
func.func @convolution_with_two_readers_is_left(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32> {gawee.parameter = "w"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  %r = gawee.add %y, %z : (tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>) -> tensor<2x6x7x6xf32>
  func.return %r : tensor<2x6x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @convolution_that_is_an_output_is_left
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.batch_norm
func.func @convolution_that_is_an_output_is_left(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32> {gawee.parameter = "w"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> (tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  func.return %y, %z : tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>
}

// -----

// The folded arithmetic would be work at every run.
// CHECK-LABEL: func.func @weight_that_is_an_input_is_left
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.batch_norm
func.func @weight_that_is_an_input_is_left(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32>, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  func.return %z : tensor<2x6x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @eps_that_vanishes_in_f32_is_left
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.batch_norm
func.func @eps_that_vanishes_in_f32_is_left(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32> {gawee.parameter = "w"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-60 : tensor<2x6x7x6xf32>, tensor<6xf32>
  func.return %z : tensor<2x6x7x6xf32>
}

// -----

// An epsilon that f16 has not is one of f32, which what is folded is computed in.
// CHECK-LABEL: func.func @parameters_of_f16_are_folded
// CHECK-SAME:  %[[X:.*]]: tensor<2x4x9x7xf16>, %[[W:.*]]: tensor<6x4x3x2xf16> {{.*}}, %[[MEAN:.*]]: tensor<6xf16> {{.*}}, %[[VAR:.*]]: tensor<6xf16>
// CHECK-NEXT:  %[[W2:.*]], %[[B2:.*]] = gawee.fold_batch_norm %[[W]] mean %[[MEAN]] variance %[[VAR]] eps 1.000000e-12
// CHECK-NEXT:  gawee.conv %[[X]], %[[W2]] bias %[[B2]]
// CHECK-NOT:   gawee.batch_norm
func.func @parameters_of_f16_are_folded(%x: tensor<2x4x9x7xf16>, %w: tensor<6x4x3x2xf16> {gawee.parameter = "w"}, %m: tensor<6xf16> {gawee.parameter = "m"}, %v: tensor<6xf16> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf16> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf16>, tensor<6x4x3x2xf16>) -> tensor<2x6x7x6xf16>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-12 : tensor<2x6x7x6xf16>, tensor<6xf16>
  func.return %z : tensor<2x6x7x6xf16>
}

// -----

// CHECK-LABEL: func.func @norms_in_a_row_fold_one_by_one
// CHECK-NOT:   gawee.batch_norm
// CHECK:       gawee.conv
// CHECK-NEXT:  func.return
func.func @norms_in_a_row_fold_one_by_one(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x2xf32> {gawee.parameter = "w"}, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}) -> tensor<2x6x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x6xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  %q = gawee.batch_norm %z mean %v variance %v bias %m eps 1.000000e-03 : tensor<2x6x7x6xf32>, tensor<6xf32>
  func.return %q : tensor<2x6x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_of_rank_two_folds
// CHECK:       %[[W2:.*]], %[[B2:.*]] = gawee.fold_batch_norm %w
// CHECK-NEXT:  gawee.matmul %x, %[[W2]] bias %[[B2]]
// CHECK-NEXT:  func.return
func.func @matmul_of_rank_two_folds(%x: tensor<3x7xf32>, %w: tensor<5x7xf32> {gawee.parameter = "w"}, %m: tensor<5xf32> {gawee.parameter = "m"}, %v: tensor<5xf32> {gawee.parameter = "v"}) -> tensor<3x5xf32> {
  %y = gawee.matmul %x, %w : (tensor<3x7xf32>, tensor<5x7xf32>) -> tensor<3x5xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<3x5xf32>, tensor<5xf32>
  func.return %z : tensor<3x5xf32>
}

// -----

// The channels of the norm are axis 1, the features of the layer axis 2.
// CHECK-LABEL: func.func @matmul_of_rank_three_is_left
// CHECK-NEXT:  gawee.matmul
// CHECK-NEXT:  gawee.batch_norm
func.func @matmul_of_rank_three_is_left(%x: tensor<3x5x7xf32>, %w: tensor<5x7xf32> {gawee.parameter = "w"}, %m: tensor<5xf32> {gawee.parameter = "m"}, %v: tensor<5xf32> {gawee.parameter = "v"}) -> tensor<3x5x5xf32> {
  %y = gawee.matmul %x, %w : (tensor<3x5x7xf32>, tensor<5x7xf32>) -> tensor<3x5x5xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<3x5x5xf32>, tensor<5xf32>
  func.return %z : tensor<3x5x5xf32>
}

// -----

// CHECK-LABEL: func.func @scale_and_shift_behind_a_norm_become_its_own
// CHECK:       %[[C:.*]] = gawee.reshape %c shape [6]
// CHECK-NEXT:  %[[SCALE:.*]] = gawee.mul %g, %[[C]]
// CHECK-NEXT:  %[[BIAS:.*]] = gawee.mul %t, %[[C]]
// CHECK-NEXT:  %[[D:.*]] = gawee.reshape %d shape [6]
// CHECK-NEXT:  %[[SHIFT:.*]] = gawee.add %[[BIAS]], %[[D]]
// CHECK-NEXT:  %[[Z:.*]] = gawee.batch_norm %x mean %m variance %v scale %[[SCALE]] bias %[[SHIFT]] eps 1.000000e-03
// CHECK-NEXT:  func.return %[[Z]]
func.func @scale_and_shift_behind_a_norm_become_its_own(%x: tensor<2x6x7x5xf32>, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}, %g: tensor<6xf32> {gawee.parameter = "g"}, %t: tensor<6xf32> {gawee.parameter = "t"}, %c: tensor<6x1x1xf32> {gawee.parameter = "c"}, %d: tensor<1x6x1x1xf32> {gawee.parameter = "d"}) -> tensor<2x6x7x5xf32> {
  %y = gawee.batch_norm %x mean %m variance %v scale %g bias %t eps 1.000000e-03 : tensor<2x6x7x5xf32>, tensor<6xf32>
  %s = gawee.mul %y, %c : (tensor<2x6x7x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x7x5xf32>
  %z = gawee.add %d, %s : (tensor<1x6x1x1xf32>, tensor<2x6x7x5xf32>) -> tensor<2x6x7x5xf32>
  func.return %z : tensor<2x6x7x5xf32>
}

// -----

// CHECK-LABEL: func.func @what_does_not_scale_channels_alone_stays_behind_a_norm
// CHECK-NEXT:  gawee.batch_norm
// CHECK-NEXT:  gawee.mul
// CHECK-NEXT:  gawee.batch_norm
// CHECK-NEXT:  gawee.mul
// CHECK-NEXT:  gawee.batch_norm
// CHECK-NEXT:  gawee.add
// CHECK-NEXT:  func.return
func.func @what_does_not_scale_channels_alone_stays_behind_a_norm(%x: tensor<2x6x7x5xf32>, %m: tensor<6xf32> {gawee.parameter = "m"}, %v: tensor<6xf32> {gawee.parameter = "v"}, %row: tensor<5xf32> {gawee.parameter = "row"}, %run: tensor<6x1x1xf32>) -> tensor<2x6x7x5xf32> {
  %a = gawee.batch_norm %x mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x5xf32>, tensor<6xf32>
  %b = gawee.mul %a, %row : (tensor<2x6x7x5xf32>, tensor<5xf32>) -> tensor<2x6x7x5xf32>
  %c = gawee.batch_norm %b mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x5xf32>, tensor<6xf32>
  %d = gawee.mul %c, %run : (tensor<2x6x7x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x7x5xf32>
  %e = gawee.batch_norm %d mean %m variance %v eps 1.000000e-03 : tensor<2x6x7x5xf32>, tensor<6xf32>
  %f = gawee.add %e, %d : (tensor<2x6x7x5xf32>, tensor<2x6x7x5xf32>) -> tensor<2x6x7x5xf32>
  func.return %f : tensor<2x6x7x5xf32>
}

// -----

// CHECK-LABEL: func.func @scale_behind_a_convolution_becomes_its_weight_and_bias
// CHECK-NEXT:  %[[C4:.*]] = gawee.reshape %c shape [6, 1, 1, 1]
// CHECK-NEXT:  %[[W:.*]] = gawee.mul %w, %[[C4]]
// CHECK-NEXT:  %[[C1:.*]] = gawee.reshape %c shape [6]
// CHECK-NEXT:  %[[B:.*]] = gawee.mul %b, %[[C1]]
// CHECK-NEXT:  gawee.conv %x, %[[W]] bias %[[B]] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2
// CHECK-NEXT:  func.return
func.func @scale_behind_a_convolution_becomes_its_weight_and_bias(%x: tensor<2x4x9x7xf32>, %w: tensor<6x2x3x1xf32> {gawee.parameter = "w"}, %b: tensor<6xf32> {gawee.parameter = "b"}, %c: tensor<6x1x1xf32> {gawee.parameter = "c"}) -> tensor<2x6x5x7xf32> {
  %y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
  %z = gawee.mul %c, %y : (tensor<6x1x1xf32>, tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  func.return %z : tensor<2x6x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @scales_of_other_axes_and_of_inputs_stay_behind_a_convolution
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.mul %{{.*}}, %rows
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.mul %{{.*}}, %run
// CHECK-NEXT:  func.return
func.func @scales_of_other_axes_and_of_inputs_stay_behind_a_convolution(%x: tensor<2x4x3x4xf32>, %w: tensor<4x4x1x1xf32> {gawee.parameter = "w"}, %rows: tensor<3x1xf32> {gawee.parameter = "rows"}, %run: tensor<4x1x1xf32>) -> tensor<2x4x3x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x3x4xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x3x4xf32>
  %z = gawee.mul %y, %rows : (tensor<2x4x3x4xf32>, tensor<3x1xf32>) -> tensor<2x4x3x4xf32>
  %q = gawee.conv %z, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x3x4xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x3x4xf32>
  %r = gawee.mul %q, %run : (tensor<2x4x3x4xf32>, tensor<4x1x1xf32>) -> tensor<2x4x3x4xf32>
  func.return %r : tensor<2x4x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @scale_and_shift_behind_a_group_norm_become_its_own
// CHECK-NEXT:  %[[C:.*]] = gawee.reshape %c shape [6]
// CHECK-NEXT:  %[[D:.*]] = gawee.reshape %d shape [6]
// CHECK-NEXT:  gawee.group_norm %x scale %[[C]] : tensor<6xf32> bias %[[D]] : tensor<6xf32> groups 3 eps 1.000000e-03
// CHECK-NEXT:  func.return
func.func @scale_and_shift_behind_a_group_norm_become_its_own(%x: tensor<2x6x5x7xf32>, %c: tensor<6x1x1xf32> {gawee.parameter = "c"}, %d: tensor<1x6x1x1xf32> {gawee.parameter = "d"}) -> tensor<2x6x5x7xf32> {
  %y = gawee.group_norm %x groups 3 eps 1.000000e-03 : tensor<2x6x5x7xf32>
  %z = gawee.mul %y, %c : (tensor<2x6x5x7xf32>, tensor<6x1x1xf32>) -> tensor<2x6x5x7xf32>
  %r = gawee.add %d, %z : (tensor<1x6x1x1xf32>, tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  func.return %r : tensor<2x6x5x7xf32>
}

// -----

// As some exporters write a linear layer in front of a normalization of rows.
// CHECK-LABEL: func.func @product_of_rows_that_are_joined_folds
// CHECK:       %[[ROWS:.*]] = gawee.reshape %x shape [10, 3]
// CHECK:       gawee.matmul %[[ROWS]], %{{.*}} bias
// CHECK-NOT:   gawee.batch_norm
// CHECK:       func.return
func.func @product_of_rows_that_are_joined_folds(%x: tensor<2x5x3xf32>, %w: tensor<3x4xf32> {gawee.parameter = "w"}, %m: tensor<4xf32> {gawee.parameter = "m"}, %v: tensor<4xf32> {gawee.parameter = "v"}) -> tensor<10x4xf32> {
  %p = gawee.batch_matmul %x, %w : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  %y = gawee.reshape %p shape [10, 4] : (tensor<2x5x4xf32>) -> tensor<10x4xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.000000e-03 : tensor<10x4xf32>, tensor<4xf32>
  func.return %z : tensor<10x4xf32>
}

// -----

// CHECK-LABEL: func.func @rows_of_other_sizes_and_of_many_matrices_stay
// CHECK:       gawee.batch_matmul
// CHECK-NEXT:  gawee.reshape
// CHECK-NEXT:  gawee.batch_norm
// CHECK-NEXT:  gawee.batch_matmul
// CHECK-NEXT:  gawee.reshape
// CHECK-NEXT:  gawee.batch_norm
func.func @rows_of_other_sizes_and_of_many_matrices_stay(%x: tensor<2x5x3xf32>, %w: tensor<3x4xf32> {gawee.parameter = "w"}, %many: tensor<2x3x4xf32> {gawee.parameter = "many"}, %m: tensor<4xf32> {gawee.parameter = "m"}, %k: tensor<8xf32> {gawee.parameter = "k"}) -> (tensor<5x8xf32>, tensor<10x4xf32>) {
  %p = gawee.batch_matmul %x, %w : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  %y = gawee.reshape %p shape [5, 8] : (tensor<2x5x4xf32>) -> tensor<5x8xf32>
  %z = gawee.batch_norm %y mean %k variance %k eps 1.000000e-03 : tensor<5x8xf32>, tensor<8xf32>
  %q = gawee.batch_matmul %x, %many : (tensor<2x5x3xf32>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  %r = gawee.reshape %q shape [10, 4] : (tensor<2x5x4xf32>) -> tensor<10x4xf32>
  %s = gawee.batch_norm %r mean %m variance %m eps 1.000000e-03 : tensor<10x4xf32>, tensor<4xf32>
  func.return %z, %s : tensor<5x8xf32>, tensor<10x4xf32>
}
