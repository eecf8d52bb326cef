// RUN: gawee-opt %s --split-input-file --trim-conv-kernels | filecheck %s

// CHECK-LABEL: func.func @the_centre_of_a_kernel_is_all_that_one_position_meets
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %w offsets [0, 0, 1, 2] sizes [5, 4, 1, 1] strides [1, 1, 1, 1]
// CHECK-NEXT:  gawee.conv %x, %[[S]] bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
func.func @the_centre_of_a_kernel_is_all_that_one_position_meets(%x: tensor<2x4x1x1xf32>, %w: tensor<5x4x3x5xf32>, %b: tensor<5xf32>) -> tensor<2x5x1x1xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [1, 2, 1, 2] dilations [1, 1] groups 1 : (tensor<2x4x1x1xf32>, tensor<5x4x3x5xf32>, tensor<5xf32>) -> tensor<2x5x1x1xf32>
  return %y : tensor<2x5x1x1xf32>
}

// -----

// CHECK-LABEL: func.func @a_dilation_wider_than_one_axis_leaves_one_column
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %w offsets [0, 0, 0, 1] sizes [6, 2, 3, 1] strides [1, 1, 1, 1]
// CHECK-NEXT:  gawee.conv %x, %[[S]] strides [1, 1] padding [6, 0, 6, 0] dilations [6, 6] groups 2
func.func @a_dilation_wider_than_one_axis_leaves_one_column(%x: tensor<2x4x9x5xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<2x6x9x5xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [6, 6, 6, 6] dilations [6, 6] groups 2 : (tensor<2x4x9x5xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x9x5xf32>
  return %y : tensor<2x6x9x5xf32>
}

// -----

// CHECK-LABEL: func.func @padding_that_is_partly_read_stays
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %w offsets [0, 0, 1] sizes [5, 3, 3] strides [1, 1, 1]
// CHECK-NEXT:  gawee.conv %x, %[[S]] strides [1] padding [2, 1] dilations [1] groups 1
func.func @padding_that_is_partly_read_stays(%x: tensor<2x3x2xf32>, %w: tensor<5x3x4xf32>) -> tensor<2x5x3xf32> {
  %y = gawee.conv %x, %w strides [1] padding [3, 1] dilations [1] groups 1 : (tensor<2x3x2xf32>, tensor<5x3x4xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_of_which_all_meets_the_input_stays
// CHECK-NEXT:  gawee.conv %x, %w
func.func @a_kernel_of_which_all_meets_the_input_stays(%x: tensor<2x4x3x2xf32>, %w: tensor<5x4x3x3xf32>) -> tensor<2x5x3x2xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x4x3x2xf32>, tensor<5x4x3x3xf32>) -> tensor<2x5x3x2xf32>
  return %y : tensor<2x5x3x2xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_whose_rest_would_need_negative_padding_stays
// CHECK-NEXT:  gawee.conv %x, %w
func.func @a_kernel_whose_rest_would_need_negative_padding_stays(%x: tensor<2x4x3xf32>, %w: tensor<5x4x2xf32>) -> tensor<2x5x1xf32> {
  %y = gawee.conv %x, %w strides [1] padding [1, 0] dilations [3] groups 1 : (tensor<2x4x3xf32>, tensor<5x4x2xf32>) -> tensor<2x5x1xf32>
  return %y : tensor<2x5x1xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_along_an_open_axis_stays
// CHECK-NEXT:  gawee.conv %x, %w strides [1] padding [3, 1]
func.func @a_kernel_along_an_open_axis_stays(%x: tensor<2x3x?xf32> {gawee.sizes = ["-", "-", "length"]}, %w: tensor<5x3x5xf32>) -> tensor<2x5x?xf32> {
  %y = gawee.conv %x, %w strides [1] padding [3, 1] dilations [1] groups 1 : (tensor<2x3x?xf32>, tensor<5x3x5xf32>) -> tensor<2x5x?xf32>
  return %y : tensor<2x5x?xf32>
}
