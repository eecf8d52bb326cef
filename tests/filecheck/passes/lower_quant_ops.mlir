// RUN: gawee-opt %s --split-input-file --lower-quant-ops | filecheck %s

// CHECK-LABEL: func.func @a_scale_for_all
// CHECK-NEXT:  %[[D:.*]] = gawee.div %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:  %[[R:.*]] = gawee.round %[[D]]
// CHECK-NEXT:  %[[Z:.*]] = gawee.cast %z : (tensor<ui8>) -> tensor<f32>
// CHECK-NEXT:  %[[A:.*]] = gawee.add %[[R]], %[[Z]]
// CHECK-NEXT:  %[[C:.*]] = gawee.clip %[[A]] min 0.000000e+00 max 2.550000e+02
// CHECK-NEXT:  %q = gawee.cast %[[C]] : (tensor<2x3xf32>) -> tensor<2x3xui8>
// CHECK-NEXT:  %[[W:.*]] = gawee.cast %q : (tensor<2x3xui8>) -> tensor<2x3xi32>
// CHECK-NEXT:  %[[P:.*]] = gawee.cast %z : (tensor<ui8>) -> tensor<i32>
// CHECK-NEXT:  %[[I:.*]] = gawee.sub %[[W]], %[[P]]
// CHECK-NEXT:  %[[F:.*]] = gawee.cast %[[I]]
// CHECK-NEXT:  %y = gawee.mul %[[F]], %s
func.func @a_scale_for_all(%x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3xf32> {
  %q = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> ()> : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %y = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> ()> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_scale_for_each_index_is_beside_its_axis
// CHECK-NEXT:  %[[S:.*]] = gawee.reshape %s shape [3, 1] : (tensor<3xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:  %[[W:.*]] = gawee.cast %q : (tensor<2x3x5xi8>) -> tensor<2x3x5xi32>
// CHECK-NEXT:  %[[F:.*]] = gawee.cast %[[W]] : (tensor<2x3x5xi32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:  gawee.mul %[[F]], %[[S]]
func.func @a_scale_for_each_index_is_beside_its_axis(%q: tensor<2x3x5xi8>, %s: tensor<3xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1, d2) -> (d1)> : (tensor<2x3x5xi8>, tensor<3xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// -----

// The last block is of three.
// CHECK-LABEL: func.func @a_scale_for_each_block_is_repeated
// CHECK-NEXT:  %[[A:.*]] = gawee.reshape %s shape [2, 2, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
// CHECK-NEXT:  %[[B:.*]] = gawee.broadcast_to %[[A]] shape [2, 2, 4]
// CHECK-NEXT:  %[[J:.*]] = gawee.reshape %[[B]] shape [2, 8]
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %[[J]] offsets [0, 0] sizes [2, 7] strides [1, 1]
// CHECK:       gawee.mul %{{.*}}, %[[S]]
func.func @a_scale_for_each_block_is_repeated(%q: tensor<2x7xi8>, %s: tensor<2x2xf32>) -> tensor<2x7xf32> {
  %y = gawee.dequantize %q scale %s map affine_map<(d0, d1) -> (d0, d1 floordiv 4)> : (tensor<2x7xi8>, tensor<2x2xf32>) -> tensor<2x7xf32>
  func.return %y : tensor<2x7xf32>
}

// -----

// CHECK-LABEL: func.func @the_reciprocal_is_rounded_once
// CHECK-NEXT:  %[[R:.*]] = gawee.reciprocal %s : (tensor<f64>) -> tensor<f64>
// CHECK-NEXT:  %[[C:.*]] = gawee.cast %[[R]] : (tensor<f64>) -> tensor<f32>
// CHECK-NEXT:  gawee.mul %x, %[[C]]
// CHECK:       gawee.clip %{{.*}} min -7.000000e+00 max 7.000000e+00
func.func @the_reciprocal_is_rounded_once(%x: tensor<3xf32>, %s: tensor<f64>) -> tensor<3xi8> {
  %q = gawee.quantize %x scale %s map affine_map<(d0) -> ()> min -7 max 7 reciprocal : (tensor<3xf32>, tensor<f64>) -> tensor<3xi8>
  func.return %q : tensor<3xi8>
}
