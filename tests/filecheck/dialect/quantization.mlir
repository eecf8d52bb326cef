// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @one_scale
// CHECK-NEXT:  %q = gawee.quantize %x scale %s map affine_map<(d0, d1) -> ()> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
// CHECK-NEXT:  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1) -> ()> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
func.func @one_scale(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x3xf32> {
  %q = gawee.quantize %x scale %s map affine_map<(d0, d1) -> ()> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1) -> ()> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_scale_for_each_index_of_an_axis
// CHECK-NEXT:  %q = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d0)> min -7 max 7 reciprocal : (tensor<2x3xf32>, tensor<2xf64>, tensor<2xi8>) -> tensor<2x3xi8>
// CHECK-NEXT:  %y = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> (d0)> : (tensor<2x3xi8>, tensor<2xf64>, tensor<2xi8>) -> tensor<2x3xf32>
func.func @a_scale_for_each_index_of_an_axis(%x: tensor<2x3xf32>, %s: tensor<2xf64>, %z: tensor<2xi8>) -> tensor<2x3xf32> {
  %q = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d0)> min -7 max 7 reciprocal : (tensor<2x3xf32>, tensor<2xf64>, tensor<2xi8>) -> tensor<2x3xi8>
  %y = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> (d0)> : (tensor<2x3xi8>, tensor<2xf64>, tensor<2xi8>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_scale_for_each_block
// CHECK-NEXT:  %q = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d0, (d1 floordiv 4))> : (tensor<2x7xf32>, tensor<2x2xf32>) -> tensor<2x7xui16>
// CHECK-NEXT:  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1) -> (d0, (d1 floordiv 4))> : (tensor<2x7xui16>, tensor<2x2xf32>) -> tensor<2x7xf32>
func.func @a_scale_for_each_block(%x: tensor<2x7xf32>, %s: tensor<2x2xf32>) -> tensor<2x7xf32> {
  %q = gawee.quantize %x scale %s map affine_map<(d0, d1) -> (d0, (d1 floordiv 4))> : (tensor<2x7xf32>, tensor<2x2xf32>) -> tensor<2x7xui16>
  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1) -> (d0, (d1 floordiv 4))> : (tensor<2x7xui16>, tensor<2x2xf32>) -> tensor<2x7xf32>
  func.return %y : tensor<2x7xf32>
}

// CHECK-LABEL: func.func @a_bias_of_32_bits
// CHECK-NEXT:  %y = gawee.dequantize %q scale %s map affine_map<(d0) -> (d0)> : (tensor<3xi32>, tensor<3xf32>) -> tensor<3xf32>
func.func @a_bias_of_32_bits(%q: tensor<3xi32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  %y = gawee.dequantize %q scale %s map affine_map<(d0) -> (d0)> : (tensor<3xi32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
