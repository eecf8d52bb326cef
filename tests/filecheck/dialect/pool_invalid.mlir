// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// MaxPoolOp C1: input has four spatial axes.
// CHECK: error: 'gawee.max_pool' op expected input of rank 3, 4 or 5, got rank 6 ('tensor<2x3x5x5x5x5xf32>')
func.func @max_pool_c1_input_has_four_spatial_axes(%x: tensor<2x3x5x5x5x5xf32>) {
  %y = gawee.max_pool %x kernel [1, 1, 1, 1] strides [1, 1, 1, 1] padding [0, 0, 0, 0, 0, 0, 0, 0] dilations [1, 1, 1, 1] ceil_mode false : (tensor<2x3x5x5x5x5xf32>) -> tensor<2x3x5x5x5x5xf32>
  func.return
}

// -----

// MaxPoolOp C2: element type is unsigned.
// CHECK: error: 'gawee.max_pool' op expected input of a float or signless integer element type, got 'ui8'
func.func @max_pool_c2_element_type_is_unsigned(%x: tensor<2x3x9x8xui8>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xui8>) -> tensor<2x3x4x7xui8>
  func.return
}

// -----

// MaxPoolOp C3: kernel is empty.
// CHECK: error: 'gawee.max_pool' op expected kernel of at least 1, got [0, 2]
func.func @max_pool_c3_kernel_is_empty(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.max_pool %x kernel [0, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// MaxPoolOp C3: stride is negative.
// CHECK: error: 'gawee.max_pool' op expected strides of at least 1, got [-2, 1]
func.func @max_pool_c3_stride_is_negative(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [-2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// MaxPoolOp C3: dilation is zero.
// CHECK: error: 'gawee.max_pool' op expected dilations of at least 1, got [1, 0]
func.func @max_pool_c3_dilation_is_zero(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 0] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// MaxPoolOp C3: padding is negative.
// CHECK: error: 'gawee.max_pool' op expected padding of at least 0, got [-1, 0, 0, 0]
func.func @max_pool_c3_padding_is_negative(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [-1, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// MaxPoolOp C4: padding covers a window.
// CHECK: error: 'gawee.max_pool' op expected padding ([3, 0, 0, 0]) to be less than the window extent ([3, 2])
func.func @max_pool_c4_padding_covers_a_window(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [3, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
  func.return
}

// -----

// MaxPoolOp C5: window is larger than the input.
// CHECK: error: 'gawee.max_pool' op expected window extent (5) to fit the padded input (4)
func.func @max_pool_c5_window_is_larger_than_the_input(%x: tensor<2x3x4x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [2, 1] ceil_mode false : (tensor<2x3x4x8xf32>) -> tensor<2x3x1x7xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.max_pool' op expected result type 'tensor<2x3x4x7xf32>', got 'tensor<2x3x3x7xf32>'
func.func @max_pool_result_ignores_ceil_mode(%x: tensor<2x3x8x8xf32>) {
  %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode true : (tensor<2x3x8x8xf32>) -> tensor<2x3x3x7xf32>
  func.return
}

// -----

// AvgPoolOp C1: input has four spatial axes.
// CHECK: error: 'gawee.avg_pool' op expected input of rank 3, 4 or 5, got rank 6 ('tensor<2x3x5x5x5x5xf32>')
func.func @avg_pool_c1_input_has_four_spatial_axes(%x: tensor<2x3x5x5x5x5xf32>) {
  %y = gawee.avg_pool %x kernel [1, 1, 1, 1] strides [1, 1, 1, 1] padding [0, 0, 0, 0, 0, 0, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x5x5x5x5xf32>) -> tensor<2x3x5x5x5x5xf32>
  func.return
}

// -----

// AvgPoolOp C2: element type is integer.
// CHECK: error: 'gawee.avg_pool' op expected input of element type f16, f32 or f64, got 'i32'
func.func @avg_pool_c2_element_type_is_integer(%x: tensor<2x3x9x8xi32>) {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xi32>) -> tensor<2x3x4x7xi32>
  func.return
}

// -----

// AvgPoolOp C3: kernel is empty.
// CHECK: error: 'gawee.avg_pool' op expected kernel of at least 1, got [3, 0]
func.func @avg_pool_c3_kernel_is_empty(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.avg_pool %x kernel [3, 0] strides [2, 1] padding [0, 0, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// AvgPoolOp C3: three strides.
// CHECK: error: 'gawee.avg_pool' op expected strides of 2 entries, got 3 ([2, 1, 1])
func.func @avg_pool_c3_three_strides(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1, 1] padding [0, 0, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x7xf32>
  func.return
}

// -----

// AvgPoolOp C4: padding covers a window.
// CHECK: error: 'gawee.avg_pool' op expected padding ([0, 2, 0, 0]) to be less than the window extent ([3, 2])
func.func @avg_pool_c4_padding_covers_a_window(%x: tensor<2x3x9x8xf32>) {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 2, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x9xf32>
  func.return
}

// -----

// AvgPoolOp C5: window is larger than the input.
// CHECK: error: 'gawee.avg_pool' op expected window extent (3) to fit the padded input (2)
func.func @avg_pool_c5_window_is_larger_than_the_input(%x: tensor<2x3x2x8xf32>) {
  %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] ceil_mode false count_include_pad true : (tensor<2x3x2x8xf32>) -> tensor<2x3x1x7xf32>
  func.return
}

// -----

// AdAvgPoolOp C1: input has four spatial axes.
// CHECK: error: 'gawee.ad_avg_pool' op expected input of rank 3, 4 or 5, got rank 6 ('tensor<2x4x5x5x5x5xf32>')
func.func @ad_avg_pool_c1_input_has_four_spatial_axes(%x: tensor<2x4x5x5x5x5xf32>) {
  %y = gawee.ad_avg_pool %x output_size [3, 5, 2, 2] : (tensor<2x4x5x5x5x5xf32>) -> tensor<2x4x3x5x2x2xf32>
  func.return
}

// -----

// AdAvgPoolOp C2: element type is integer.
// CHECK: error: 'gawee.ad_avg_pool' op expected input of element type f16, f32 or f64, got 'i32'
func.func @ad_avg_pool_c2_element_type_is_integer(%x: tensor<2x4x7x5xi32>) {
  %y = gawee.ad_avg_pool %x output_size [3, 5] : (tensor<2x4x7x5xi32>) -> tensor<2x4x3x5xi32>
  func.return
}

// -----

// AdAvgPoolOp C3: output size of one entry.
// CHECK: error: 'gawee.ad_avg_pool' op expected output_size of 2 entries, got 1 ([3])
func.func @ad_avg_pool_c3_output_size_of_one_entry(%x: tensor<2x4x7x5xf32>) {
  %y = gawee.ad_avg_pool %x output_size [3] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x3xf32>
  func.return
}

// -----

// AdAvgPoolOp C3: output size is zero.
// CHECK: error: 'gawee.ad_avg_pool' op expected output_size of at least 1, got [0, 5]
func.func @ad_avg_pool_c3_output_size_is_zero(%x: tensor<2x4x7x5xf32>) {
  %y = gawee.ad_avg_pool %x output_size [0, 5] : (tensor<2x4x7x5xf32>) -> tensor<2x4x0x5xf32>
  func.return
}

// -----

// AdAvgPoolOp C4: input is empty.
// CHECK: error: 'gawee.ad_avg_pool' op expected input with positive spatial sizes, got 'tensor<2x4x0x5xf32>'
func.func @ad_avg_pool_c4_input_is_empty(%x: tensor<2x4x0x5xf32>) {
  %y = gawee.ad_avg_pool %x output_size [3, 5] : (tensor<2x4x0x5xf32>) -> tensor<2x4x3x5xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.ad_avg_pool' op expected result type 'tensor<2x4x3x5xf32>', got 'tensor<2x4x5x3xf32>'
func.func @ad_avg_pool_result_type_differs(%x: tensor<2x4x7x5xf32>) {
  %y = gawee.ad_avg_pool %x output_size [3, 5] : (tensor<2x4x7x5xf32>) -> tensor<2x4x5x3xf32>
  func.return
}

// -----

// AdMaxPoolOp C1: input has no spatial axis.
// CHECK: error: 'gawee.ad_max_pool' op expected input of rank 3, 4 or 5, got rank 2 ('tensor<2x4xf32>')
func.func @ad_max_pool_c1_input_has_no_spatial_axis(%x: tensor<2x4xf32>) {
  %y = gawee.ad_max_pool %x output_size [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// AdMaxPoolOp C2: element type is unsigned.
// CHECK: error: 'gawee.ad_max_pool' op expected input of a float or signless integer element type, got 'ui8'
func.func @ad_max_pool_c2_element_type_is_unsigned(%x: tensor<2x4x7x5xui8>) {
  %y = gawee.ad_max_pool %x output_size [3, 5] : (tensor<2x4x7x5xui8>) -> tensor<2x4x3x5xui8>
  func.return
}

// -----

// AdMaxPoolOp C3: output size of one entry.
// CHECK: error: 'gawee.ad_max_pool' op expected output_size of 2 entries, got 1 ([3])
func.func @ad_max_pool_c3_output_size_of_one_entry(%x: tensor<2x4x7x5xf32>) {
  %y = gawee.ad_max_pool %x output_size [3] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x3xf32>
  func.return
}

// -----

// AdMaxPoolOp C4: input is empty.
// CHECK: error: 'gawee.ad_max_pool' op expected input with positive spatial sizes, got 'tensor<2x4x0xf32>'
func.func @ad_max_pool_c4_input_is_empty(%x: tensor<2x4x0xf32>) {
  %y = gawee.ad_max_pool %x output_size [3] : (tensor<2x4x0xf32>) -> tensor<2x4x3xf32>
  func.return
}
