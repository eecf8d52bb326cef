// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @kernels_that_do_not_overlap_multiply_no_zeros
// CHECK-NOT:   insert_slice
// CHECK:       %[[INIT:.*]] = linalg.broadcast ins(%b:tensor<3xf32>) {{.*}} dimensions = [0, 2, 3, 4, 5]
// CHECK:       %[[Y:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d6, d2, d4)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6, d1, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5)>], {{.*}} ins(%x, %w : {{.*}} outs(%[[INIT]] :
// CHECK:       tensor.collapse_shape
// CHECK-SAME:  : tensor<2x3x5x2x7x3xf32> into tensor<2x3x10x21xf32>
func.func @kernels_that_do_not_overlap_multiply_no_zeros(%x: tensor<2x4x5x7xf32>, %w: tensor<4x3x2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3x10x21xf32> {
  %y = gawee.conv_transpose %x, %w bias %b strides [2, 3] padding [0, 0, 0, 0] output_padding [0, 0] dilations [1, 1] groups 1 : (tensor<2x4x5x7xf32>, tensor<4x3x2x3xf32>, tensor<3xf32>) -> tensor<2x3x10x21xf32>
  return %y : tensor<2x3x10x21xf32>
}

// -----

// CHECK-LABEL: func.func @groups_and_padding_of_kernels_that_do_not_overlap
// CHECK:       tensor.expand_shape %x {{.*}} output_shape [2, 2, 2, 5]
// CHECK:       tensor.expand_shape %w {{.*}} output_shape [2, 2, 3, 2]
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d5, d2, d4)>
// CHECK:       tensor.extract_slice {{.*}}[0, 0, 1] [2, 6, 7] [1, 1, 1] : tensor<2x6x10xf32> to tensor<2x6x7xf32>
func.func @groups_and_padding_of_kernels_that_do_not_overlap(%x: tensor<2x4x5xf32>, %w: tensor<4x3x2xf32>) -> tensor<2x6x7xf32> {
  %y = gawee.conv_transpose %x, %w strides [2] padding [1, 2] output_padding [0] dilations [1] groups 2 : (tensor<2x4x5xf32>, tensor<4x3x2xf32>) -> tensor<2x6x7xf32>
  return %y : tensor<2x6x7xf32>
}

// -----

// CHECK-LABEL: func.func @overlapping_kernels_are_a_convolution_of_the_input_between_zeros
// CHECK:       %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x4x13x12xf32>
// CHECK:       %[[X:.*]] = tensor.insert_slice %x into %[[ZEROS]][0, 0, 1, 2] [2, 4, 5, 3] [1, 1, 2, 3]
// CHECK:       %[[W:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, ((d2 * -1) + 2), ((d3 * -1) + 2))>
// CHECK:       linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%[[X]], %[[W]] :
func.func @overlapping_kernels_are_a_convolution_of_the_input_between_zeros(%x: tensor<2x4x5x3xf32>, %w: tensor<4x6x3x3xf32>) -> tensor<2x6x11x10xf32> {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 0] output_padding [1, 1] dilations [1, 1] groups 1 : (tensor<2x4x5x3xf32>, tensor<4x6x3x3xf32>) -> tensor<2x6x11x10xf32>
  return %y : tensor<2x6x11x10xf32>
}

// -----

// CHECK-LABEL: func.func @padding_beyond_the_kernel_cuts_off_input
// CHECK:       tensor.extract_slice %x[0, 0, 2] [2, 4, 7] [1, 1, 1]
// CHECK:       tensor.insert_slice {{.*}}[0, 0, 0] [2, 4, 7] [1, 1, 1]
func.func @padding_beyond_the_kernel_cuts_off_input(%x: tensor<2x4x9xf32>, %w: tensor<4x6x3xf32>) -> tensor<2x6x7xf32> {
  %y = gawee.conv_transpose %x, %w strides [1] padding [4, 0] output_padding [0] dilations [1] groups 1 : (tensor<2x4x9xf32>, tensor<4x6x3xf32>) -> tensor<2x6x7xf32>
  return %y : tensor<2x6x7xf32>
}
