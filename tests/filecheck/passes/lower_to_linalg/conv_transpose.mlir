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

// The second result of a block reads one element further on: the padding cuts no block in two.
// CHECK-LABEL: func.func @groups_and_padding_of_kernels_that_do_not_overlap
// CHECK:       tensor.expand_shape %x {{.*}} output_shape [2, 2, 2, 5]
// CHECK:       linalg.generic {{.*}}affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, (d3 + d4))>
// CHECK:       tensor.collapse_shape {{.*}} into tensor<2x6x8xf32>
// CHECK:       tensor.extract_slice {{.*}}[0, 0, 0] [2, 6, 7] [1, 1, 1] : tensor<2x6x8xf32> to tensor<2x6x7xf32>
func.func @groups_and_padding_of_kernels_that_do_not_overlap(%x: tensor<2x4x5xf32>, %w: tensor<4x3x2xf32>) -> tensor<2x6x7xf32> {
  %y = gawee.conv_transpose %x, %w strides [2] padding [1, 2] output_padding [0] dilations [1] groups 2 : (tensor<2x4x5xf32>, tensor<4x3x2xf32>) -> tensor<2x6x7xf32>
  return %y : tensor<2x6x7xf32>
}

// -----

// CHECK-LABEL: func.func @all_phases_of_kernels_that_strides_divide_are_one_contraction
// CHECK:       tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK:       %[[W:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, ((((d2 * -1) + 1) + (d4 * -2)) + 2), {{.*}} ins(%w : tensor<3x4x4x4xf32>) outs(%{{.*}} : tensor<3x4x2x2x2x2xf32>)
// CHECK:       linalg.generic {{.*}}(d0, d6, ((d2 + d3) + d7), ((d4 + d5) + d8)){{.*}} ins(%{{.*}}, %[[W]] : tensor<2x3x7x6xf32>, tensor<3x4x2x2x2x2xf32>) outs(%{{.*}} : tensor<2x4x5x2x4x2xf32>)
// CHECK:       tensor.collapse_shape {{.*}} into tensor<2x4x10x8xf32>
// CHECK-NEXT:  func.return
func.func @all_phases_of_kernels_that_strides_divide_are_one_contraction(%x: tensor<2x3x5x4xf32>, %w: tensor<3x4x4x4xf32>) -> tensor<2x4x10x8xf32> {
  %y = gawee.conv_transpose %x, %w strides [2, 2] padding [1, 1, 1, 1] output_padding [0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<3x4x4x4xf32>) -> tensor<2x4x10x8xf32>
  return %y : tensor<2x4x10x8xf32>
}

// -----

// Even results read two elements of the kernel, odd ones one.
// CHECK-LABEL: func.func @other_kernels_are_a_convolution_for_each_phase
// CHECK:       %[[X:.*]] = tensor.pad %x low[0, 0, 1] high[0, 0, 1]
// CHECK:       linalg.generic {{.*}} ins(%w : tensor<4x6x3xf32>) outs(%{{.*}} : tensor<6x4x2xf32>)
// CHECK:       linalg.generic {{.*}} ins(%[[X]],
// CHECK:       tensor.extract_slice %[[X]][0, 0, 1] [2, 4, 5]
// CHECK:       linalg.generic {{.*}} ins(%w : tensor<4x6x3xf32>) outs(%{{.*}} : tensor<6x4x1xf32>)
// CHECK:       %[[Y:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [2, 6, 6] [1, 1, 2]
// CHECK:       tensor.insert_slice %{{.*}} into %[[Y]][0, 0, 1] [2, 6, 5] [1, 1, 2]
func.func @other_kernels_are_a_convolution_for_each_phase(%x: tensor<2x4x5xf32>, %w: tensor<4x6x3xf32>) -> tensor<2x6x11xf32> {
  %y = gawee.conv_transpose %x, %w strides [2] padding [0, 0] output_padding [0] dilations [1] groups 1 : (tensor<2x4x5xf32>, tensor<4x6x3xf32>) -> tensor<2x6x11xf32>
  return %y : tensor<2x6x11xf32>
}

// -----

// CHECK-LABEL: func.func @phases_that_read_nothing_are_the_bias
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x5xf32>)
// CHECK:       %[[B:.*]] = linalg.broadcast ins(%b:tensor<6xf32>) outs(%{{.*}}:tensor<2x6x4xf32>) dimensions = [0, 2]
// CHECK:       tensor.insert_slice %[[B]] into %{{.*}}[0, 0, 1] [2, 6, 4] [1, 1, 2]
func.func @phases_that_read_nothing_are_the_bias(%x: tensor<2x4x5xf32>, %w: tensor<4x6x1xf32>, %b: tensor<6xf32>) -> tensor<2x6x9xf32> {
  %y = gawee.conv_transpose %x, %w bias %b strides [2] padding [0, 0] output_padding [0] dilations [1] groups 1 : (tensor<2x4x5xf32>, tensor<4x6x1xf32>, tensor<6xf32>) -> tensor<2x6x9xf32>
  return %y : tensor<2x6x9xf32>
}

// -----

// Four times four convolutions would be too many: the kernel is made a multiple of the strides.
// CHECK-LABEL: func.func @many_phases_of_a_dilated_kernel_are_one_contraction
// CHECK:       tensor.insert_slice %w into %{{.*}}[0, 0, 0, 0] [4, 6, 3, 2] [1, 1, 2, 1] : tensor<4x6x3x2xf32> into tensor<4x6x8x4xf32>
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x4x3x4xf32>)
// CHECK:       tensor.extract_slice {{.*}} [2, 6, 21, 10]
func.func @many_phases_of_a_dilated_kernel_are_one_contraction(%x: tensor<2x4x5x3xf32>, %w: tensor<4x6x3x2xf32>) -> tensor<2x6x21x10xf32> {
  %y = gawee.conv_transpose %x, %w strides [4, 4] padding [0, 0, 0, 0] output_padding [0, 0] dilations [2, 1] groups 1 : (tensor<2x4x5x3xf32>, tensor<4x6x3x2xf32>) -> tensor<2x6x21x10xf32>
  return %y : tensor<2x6x21x10xf32>
}

// -----

// CHECK-LABEL: func.func @padding_beyond_the_kernel_cuts_off_input
// CHECK:       tensor.extract_slice %x[0, 0, 2] [2, 4, 7] [1, 1, 1]
// CHECK-NOT:   insert_slice
func.func @padding_beyond_the_kernel_cuts_off_input(%x: tensor<2x4x9xf32>, %w: tensor<4x6x3xf32>) -> tensor<2x6x7xf32> {
  %y = gawee.conv_transpose %x, %w strides [1] padding [4, 0] output_padding [0] dilations [1] groups 1 : (tensor<2x4x9xf32>, tensor<4x6x3xf32>) -> tensor<2x6x7xf32>
  return %y : tensor<2x6x7xf32>
}
