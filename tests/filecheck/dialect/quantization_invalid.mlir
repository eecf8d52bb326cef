// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// QuantizeOp C1: input is f16.
// CHECK: error: 'gawee.quantize' op unsupported element type 'f16' of input; supported: f32
func.func @quantize_c1_input_is_f16(%x: tensor<2x3xf16>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf16>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C1: result has 32 bits.
// CHECK: error: 'gawee.quantize' op unsupported element type 'i32' of result; supported: integers of 8 or 16 bits
func.func @quantize_c1_result_has_32_bits(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  %y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  func.return
}

// -----

// QuantizeOp C2: scale is f16.
// CHECK: error: 'gawee.quantize' op unsupported element type 'f16' of scale; supported: f32, f64
func.func @quantize_c2_scale_is_f16(%x: tensor<2x3xf32>, %s: tensor<3xf16>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf32>, tensor<3xf16>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C2: zero point has another sign.
// CHECK: error: 'gawee.quantize' op expected zero_point element type 'ui8' to match quantized element type 'i8'
func.func @quantize_c2_zero_point_has_another_sign(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xui8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C2: zero point has another shape.
// CHECK: error: 'gawee.quantize' op expected zero_point of shape 3, got 2
func.func @quantize_c2_zero_point_has_another_shape(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<2xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C3: map has too few axes.
// CHECK: error: 'gawee.quantize' op expected a map from 2 axes to 1, got '(d0) -> (d0)'
func.func @quantize_c3_map_has_too_few_axes(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0) -> (d0)> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C3: map adds.
// CHECK: error: 'gawee.quantize' op expected map results of a dimension, or of one by a positive number (d0 floordiv 32), got '(d0 + d1)'
func.func @quantize_c3_map_adds(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d0 + d1)> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C3: map turns axes.
// CHECK: error: 'gawee.quantize' op expected axes in order, each once, got '(d0, d1) -> (d1, d0)'
func.func @quantize_c3_map_turns_axes(%x: tensor<2x3xf32>, %s: tensor<3x2xf32>) {
  %y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d1, d0)> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C4: blocks are too few.
// CHECK: error: 'gawee.quantize' op expected scale of shape 2x2, got 2x1
func.func @quantize_c4_blocks_are_too_few(%x: tensor<2x3xf32>, %s: tensor<2x1xf32>) {
  %y = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d0, d1 floordiv 2)> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C5: min is above max.
// CHECK: error: 'gawee.quantize' op expected min and max in order from -128 to 127, got 3 and 2
func.func @quantize_c5_min_is_above_max(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> min 3 max 2 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// QuantizeOp C5: max is no byte.
// CHECK: error: 'gawee.quantize' op expected min and max in order from -128 to 127, got -128 and 128
func.func @quantize_c5_max_is_no_byte(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> max 128 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// DequantizeOp C1: input is i64.
// CHECK: error: 'gawee.dequantize' op unsupported element type 'i64' of input; supported: integers of 8, 16 or 32 bits
func.func @dequantize_c1_input_is_i64(%x: tensor<2x3xi64>, %s: tensor<3xf32>) {
  %y = gawee.dequantize %x scale %s map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xi64>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// DequantizeOp C1: result is f64.
// CHECK: error: 'gawee.dequantize' op expected result type 'tensor<2x3xf32>', got 'tensor<2x3xf64>'
func.func @dequantize_c1_result_is_f64(%x: tensor<2x3xi8>, %s: tensor<3xf32>, %z: tensor<3xi8>) {
  %y = gawee.dequantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xf64>
  func.return
}

// -----

// DequantizeOp C2: scale is an integer.
// CHECK: error: 'gawee.dequantize' op unsupported element type 'i32' of scale; supported: f32, f64
func.func @dequantize_c2_scale_is_an_integer(%x: tensor<2x3xi8>, %s: tensor<3xi32>, %z: tensor<3xi8>) {
  %y = gawee.dequantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xi8>, tensor<3xi32>, tensor<3xi8>) -> tensor<2x3xf32>
  func.return
}

// -----

// DequantizeOp C3: block is no number.
// CHECK: error: 'gawee.dequantize' op expected map results of a dimension, or of one by a positive number (d0 floordiv 32), got '(d1 mod 2)'
func.func @dequantize_c3_block_is_no_number(%x: tensor<2x3xi8>, %s: tensor<2xf32>) {
  %y = gawee.dequantize %x scale %s map affine_map<(d0, d1) -> (d1 mod 2)> : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// DequantizeOp C4: scales are too many.
// CHECK: error: 'gawee.dequantize' op expected scale of shape 3, got 4
func.func @dequantize_c4_scales_are_too_many(%x: tensor<2x3xi8>, %s: tensor<4xf32>) {
  %y = gawee.dequantize %x scale %s map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xi8>, tensor<4xf32>) -> tensor<2x3xf32>
  func.return
}
