// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// GridSampleOp C1: input is not 4d.
// CHECK: error: 'gawee.grid_sample' op expected input of rank 4, got rank 3 ('tensor<2x3x5xf32>')
func.func @grid_sample_c1_input_is_not_4d(%x: tensor<2x3x5xf32>, %g: tensor<2x4x6x2xf32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C1: input is empty.
// CHECK: error: 'gawee.grid_sample' op expected spatial sizes of at least 1, got [0, 7]
func.func @grid_sample_c1_input_is_empty(%x: tensor<2x3x0x7xf32>, %g: tensor<2x4x6x2xf32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x0x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C2: element type is not float.
// CHECK: error: 'gawee.grid_sample' op expected input of element type f16, f32 or f64, got 'i32'
func.func @grid_sample_c2_element_type_is_not_float(%x: tensor<2x3x5x7xi32>, %g: tensor<2x4x6x2xi32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xi32>, tensor<2x4x6x2xi32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C2: element types differ.
// CHECK: error: 'gawee.grid_sample' op expected grid element type 'f64' to match input element type 'f32'
func.func @grid_sample_c2_element_types_differ(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf64>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf64>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C3: batches differ.
// CHECK: error: 'gawee.grid_sample' op expected grid batch (3) to equal input batch (2)
func.func @grid_sample_c3_batches_differ(%x: tensor<2x3x5x7xf32>, %g: tensor<3x4x6x2xf32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<3x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C3: three coordinates.
// CHECK: error: 'gawee.grid_sample' op expected last grid dimension (3) to equal 2, for (x, y)
func.func @grid_sample_c3_three_coordinates(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x3xf32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C4: unknown mode.
// CHECK: error: 'gawee.grid_sample' op unsupported mode 'bicubic'; supported: bilinear, nearest
func.func @grid_sample_c4_unknown_mode(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf32>) {
  %y = gawee.grid_sample %x, %g mode "bicubic" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return
}

// -----

// GridSampleOp C5: unknown padding mode.
// CHECK: error: 'gawee.grid_sample' op unsupported padding_mode 'reflection'; supported: zeros, border
func.func @grid_sample_c5_unknown_padding_mode(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf32>) {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "reflection" : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  func.return
}
