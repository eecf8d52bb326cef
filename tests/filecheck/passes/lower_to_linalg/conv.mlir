// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @conv_without_padding_adds_to_the_broadcast_bias
// CHECK-SAME:  (%[[X:.*]]: tensor<2x3x9x7xf32>, %[[W:.*]]: tensor<5x3x3x2xf32>, %[[B:.*]]: tensor<5xf32>)
// CHECK-NOT:   tensor.pad
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<2x5x7x6xf32>
// CHECK:       %[[INIT:.*]] = linalg.broadcast ins(%[[B]]:tensor<5xf32>) outs(%[[E]]:tensor<2x5x7x6xf32>) dimensions = [0, 2, 3]
// CHECK:       linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
// CHECK-SAME:    ins(%[[X]], %[[W]] :
// CHECK-SAME:    outs(%[[INIT]] :
func.func @conv_without_padding_adds_to_the_broadcast_bias(%x: tensor<2x3x9x7xf32>, %w: tensor<5x3x3x2xf32>, %b: tensor<5xf32>) -> tensor<2x5x7x6xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x9x7xf32>, tensor<5x3x3x2xf32>, tensor<5xf32>) -> tensor<2x5x7x6xf32>
  return %y : tensor<2x5x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @conv_pads_each_side_by_its_own_amount_of_zeros
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:       %[[P:.*]] = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 3, 0] {
// CHECK:         tensor.yield %[[ZERO]] : f32
// CHECK:       } : tensor<2x3x9x7xf32> to tensor<2x3x13x9xf32>
// CHECK:       linalg.conv_2d_nchw_fchw {dilations = dense<[1, 3]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%[[P]],
func.func @conv_pads_each_side_by_its_own_amount_of_zeros(%x: tensor<2x3x9x7xf32>, %w: tensor<5x3x3x2xf32>) -> tensor<2x5x6x6xf32> {
  %y = gawee.conv %x, %w strides [2, 1] padding [1, 2, 3, 0] dilations [1, 3] groups 1 : (tensor<2x3x9x7xf32>, tensor<5x3x3x2xf32>) -> tensor<2x5x6x6xf32>
  return %y : tensor<2x5x6x6xf32>
}

// -----

// CHECK-LABEL: func.func @conv_without_bias_adds_to_zeros
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK:       %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f64)
// CHECK:       linalg.conv_2d_nchw_fchw {{.*}} outs(%[[INIT]] : tensor<2x5x7x6xf64>)
func.func @conv_without_bias_adds_to_zeros(%x: tensor<2x3x9x7xf64>, %w: tensor<5x3x3x2xf64>) -> tensor<2x5x7x6xf64> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x9x7xf64>, tensor<5x3x3x2xf64>) -> tensor<2x5x7x6xf64>
  return %y : tensor<2x5x7x6xf64>
}

// -----

// CHECK-LABEL: func.func @one_filter_a_channel_is_a_depthwise_conv
// CHECK:       %[[W:.*]] = tensor.collapse_shape %w {{.*}} : tensor<4x1x3x2xf32> into tensor<4x3x2xf32>
// CHECK:       linalg.broadcast ins(%b:tensor<4xf32>)
// CHECK:       linalg.depthwise_conv_2d_nchw_chw {{.*}} ins(%x, %[[W]] : tensor<2x4x9x7xf32>, tensor<4x3x2xf32>)
func.func @one_filter_a_channel_is_a_depthwise_conv(%x: tensor<2x4x9x7xf32>, %w: tensor<4x1x3x2xf32>, %b: tensor<4xf32>) -> tensor<2x4x7x6xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 4 : (tensor<2x4x9x7xf32>, tensor<4x1x3x2xf32>, tensor<4xf32>) -> tensor<2x4x7x6xf32>
  return %y : tensor<2x4x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @other_groups_become_an_axis_of_their_own
// CHECK:       %[[X:.*]] = tensor.expand_shape %x {{.*}} output_shape [2, 2, 3, 9, 7]
// CHECK:       %[[W:.*]] = tensor.expand_shape %w {{.*}} output_shape [2, 5, 3, 3, 2]
// CHECK:       %[[B:.*]] = tensor.expand_shape %b {{.*}} output_shape [2, 5]
// CHECK:       %[[INIT:.*]] = linalg.broadcast ins(%[[B]]:tensor<2x5xf32>) {{.*}} dimensions = [0, 3, 4]
// CHECK:       %[[Y:.*]] = linalg.conv_2d_ngchw_gfchw {{.*}} ins(%[[X]], %[[W]] : {{.*}} outs(%[[INIT]] :
// CHECK:       tensor.collapse_shape %[[Y]] {{.*}} : tensor<2x2x5x7x6xf32> into tensor<2x10x7x6xf32>
func.func @other_groups_become_an_axis_of_their_own(%x: tensor<2x6x9x7xf32>, %w: tensor<10x3x3x2xf32>, %b: tensor<10xf32>) -> tensor<2x10x7x6xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 2 : (tensor<2x6x9x7xf32>, tensor<10x3x3x2xf32>, tensor<10xf32>) -> tensor<2x10x7x6xf32>
  return %y : tensor<2x10x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @two_filters_a_channel_are_a_grouped_conv
// CHECK:       linalg.conv_2d_ngchw_gfchw {{.*}} tensor<2x4x1x9x7xf32>, tensor<4x2x1x3x2xf32>
func.func @two_filters_a_channel_are_a_grouped_conv(%x: tensor<2x4x9x7xf32>, %w: tensor<8x1x3x2xf32>) -> tensor<2x8x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 4 : (tensor<2x4x9x7xf32>, tensor<8x1x3x2xf32>) -> tensor<2x8x7x6xf32>
  return %y : tensor<2x8x7x6xf32>
}

// -----

// CHECK-LABEL: func.func @conv_of_a_sequence_is_a_contraction
// CHECK:       %[[P:.*]] = tensor.pad %x low[0, 0, 1] high[0, 0, 0]
// CHECK:       %[[INIT:.*]] = linalg.broadcast ins(%b:tensor<5xf32>) {{.*}} dimensions = [0, 2]
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, ((d2 * 2) + (d4 * 3)))>, affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[P]], %w : {{.*}} outs(%[[INIT]] :
// CHECK:       arith.mulf
// CHECK:       arith.addf
func.func @conv_of_a_sequence_is_a_contraction(%x: tensor<2x4x9xf32>, %w: tensor<5x4x2xf32>, %b: tensor<5xf32>) -> tensor<2x5x4xf32> {
  %y = gawee.conv %x, %w bias %b strides [2] padding [1, 0] dilations [3] groups 1 : (tensor<2x4x9xf32>, tensor<5x4x2xf32>, tensor<5xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise_conv_of_a_volume_has_no_loop_over_channels_of_a_group
// CHECK:       %[[W:.*]] = tensor.collapse_shape %w {{.*}} : tensor<4x1x3x2x2xf32> into tensor<4x3x2x2xf32>
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, (d2 + d5), ((d3 * 2) + d6), (d4 + (d7 * 2)))>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d5, d6, d7)>, {{.*}} ins(%x, %[[W]] :
func.func @depthwise_conv_of_a_volume_has_no_loop_over_channels_of_a_group(%x: tensor<2x4x5x7x6xf32>, %w: tensor<4x1x3x2x2xf32>) -> tensor<2x4x3x3x4xf32> {
  %y = gawee.conv %x, %w strides [1, 2, 1] padding [0, 0, 0, 0, 0, 0] dilations [1, 1, 2] groups 4 : (tensor<2x4x5x7x6xf32>, tensor<4x1x3x2x2xf32>) -> tensor<2x4x3x3x4xf32>
  return %y : tensor<2x4x3x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @grouped_conv_of_a_sequence_has_a_loop_over_groups
// CHECK:       tensor.expand_shape %x {{.*}} output_shape [2, 2, 3, 9]
// CHECK:       tensor.expand_shape %w {{.*}} output_shape [2, 4, 3, 2]
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, (d3 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>
// CHECK:       tensor.collapse_shape {{.*}} : tensor<2x2x4x8xf32> into tensor<2x8x8xf32>
func.func @grouped_conv_of_a_sequence_has_a_loop_over_groups(%x: tensor<2x6x9xf32>, %w: tensor<8x3x2xf32>) -> tensor<2x8x8xf32> {
  %y = gawee.conv %x, %w strides [1] padding [0, 0] dilations [1] groups 2 : (tensor<2x6x9xf32>, tensor<8x3x2xf32>) -> tensor<2x8x8xf32>
  return %y : tensor<2x8x8xf32>
}
