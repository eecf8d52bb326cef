// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @attention_is_two_contractions_with_softmax_between
// CHECK:       affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK:       arith.constant 5.000000e-01 : f32
// CHECK:       arith.maximumf
// CHECK:       math.exp
// CHECK:       arith.addf
// CHECK:       affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK:       arith.divf
func.func @attention_is_two_contractions_with_softmax_between(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// -----

// CHECK-LABEL: func.func @grouped_heads_read_their_keys_without_a_copy
// CHECK:       %[[Q:.*]] = tensor.expand_shape %q {{.*}} output_shape [2, 3, 2, 5, 4]
// CHECK:       affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, {{.*}} ins(%[[Q]], %k :
// CHECK:       tensor.collapse_shape {{.*}} : tensor<2x3x2x5x7xf32> into tensor<2x6x5x7xf32>
// CHECK:       linalg.index 2
// CHECK:       arith.cmpi slt
func.func @grouped_heads_read_their_keys_without_a_copy(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32> {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 causal : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32>
  return %y : tensor<2x6x5x8xf32>
}

// -----

// CHECK-LABEL: func.func @half_precision_attention_is_computed_in_single_precision
// CHECK:       arith.extf
// CHECK:       arith.select
// CHECK:       math.exp {{.*}} : f32
// CHECK:       arith.divf {{.*}} : f32
// CHECK:       arith.truncf
func.func @half_precision_attention_is_computed_in_single_precision(%q: tensor<5x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x8xf16>, %m: tensor<1x7xi1>) -> tensor<5x8xf16> {
  %y = gawee.attention %q, %k, %v mask %m scale 5.000000e-01 : (tensor<5x4xf16>, tensor<7x4xf16>, tensor<7x8xf16>, tensor<1x7xi1>) -> tensor<5x8xf16>
  return %y : tensor<5x8xf16>
}
