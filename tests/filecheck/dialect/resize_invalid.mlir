// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// InterpolateOp C1: input has no spatial axis.
// CHECK: error: 'gawee.interpolate' op expected input of rank 3, 4 or 5, got rank 2 ('tensor<2x4xf32>')
func.func @c1_input_has_no_spatial_axis(%x: tensor<2x4xf32>) {
  %y = gawee.interpolate %x size [] mode "nearest" : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// InterpolateOp C1: input is empty.
// CHECK: error: 'gawee.interpolate' op expected spatial sizes of at least 1, got [0, 5]
func.func @c1_input_is_empty(%x: tensor<2x4x0x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x0x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C2: size of three entries.
// CHECK: error: 'gawee.interpolate' op expected size of 2 entries, got 3 ([4, 6, 10])
func.func @c2_size_of_three_entries(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [4, 6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C2: size is zero.
// CHECK: error: 'gawee.interpolate' op expected size of at least 1, got [0, 10]
func.func @c2_size_is_zero(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [0, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x0x10xf32>
  func.return
}

// -----

// InterpolateOp C3: mode is unknown.
// CHECK: error: 'gawee.interpolate' op unsupported mode 'area'; supported: nearest, nearest_exact, bilinear, bicubic
func.func @c3_mode_is_unknown(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "area" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C3: bilinear on integers.
// CHECK: error: 'gawee.interpolate' op expected input of element type f16, f32 or f64, got 'i32'
func.func @c3_bilinear_on_integers(%x: tensor<2x4x3x5xi32>) {
  %y = gawee.interpolate %x size [6, 10] mode "bilinear" : (tensor<2x4x3x5xi32>) -> tensor<2x4x6x10xi32>
  func.return
}

// -----

// InterpolateOp C4: align corners without bilinear.
// CHECK: error: 'gawee.interpolate' op expected align_corners to go with mode 'bilinear', 'bicubic', got mode 'nearest'
func.func @c4_align_corners_without_bilinear(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "nearest" align_corners : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C5: one scale.
// CHECK: error: 'gawee.interpolate' op expected 2 positive scales, got [2.0]
func.func @c5_one_scale(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "nearest" scales [2.0] : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C5: scale is zero.
// CHECK: error: 'gawee.interpolate' op expected 2 positive scales, got [2.0, 0.0]
func.func @c5_scale_is_zero(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "nearest" scales [2.0, 0.0] : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// InterpolateOp C6: size comes from floats.
// CHECK: error: 'gawee.interpolate' op expected size_from #0 to be an integer tensor or a Python value, got 'tensor<2xf32>'
func.func @c6_size_comes_from_floats(%x: tensor<2x4x3x5xf32>, %s: tensor<2xf32>) {
  %y = gawee.interpolate %x size_from %s size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>, tensor<2xf32>) -> tensor<2x4x6x10xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.interpolate' op expected result type 'tensor<2x4x6x10xf32>', got 'tensor<2x4x10x6xf32>'
func.func @result_type_differs(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x10x6xf32>
  func.return
}

// -----

// InterpolateOp C3: bilinear of a sequence.
// CHECK: error: 'gawee.interpolate' op unsupported mode 'bilinear'; supported: nearest, nearest_exact, linear
func.func @interpolate_c3_bilinear_of_a_sequence(%x: tensor<2x4x3xf32>) {
  %y = gawee.interpolate %x size [6] mode "bilinear" : (tensor<2x4x3xf32>) -> tensor<2x4x6xf32>
  func.return
}

// -----

// InterpolateOp C7: float positions of bilinear.
// CHECK: error: 'gawee.interpolate' op expected float_positions to go with mode 'nearest', 'nearest_exact', got mode 'bilinear'
func.func @interpolate_c7_float_positions_of_bilinear(%x: tensor<2x4x3x5xf32>) {
  %y = gawee.interpolate %x size [6, 10] mode "bilinear" float_positions : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
  func.return
}
