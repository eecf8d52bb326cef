// RUN: gawee-opt %s --split-input-file --fold-conv-add | filecheck %s

// CHECK-LABEL: func.func @channel_constant_is_added_to_the_bias
// CHECK:       %[[C:.*]] = gawee.reshape %c shape [4]
// CHECK-NEXT:  %[[B:.*]] = gawee.add %b, %[[C]]
// CHECK-NEXT:  %[[Z:.*]] = gawee.conv %x, %w bias %[[B]] strides [2, 1]
// CHECK-NEXT:  func.return %[[Z]]
func.func @channel_constant_is_added_to_the_bias(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}, %b: tensor<4xf32> {gawee.parameter = "b"}, %c: tensor<1x4x1x1xf32> {gawee.constant = "c"}) -> tensor<2x4x3x4xf32> {
  %y = gawee.conv %x, %w bias %b strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<2x4x3x4xf32>
  %z = gawee.add %y, %c : (tensor<2x4x3x4xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x3x4xf32>
  func.return %z : tensor<2x4x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @constant_on_the_left_becomes_the_bias
// CHECK:       %[[B:.*]] = gawee.reshape %{{.*}} shape [4]
// CHECK-NEXT:  gawee.conv %x, %w bias %[[B]]
// CHECK-NOT:   gawee.add
func.func @constant_on_the_left_becomes_the_bias(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32> {
  %c = gawee.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %z = gawee.add %c, %y : (tensor<4x1x1xf32>, tensor<2x4x5x4xf32>) -> tensor<2x4x5x4xf32>
  func.return %z : tensor<2x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @scalar_is_added_to_zeros_where_there_is_no_bias
// CHECK:       %[[C:.*]] = gawee.reshape %c shape [1]
// CHECK-NEXT:  %[[ZEROS:.*]] = gawee.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:  %[[B:.*]] = gawee.add %[[ZEROS]], %[[C]]
// CHECK-NEXT:  gawee.conv %x, %w bias %[[B]]
func.func @scalar_is_added_to_zeros_where_there_is_no_bias(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %c: tensor<f32> {gawee.constant = "c"}) -> tensor<2x4x5x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %z = gawee.add %y, %c : (tensor<2x4x5x4xf32>, tensor<f32>) -> tensor<2x4x5x4xf32>
  func.return %z : tensor<2x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @constant_along_the_width_is_left
// CHECK:       gawee.conv
// CHECK-NEXT:  gawee.add
func.func @constant_along_the_width_is_left(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %c: tensor<4xf32> {gawee.constant = "c"}) -> tensor<2x4x5x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %z = gawee.add %y, %c : (tensor<2x4x5x4xf32>, tensor<4xf32>) -> tensor<2x4x5x4xf32>
  func.return %z : tensor<2x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @constant_along_the_height_is_left
// CHECK:       gawee.conv
// CHECK-NEXT:  gawee.add
func.func @constant_along_the_height_is_left(%x: tensor<2x3x4x5xf32>, %w: tensor<4x3x1x1xf32>, %c: tensor<1x4x1xf32> {gawee.constant = "c"}) -> tensor<2x4x4x5xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x4x5xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x5xf32>
  %z = gawee.add %y, %c : (tensor<2x4x4x5xf32>, tensor<1x4x1xf32>) -> tensor<2x4x4x5xf32>
  func.return %z : tensor<2x4x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @constant_that_widens_the_result_is_left
// CHECK:       gawee.conv
// CHECK-NEXT:  gawee.add
func.func @constant_that_widens_the_result_is_left(%x: tensor<2x3x5x4xf32>, %w: tensor<1x3x1x1xf32>, %c: tensor<7x1x1xf32> {gawee.constant = "c"}) -> tensor<2x7x5x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<1x3x1x1xf32>) -> tensor<2x1x5x4xf32>
  %z = gawee.add %y, %c : (tensor<2x1x5x4xf32>, tensor<7x1x1xf32>) -> tensor<2x7x5x4xf32>
  func.return %z : tensor<2x7x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @sum_of_two_convolutions_is_left
// CHECK-COUNT-2: gawee.conv
// CHECK-NEXT:  gawee.add
func.func @sum_of_two_convolutions_is_left(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %v = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %z = gawee.add %y, %v : (tensor<2x4x5x4xf32>, tensor<2x4x5x4xf32>) -> tensor<2x4x5x4xf32>
  func.return %z : tensor<2x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @convolution_with_two_readers_is_left
// CHECK:       gawee.conv
// CHECK-NEXT:  gawee.add
func.func @convolution_with_two_readers_is_left(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %c: tensor<f32> {gawee.constant = "c"}) -> (tensor<2x4x5x4xf32>, tensor<2x4x5x4xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32>
  %z = gawee.add %y, %c : (tensor<2x4x5x4xf32>, tensor<f32>) -> tensor<2x4x5x4xf32>
  func.return %y, %z : tensor<2x4x5x4xf32>, tensor<2x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @channel_constant_of_a_sequence_is_added_to_the_bias
// CHECK:       %[[C:.*]] = gawee.reshape %c shape [4]
// CHECK-NEXT:  gawee.conv %x, %w bias %[[C]]
// CHECK-NOT:   gawee.add
func.func @channel_constant_of_a_sequence_is_added_to_the_bias(%x: tensor<4x3x5xf32>, %w: tensor<4x3x1xf32>, %c: tensor<4x1xf32> {gawee.constant = "c"}) -> tensor<4x4x5xf32> {
  %y = gawee.conv %x, %w strides [1] padding [0, 0] dilations [1] groups 1 : (tensor<4x3x5xf32>, tensor<4x3x1xf32>) -> tensor<4x4x5xf32>
  %z = gawee.add %y, %c : (tensor<4x4x5xf32>, tensor<4x1xf32>) -> tensor<4x4x5xf32>
  func.return %z : tensor<4x4x5xf32>
}

// -----

// A constant along the batch of a sequence has the shape of one along the channels of an image.
// CHECK-LABEL: func.func @batch_constant_of_a_sequence_stays
// CHECK:       gawee.add
func.func @batch_constant_of_a_sequence_stays(%x: tensor<4x3x5xf32>, %w: tensor<4x3x1xf32>, %c: tensor<4x1x1xf32> {gawee.constant = "c"}) -> tensor<4x4x5xf32> {
  %y = gawee.conv %x, %w strides [1] padding [0, 0] dilations [1] groups 1 : (tensor<4x3x5xf32>, tensor<4x3x1xf32>) -> tensor<4x4x5xf32>
  %z = gawee.add %y, %c : (tensor<4x4x5xf32>, tensor<4x1x1xf32>) -> tensor<4x4x5xf32>
  func.return %z : tensor<4x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @number_a_column_becomes_the_bias_of_a_product
// CHECK-NEXT:  %[[T:.*]] = gawee.transpose %w permutation [1, 0]
// CHECK-NEXT:  %[[Y:.*]] = gawee.matmul %x, %[[T]] bias %c
// CHECK-NEXT:  %[[B:.*]] = gawee.reshape %d shape [7]
// CHECK-NEXT:  %[[Z:.*]] = gawee.matmul %[[Y]], %v bias %[[B]]
// CHECK-NEXT:  func.return %[[Z]]
func.func @number_a_column_becomes_the_bias_of_a_product(%x: tensor<2x5x3xf32>, %w: tensor<3x4xf32> {gawee.parameter = "w"}, %c: tensor<4xf32> {gawee.parameter = "c"}, %v: tensor<7x4xf32> {gawee.parameter = "v"}, %d: tensor<1x7xf32> {gawee.parameter = "d"}) -> tensor<2x5x7xf32> {
  %p = gawee.batch_matmul %x, %w : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  %y = gawee.add %c, %p : (tensor<4xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %q = gawee.matmul %y, %v : (tensor<2x5x4xf32>, tensor<7x4xf32>) -> tensor<2x5x7xf32>
  %z = gawee.add %q, %d : (tensor<2x5x7xf32>, tensor<1x7xf32>) -> tensor<2x5x7xf32>
  func.return %z : tensor<2x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @what_is_no_bias_of_a_product_stays
// CHECK-NEXT:  gawee.batch_matmul %x, %run
// CHECK-NEXT:  gawee.add
// CHECK-NEXT:  gawee.batch_matmul %{{.*}}, %w
// CHECK-NEXT:  gawee.add %{{.*}}, %rows
// CHECK-NEXT:  gawee.batch_matmul %{{.*}}, %many
// CHECK-NEXT:  gawee.add
// CHECK-NEXT:  func.return
func.func @what_is_no_bias_of_a_product_stays(%x: tensor<2x5x4xf32>, %run: tensor<4x4xf32>, %w: tensor<4x4xf32> {gawee.parameter = "w"}, %many: tensor<2x4x4xf32> {gawee.parameter = "many"}, %c: tensor<4xf32> {gawee.parameter = "c"}, %rows: tensor<5x1xf32> {gawee.parameter = "rows"}) -> tensor<2x5x4xf32> {
  %p = gawee.batch_matmul %x, %run : (tensor<2x5x4xf32>, tensor<4x4xf32>) -> tensor<2x5x4xf32>
  %y = gawee.add %p, %c : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  %q = gawee.batch_matmul %y, %w : (tensor<2x5x4xf32>, tensor<4x4xf32>) -> tensor<2x5x4xf32>
  %z = gawee.add %q, %rows : (tensor<2x5x4xf32>, tensor<5x1xf32>) -> tensor<2x5x4xf32>
  %r = gawee.batch_matmul %z, %many : (tensor<2x5x4xf32>, tensor<2x4x4xf32>) -> tensor<2x5x4xf32>
  %s = gawee.add %r, %c : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  func.return %s : tensor<2x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @hard_sigmoid_begins_in_the_bias
// CHECK-NEXT:  %[[THREE:.*]] = gawee.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:  %[[T:.*]] = gawee.reshape %[[THREE]] shape [1]
// CHECK-NEXT:  %[[B:.*]] = gawee.add %b, %[[T]]
// CHECK-NEXT:  %[[Y:.*]] = gawee.conv %x, %w bias %[[B]]
// CHECK-NEXT:  %[[C:.*]] = gawee.clip %[[Y]] min 0.000000e+00 max 6.000000e+00
// CHECK-NEXT:  %[[SIX:.*]] = gawee.constant dense<6.000000e+00> : tensor<f32>
// CHECK-NEXT:  gawee.div %[[C]], %[[SIX]]
// CHECK-NEXT:  func.return
func.func @hard_sigmoid_begins_in_the_bias(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}, %b: tensor<4xf32> {gawee.parameter = "b"}) -> tensor<2x4x5x7xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x7xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<2x4x5x7xf32>
  %z = gawee.hard_sigmoid %y : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  func.return %z : tensor<2x4x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @hard_sigmoid_of_anything_else_stays
// CHECK-NEXT:  gawee.hard_sigmoid %x
// CHECK-NEXT:  gawee.conv
// CHECK-NEXT:  gawee.hard_sigmoid
// CHECK-NEXT:  gawee.mul
func.func @hard_sigmoid_of_anything_else_stays(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}) -> tensor<2x4x5x7xf32> {
  %a = gawee.hard_sigmoid %x : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.conv %a, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x7xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x7xf32>
  %z = gawee.hard_sigmoid %y : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %r = gawee.mul %y, %z : (tensor<2x4x5x7xf32>, tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  func.return %r : tensor<2x4x5x7xf32>
}
