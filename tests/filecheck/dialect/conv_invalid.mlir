// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ConvOp C1: input has no spatial axis.
// CHECK: error: 'gawee.conv' op expected input of rank 3, 4 or 5, got rank 2 ('tensor<2x4xf32>')
func.func @c1_input_has_no_spatial_axis(%x: tensor<2x4xf32>, %w: tensor<6x4xf32>) {
  %y = gawee.conv %x, %w strides [] padding [] dilations [] groups 1 : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

// ConvOp C1: weight has another rank.
// CHECK: error: 'gawee.conv' op expected weight of rank 4, got rank 3 ('tensor<6x4x3xf32>')
func.func @c1_weight_has_another_rank(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C2: element type is unsigned.
// CHECK: error: 'gawee.conv' op expected input of a float or signless integer element type, got 'ui8'
func.func @c2_element_type_is_unsigned(%x: tensor<2x4x9x7xui8>, %w: tensor<6x4x3x3xui8>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xui8>, tensor<6x4x3x3xui8>) -> tensor<2x6x7x5xui8>
  func.return
}

// -----

// ConvOp C2: element types differ.
// CHECK: error: 'gawee.conv' op expected weight element type 'f16' to match input element type 'f32'
func.func @c2_element_types_differ(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf16>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf16>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C2: bias element type differs.
// CHECK: error: 'gawee.conv' op expected bias element type 'f64' to match input element type 'f32'
func.func @c2_bias_element_type_differs(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf64>) {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>, tensor<6xf64>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: three strides.
// CHECK: error: 'gawee.conv' op expected strides of 2 entries, got 3 ([1, 1, 1])
func.func @c3_three_strides(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: stride is zero.
// CHECK: error: 'gawee.conv' op expected strides of at least 1, got [1, 0]
func.func @c3_stride_is_zero(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 0] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: kernel is empty.
// CHECK: error: 'gawee.conv' op expected kernel of at least 1, got [0, 3]
func.func @c3_kernel_is_empty(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x0x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x0x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: dilation is zero.
// CHECK: error: 'gawee.conv' op expected dilations of at least 1, got [0, 1]
func.func @c3_dilation_is_zero(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [0, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: padding of two entries.
// CHECK: error: 'gawee.conv' op expected padding of 4 entries, got 2 ([0, 0])
func.func @c3_padding_of_two_entries(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C3: padding is negative.
// CHECK: error: 'gawee.conv' op expected padding of at least 0, got [0, -1, 0, 0]
func.func @c3_padding_is_negative(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, -1, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C4: groups is zero.
// CHECK: error: 'gawee.conv' op expected groups of at least 1, got 0
func.func @c4_groups_is_zero(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 0 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C4: groups do not divide output channels.
// CHECK: error: 'gawee.conv' op expected groups (4) to divide output channels (6)
func.func @c4_groups_do_not_divide_output_channels(%x: tensor<2x4x9x7xf32>, %w: tensor<6x1x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 4 : (tensor<2x4x9x7xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C5: input channels differ.
// CHECK: error: 'gawee.conv' op expected input channels (5) to equal groups (2) times weight channels (2)
func.func @c5_input_channels_differ(%x: tensor<2x5x9x7xf32>, %w: tensor<6x2x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 2 : (tensor<2x5x9x7xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C6: bias is too long.
// CHECK: error: 'gawee.conv' op expected bias of shape 6, got 7
func.func @c6_bias_is_too_long(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<7xf32>) {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>, tensor<7xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// ConvOp C7: kernel is larger than the input.
// CHECK: error: 'gawee.conv' op expected window extent (5) to fit the padded input (4)
func.func @c7_kernel_is_larger_than_the_input(%x: tensor<2x4x4x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [2, 1] groups 1 : (tensor<2x4x4x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.conv' op expected result type 'tensor<2x6x7x5xf32>', got 'tensor<2x6x7x6xf32>'
func.func @result_type_differs(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x6xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.conv' op property 'strides' expected in operation 'gawee.conv'
func.func @strides_are_missing(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = "gawee.conv"(%x, %w) <{padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}> : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.conv' op expected attribute i64 but got i32
func.func @groups_of_another_type(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = "gawee.conv"(%x, %w) <{strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i32}> : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.conv' op operand 'input' at position 0 does not verify: f32 should be of base attribute tensor
func.func @operand_is_no_tensor(%x: f32, %w: tensor<6x4x3x3xf32>) {
  %y = "gawee.conv"(%x, %w) <{strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}> : (f32, tensor<6x4x3x3xf32>) -> tensor<2x6x7x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.conv' op expected operand #0 of static shape, got 'tensor<?x4x9x7xf32>'
func.func @size_is_not_static(%x: tensor<?x4x9x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<?x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<?x6x7x5xf32>
  func.return
}

// -----

// ConvTransposeOp C1: input has no spatial axis.
// CHECK: error: 'gawee.conv_transpose' op expected input of rank 3, 4 or 5, got rank 2 ('tensor<2x4xf32>')
func.func @conv_transpose_c1_input_has_no_spatial_axis(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) {
  %y = gawee.conv_transpose %x, %w strides [] padding [] output_padding [] dilations [] groups 2 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

// ConvTransposeOp C1: weight has another rank.
// CHECK: error: 'gawee.conv_transpose' op expected weight of rank 4, got rank 3 ('tensor<4x3x3xf32>')
func.func @conv_transpose_c1_weight_has_another_rank(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C2: element type is not float.
// CHECK: error: 'gawee.conv_transpose' op expected input of element type f16, f32 or f64, got 'i32'
func.func @conv_transpose_c2_element_type_is_not_float(%x: tensor<2x4x5x3xi32>, %w: tensor<4x3x3x2xi32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xi32>, tensor<4x3x3x2xi32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C2: element types differ.
// CHECK: error: 'gawee.conv_transpose' op expected weight element type 'f16' to match input element type 'f32'
func.func @conv_transpose_c2_element_types_differ(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf16>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf16>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C3: stride is zero.
// CHECK: error: 'gawee.conv_transpose' op expected strides of at least 1, got [0, 3]
func.func @conv_transpose_c3_stride_is_zero(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [0, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C3: padding is negative.
// CHECK: error: 'gawee.conv_transpose' op expected padding of at least 0, got [-1, 0, 0, 1]
func.func @conv_transpose_c3_padding_is_negative(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [-1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C3: three dilations.
// CHECK: error: 'gawee.conv_transpose' op expected dilations of 2 entries, got 3 ([1, 1, 1])
func.func @conv_transpose_c3_three_dilations(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C4: output padding of one entry.
// CHECK: error: 'gawee.conv_transpose' op expected output_padding of 2 entries, got 1 ([1])
func.func @conv_transpose_c4_output_padding_of_one_entry(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C4: output padding is negative.
// CHECK: error: 'gawee.conv_transpose' op expected output_padding of at least 0, got [-1, 0]
func.func @conv_transpose_c4_output_padding_is_negative(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [-1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C4: output padding is a whole stride.
// CHECK: error: 'gawee.conv_transpose' op expected output_padding ([1, 3]) to be less than the greater of strides and dilations ([2, 3])
func.func @conv_transpose_c4_output_padding_is_a_whole_stride(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 3] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C5: groups is zero.
// CHECK: error: 'gawee.conv_transpose' op expected groups of at least 1, got 0
func.func @conv_transpose_c5_groups_is_zero(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 0 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C5: groups do not divide input channels.
// CHECK: error: 'gawee.conv_transpose' op expected groups (3) to divide input channels (4)
func.func @conv_transpose_c5_groups_do_not_divide_input_channels(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 3 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C6: input channels differ.
// CHECK: error: 'gawee.conv_transpose' op expected input channels (6) to equal weight channels (4)
func.func @conv_transpose_c6_input_channels_differ(%x: tensor<2x6x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x6x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C7: bias is too short.
// CHECK: error: 'gawee.conv_transpose' op expected bias of shape 6, got 3
func.func @conv_transpose_c7_bias_is_too_short(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<3xf32>) {
  %y = gawee.conv_transpose %x, %w bias %b strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>, tensor<3xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C8: padding leaves nothing.
// CHECK: error: 'gawee.conv_transpose' op expected padding (6 and 6) to be less than the result without it (12)
func.func @conv_transpose_c8_padding_leaves_nothing(%x: tensor<2x4x5x3xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [6, 0, 6, 0] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}

// -----

// ConvTransposeOp C8: input is empty.
// CHECK: error: 'gawee.conv_transpose' op expected padding (0 and 1) to be less than the result without it (0)
func.func @conv_transpose_c8_input_is_empty(%x: tensor<2x4x5x0xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = gawee.conv_transpose %x, %w strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x0xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x11x7xf32>
  func.return
}
